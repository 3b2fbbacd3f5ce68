"""A stepper that keeps away: from obstacles, from itself, with every task below that."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.errors import ShapeError
from surefoot.geometry import Sphere, SweptVolume
from surefoot.ik import Stepper
from surefoot.ik.avoidance import AvoidingStepper, VelocityDamper
from surefoot.motion import Obstacle, World
from surefoot.robot import BodyVolume, Robot
from surefoot.tasks import FramePosition

DT, SECURITY = 0.002, 0.02
TOLERANCE = 5e-4  # [m]: what may be spent before joints must brake, and what samples of the way do not see


def arm() -> tuple[Robot, CollisionModel]:
    """A planar arm of four capsules, and a ball in the way of its tip."""
    robot = sf.load("arm4")
    volumes = [
        BodyVolume(robot.body_of(f"link{i}"), SweptVolume([[0.0, 0.0, 0.0], [0.25, 0.0, 0.0]], 0.02), f"link{i}")
        for i in range(1, 5)
    ]
    ball = np.eye(4)
    ball[:3, 3] = [0.45, 0.0, 0.02]
    world = World(ground=(), obstacles=(Obstacle("ball", Sphere(0.06), ball),))
    return robot, CollisionModel(robot, world, volumes)


def path(stepper: Stepper, q: np.ndarray, seconds: float) -> np.ndarray:
    rows = [q]
    for _ in range(round(seconds / DT)):
        rows.append(stepper.step(rows[-1]).q_next)
    return np.array(rows)


def tip(robot: Robot, q: np.ndarray) -> np.ndarray:
    return robot.placements(q)[robot.frame_names[-1]][:3, 3]


def test_it_goes_round_what_a_plain_stepper_goes_through() -> None:
    robot, model = arm()
    frame = robot.frame_names[-1]
    q = robot.q_of(dict(zip(robot.joint_names, [0.9, -0.5, -0.6, -0.4], strict=True)))
    goal = tip(robot, q) + np.array([0.0, 0.0, -0.5])
    task = [FramePosition(frame, goal, name="tip", gain=3.0, mask="xz")]
    damper = VelocityDamper(0.1, SECURITY, 0.5, 8)
    blind = path(Stepper(robot, task, DT, acceleration=50.0), q, 1.5)
    aware = path(AvoidingStepper(robot, task, DT, model, damper, acceleration=50.0), q, 1.5)
    assert model.distances(blind).min() < 0.0
    assert model.distances(aware).min() > SECURITY - TOLERANCE
    assert np.linalg.norm((tip(robot, blind[-1]) - goal)[[0, 2]]) < 0.01


@pytest.mark.slow
def test_a_goal_inside_an_obstacle_is_not_reached() -> None:
    robot, model = arm()
    q = robot.q_of(dict(zip(robot.joint_names, [0.9, -0.5, -0.6, -0.4], strict=True)))
    task = [FramePosition(robot.frame_names[-1], [0.45, 0.0, 0.02], name="tip", gain=5.0, mask="xz")]
    stepper = AvoidingStepper(robot, task, DT, model, VelocityDamper(0.1, SECURITY, 0.5, 8), acceleration=50.0)
    rows = path(stepper, q, 3.0)
    gaps = model.distances(rows).min(axis=1)
    assert gaps.min() > SECURITY - TOLERANCE
    assert gaps[-1] < SECURITY + 5e-3  # as near as it may


@pytest.mark.parametrize("acceleration", [12.0, *(pytest.param(a, marks=pytest.mark.slow) for a in (8.0, 20.0))])
def test_joints_brake_before_it_is_too_late(acceleration: float) -> None:
    """Joints that are slow to brake, with an influence distance that is shorter than the way they need."""
    robot, model = arm()
    q = robot.q_of(dict(zip(robot.joint_names, [1.6, 0.2, 0.1, 0.1], strict=True)))
    task = [FramePosition(robot.frame_names[-1], [0.45, 0.0, 0.02], name="tip", gain=20.0, mask="xz")]
    stepper = AvoidingStepper(robot, task, DT, model, VelocityDamper(0.04, SECURITY, 0.5, 8), acceleration=acceleration)
    rows = path(stepper, q, 2.0)
    assert np.abs(np.diff(rows, axis=0)).max() / DT > 1.0  # it was fast
    gap = model.distances(rows).min()
    assert gap > SECURITY - TOLERANCE
    assert gap < SECURITY + 0.01  # and had to brake


@pytest.mark.parametrize("acceleration", [6.0, np.inf])
@pytest.mark.parametrize("seed", range(4))
def test_no_pair_comes_too_near_whatever_is_asked_for(acceleration: float, seed: int) -> None:
    """Targets jump about; ticks are long, so that a pair can come in from beyond the influence distance in one."""
    robot, model = arm()
    rng = np.random.default_rng(seed)
    q = robot.q_of(dict(zip(robot.joint_names, [0.9, -0.5, -0.6, -0.4], strict=True)))
    task = [FramePosition(robot.frame_names[-1], tip(robot, q), name="tip", gain=20.0, mask="xz")]
    damper = VelocityDamper(0.04, SECURITY, 0.5, 8)
    stepper = AvoidingStepper(robot, task, 0.02, model, damper, acceleration=acceleration)
    rows, moved = [q], []
    for k in range(150):
        if k % 25 == 0:
            stepper.set_target("tip", rng.uniform([-0.8, 0.0, -0.8], [0.8, 0.0, 0.8]))
        found = stepper.step(rows[-1])
        rows.append(found.q_next)
        moved.append(found.v)
    gaps = model.distances(np.array(rows)).min(axis=1)
    assert gaps.min() > SECURITY - TOLERANCE
    assert gaps.min() < SECURITY + 0.02  # it mattered
    assert np.abs(np.diff(rows, axis=0)).sum() > 3.0  # and it moved
    assert (np.abs(np.diff(moved, axis=0)) <= acceleration * 0.02 + 1e-9).all()


def test_pairs_that_begin_too_near_keep_what_they_had() -> None:
    robot, model = arm()
    q = robot.q_of(dict(zip(robot.joint_names, [0.9, -0.5, -0.6, -0.4], strict=True)))
    first = model.distances(q)
    near = VelocityDamper(first.min() + 0.1, first.min() + 0.005, 0.5, 8)
    goal = np.array([0.45, 0.0, 0.02])
    task = [FramePosition(robot.frame_names[-1], goal, name="tip", gain=5.0, mask="xz")]
    stepper = AvoidingStepper(robot, task, DT, model, near, acceleration=50.0)
    gaps = model.distances(path(stepper, q, 1.0))
    assert (gaps >= np.minimum(first - near.give, near.security) - TOLERANCE).all()


def test_obstacles_move_between_ticks() -> None:
    robot, model = arm()
    q = robot.q_of(dict(zip(robot.joint_names, [0.3, 0.2, 0.1, 0.0], strict=True)))
    task = [FramePosition(robot.frame_names[-1], tip(robot, q), name="tip", gain=1.5, mask="xz")]
    stepper = AvoidingStepper(robot, task, DT, model, VelocityDamper(0.1, SECURITY, 0.5, 8), acceleration=50.0)
    start, rows = tip(robot, q), [q]
    for k in range(400):
        pose = np.eye(4)
        pose[:3, 3] = start + np.array([0.0, 0.0, -0.3 + 0.0005 * k])
        stepper.model = stepper.model.moved("ball", pose)
        rows.append(stepper.step(rows[-1]).q_next)
    assert stepper.model.distances(rows[-1]).min() > 0.0
    assert tip(robot, rows[-1])[2] > start[2] - 0.05


def test_odd_input_is_refused() -> None:
    robot, model = arm()
    task = [FramePosition(robot.frame_names[-1], name="tip")]
    with pytest.raises(ShapeError, match="another robot"):
        AvoidingStepper(sf.load("arm4"), task, DT, model, VelocityDamper(0.1, 0.02, 0.5))
    with pytest.raises(ShapeError, match="too fast"):
        AvoidingStepper(robot, task, 0.5, model, VelocityDamper(0.1, 0.02, 0.5))
