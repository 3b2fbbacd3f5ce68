"""Cases of standing robots, and what fails of them."""

from functools import lru_cache

import numpy as np

from surefoot.control import JointPd
from surefoot.feasibility.case import Case
from surefoot.motion import State, Trajectory, World
from surefoot.sim import Settings, Simulation
from tests.feasibility.good_motions import loaded, squat


@lru_cache(maxsize=16)
def squat_case(name, friction=0.7, **motion):
    """A robot that goes down, to the side, and back, on ground of some friction."""
    return Case(loaded(name), World(friction=friction), squat(name, **motion))


@lru_cache(maxsize=4)
def landing_log(name, lift=0.01, engine="mujoco", dt=0.001, control_dt=0.001, duration=0.4):
    """A robot that falls on its feet, held by joint springs, and comes to rest: what an engine logs of it."""
    robot = loaded(name)
    q = np.array(robot.home)
    q[2] += lift
    state = State(0.0, q, np.zeros(robot.nv))
    settings = Settings(duration, dt, control_dt, engine=engine)
    return of_log(robot, Simulation(robot, JointPd(robot), World(), settings, initial=state).run())


def of_log(robot, log, **references):
    """A log as a trajectory."""
    wrenches = {name: np.array(log[f"contact.{name}.wrench"]) for name in robot.contacts}
    return Trajectory.of(robot, log.time, log["q"], log["v"], tau=log["tau"], wrenches=wrenches, references=references)


def still(robot, q=None, n=11, dt=0.01, **others):
    """A robot that does not move."""
    zero = np.zeros((n, robot.nv))
    rows = np.tile(robot.home if q is None else q, (n, 1))
    return Trajectory.of(robot, np.arange(n) * dt, rows, zero, a=zero, **others)


def failures(series):
    """(item, part) of all that fails."""
    return {
        (one.item, part) for one in series for part, bad in zip(one.parts, one.failed.any(axis=0), strict=True) if bad
    }


def named(series, item):
    """The series of an item."""
    return [one for one in series if one.item == item]


def failing_times(series, item):
    """First and last time [s] at which an item fails."""
    times = np.concatenate([one.time[one.failed.any(axis=1)] for one in named(series, item)])
    return float(times.min()), float(times.max())
