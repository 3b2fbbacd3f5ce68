"""The native loops against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import covariance
from surefoot.estimation.covariance import COVARIANCE
from surefoot.spatial.so3 import skew

N, NJ = 5, 7
M, SIZE = 3 * N, 15 + 3 * N


def call(name: str, *values) -> object:
    """Call a function as machine code; it must do the same as plain Python."""
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in values]
    plain = getattr(covariance, name)(*(x.reshape(-1) if isinstance(x, np.ndarray) else x for x in copies))
    found = COVARIANCE[name](*(x.ctypes.data if isinstance(x, np.ndarray) else x for x in values))
    for a, b in zip(values, copies, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    assert found == pytest.approx(plain)
    return found


def spd(rng, size: int) -> np.ndarray:
    root = rng.standard_normal((size, size))
    return root @ root.T + np.eye(size)


def test_a_step_is_that_of_the_dense_transition(rng):
    P, inputs, dt, g = spd(rng, SIZE), rng.standard_normal((SIZE, 6)), 0.1, rng.standard_normal(3)
    inputs[9:15] = 0.0
    known, noise, walk = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), rng.random(6), rng.random(SIZE)
    F = np.eye(SIZE)
    F[3:6, :3], F[6:9, :3], F[6:9, 3:6] = dt * skew(g), 0.5 * dt**2 * skew(g), dt * np.eye(3)
    F[:, 9:15] += inputs * known
    expected = F @ P @ F.T + (inputs * noise) @ inputs.T + np.diag(walk)
    call("predict", P, SIZE, inputs, known, noise, walk, dt, g, np.zeros((SIZE, SIZE)), np.zeros((6, SIZE)))
    np.testing.assert_allclose(P, expected, atol=1e-11)


def test_noise_of_the_points(rng):
    J, R, variance, likely = rng.standard_normal((N, 3, NJ)), spd(rng, 3), rng.random(NJ), 0.3 + 0.7 * rng.random(N)
    noise = np.zeros((M, M))
    call("point_noise", N, NJ, J, R, variance, likely, 0.1, np.zeros((M, NJ)), noise)
    turned = (R @ J / likely[:, None, None]).reshape(M, NJ)
    expected = turned @ np.diag(variance) @ turned.T + np.diag(np.repeat(0.1 / likely, 3) ** 2)
    np.testing.assert_allclose(noise, expected, atol=1e-12)


@pytest.mark.parametrize("rows", [np.arange(M), np.array([3, 4, 5, 9, 10, 11])], ids=["all", "some"])
def test_a_correction_is_that_of_dense_matrices(rng, rows):
    P, H, noise, z = spd(rng, SIZE), rng.standard_normal((M, SIZE)), spd(rng, M), rng.standard_normal(M)
    H[rng.random(H.shape) < 0.7] = 0.0
    K = np.linalg.solve(H[rows] @ P @ H[rows].T + noise[np.ix_(rows, rows)], H[rows] @ P).T
    rest = np.eye(SIZE) - K @ H[rows]
    expected = rest @ P @ rest.T + K @ noise[np.ix_(rows, rows)] @ K.T
    HP, S, step = np.zeros((M, SIZE)), np.zeros((M, M)), np.zeros(SIZE)
    call("innovate", P, SIZE, H, M, noise, HP, S)
    np.testing.assert_allclose(S, H @ P @ H.T + noise, atol=1e-11)
    far = call("distance", S, M, z, 6)
    assert far == pytest.approx(z[6:9] @ np.linalg.solve(S[6:9, 6:9], z[6:9]))
    scratch = [np.zeros((M, SIZE)), np.zeros((M, SIZE)), np.zeros(SIZE)]
    call("correct", P, SIZE, H, M, noise, z, rows, len(rows), HP, S, *scratch, step)
    np.testing.assert_allclose(P, expected, atol=1e-10)
    np.testing.assert_allclose(step, -K @ z[rows], atol=1e-11)
