import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.ik.predictive.kernels import step_costate
from surefoot.ik.predictive.study import harvester_study, predictive_ik
from surefoot.kinematics import body_placements


@pytest.fixture(scope="module")
def study():
    return harvester_study()


@pytest.fixture(scope="module")
def kernels(study):
    return predictive_ik(study, 0.1).kernels


@pytest.fixture
def states(study, rng):
    """Postures, null-space velocities and what is given, for eleven moments of the motion."""
    pose, twist = study.reference(np.linspace(0.5, 2.5, 11))
    mast = np.repeat(study.repulsion.obstacle_vertices()[None], 11, axis=0)
    q = study.q0 + 0.3 * rng.normal(size=(11, 9))
    return q, rng.normal(size=(11, 9)), pose, twist, mast, np.repeat([[1.0, 30.0, 2.0]], 11, axis=0)


def test_linearisation_is_the_plain_text(kernels, states):
    batch = kernels.linearise(*states)
    for k in range(11):
        one = [part[k] for part in states]
        for found, alone, plain in zip(batch, kernels.linearise(*one), kernels.model.linearise(*one), strict=True):
            assert_allclose(found[k], plain, atol=1e-9 * (1.0 + np.abs(plain).max()))
            assert_allclose(alone, plain, atol=1e-9 * (1.0 + np.abs(plain).max()))


def test_local_rates_are_the_plain_text(kernels, states):
    q, _, *given = states
    found = kernels.local(q, *given)
    for k in range(11):
        assert_allclose(found[k], kernels.model.follow_gradient(q[k], *(part[k] for part in given)), atol=1e-9)


def test_distance_of_hand_and_mast_by_dense_sampling(study, kernels, states):
    q, mast = states[0], states[4]
    found = kernels.distances(q, mast)
    k = next(i for i, (a, b) in enumerate(study.repulsion.pairs) if a.link == "wrist_roll_link" and b.body < 0)
    a, b = study.repulsion.pairs[k]
    part = np.linspace(0.0, 1.0, 2001)[:, None]
    for i in range(11):
        R, p = body_placements(study.robot.tree, q[i])[a.body]
        ends = a.volume.vertices @ R.T + p
        points = (1.0 - part) * ends[0] + part * ends[1]
        height = np.clip(points[:, 2], *mast[i, :, 2])
        gaps = np.hypot(np.hypot(points[:, 0], points[:, 1]), points[:, 2] - height)
        assert_allclose(found[i, k], gaps.min() - a.volume.radius - b.volume.radius, atol=1e-6)


def test_costate_of_a_linear_system(rng):
    """x' = A x + u with cost cᵀ x: λ at the start is the sum of (1 + h A)ᵀ powers times h c."""
    A, c, h, n = rng.normal(size=(3, 3)), rng.normal(size=3), 0.1, 20
    costate, expected = np.zeros(3), np.zeros(3)
    for k in range(n):
        costate, gradient = step_costate(costate, A, np.eye(3), c, np.zeros(3), np.array([h]))
        assert_allclose(gradient, expected, atol=1e-12)
        expected = expected + np.linalg.matrix_power(np.eye(3) + h * A, k).T @ (h * c)
    assert_allclose(costate, expected, atol=1e-12)
