"""Rows measured by the mass matrix: rank in order, steps and impulses, what stays free."""

import numpy as np
import pytest

from surefoot.dynamics.constraints.measured_rows import (
    energy_factor,
    impulses_of,
    measured_rows,
    outside,
    shortest_step,
)
from surefoot.errors import ModelError


def example(seed, n=7, m=4):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((n, n))
    return root @ root.T + 0.1 * np.eye(n), rng.standard_normal((m, n)), rng


def test_rows_that_depend_on_those_before_them_are_named():
    M, J, _ = example(0)
    rows = np.vstack([J[0], np.zeros(7), 2.0 * J[0], J[1], J[0] - 3.0 * J[1], 1e-6 * J[2]])
    found = measured_rows(energy_factor(M), rows)
    assert found.independent == (0, 3, 5)
    assert found.redundant == (1, 2, 4)


@pytest.mark.parametrize("copies", [0, 2])
def test_step_is_the_shortest_that_makes_the_change(copies):
    """Against the pseudoinverse: Δv = M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ c, and Λ the least that makes it."""
    M, J, rng = example(1)
    J = np.vstack([J, J[:copies]])
    change = J @ rng.standard_normal(7)
    C = energy_factor(M)
    found = measured_rows(C, J)
    y = shortest_step(found, change)
    A = J @ np.linalg.solve(M, J.T)
    impulses = np.linalg.pinv(A, rcond=1e-10) @ change
    np.testing.assert_allclose(np.linalg.solve(C.T, y), np.linalg.solve(M, J.T @ impulses), atol=1e-9)
    np.testing.assert_allclose(impulses_of(found, y), impulses, atol=1e-8)


def test_what_is_outside_moves_no_row():
    M, J, rng = example(2)
    C = energy_factor(M)
    free = outside(measured_rows(C, J), rng.standard_normal(7))
    np.testing.assert_allclose(J @ np.linalg.solve(C.T, free), 0.0, atol=1e-12)
    assert np.linalg.norm(free) > 0.1


def test_no_rows_leave_everything_free():
    M, _, rng = example(3)
    found, y = measured_rows(energy_factor(M), np.zeros((0, 7))), rng.standard_normal(7)
    np.testing.assert_array_equal(outside(found, y), y)
    np.testing.assert_array_equal(shortest_step(found, np.zeros(0)), np.zeros(7))


def test_a_mass_matrix_without_inertia_is_refused():
    with pytest.raises(ModelError) as caught:
        energy_factor(np.diag([1.0, 0.0]))
    assert caught.value.next_step
