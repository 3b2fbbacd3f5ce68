"""Numbers of joints: what is put in comes out, and nothing else moves."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.robot import Coupling, Joint, Link, Robot, zoo
from surefoot.studio.panels.joints import axes_of, value_of, with_value


def robot_of_all_kinds() -> Robot:
    kinds = ("revolute", "continuous", "prismatic", "spherical", "translation", "planar", "helical")
    links, parent = [Link("base")], "base"
    for kind in kinds:
        joint = Joint(f"{kind}_joint", kind, lower=-1.0, upper=1.0, pitch=0.1 if kind == "helical" else 0.0)
        links.append(Link(f"{kind}_link", parent=parent, joint=joint, mass=1.0, inertia=np.eye(3)))
        parent = f"{kind}_link"
    return Robot.from_tree("all", links, base="floating")


@pytest.fixture(scope="module", params=["all", "g1", "tiago"])
def robot(request):
    return robot_of_all_kinds() if request.param == "all" else zoo.load(request.param)


def test_what_is_put_in_comes_out_and_nothing_else_moves(robot, rng):
    axes = [axis for i in range(robot.tree.n) for axis in axes_of(robot, i)]
    followers = {axis for axis in axes if axis.follows}
    q = np.array(robot.home)
    for axis in axes:
        if axis in followers:
            continue
        half = 0.45 if axis.part == "pitch" else 0.9  # beyond ±90° of pitch there are two ways to say the same
        value = rng.uniform(half * axis.lower, half * axis.upper)
        before = {other: value_of(robot, q, other) for other in axes}
        q = with_value(robot, q, axis, value)
        assert value_of(robot, q, axis) == pytest.approx(value, abs=1e-9)
        for other in set(axes) - {axis} - followers:
            assert value_of(robot, q, other) == pytest.approx(before[other], abs=1e-8), other
    assert pin.isNormalized(robot.model, q, 1e-9)


def test_followers_follow():
    links = [
        Link("base"),
        Link("a", parent="base", joint=Joint("ja", "revolute", lower=-1.0, upper=1.0), mass=1.0, inertia=np.eye(3)),
        Link("b", parent="a", joint=Joint("jb", "revolute", lower=-3.0, upper=3.0), mass=1.0, inertia=np.eye(3)),
    ]
    robot = Robot.from_tree("pair", links, couplings=[Coupling("jb", "ja", -2.0, 0.1)])
    q = with_value(robot, robot.home, axes_of(robot, 0)[0], 0.3)
    np.testing.assert_allclose(q, [0.3, 0.1 - 0.6])
    assert axes_of(robot, 1)[0].follows == "ja"
