"""The sparse compiled reduction against the dense one, rational numbers and itself."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.solvers.dyadic.order import ORDERS
from surefoot.solvers.dyadic.plan import DyadicPlan, run_plan
from surefoot.solvers.dyadic.solve import Index, dyadic_solve
from tests.solvers.dyadic.test_dyadic import least_squares, random_index
from tests.solvers.dyadic.test_dyadic_order import patterns
from tests.solvers.dyadic_oracle import exact

seeds = st.integers(0, 2**32 - 1)


def numbers_for(pattern, seed, orders=2.0):
    rng = np.random.default_rng(seed)
    m, n = pattern.shape[0], pattern.shape[1] - 1
    B = rng.standard_normal(pattern.shape) * pattern
    d0, d1 = (10.0 ** rng.uniform(-orders / 2, orders / 2, k) for k in (n, m))
    return B[:, :n], B[:, n], rng.standard_normal(n), d0, d1


@settings(max_examples=50, deadline=None)
@given(patterns, seeds, st.sampled_from(ORDERS), st.integers(1, 3))
def test_every_order_gives_the_same_minimum(pattern, seed, order, processors):
    numbers = numbers_for(pattern, seed)
    found, dense = DyadicPlan(pattern, True, order, processors).solve(*numbers), dyadic_solve(*numbers)
    scale = 1 + abs(dense.z).max()
    np.testing.assert_allclose(found.z, dense.z, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found.z, least_squares(*numbers), rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(found.index, dense.index, rtol=1e-10, atol=1e-12)


def test_columns_are_the_dense_reduction():
    numbers = numbers_for(np.ones((9, 8), dtype=bool), 3)
    found, dense = DyadicPlan(np.ones((9, 8), dtype=bool), order="columns").solve(*numbers), dyadic_solve(*numbers)
    np.testing.assert_allclose(found.z, dense.z, rtol=1e-13)
    np.testing.assert_allclose(found.weights, dense.weights, rtol=1e-13)


@pytest.mark.parametrize("seed", range(40))
def test_weights_over_twenty_orders_of_magnitude(seed):
    A, b, *rest = random_index(seed, orders=20.0, unknowns=7, rows=9)
    truth = exact(A, b, *rest)
    found = DyadicPlan(np.column_stack([A, b]) != 0.0).solve(A, b, *rest)
    np.testing.assert_allclose(found.z, truth, rtol=0, atol=1e-10 * (1 + abs(truth).max()))


@settings(max_examples=50, deadline=None)
@given(patterns, seeds)
def test_without_wishes_and_with_rules_switched_off(pattern, seed):
    A, b, z_d, _, d1 = numbers_for(pattern, seed)
    d1[::3] = 0.0
    found = DyadicPlan(pattern).solve(A, b, z_d, 0.0, d1)
    least = least_squares(A, b, z_d, np.zeros(len(z_d)), d1)
    scale = 1 + abs(A).sum() * (1 + abs(found.z).max() + abs(least).max())
    np.testing.assert_allclose((A @ found.z)[d1 > 0], (A @ least)[d1 > 0], rtol=0, atol=1e-9 * scale)
    assert len(found.undetermined) == len(z_d) - np.linalg.matrix_rank(A[d1 > 0], tol=1e-9)
    np.testing.assert_array_equal(found.z[found.undetermined], z_d[found.undetermined])


def test_rows_that_repeat_and_contradict_each_other():
    rng = np.random.default_rng(8)
    A, b = rng.standard_normal((6, 9)), rng.standard_normal(6)
    A, b = np.vstack([A, A[:3] + A[3:]]), np.concatenate([b, [0.5, -0.3, 2.0]])
    plan = DyadicPlan(np.column_stack([A, b]) != 0.0)
    for weight in (0.0, 1e-19):
        found = plan.solve(A, b, np.ones(9), weight, 1.0)
        least = np.linalg.lstsq(A, -b - A.sum(axis=1), rcond=1e-12)[0] + 1.0
        np.testing.assert_allclose(A @ found.z, A @ least, atol=1e-11)
        assert found.index == pytest.approx(Index(A, b, np.ones(9), 0.0, 1.0).value(least))
        assert len(found.undetermined) == (3 if weight == 0.0 else 0)


def test_zeros_inside_the_pattern():
    """Entries that happen to be 0 change nothing, and a step with one is left out."""
    numbers = numbers_for(np.random.default_rng(2).random((8, 7)) < 0.5, 5)
    np.testing.assert_allclose(
        DyadicPlan(np.ones((8, 7), dtype=bool)).solve(*numbers).z, dyadic_solve(*numbers).z, rtol=1e-12
    )


def test_a_node_of_the_size_of_a_walking_machine():
    """107 unknowns and 97 rules, as many as the dynamics of the biped in 6.2."""
    pattern = np.random.default_rng(1).random((97, 108)) < 0.03
    numbers = numbers_for(pattern, 6)
    found = DyadicPlan(pattern).solve(*numbers)
    np.testing.assert_allclose(found.z, least_squares(*numbers), rtol=0, atol=1e-11)


def test_machine_code_does_what_its_text_does():
    pattern = np.random.default_rng(1).random((9, 8)) < 0.4
    A, b, z_d, d0, d1 = numbers_for(pattern, 6)
    plan = DyadicPlan(pattern)
    at, (m, n) = plan.layout, A.shape
    upper, lower = np.zeros((2, at.upper_start[-1])), np.zeros((2, at.lower_start[-1]))
    z, index = np.zeros(n), np.zeros(1)
    status = run_plan(
        A.ravel(), n, m, at.upper_start, at.upper_column, at.lower_start, at.entry_from, at.entry_to, len(at.entry_to),
        at.zero_rows, len(at.zero_rows), 1, at.step_p, at.step_r, at.step_rp, at.step_groups, at.group_p, at.group_r,
        at.group_length, len(at.step_p), 1e-11, 1e-14, b, z_d, d0.copy(), d1.copy(), upper[0], lower[0], upper[1],
        lower[1], z, index,
    )  # fmt: skip
    found = plan.solve(A, b, z_d, d0, d1)
    assert status == 0
    np.testing.assert_allclose(found.z, z, rtol=1e-12)
    np.testing.assert_allclose(found.index, index[0], rtol=1e-12)


def test_inputs_are_left_alone_and_calls_do_not_remember():
    pattern = np.random.default_rng(1).random((9, 8)) < 0.4
    numbers, others = numbers_for(pattern, 6), numbers_for(pattern, 7)
    kept = [x.copy() for x in numbers]
    plan = DyadicPlan(pattern)
    first = plan.solve(*numbers)
    plan.solve(*others)
    again = plan.solve(*numbers)
    np.testing.assert_array_equal(first.z, again.z)
    for before, after in zip(kept, numbers, strict=True):
        np.testing.assert_array_equal(before, after)


def test_threads_and_copies():
    pattern = np.random.default_rng(1).random((20, 18)) < 0.3
    plan = DyadicPlan(pattern)
    nodes = [numbers_for(pattern, seed) for seed in range(40)]
    alone = [plan.solve(*node).z for node in nodes]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda node: plan.solve(*node).z, nodes))
    np.testing.assert_array_equal(together, alone)
    for other in (copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        np.testing.assert_array_equal(other.solve(*nodes[0]).z, alone[0])


def test_arrays_of_other_order_and_type():
    pattern = np.ones((3, 3), dtype=bool)
    A = np.asfortranarray([[1, 2], [3, 4], [5, 7]])
    found = DyadicPlan(pattern).solve(A, [1, 2, 3], (0, 0), 1, np.array(2))
    np.testing.assert_allclose(found.z, dyadic_solve(A, [1, 2, 3], [0, 0], 1, 2).z, rtol=1e-13)


def test_no_rows():
    found = DyadicPlan(np.zeros((0, 3), dtype=bool)).solve(np.zeros((0, 2)), [], [1.0, 2.0], 1.0, [])
    assert (found.z.tolist(), found.index) == ([1.0, 2.0], 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"A": [[1.0, 1.0], [1.0, 1.0]]}, "not zero where the pattern is"),
        ({"b": [1.0, 1.0]}, "not zero where the pattern is"),
        ({"z_d": [0.0, 1.0]}, "not zero where the pattern is"),
        ({"A": np.eye(3)}, "`A` must be"),
        ({"d0": [1.0, -1.0]}, "`d0` must not be negative"),
        ({"d1": np.nan}, "`d1` is not finite"),
        ({"d1": [1.0]}, "`d1` must be"),
        ({"A": [[1.0, 0.0], [np.inf, 1.0]]}, "`A` is not finite"),
        ({"A": [[1e200, 0.0], [1.0, 1.0]]}, "too large"),
    ],
)
def test_wrong_numbers_are_refused(change, message):
    plan = DyadicPlan(np.array([[1, 0, 1], [1, 1, 0]], dtype=bool), explicit_rhs=False)
    numbers = {"A": np.eye(2), "b": np.zeros(2), "z_d": np.zeros(2), "d0": 1.0, "d1": 1.0}
    assert plan.solve(**numbers).index == 0.0
    with pytest.raises(ShapeError, match=message):
        plan.solve(**(numbers | change))


def test_wrong_plans_are_refused():
    with pytest.raises(ShapeError, match="bool"):
        DyadicPlan(np.ones((2, 3)))
    with pytest.raises(UnknownNameError):
        DyadicPlan(np.ones((2, 3), dtype=bool), order="best")
    with pytest.raises(ValueError, match="read-only"):
        DyadicPlan(np.ones((2, 3), dtype=bool)).pattern[0, 0] = False
