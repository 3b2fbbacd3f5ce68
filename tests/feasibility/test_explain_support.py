"""The conflict behind contact forces that do not exist, against closed forms of a block."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.explain_support import explain_support, plain_reason
from surefoot.motion import Trajectory, World
from tests.feasibility.good_motions import loaded, squat


def pushed_block(acceleration: float) -> Case:
    """A block on the ground that is said to accelerate along x: nothing but friction can do that."""
    robot = loaded("block")
    t = np.linspace(0.0, 0.2, 41)
    q, v, a = np.tile(robot.home, (41, 1)), np.zeros((41, robot.nv)), np.zeros((41, robot.nv))
    a[:, 0] = acceleration
    return Case(robot, World.flat(friction=0.3), Trajectory.of(robot, t, q, v, a=a))


def test_friction_is_what_lacks_and_by_how_much() -> None:
    case = pushed_block(4.0)
    found = explain_support(case, 0.1)
    assert found is not None
    assert found.names == ("friction of bottom", "what the motion asks for") or "friction of bottom" in found.names
    lacking = case.robot.mass * (4.0 - 0.3 * 9.80665)
    member = next(member for member in found.conflict if member.name == "friction of bottom")
    assert member.alone is not None
    assert member.alone.amount == pytest.approx(lacking, rel=2e-3)


def test_what_can_be_carried_has_no_conflict() -> None:
    assert explain_support(pushed_block(2.0), 0.1) is None
    assert explain_support(Case(loaded("g1"), World(), squat("g1")), 1.0) is None


def test_the_reason_is_told_in_plain_words() -> None:
    found = explain_support(pushed_block(4.0), 0.1)
    assert found is not None
    text = plain_reason(found)
    assert text.startswith("at t = 0.100 s the contacts carry this motion only if")
    assert "friction holds bottom with" in text
    assert "conflict" not in text
