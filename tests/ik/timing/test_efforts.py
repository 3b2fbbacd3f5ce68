"""Torque and friction limits along paths, against inverse dynamics, Coulomb's law and a search for any forces."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.contact import admissible_with_torques, placed_cones
from surefoot.errors import ShapeError
from surefoot.ik import PositionSolver
from surefoot.ik.timing import effort_limits
from surefoot.motion import Spot, Stance
from surefoot.motion.timing import PathLimits, path_through, time_path
from surefoot.robot import placement
from surefoot.tasks import Contact, FramePose


def test_torques_of_an_arm_reach_their_limits_and_keep_them() -> None:
    arm = sf.load("arm4")
    path = path_through(arm, np.random.default_rng(0).uniform(-1.0, 1.0, (4, 4)))
    timing = time_path(path, PathLimits(rows=[effort_limits(arm)]))
    motion = timing.trajectory(dt=0.002)
    used = np.abs(sf.compile(arm).rnea(motion.q, motion.v, motion.a)) / arm.limits.effort
    fast = np.abs(motion.v) / arm.limits.velocity
    assert timing.success
    assert used.max() <= 1.01
    assert np.quantile(np.maximum(used.max(axis=1), fast.max(axis=1)), 0.05) > 0.95
    weaker = time_path(path, PathLimits(rows=[effort_limits(arm, share=0.01)]))
    assert not weaker.success
    assert "torque" in weaker.cause


@pytest.fixture(scope="module")
def shifted() -> tuple[sf.Robot, Stance, np.ndarray]:
    """The hexapod moves its body 6 cm to the side over six feet that stand."""
    robot = sf.load("hexapod")
    frames = robot.placements(robot.home)
    poses = {name: frames[c.frame] @ c.placement for name, c in robot.contacts.items()}
    stance = Stance({name: Spot(placement(T[:3, 3]), 0.3) for name, T in poses.items()})
    body = np.tile(np.array(frames["body"]), (7, 1, 1))
    body[:, 1, 3] = np.linspace(-0.03, 0.03, 7)
    solver = PositionSolver(robot, [FramePose("body"), *(Contact(robot, name) for name in robot.contacts)])
    targets = {"body": body} | {name: np.tile(T, (7, 1, 1)) for name, T in poses.items()}
    found = solver.solve_batch(targets, np.tile(robot.home, (7, 1)), restarts=0)
    assert found.success.all()
    return robot, stance, found.q


def test_forces_of_feet_are_admissible_by_another_search(shifted: tuple[sf.Robot, Stance, np.ndarray]) -> None:
    robot, stance, q = shifted
    timing = time_path(path_through(robot, q), PathLimits(velocity=50.0, rows=[effort_limits(robot, stance, 0.8)]))
    motion = timing.trajectory(dt=0.004)
    assert timing.success
    # any forces within the exact pyramids will do, with 1 % more torque
    T = np.tile([spot.pose for spot in stance.spots.values()], (len(motion), 1, 1, 1))
    cones = placed_cones([robot.contacts[name] for name in stance.names], T, friction=0.3)
    frames = [robot.contacts[name].frame for name in stance.names]
    kernels = sf.compile(robot)
    J = np.stack([kernels.jacobian(motion.q, frame) for frame in frames], axis=1)
    arms = T[:, :, :3, 3] - kernels.frames(motion.q, frames)[:, :, :3, 3]
    J[:, :, :3] += np.cross(J[:, :, 3:], arms[..., None], axis=2)
    most = np.zeros(robot.nv)
    most[robot.driven] = 0.81 * robot.limits.effort[robot.driven]
    needed = np.asarray(kernels.rnea(motion.q, motion.v, motion.a))
    assert admissible_with_torques(cones, J, needed, -most, most).attained.all()


def test_friction_bounds_the_time(shifted: tuple[sf.Robot, Stance, np.ndarray]) -> None:
    """The centre of mass cannot accelerate faster than μ g; μ / √2 inscribed."""
    robot, stance, q = shifted
    timing = time_path(path_through(robot, q), PathLimits(velocity=50.0, rows=[effort_limits(robot, stance)]))
    com = np.asarray(sf.compile(robot).com(q))
    way = np.linalg.norm(com[-1] - com[0])
    fastest = 2.0 * np.sqrt(way / (0.3 * 9.81))
    assert fastest <= timing.duration <= 1.6 * fastest
    assert any("force" in name for name in timing.binding)


def test_what_cannot_stand_has_no_timing(shifted: tuple[sf.Robot, Stance, np.ndarray]) -> None:
    robot, stance, q = shifted
    one_side = Stance({name: spot for name, spot in stance.spots.items() if name.startswith("left")})
    timing = time_path(path_through(robot, q), PathLimits(rows=[effort_limits(robot, one_side)]))
    assert not timing.success
    assert "static balance" in timing.cause
    with pytest.raises(ShapeError, match="floating base"):
        effort_limits(robot)
