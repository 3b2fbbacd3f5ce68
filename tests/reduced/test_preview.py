"""Preview control against the dense least-squares problem that it solves, and against its own windowed form."""

import time

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.reduced import preview_control, preview_gains, walking_reference
from surefoot.reduced.preview import cart_table
from tests.reduced.walks import HEIGHT, walk

OMEGA, DT, EFFORT = 3.6, 0.03, 1e-5


def reference(samples: int) -> np.ndarray:
    k = np.arange(samples)
    return np.stack([0.2 * (k // 30), 0.1 * (-1.0) ** (k // 30)], 1)


def test_against_dense_least_squares() -> None:
    """The optimum over a horizon so long that its end does not matter, from the stacked recursion of the model."""
    n, tail = 50, 130
    r = np.vstack([reference(n), np.tile(reference(n)[-1], (tail, 1))])
    A, B, C = cart_table(OMEGA, DT)
    com, velocity = np.array([0.03, -0.02]), np.array([0.1, 0.05])
    x = np.stack([com, velocity, OMEGA**2 * (com - r[0])])
    free, forced, response = np.empty((n + tail, 2)), np.zeros((n + tail, n + tail)), B
    impulse = []
    for k in range(n + tail):
        free[k] = C @ x
        x = A @ x
        impulse.append(C @ response)
        response = A @ response
    for k in range(1, n + tail):
        forced[k, :k] = impulse[k - 1 :: -1]
    rows = np.vstack([forced, np.sqrt(EFFORT) * np.eye(n + tail)])
    Q, R = np.linalg.qr(rows)
    u = np.linalg.solve(R, Q.T @ np.vstack([r - free, np.zeros((n + tail, 2))]))
    x, expected = np.stack([com, velocity, OMEGA**2 * (com - r[0])]), []
    for k in range(n):
        expected.append(x)
        x = A @ x + np.outer(B, u[k])
    found = np.stack(preview_control(reference(n), OMEGA, DT, com, velocity, EFFORT), 1)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_against_a_window_of_gains() -> None:
    n, window = 200, 1500
    r = reference(n)
    A, B, _ = cart_table(OMEGA, DT)
    K, f = preview_gains(OMEGA, DT, window, EFFORT)
    assert f.sum() == pytest.approx(K[0])
    ahead = np.vstack([r, np.tile(r[-1], (window, 1))])
    x, expected = np.stack([r[0], np.zeros(2), np.zeros(2)]), []
    for k in range(n):
        expected.append(x)
        x = A @ x + np.outer(B, f @ ahead[k + 1 : k + 1 + window] - K @ x)
    found = np.stack(preview_control(r, OMEGA, DT, r[0], np.zeros(2), EFFORT), 1)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_reference_at_rest_stays_at_rest() -> None:
    c, v, a = preview_control(np.tile([0.1, -0.2], (50, 1)), OMEGA, DT, (0.1, -0.2), (0.0, 0.0))
    np.testing.assert_allclose(c, np.tile([0.1, -0.2], (50, 1)), atol=1e-12)
    np.testing.assert_allclose(np.hstack([v, a]), 0.0, atol=1e-9)


def test_twenty_steps_take_few_milliseconds() -> None:
    pieces, taken = walk(20), []
    for _ in range(5):
        begin = time.perf_counter()
        walking_reference("preview", pieces, HEIGHT)
        taken.append(time.perf_counter() - begin)
    assert min(taken) < 5e-3


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ShapeError, match="empty"):
        preview_control(np.zeros((0, 2)), OMEGA, DT, (0.0, 0.0), (0.0, 0.0))
    with pytest.raises(ShapeError, match="dt"):
        preview_control(np.zeros((3, 2)), OMEGA, 0.0, (0.0, 0.0), (0.0, 0.0))
