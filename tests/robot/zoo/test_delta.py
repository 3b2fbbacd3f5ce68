"""The delta robot: closed home, inverse kinematics against the geometry of three spheres, three degrees of freedom."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import ModelError
from surefoot.kinematics import Frame, relative_jacobian
from surefoot.kinematics.frames import frame_of
from surefoot.robot.zoo.built import build
from surefoot.robot.zoo.loop_mechanisms import ARMS, delta, delta_arm_angles, delta_posture

ROBOT = build("delta")
SIZES = {"base": 0.12, "arm": 0.2, "forearm": 0.45, "platform": 0.05}


def gaps(robot, q):
    placements = robot.placements(q)
    return [
        (placements[loop.frame_b] @ loop.placement_b)[:3, 3] - (placements[loop.frame_a] @ loop.placement_a)[:3, 3]
        for loop in robot.loops
    ]


def posture(position):
    q = ROBOT.q_of(delta_posture(position))
    row = int(ROBOT.tree.q_index[ROBOT.joint_index("platform_slides")])
    q[row : row + 3] = np.asarray(position) - ROBOT.placements(ROBOT.home)["tool"][:3, 3]
    return q


def jacobian(q):
    """(9, 12) of the three loops, in the axes of the platform."""
    rows = []
    for loop in ROBOT.loops:
        frames = [frame_of(ROBOT, name) for name in (loop.frame_a, loop.frame_b)]
        tied = [
            Frame(frame.body, frame.R @ T[:3, :3], frame.p + frame.R @ T[:3, 3])
            for frame, T in zip(frames, (loop.placement_a, loop.placement_b), strict=True)
        ]
        rows.append(relative_jacobian(ROBOT.tree, *tied, q)[:3])
    return np.vstack(rows)


def meeting_point(angles):
    """The lowest point at the forearm's length from the three elbows, moved inwards by the platform: its position."""
    centres = []
    for k, angle in enumerate(angles):
        turn = 2.0 * np.pi * k / 3.0
        radius = SIZES["base"] - SIZES["platform"] + SIZES["arm"] * np.cos(angle)
        centres.append([radius * np.cos(turn), radius * np.sin(turn), -SIZES["arm"] * np.sin(angle)])
    a, b, c = np.array(centres)
    normal = np.cross(b - a, c - a)
    normal *= -np.sign(normal[2]) / np.linalg.norm(normal)
    rows = np.vstack([2 * (b - a), 2 * (c - a), normal])
    foot = np.linalg.solve(rows, [b @ b - a @ a, c @ c - a @ a, normal @ a])
    return foot + np.sqrt(SIZES["forearm"] ** 2 - (foot - a) @ (foot - a)) * normal


@pytest.mark.parametrize("sizes", [(), (0.2, 0.3, 0.7, 0.1), (0.05, 0.1, 0.3, 0.05)])
def test_home_closes_the_three_loops(sizes):
    robot = delta(*sizes).robot()
    assert (robot.nv, robot.nu, len(robot.loops)) == (12, 3, 3)
    np.testing.assert_allclose(gaps(robot, robot.home), 0.0, atol=1e-12)


@given(st.floats(-0.12, 0.12), st.floats(-0.12, 0.12), st.floats(-0.55, -0.35))
@settings(max_examples=40, deadline=None)
def test_inverse_kinematics(x, y, z):
    """The posture closes all loops, and three spheres about the elbows meet at the position."""
    q = posture([x, y, z])
    np.testing.assert_allclose(gaps(ROBOT, q), 0.0, atol=1e-12)
    np.testing.assert_allclose(ROBOT.placements(q)["tool"][:3, 3], [x, y, z], atol=1e-12)
    np.testing.assert_allclose(meeting_point(delta_arm_angles([x, y, z])), [x, y, z], atol=1e-9)


def test_home_is_what_the_inverse_kinematics_says():
    np.testing.assert_allclose(posture(ROBOT.placements(ROBOT.home)["tool"][:3, 3]), ROBOT.home, atol=1e-12)


def test_it_has_three_degrees_of_freedom_and_the_speeds_of_the_closed_form():
    position, velocity, h = np.array([0.05, -0.03, -0.45]), np.array([0.3, 0.1, -0.2]), 1e-6
    q, J = posture(position), jacobian(posture(position))
    assert np.linalg.matrix_rank(J, tol=1e-9) == 9
    v = (posture(position + h * velocity) - posture(position - h * velocity)) / (2 * h)
    np.testing.assert_allclose(J @ v, 0.0, atol=1e-8)
    slides = slice(int(ROBOT.tree.v_index[0]), 3)
    np.testing.assert_allclose(v[slides], velocity, atol=1e-8)
    others = np.delete(np.arange(12), [0, 1, 2])
    rates = np.linalg.solve(J[:, others], -J[:, :3] @ velocity)
    np.testing.assert_allclose(rates, v[others], atol=1e-7)
    assert q.shape == (12,)


def test_what_cannot_close_is_named():
    with pytest.raises(ModelError, match="forearm_a"):
        delta(forearm=0.2)
    with pytest.raises(ModelError, match="forearm_") as caught:
        delta_arm_angles([0.0, 0.0, -2.0])
    assert caught.value.evidence["residual"] == pytest.approx(np.hypot(0.07, 2.0) - 0.2 - 0.45)
    assert ARMS == ("a", "b", "c")
