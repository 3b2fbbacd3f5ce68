"""Functions are told apart by what they depend on, and not traced again if nothing of it has changed."""

from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.codegen.artifact import identity_of, make
from surefoot.codegen.build import Build
from surefoot.control.whole_body.rows import WholeBodyRows, WholeBodySettings
from surefoot.kinematics import com
from surefoot.tasks import CenterOfMass


def rows(friction=0.6, target=0.0):
    robot = sf.load("small-humanoid")
    return WholeBodyRows(robot, [[CenterOfMass([0.0, 0.0, target])]], settings=WholeBodySettings(friction=friction))


def test_equal_objects_have_one_identity_and_any_change_another():
    first = rows()
    known = identity_of(first._rows, first.robot)
    assert known is not None
    first.names, first.torque_limits  # noqa: B018 - what is cached on an object follows from the rest
    again = rows()
    assert identity_of(first._rows, first.robot) == identity_of(again._rows, again.robot) == known
    assert identity_of(rows(friction=0.5)._rows, first.robot) != known
    heavier = sf.load("pendulum")
    assert identity_of(first._rows, heavier) != known


def test_captured_numbers_count_to_the_last_bit():
    numbers = np.array([1.0, 2.0])
    assert identity_of(com, numbers) == identity_of(com, numbers.copy())
    assert identity_of(com, numbers) != identity_of(com, np.nextafter(numbers, 3.0))


def test_foreign_source_and_native_code_have_no_identity():
    assert identity_of(lambda q: q) is None  # of this file, which may change
    assert identity_of(sf.compile(sf.load("pendulum")).rnea._call) is None


def test_a_program_is_not_traced_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path))
    robot = sf.load("pendulum")
    kernel = sf.compile(robot, functions={"own": com}).own
    q = robot.home
    expected = kernel(q)

    def refuse():
        raise AssertionError("traced again")

    recipe = kernel.recipe
    fresh = replace(recipe, trace=refuse)
    assert make(fresh, Build(1, 64)).code == make(recipe, Build(1, 64)).code
    for changed in (replace(fresh, depends=(1,)), replace(fresh, input_shapes=((7,),)), replace(fresh, inputs=("x",))):
        with pytest.raises(AssertionError, match="traced again"):
            make(changed, Build(1, 64))
    np.testing.assert_array_equal(expected, com(robot.tree, q))
