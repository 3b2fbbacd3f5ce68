"""A good motion passes clean; with one defect planted, that defect is the first finding, in its interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.collision import CollisionModel, ExactCollision
from surefoot.collision.volumes.robot import quick_volumes
from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.motion import Trajectory, World
from surefoot.motion.audit_result import AuditResult, Finding
from surefoot.robot import Robot
from tests.feasibility.good_motions import loaded, squat
from tests.feasibility.stages import stages

TALOS = pytest.param("talos", marks=pytest.mark.slow)  # one humanoid will do
LEGGED = ["g1", TALOS, pytest.param("anymal", marks=pytest.mark.slow)]


def judged(name: str, motion: Trajectory, world: World | None = None) -> AuditResult:
    return audit(motion, loaded(name), world, replay=False)


def first(result: AuditResult) -> Finding:
    assert result.first is not None
    return result.first


def with_efforts(name: str) -> Trajectory:
    """The squat with the torques and contact wrenches that it needs."""
    motion, robot = squat(name), loaded(name)
    efforts = stages(Case(robot, World(), motion)).efforts
    wrenches = {contact: efforts.wrenches[:, k] for k, contact in enumerate(robot.contacts)}
    return replace(motion, tau=efforts.tau, wrenches=wrenches)


def moved_base(motion: Trajectory, start: float, length: float, way: float) -> Trajectory:
    """The whole robot moves sideways along y during an interval, rates included; the base does not turn."""
    x = np.clip((motion.time - start) / length, 0.0, 1.0)
    q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
    q[:, 1] += way * (10 * x**3 - 15 * x**4 + 6 * x**5)
    v[:, 1] += way * (30 * x**2 - 60 * x**3 + 30 * x**4) / length
    a[:, 1] += way * (60 * x - 180 * x**2 + 120 * x**3) / length**2
    return replace(motion, q=q, v=v, a=a)


def near(finding: Finding, start: float, end: float, slack: float = 0.1) -> bool:
    return start - slack <= finding.start and finding.end <= end + slack


@pytest.mark.parametrize("name", LEGGED)
def test_the_untouched_motion_passes_clean(name: str) -> None:
    for motion in (squat(name), with_efforts(name), replace(squat(name), v=None, a=None)):
        result = judged(name, motion)
        assert result.findings == (), result.findings


@pytest.mark.parametrize("name", LEGGED)
def test_torque_spike(name: str) -> None:
    motion, robot = with_efforts(name), loaded(name)
    joint = robot.nu // 2
    tau = np.array(motion.tau)
    tau[400:406, joint] += 3.0 * robot.limits.effort[robot.driven[joint]]
    found = first(judged(name, replace(motion, tau=tau)))
    assert found.item == "joint_torque"
    assert found.where == robot.drives[joint].joint
    assert near(found, motion.time[400], motion.time[405])


@pytest.mark.parametrize("name", LEGGED)
@pytest.mark.parametrize("length", [0.25, 0.9])
def test_foot_slip(name: str, length: float) -> None:
    found = first(judged(name, moved_base(squat(name), 1.5, length, 0.03)))
    assert found.item == "foot_slip"
    assert found.value == pytest.approx(0.03, abs=5e-3)
    assert found.start >= 1.4


@pytest.mark.parametrize("name", ["g1", TALOS])
def test_self_collision_between_samples(name: str) -> None:
    robot = loaded(name)
    a, b = crossing(robot, np.random.default_rng(3))
    q = np.vstack([np.tile(a, (10, 1)), np.tile(b, (10, 1))])
    motion = Trajectory.of(robot, np.arange(20) * 0.5, q)
    result = judged(name, motion, World(ground=(), gravity=np.zeros(3)))
    found = first(result)
    assert found.item == "self_collision"
    assert 4.5 <= found.time <= 5.0


def crossing(robot: Robot, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two postures that are free, and a collision halfway; only the arms differ from home."""
    pairs = CollisionModel(robot, volumes=quick_volumes(robot)).link_pairs
    at_home = ExactCollision(robot, pairs).distances(robot.home)
    exact = ExactCollision(robot, [pair for pair, gap in zip(pairs, at_home, strict=True) if gap > 0.02])
    arms = [k for k, name in enumerate(robot.joint_names) if any(word in name for word in ("shoulder", "elbow", "arm"))]
    rows = [int(robot.tree.q_index[k]) for k in arms]
    lower, upper = robot.limits.lower[rows], robot.limits.upper[rows]
    for _ in range(2000):
        a, b = np.array(robot.home), np.array(robot.home)
        a[rows] = np.clip(a[rows] + rng.normal(0.0, 0.5, len(rows)), lower, upper)
        b[rows] = np.clip(a[rows] + rng.normal(0.0, 0.6, len(rows)), lower, upper)
        if exact.distances(0.5 * (a + b)).min() < -0.01 and exact.distances(np.array([a, b])).min() > 0.005:
            return a, b
    raise AssertionError("no crossing was found")


@pytest.mark.parametrize("name", ["g1", TALOS])
def test_friction_violation_in_given_wrenches(name: str) -> None:
    motion, robot = with_efforts(name), loaded(name)
    contact = next(k for k, w in motion.wrenches.items() if w[:, 2].max() > 1.0)
    wrenches = {k: np.array(w) for k, w in motion.wrenches.items()}
    wrenches[contact][300:330, 0] = 1.3 * 0.7 * wrenches[contact][300:330, 2]
    found = first(judged(name, replace(motion, wrenches=wrenches)))
    assert found.item == "friction"
    assert found.where == contact
    assert near(found, motion.time[300], motion.time[329])
    assert robot.contacts[contact]


@pytest.mark.parametrize("name", LEGGED)
def test_friction_violation_of_the_motion(name: str) -> None:
    """The same sway on ice: what the accelerations ask for is more than the ground holds."""
    motion = squat(name, 200.0, 1.0, 0.02, 0.06)
    found = first(judged(name, motion, World.flat(friction=0.03)))
    assert found.item == "friction"


@pytest.mark.parametrize(("name", "lean"), [("g1", 0.13), pytest.param("talos", 0.2, marks=pytest.mark.slow)])
def test_zmp_excursion(name: str, lean: float) -> None:
    """The base goes so far forwards that the robot would tip over its toes."""
    found = first(judged(name, squat(name, 200.0, 4.0, 0.08, 0.0, lean)))
    assert found.item == "zmp"
    assert near(found, 1.0, 3.0, 0.0)


@pytest.mark.parametrize("name", LEGGED)
def test_wrong_quaternion_order(name: str) -> None:
    for motion in (squat(name), replace(squat(name), v=None, a=None)):
        q = np.array(motion.q)
        q[:, 3:7] = q[:, [6, 3, 4, 5]]
        found = first(judged(name, replace(motion, q=q)))
        assert found.item == "quaternion_order"


@pytest.mark.parametrize("name", LEGGED)
@pytest.mark.parametrize("shift", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (20, -8))])
def test_shifted_velocity_column(name: str, shift: int) -> None:
    motion, robot = squat(name), loaded(name)
    v = np.array(motion.v)
    column = 6 + int(np.argmax(np.ptp(v[:, 6:], axis=0)))
    v[:, column] = np.roll(v[:, column], shift)
    found = first(judged(name, replace(motion, v=v, a=None)))
    assert found.item == "column_shift"
    assert found.where == Case(robot, World(), motion).velocity_names[column]
    assert found.value == pytest.approx(shift, abs=1.0)
