"""Coefficients of restitution by number, row and name."""

import numpy as np
import pytest

from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.impacts.impact import restitution_of_rows
from surefoot.errors import ModelError, ShapeError, UnknownNameError
from tests.dynamics.examples import robot_named

ROBOT = robot_named("small-humanoid")
FEET = constraints_of(ROBOT, [contact(ROBOT, ROBOT.home, foot, "point") for foot in ("left_foot", "right_foot")])


def test_one_for_all_or_one_per_row():
    np.testing.assert_array_equal(restitution_of_rows(FEET, 0.25), np.full(6, 0.25))
    np.testing.assert_array_equal(restitution_of_rows(FEET, np.linspace(0, 1, 6)), np.linspace(0, 1, 6))


def test_by_name_a_row_goes_before_its_constraint():
    found = restitution_of_rows(FEET, {"left_foot": 0.5, "left_foot.z": 0.75})
    np.testing.assert_array_equal(found, [0.5, 0.5, 0.75, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (-0.1, ModelError), (1.1, ModelError), (float("nan"), ModelError), ([0.1, 0.2], ShapeError),
        ({"left_fot": 0.5}, UnknownNameError), ({"left_foot.w": 0.5}, UnknownNameError),
    ],
)  # fmt: skip
def test_wrong_ones_are_refused(given, kind):
    with pytest.raises(kind):
        restitution_of_rows(FEET, given)


@pytest.mark.parametrize("given", ["half", {"left_foot": "half"}])
def test_what_is_no_number_is_refused(given):
    with pytest.raises(ShapeError, match="half"):
        restitution_of_rows(FEET, given)
