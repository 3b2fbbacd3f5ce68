"""The conflict behind contact forces that do not exist, against closed forms of a block."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.why import (
    FRICTION,
    PULL,
    TORQUE,
    Event,
    Needed,
    explain_support,
    plain_reason,
    told,
    why_not_carried,
)
from surefoot.motion import Trajectory, World
from surefoot.solvers import UnsolvedError
from tests.feasibility.good_motions import loaded, squat
from tests.feasibility.stages import judge


def pushed_block(acceleration: float) -> Case:
    """A block on the ground that is said to accelerate along x: nothing but friction can do that."""
    robot = loaded("block")
    t = np.linspace(0.0, 0.2, 41)
    q, v, a = np.tile(robot.home, (41, 1)), np.zeros((41, robot.nv)), np.zeros((41, robot.nv))
    a[:, 0] = acceleration
    return Case(robot, World.flat(friction=0.3), Trajectory.of(robot, t, q, v, a=a))


def test_friction_is_what_lacks_and_by_how_much() -> None:
    case = pushed_block(4.0)
    found = judge(explain_support, case, 0.1)
    assert found is not None
    assert found.names == ("friction of bottom", "what the motion asks for") or "friction of bottom" in found.names
    lacking = case.robot.mass * (4.0 - 0.3 * 9.80665)
    member = next(member for member in found.conflict if member.name == "friction of bottom")
    assert member.alone is not None
    assert member.alone.amount == pytest.approx(lacking, rel=2e-3)


def test_what_can_be_carried_has_no_conflict() -> None:
    assert judge(explain_support, pushed_block(2.0), 0.1) is None
    assert judge(explain_support, Case(loaded("g1"), World(), squat("g1")), 1.0) is None


def test_the_reason_is_told_in_plain_words() -> None:
    found = judge(explain_support, pushed_block(4.0), 0.1)
    assert found is not None
    text = plain_reason(found, 1)
    assert text.startswith("at t = 0.100 s the contacts carry this motion only if")
    assert "the friction of bottom exceeds its limit by" in text
    assert "conflict" not in text


def standing(name: str, acceleration: tuple[float, ...], friction: float) -> Case:
    """A robot at home with soles on the ground that is said to accelerate its base."""
    robot, n = loaded(name), 41
    q, a = np.tile(robot.home, (n, 1)), np.zeros((n, robot.nv))
    q[:, 2] -= min(corners[:, 2].min() for corners in robot.contact_corners(robot.home).values())
    a[:, : len(acceleration)] = acceleration
    motion = Trajectory.of(robot, np.linspace(0.0, 0.2, n), q, np.zeros((n, robot.nv)), a=a)
    return Case(robot, World.flat(friction=friction), motion)


def test_like_contacts_are_told_together_whatever_their_number() -> None:
    case = standing("a1", (0.0, 5.0, 0.0), 0.2)
    text = judge(why_not_carried, case, 0.1)
    assert "the friction of all four feet exceeds its limit by up to" in text
    missing = case.robot.mass * (5.0 - 0.2 * 9.80665)
    assert float(text.split("up to ")[1].split(" N")[0]) == pytest.approx(missing / 4, rel=0.05)


def test_a_reason_that_rounding_hides_is_not_told(monkeypatch) -> None:
    def unsolved(*_, **__):
        raise UnsolvedError("left open")

    case = standing("anymal", (20.0, 0.0, 0.0, 0.0, 0.0, 0.0), 0.7)
    assert judge(why_not_carried, case, 0.1)
    monkeypatch.setattr("surefoot.feasibility.why.explain", unsolved)
    assert judge(why_not_carried, case, 0.1) == ""


@pytest.mark.parametrize("name", ["a1", "g1", "hexapod"])
def test_no_side_is_singled_out_and_clauses_are_few(name: str) -> None:
    for acceleration in ((2.0, 0.0, -12.0), (9.0, 0.0, 0.0)):
        text = judge(why_not_carried, standing(name, acceleration, 0.7), 0.1)
        assert text.count(", and ") + text.count(", or ") <= 2
        assert not any(contact in text for contact in loaded(name).contacts)


def test_only_contacts_that_have_to_give_way_are_named() -> None:
    text = judge(why_not_carried, standing("a1", (0.0, 0.0, 0.0, 0.0, -200.0, 0.0), 0.7), 0.1)  # it throws its nose up
    assert "pulls on corners of RL_foot and RR_foot with" in text
    assert "FL_foot" not in text


@pytest.mark.parametrize("noise", [0.0, 1e-16, 1e-12, 1e-8])
def test_rounding_does_not_hide_the_conflict(noise: float) -> None:
    case = standing("a1", (0.0, 5.0, 0.0, noise, -noise, noise), 0.2)
    assert judge(why_not_carried, case, 0.1)


def test_events_of_one_kind_and_size_are_one_clause() -> None:
    events = tuple(Event(PULL, (name,), 18.9, "N") for name in ("left_foot", "right_foot"))
    assert told(Needed(events, True), 2) == "the ground pulls on a corner of left_foot or right_foot with 18.9 N"
    assert told(Needed(events, False), 2) == "the ground pulls on corners of both feet with up to 18.9 N"


def test_all_contacts_are_counted_and_some_are_named() -> None:
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    everywhere = Needed((Event(FRICTION, feet, 3.0, "N"),), True)
    assert told(everywhere, 4) == "the friction of all four feet exceeds its limit by up to 3 N"
    assert "FL_foot and FR_foot" in told(Needed((Event(FRICTION, feet[:2], 3.0, "N"),), True), 4)
    assert "all four contacts" in told(Needed((Event(FRICTION, ("a", "b", "c", "d"), 3.0, "N"),), True), 4)


def test_there_are_at_most_three_clauses() -> None:
    events = tuple(Event(TORQUE, (f"joint{k}",), 2.0**k, "N m") for k in range(6))
    text = told(Needed(events, True), 2)
    assert text.count(", or ") == 2
    assert text.endswith("4 more limits are exceeded")
