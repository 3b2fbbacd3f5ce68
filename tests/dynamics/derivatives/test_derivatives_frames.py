import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.dynamics.algebra.block_inertia import mounted_turn
from surefoot.dynamics.derivatives.frames import joint_position, lean_bodies
from surefoot.kinematics import body_placements
from surefoot.kinematics.recursion.bodies import bodies
from surefoot.spatial import se3
from tests.dynamics.examples import armed, followers, robot_named, state

ROBOTS = [armed(), followers("reduce"), *(robot_named(name) for name in ("g1", "talos", "panda", "baxter"))]


def moments(body) -> np.ndarray:
    """∫ x xᵀ dm of a body, from its inertia."""
    second = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    return np.block([[second, body.moment[:, None]], [body.moment, np.array(body.mass)]])


def lean_placements(tree, q) -> list[np.ndarray]:
    """T_world_lean of every body, through the lean frames alone."""
    out = []
    for i, lean in enumerate(lean_bodies(tree)):
        mount, turn, p = mounted_turn(lean.body, joint_position(tree, i, lean, q))
        own = se3.make(mount @ turn, p)
        out.append(out[tree.parents[i]] @ own if tree.parents[i] >= 0 else own)
    return out


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_lean_bodies_are_where_the_bodies_are(robot):
    q, _, _ = state(robot, 1)
    found = lean_placements(robot.tree, q)
    for (R, p), lean, T in zip(body_placements(robot.tree, q), lean_bodies(robot.tree), found, strict=True):
        assert_allclose(T, se3.make(R, p) @ lean.T, atol=2e-14)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_lean_bodies_have_the_same_masses(robot):
    for body, lean in zip(bodies(robot.tree), lean_bodies(robot.tree), strict=True):
        back = lean.T @ lean.moments @ lean.T.T
        assert_allclose(back, moments(body), atol=1e-14 * max(1.0, np.abs(back).max()))
        assert_allclose(moments(lean.body), lean.moments, atol=1e-14)
        assert (lean.moments == lean.moments.T).all()


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_hinges_lie_on_coordinate_axes_and_pass_through_the_origin(robot):
    for body, lean in zip(bodies(robot.tree), lean_bodies(robot.tree), strict=True):
        if body.kind in ("revolute", "continuous"):
            assert np.count_nonzero(lean.body.axis) == 1
            assert_allclose(lean.T[:3, :3] @ lean.body.axis, body.axis, atol=1e-15)
            assert_allclose(np.cross(lean.T[:3, 3], body.axis), 0.0, atol=1e-15)
        else:
            assert (np.eye(4) == lean.T).all()


def test_wrenches_do_the_same_work(rng):
    """On any motion of the body, whichever frame both are written in."""
    for lean in lean_bodies(armed().tree):
        wrench, motion = rng.standard_normal((2, 6))
        there = np.linalg.solve(se3.Ad(lean.T), motion)
        assert_allclose(lean.wrench(wrench) @ there, wrench @ motion, atol=1e-13)


def numbers(found) -> int:
    """Nonzero entries of positions, and of rotations that are none by quarter turns."""
    return sum(np.count_nonzero(body.p) + np.count_nonzero(body.R % 1.0) for body in found)


@pytest.mark.parametrize("name", ["g1", "talos", "panda", "baxter"])
def test_lean_frames_need_fewer_numbers(name):
    tree = robot_named(name).tree
    assert numbers([lean.body for lean in lean_bodies(tree)]) < numbers(bodies(tree))


def test_only_the_shoulders_of_g1_stand_askew():
    tree = robot_named("g1").tree
    askew = [name for name, lean in zip(tree.joint_names, lean_bodies(tree), strict=True) if np.any(lean.body.R % 1.0)]
    assert askew == ["left_shoulder_pitch_joint", "right_shoulder_pitch_joint"]
