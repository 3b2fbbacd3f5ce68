"""Duality of hard and soft directions, torques of a limb, dual null space."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.contact.distribution import HARD, contact_bases, dual_null_space, limb_statics, weighted_inverse
from surefoot.errors import UnknownNameError


@pytest.mark.parametrize("kind", HARD)
def test_hard_and_soft_directions_do_no_work(kind: str) -> None:
    B_c, B_m = contact_bases(kind)
    assert np.linalg.matrix_rank(np.hstack([B_c, B_m])) == 6
    np.testing.assert_array_equal(B_m.T @ B_c, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_dual_null_space_is_similar_to_that_of_motions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J, root = rng.normal(size=(6, 9)), rng.normal(size=(9, 9))
    W = root @ root.T + np.eye(9)
    N = dual_null_space(J, W)
    motions = np.eye(9) - weighted_inverse(J, W) @ J
    np.testing.assert_allclose(np.linalg.solve(W, N @ W), motions, atol=1e-9)
    np.testing.assert_allclose(N @ N, N, atol=1e-9)
    np.testing.assert_allclose(weighted_inverse(J, W).T @ N, 0.0, atol=1e-9)


def test_torques_of_an_arm_by_virtual_work_and_dynamics() -> None:
    """Power at the joints is power at the contact; free torques do not accelerate the hand (weights: mass matrix)."""
    robot = sf.load("panda")
    rng = np.random.default_rng(0)
    data, frame = robot.model.createData(), robot.model.nframes - 1
    q, v = pin.neutral(robot.model) + rng.uniform(-0.5, 0.5, robot.nq), rng.normal(size=robot.nv)
    J = np.array(pin.computeFrameJacobian(robot.model, data, q, frame, pin.ReferenceFrame.LOCAL))
    M = np.array(pin.crba(robot.model, data, q))
    M = np.triu(M) + np.triu(M, 1).T
    F = rng.normal(size=6)
    found = limb_statics(J, "soft_finger", F, rng.normal(size=robot.nv), M)
    assert (found.hard + found.soft) @ v == pytest.approx(F @ J @ v)
    np.testing.assert_allclose(J @ np.linalg.solve(M, found.free), 0.0, atol=1e-8)
    assert np.linalg.norm(found.free) > 1e-3
    sole = limb_statics(J, "sole", F)
    np.testing.assert_array_equal(sole.soft, 0.0)
    np.testing.assert_allclose(sole.torque, J.T @ F)
    with pytest.raises(UnknownNameError, match="contact"):
        limb_statics(J, "glue", F)
