"""Dense dyadic reduction against rational numbers, singular values and the laws of a weighted index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import ShapeError
from surefoot.solvers.dyadic.solve import Index, dyadic_solve
from tests.solvers.dyadic_oracle import as_printed, exact

seeds = st.integers(0, 2**32 - 1)


def random_index(seed, orders=2.0, unknowns=9, rows=12):
    """A, b, z_d, d0, d1: some entries 0, weights over some orders of magnitude."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, unknowns), rng.integers(0, rows)
    A = rng.standard_normal((m, n)) * (rng.random((m, n)) < rng.uniform(0.3, 1.0))
    d0, d1 = (10.0 ** rng.uniform(-orders / 2, orders / 2, k) for k in (n, m))
    return A, rng.standard_normal(m), rng.standard_normal(n), d0, d1


def least_squares(A, b, z_d, d0, d1):
    root = np.sqrt(np.concatenate([d0, d1]))
    rows = root[:, None] * np.vstack([np.eye(len(z_d)), A])
    return np.linalg.lstsq(rows, root * np.concatenate([z_d, -b]), rcond=1e-12)[0]


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_closed_form(seed):
    A, b, z_d, d0, d1 = given_index = random_index(seed)
    found = dyadic_solve(*given_index)
    closed = np.linalg.solve(np.diag(d0) + (A.T * d1) @ A, d0 * z_d - (A.T * d1) @ b)
    np.testing.assert_allclose(found.z, closed, rtol=0, atol=1e-12 * (1 + abs(closed).max()))
    np.testing.assert_allclose(found.z, least_squares(*given_index), rtol=0, atol=1e-12 * (1 + abs(closed).max()))
    np.testing.assert_allclose(found.index, Index(*given_index).value(closed), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_weights_over_twenty_orders_of_magnitude(seed):
    numbers = random_index(seed, orders=20.0, unknowns=7, rows=9)
    truth = exact(*numbers)
    np.testing.assert_allclose(dyadic_solve(*numbers).z, truth, rtol=0, atol=1e-10 * (1 + abs(truth).max()))


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_index_is_the_minimum(seed):
    numbers = random_index(seed)
    found, index = dyadic_solve(*numbers), Index(*numbers)
    np.testing.assert_allclose(found.index, index.value(found.z), rtol=1e-10, atol=1e-12)
    for step in np.random.default_rng(seed).standard_normal((5, len(found.z))):
        assert index.value(found.z + 1e-3 * step) > found.index


@pytest.mark.parametrize("seed", range(60))
def test_rules_that_lose_rank_without_wishes(seed):
    """d0 = 0: a minimum all the same, of the right number of free unknowns, which keep their wishes."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 30), rng.integers(2, 40)
    rank = rng.integers(1, min(n, m) + 1)
    A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    b, z_d, d1 = rng.standard_normal(m), rng.standard_normal(n), 10.0 ** rng.uniform(-1, 1, m)
    found = dyadic_solve(A, b, z_d, 0.0, d1)
    least = least_squares(A, b, z_d, np.zeros(n), d1)
    scale = np.linalg.norm(A) * (1 + np.linalg.norm(found.z) + np.linalg.norm(least))
    np.testing.assert_allclose(A @ found.z, A @ least, rtol=0, atol=1e-9 * scale)
    assert len(found.undetermined) == n - rank
    np.testing.assert_array_equal(found.z[found.undetermined], z_d[found.undetermined])


def test_underdetermined_without_wishes():
    found = dyadic_solve([[1.0, 1.0, 1.0]], [-6.0], [0.0, 1.0, 2.0], 0.0, 1.0)
    np.testing.assert_allclose(found.z, [3.0, 1.0, 2.0])
    assert found.index == 0.0
    assert found.undetermined.tolist() == [1, 2]


def test_nothing_but_wishes():
    found = dyadic_solve(np.zeros((0, 2)), [], [3.0, -1.0], [1.0, 0.0], [])
    assert (found.z.tolist(), found.index, found.undetermined.tolist()) == ([3.0, -1.0], 0.0, [1])


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_rows_of_no_weight_say_nothing(seed):
    A, b, z_d, d0, d1 = random_index(seed)
    off = np.arange(len(b)) % 2 == 0
    with_zeros = dyadic_solve(A, b, z_d, d0, np.where(off, 0.0, d1))
    without = dyadic_solve(A[~off], b[~off], z_d, d0, d1[~off])
    np.testing.assert_array_equal(with_zeros.z, without.z)
    assert with_zeros.index == without.index


def test_rules_that_contradict_each_other_meet_at_their_weights():
    found = dyadic_solve([[1.0, 1.0], [1.0, 1.0]], [-1.0, -2.0], [0.0, 0.0], 0.0, [3.0, 1.0])
    residuals = Index([[1.0, 1.0], [1.0, 1.0]], [-1.0, -2.0], [0.0, 0.0], 0.0, [3.0, 1.0]).residuals(found.z)
    np.testing.assert_allclose(residuals[2:], [0.25, -0.75], atol=1e-15)
    assert found.index == pytest.approx(0.5 * (3.0 * 0.25**2 + 0.75**2))


def repeated_rules(seed):
    """Four rules for seven unknowns and four sums of these, in whole numbers, so that they are sums exactly."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-5, 6, (4, 7)).astype(float)
    A = np.vstack([A, rng.integers(-2, 3, (4, 4)) @ A])
    return A, *(rng.integers(-5, 6, k).astype(float) for k in (7, 7, 8)), 10.0 ** rng.integers(-1, 2, 8)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("weight", [1e-4, 1e-8, 1e-12, 1e-14, 1e-16, 1e-19])
def test_wishes_decide_what_rules_leave_open(seed, weight):
    """Rules that repeat each other, and wishes that are much lighter."""
    A, z, z_d, _, d1 = repeated_rules(seed)
    numbers = (A, -A @ z, z_d, np.full(7, weight), d1)
    truth = exact(*numbers)
    np.testing.assert_allclose(dyadic_solve(*numbers).z, truth, rtol=0, atol=1e-10 * (1 + abs(truth).max()))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("weight", [1e-4, 1e-8, 1e-19])
def test_contradictions_do_not_reach_unknowns_that_they_say_nothing_about(seed, weight):
    """Right sides that do not fit: rounding must not make the rules that are sums rules for further unknowns."""
    A, _, z_d, b, d1 = repeated_rules(seed)
    numbers = (A, b, z_d, np.full(7, weight), d1)
    truth, found = exact(*numbers), dyadic_solve(*numbers)
    scale = 1 + abs(truth).max() + abs(found.z).max()
    np.testing.assert_allclose(A @ found.z, A @ truth, rtol=0, atol=1e-9 * scale)
    assert abs(found.z - truth).max() < min(1e-12 / weight, 1e3) * (1 + abs(truth).max())


@settings(max_examples=50, deadline=None)
@given(seeds, st.sampled_from([1e-30, 1e-8, 1e30]))
def test_all_weights_times_a_number(seed, factor):
    A, b, z_d, d0, d1 = random_index(seed)
    one, other = dyadic_solve(A, b, z_d, d0, d1), dyadic_solve(A, b, z_d, factor * d0, factor * d1)
    np.testing.assert_allclose(other.z, one.z, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(other.index, factor * one.index, rtol=1e-10, atol=1e-12 * factor)


def test_units_of_the_unknowns_do_not_matter():
    rng = np.random.default_rng(4)
    A, b, z_d = rng.standard_normal((6, 5)), rng.standard_normal(6), rng.standard_normal(5)
    units = np.array([1e-9, 1e9, 1.0, 1e-4, 1e6])
    one = dyadic_solve(A, b, z_d, 0.0, 1.0)
    other = dyadic_solve(A * units, b, z_d / units, 0.0, 1.0)
    np.testing.assert_allclose(other.z * units, one.z, rtol=1e-9)


def test_the_printed_form_loses_what_a_light_wish_is_large_by():
    """(4.38) subtracts the wish of 1e12 again that it has added; a weighted mean of the rows does not."""
    A, b, z_d, d0, d1 = np.array([[1.0, 2.0], [1.0, -1.0]]), np.array([-3.1, 0.2]), np.full(2, 1e12), 1e-25, 1.0
    truth = exact(A, b, z_d, np.full(2, d0), np.full(2, d1))
    np.testing.assert_allclose(dyadic_solve(A, b, z_d, d0, d1).z, truth, rtol=1e-13)
    assert abs(as_printed(A, b, z_d, np.full(2, d0), np.full(2, d1)) - truth).max() > 1e-7


def test_a_fixed_smallest_weight_switches_light_wishes_off():
    """With ε of the machine's accuracy in (4.36), rules and wishes of weight 1e-19 would not be heard."""
    A, b, z_d, d0, d1 = np.array([[1.0]]), np.array([-1.0]), np.zeros(1), np.full(1, 1e-19), np.full(1, 3e-19)
    assert dyadic_solve(A, b, z_d, d0, d1).z == pytest.approx(0.75)
    assert as_printed(A, b, z_d, d0, d1, smallest=2.2e-16)[0] == 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": [1.0, 2.0]}, "matrix"),
        ({"b": [1.0]}, "`b` must be"),
        ({"z_d": 0.0}, "`z_d` must be"),
        ({"d0": [1.0, -1.0]}, "`d0` must not be negative"),
        ({"d1": np.nan}, "`d1` is not finite"),
        ({"A": [[1.0, np.inf], [1.0, 1.0]]}, "`A` is not finite"),
        ({"A": [[1e200, 1.0], [1.0, 1.0]]}, "too large"),
    ],
)
def test_wrong_numbers_are_refused(change, message):
    numbers = {"A": np.eye(2), "b": np.zeros(2), "z_d": np.zeros(2), "d0": 1.0, "d1": 1.0} | change
    with pytest.raises(ShapeError, match=message):
        dyadic_solve(**numbers)
