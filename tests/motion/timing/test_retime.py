"""The way of a motion in another time: same places, limits kept, contacts where they were."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError
from surefoot.motion import ContactSchedule, Quintic, Stance
from surefoot.motion.timing import PathLimits, retime
from tests.motion.timing.test_timing import wander


def test_way_and_contacts_stay_and_pauses_go() -> None:
    robot = sf.load("hexapod")
    ends = wander(robot, 3, 2)
    way = pin.difference(robot.model, ends[0], ends[1])
    t = np.linspace(0.0, 10.0, 201)
    share = np.where(t < 4.0, Quintic.at_rest(0.0, 0.4, 4.0).sample(t)[0], 0.4)
    share = np.where(t > 6.0, 0.4 + Quintic.at_rest(0.0, 0.6, 4.0).sample(t - 6.0)[0], share)
    q = np.array([pin.integrate(robot.model, ends[0], s * way) for s in share])
    schedule = ContactSchedule.of([Stance(), Stance(), Stance()], [0.0, 3.0, 6.5, 10.0])
    motion = sf.Trajectory.of(robot, t, q, schedule=schedule)
    fast = retime(robot, motion, PathLimits(np.full(24, 1.0), 4.0))
    assert fast.v is not None
    assert np.abs(fast.v).max() <= 1.002
    assert fast.duration < 0.5 * motion.duration
    for row in fast.q:  # each place lies on the old way
        step = pin.difference(robot.model, ends[0], row)
        assert np.abs(step - (step @ way) / (way @ way) * way).max() < 2e-3
    assert fast.schedule is not None
    for old, new in zip(schedule.switches, fast.schedule.switches, strict=True):  # contacts change at the same places
        gap = pin.difference(robot.model, motion.sample(old).q, fast.sample(new).q)
        assert np.abs(gap).max() < 0.02


def test_what_cannot_be_timed() -> None:
    robot = sf.load("arm4")
    still = sf.Trajectory.of(robot, [0.0, 1.0], np.zeros((2, 4)))
    with pytest.raises(NotSupportedError, match="without a way"):
        retime(robot, still)
