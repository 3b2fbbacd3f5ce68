"""Nonsense costs little: garbage rows, noise and absurd numbers are named, and the audit goes on."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ShapeError
from surefoot.feasibility.clearance import collisions, path
from surefoot.motion import Trajectory


def swaying(robot, n=100, dt=0.02):
    time = dt * np.arange(n)
    q = np.tile(robot.home, (n, 1))
    q[:, 10] += 0.1 * np.sin(2.0 * np.pi * time)
    return time, q


@pytest.fixture
def counted(monkeypatch):
    """How many distances of hulls and of meshes are measured."""
    counts = {"hulls": 0, "meshes": 0}
    measure, confirm = path.ExactCollision.at, collisions.MeshOverlap.distances

    def at(self, q, columns):
        counts["hulls"] += len(list(columns))
        return measure(self, q, columns)

    def distances(self, pair, q, hulls):
        counts["meshes"] += len(q)
        return confirm(self, pair, q, hulls)

    monkeypatch.setattr(path.ExactCollision, "at", at)
    monkeypatch.setattr(collisions.MeshOverlap, "distances", distances)
    return counts


def judged(robot, time, q):
    return sf.audit(Trajectory.of(robot, time, q), robot, replay=False)


def test_a_garbage_row_is_named_as_a_jump(counted):
    """A header read as a posture: 0, 1, 2, … in every column."""
    robot = sf.load("small-humanoid")
    time, q = swaying(robot)
    q[40, :3], q[40, 7:] = (0.0, 1.0, 2.0), np.arange(robot.nq - 7)
    found = judged(robot, time, q)
    assert found.first.item == "joint_jump"
    assert found.first.time == pytest.approx(0.8)
    assert found.item("units").status == "passed"
    assert counted["hulls"] < 10_000


@pytest.mark.slow
def test_a_garbage_row_of_g1(counted):
    robot = sf.load("g1")
    time, q = swaying(robot)
    q[40, :3], q[40, 7:] = (0.0, 1.0, 2.0), np.arange(robot.nq - 7)
    found = judged(robot, time, q)
    assert found.first.item == "joint_jump"
    assert counted["hulls"] < 40_000
    assert counted["meshes"] <= 6000
    assert sum(found.seconds.values()) < 30.0


@pytest.mark.slow
def test_random_postures_of_g1(counted):
    robot, n = sf.load("g1"), 50
    q = np.tile(robot.home, (n, 1))
    low, high = robot.limits.lower[7:], robot.limits.upper[7:]
    q[:, 7:] = np.random.default_rng(0).uniform(low, high, (n, robot.nq - 7))
    found = judged(robot, 0.02 * np.arange(n), q)
    assert not found.passed
    assert counted["hulls"] < 200_000
    assert counted["meshes"] <= 6000
    assert "not every pair could be proven apart" in found.item("self_collision").note


@pytest.mark.parametrize(("name", "row"), [("q", 1e308), ("v", 1e200), ("tau", 1e300)])
def test_numbers_that_no_motion_has_are_refused(name, row):
    robot = sf.load("small-humanoid")
    time, q = swaying(robot)
    given = {"v": np.zeros((len(q), robot.nv)), "tau": np.zeros((len(q), robot.nu))}
    (q if name == "q" else given[name])[40, 8] = row
    with pytest.raises(ShapeError, match=f"`{name}` is 1e.* at t = 0.8 s, which is not a motion") as caught:
        sf.audit(Trajectory.of(robot, time, q, **given), robot)
    assert caught.value.evidence["row"] == 40
    assert caught.value.evidence["entry"] == 8


@pytest.mark.filterwarnings("error")
def test_rates_that_overflow_are_refused():
    robot = sf.load("small-humanoid")
    time, q = swaying(robot)
    q[30, 9] = 1e308
    with pytest.raises(ShapeError, match=r"`q` is 1e.* at t = 0.6 s, which is not a motion"):
        Trajectory.of(robot, time, q)


def test_samples_at_almost_the_same_time_are_refused():
    robot = sf.load("small-humanoid")
    time, q = swaying(robot)
    time[41] = np.nextafter(time[40], np.inf)
    with pytest.raises(ShapeError, match="s apart"):
        judged(robot, time, q)


def test_some_rows_hold_the_deepest_and_both_ends():
    distance = np.linspace(0.0, -1.0, 1000) ** 2
    distance[123] = -5.0
    rows = collisions._some_rows(distance, 8)
    assert len(rows) <= 8
    assert {0, 123, 999} <= set(rows.tolist())
    assert collisions._some_rows(distance[:5], 8).tolist() == [0, 1, 2, 3, 4]
