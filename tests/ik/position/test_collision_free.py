"""Inverse kinematics that touches nothing: every success is free by the model, and holds by forward kinematics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.errors import ShapeError
from surefoot.geometry import Box, Capsule
from surefoot.ik.position.collision_free import HalfSpaces
from surefoot.motion.world.world import Obstacle, World
from surefoot.robot import Robot, placement
from surefoot.tasks import FramePose, FramePosition, Posture

HAND = "panda_hand_tcp"
WORLD = World(
    obstacles=(
        Obstacle("table", Box((0.6, 1.2, 0.05)), placement((0.6, 0.0, 0.25))),
        Obstacle("post", Capsule(0.05, 1.5), placement((0.3, 0.4, 0.7))),
    )
)


@pytest.fixture(scope="module")
def model() -> CollisionModel:
    return CollisionModel(sf.load("panda"), WORLD, margin=0.005)


def free_poses(model: CollisionModel, count: int) -> np.ndarray:
    """Poses of the hand at random postures that touch nothing."""
    robot, rng = model.robot, np.random.default_rng(4)
    Q = rng.uniform(robot.limits.lower, robot.limits.upper, (8 * count, robot.nq))
    Q[:, 8] = Q[:, 7]
    Q = Q[~np.asarray(model.in_collision(Q))][:count]
    return np.array([robot.placements(q)[HAND] for q in Q])


def holds(robot: Robot, q: np.ndarray, T: np.ndarray) -> bool:
    here = robot.placements(q)[HAND]
    turn = pin.log3(T[:3, :3] @ here[:3, :3].T)
    inside = (q >= robot.limits.lower).all() and (q <= robot.limits.upper).all()
    return bool(np.linalg.norm(here[:3, 3] - T[:3, 3]) < 1.01e-4 and np.linalg.norm(turn) < 1.01e-4 and inside)


@pytest.mark.slow
def test_a_batch_touches_nothing(model: CollisionModel) -> None:
    robot, poses = model.robot, free_poses(model, 60)
    plain = sf.ik.solve_batch(robot, [FramePose(HAND, name="hand")], {"hand": poses})
    assert np.mean(model.in_collision(plain.q)) > 0.05, "the problems are no test"
    found = sf.ik.solve_batch(robot, [FramePose(HAND, name="hand")], {"hand": poses}, collision=model)
    assert found.success.mean() >= 0.98
    assert not np.any(model.in_collision(found.q[found.success]))
    assert all(holds(robot, q, T) for q, T in zip(found.q[found.success], poses[found.success], strict=True))


def test_single_problems_touch_nothing_and_tell_their_errors(model: CollisionModel) -> None:
    solver = sf.ik.PositionSolver(
        model.robot, [FramePose(HAND, name="hand"), Posture(model.robot, name="wish")], collision=model
    )
    solved = 0
    for T in free_poses(model, 8):
        found = solver.solve(targets={"hand": T})
        again = solver.solve(targets={"hand": T})
        np.testing.assert_array_equal(found.q, again.q)
        solved += found.success
        if found.success:
            assert found.touching is None
            assert not model.in_collision(found.q)
            assert holds(model.robot, found.q, T)
            miss = np.linalg.norm(model.robot.placements(found.q)[HAND][:3, 3] - T[:3, 3])
            assert found.errors["hand"]["m"] == pytest.approx(miss, abs=1e-9)
    assert solved >= 7


def test_what_cannot_be_free_is_no_success(model: CollisionModel) -> None:
    """A hand in the middle of the table."""
    task = FramePosition(HAND, [0.6, 0.0, 0.25], name="hand")
    assert sf.ik.solve(model.robot, [task]).success
    found = sf.ik.solve(model.robot, [task], collision=model, restarts=8)
    assert not found.success
    assert found.touching is not None
    assert "too near" in found.message
    batch = sf.ik.solve_batch(model.robot, [task], {"hand": [task.target]}, collision=model, restarts=8)
    assert not batch.success.any()


def test_half_spaces_are_tangents_of_the_distances() -> None:
    """On a base that floats, where q has a quaternion and its rate another length than v."""
    robot = sf.load("panda", base="floating")
    model = CollisionModel(robot, WORLD)
    solver = sf.ik.PositionSolver(robot, [FramePosition(HAND, name="hand")], collision=model)
    rng, h = np.random.default_rng(0), 1e-5
    q = pin.integrate(robot.model, robot.home, 0.05 * rng.standard_normal(robot.nv))
    near = model.closest(q, 8, 0.1)
    assert len(near.columns) == 8
    (numbers,) = solver._free._tangents(q[None])
    A, b = numbers[:-8].reshape(8, robot.nq), numbers[-8:]
    for v in rng.standard_normal((10, robot.nv)):
        there = pin.integrate(robot.model, q, h * v)
        change = model.distances(there)[near.columns] - near.at.distance
        np.testing.assert_allclose(A @ (there - q) / h, change / h, atol=2e-3)
    np.testing.assert_allclose(A @ q - b, near.at.distance - 1e-3, atol=1e-12)


def test_half_spaces_that_are_everything_hold_everywhere() -> None:
    robot = sf.load("ur5")
    task = HalfSpaces(robot.nq, 3, name="apart")
    error = task.error(robot, robot.home, task.numbers)
    below, above = task.margins
    assert (error <= below).all()
    assert (-error <= above).all()


def test_a_model_of_another_robot_is_refused(model: CollisionModel) -> None:
    with pytest.raises(ShapeError, match="panda"):
        sf.ik.solve(sf.load("ur5"), [FramePosition("tool0", name="hand")], collision=model)
