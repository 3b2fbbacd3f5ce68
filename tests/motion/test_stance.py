"""Schedules: no gaps, every time has one stance, operations undo each other."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.motion import ContactSchedule, Phase, Spot, Stance
from surefoot.robot import placement
from surefoot.spatial import so3

LEFT, RIGHT = Spot(placement((0, 0.1, 0), so3.exp([0, 0, 0.2]))), Spot(placement((0, -0.1, 0)), 0.5)
STEP = Spot(placement((0.3, 0.1, 0)))


def schedule() -> ContactSchedule:
    both, right, after = (
        Stance({"left": LEFT, "right": RIGHT}),
        Stance({"right": RIGHT}),
        Stance({"left": STEP, "right": RIGHT}),
    )
    return ContactSchedule.of([both, right, after, Stance({"left": STEP}), Stance()], [0.5, 1.0, 1.6, 1.8, 2.5, 2.6])


def test_phases_hold_from_their_start_on():
    s = schedule()
    assert s.at(0.5).names == ("left", "right")
    assert s.at(1.0).names == ("right",)
    assert s.at(np.nextafter(1.0, 0.0)).names == ("left", "right")
    assert s.at(2.6).names == ()
    np.testing.assert_array_equal(s.switches, [1.0, 1.6, 1.8, 2.5])
    with pytest.raises(ShapeError, match="outside"):
        s.at(3.0)


def test_active_intervals_agree_with_at_and_split_where_the_spot_changes():
    s = schedule()
    assert s.active("left") == [(0.5, 1.0), (1.6, 2.5)]
    assert s.active("right") == [(0.5, 1.8)]
    assert s.active("hand") == []
    for t in np.linspace(0.5, 2.59, 100):
        for name in s.names:
            assert (name in s.at(t)) == any(a <= t < b for a, b in s.active(name))
    slid = ContactSchedule.of([Stance({"left": LEFT}), Stance({"left": STEP})], [0, 1, 2])
    assert slid.active("left") == [(0.0, 1.0), (1.0, 2.0)]


def test_shift_scale_and_concatenate():
    s = schedule()
    assert s.shifted(2.0).shifted(-2.0).switches == pytest.approx(s.switches)
    assert s.time_scaled(2.0, about=s.end).end == s.end
    slow = s.time_scaled(2.0)
    assert slow.start == s.start
    assert slow.end - slow.start == pytest.approx(2.0 * (s.end - s.start))
    joined = s.concatenate(s)
    assert joined.end == pytest.approx(2 * s.end - s.start)
    assert joined.at(s.end + 0.1).names == s.at(s.start + 0.1).names


def test_mirroring_twice_is_nothing():
    names = {"left": "right", "right": "left"}
    once = schedule().mirrored(names)
    assert once.at(1.2).names == ("left",)
    np.testing.assert_allclose(once.at(0.5)["right"].pose[:3, 3], [0, -0.1, 0])
    assert np.linalg.det(once.at(0.5)["right"].pose[:3, :3]) == pytest.approx(1.0)
    twice = once.mirrored(names)
    for t in (0.6, 1.2, 1.7):
        for name in twice.at(t).names:
            assert twice.at(t)[name].same_as(schedule().at(t)[name])


def test_json_and_back_bit_by_bit():
    data = schedule().to_dict()
    assert ContactSchedule.from_dict(json.loads(json.dumps(data))).to_dict() == data


@pytest.mark.parametrize(
    "make",
    [
        lambda: ContactSchedule(()),
        lambda: ContactSchedule((Phase(0, 1, Stance()), Phase(1.1, 2, Stance()))),
        lambda: ContactSchedule((Phase(0, 1, Stance()), Phase(0.9, 2, Stance()))),
        lambda: Phase(1, 1, Stance()),
        lambda: Spot(np.zeros((4, 4))),
        lambda: Spot(np.eye(4), -1.0),
        lambda: Stance({"left": np.eye(4)}),
        lambda: schedule().time_scaled(0.0),
    ],
)
def test_wrong_schedules_are_refused(make):
    with pytest.raises(ShapeError):
        make()


def test_unknown_contacts_are_named():
    with pytest.raises(UnknownNameError, match="left"):
        schedule().at(1.2)["left"]
