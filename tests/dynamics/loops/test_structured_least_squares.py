"""Least squares by reflections: as numpy has them, also through a trace, and exact zeros cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.dynamics.loops.subsystem_walk import structured_least_squares
from tests.dynamics.examples import assert_same, operations, traced


@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (6, 4), (9, 9)])
def test_a_trace_gives_the_same_numbers(shape):
    rng = np.random.default_rng(shape[0])
    A, right = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    found = traced(structured_least_squares, A, right)
    assert_same(found, np.linalg.lstsq(A, right, rcond=None)[0], 1e-12)
    assert_same(found, structured_least_squares(A, right), 1e-12)


def test_no_pivot_is_needed():
    """Matrices whose leading minors vanish."""
    A = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [3.0, 0.0, 0.0]])
    assert_same(traced(structured_least_squares, A, np.eye(3)), np.linalg.inv(A))


def _blocks(x: np.ndarray) -> np.ndarray:
    """Two loops of two joints each that share a third one: (4, 4) of twelve numbers."""
    A = np.zeros((4, 4), dtype=object)
    A[:2, 0], A[2:, 1], A[:, 2:] = x[:2], x[2:4], x[4:].reshape(4, 2)
    return A


def test_exact_zeros_cost_nothing():
    def sparse(x, right):
        return structured_least_squares(_blocks(x), right.reshape(4, 1))

    def dense(x, right):
        return structured_least_squares(x.reshape(4, 4), right.reshape(4, 1))

    assert operations(sparse, 12, 4) < 0.7 * operations(dense, 16, 4)
    rng = np.random.default_rng(1)
    x, right = rng.standard_normal(12), rng.standard_normal(4)
    assert_same(traced(sparse, x, right)[:, 0], np.linalg.solve(_blocks(x).astype(float), right))
