"""Orders of reduction steps: every step is admissible, everything is reduced; what is known of the orders."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.solvers.dyadic.counts import solution_counts
from surefoot.solvers.dyadic.order import ORDERS, Structure, checked_pattern, fill_in_index, step_order

patterns = st.tuples(st.integers(0, 8), st.integers(2, 9)).flatmap(lambda shape: arrays(bool, shape))


@settings(max_examples=50, deadline=None)
@given(patterns, st.booleans(), st.sampled_from(ORDERS), st.integers(1, 4))
def test_steps_are_admissible_disjoint_and_complete(pattern, explicit_rhs, order, processors):
    structure = Structure(pattern, explicit_rhs)
    for stage in step_order(pattern, explicit_rhs, order, processors):
        assert 1 <= len(stage) <= processors
        assert set(stage) <= set(structure.admissible())
        assert len({row for pair in stage for row in pair}) == 2 * len(stage)
        for p, r in stage:
            structure.reduce(p, r)
    assert structure.admissible() == []


@settings(max_examples=50, deadline=None)
@given(patterns)
def test_columns_go_from_left_to_right(pattern):
    pairs = [pair for (pair,) in step_order(pattern, order="columns")]
    assert pairs == sorted(pairs)


@settings(max_examples=50, deadline=None)
@given(patterns, st.booleans())
def test_greedy_takes_the_least_index_and_of_equal_ones_the_last_row(pattern, explicit_rhs):
    """Against an evaluation of all indices at all steps."""
    structure = Structure(pattern, explicit_rhs)
    for (pair,) in step_order(pattern, explicit_rhs):
        indices = {other: index_as_printed(structure, *other) for other in structure.admissible()}
        least = [other for other, index in indices.items() if index == min(indices.values())]
        assert pair == max(least, key=lambda other: other[1])
        structure.reduce(*pair)


@settings(max_examples=50, deadline=None)
@given(patterns, st.booleans())
def test_fill_in_index_is_that_of_the_sums(pattern, explicit_rhs):
    structure = Structure(pattern, explicit_rhs)
    for p, r in structure.admissible():
        assert fill_in_index(structure, p, r) == index_as_printed(structure, p, r)


def index_as_printed(structure, p, r):
    """Busenhart 1994, (4.49) and (4.55), entry by entry."""
    n = structure.n
    v = np.array([[row >> j & 1 for j in range(n + 1)] for row in structure.rows])
    new = np.zeros_like(v)
    for j in range(p + 1, n + 1):
        for i in range(n, n + structure.m):
            new[i, j] = (1 - v[p, j]) * v[r, j] * v[i, p] * (1 - v[i, j])
        new[p, j], new[r, j] = (1 - v[p, j]) * v[r, j], (1 - v[r, j]) * v[p, j]
    right, total = slice(p + 1, n + 1), new[r].sum()
    for i in range(n, n + structure.m):
        of_i, b = new[i].sum(), new[i, n]
        total += v[i, p] * new[p].sum() + (1 + v[i, right].sum()) * of_i + (of_i - b) * (5 + (of_i - 1 + b) / 2)
    return total


def test_greedy_is_not_always_cheaper():
    """It looks one step ahead; here column by column needs 82 operations."""
    pattern = np.array([[1, 0, 0, 1, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 1]], dtype=bool)
    totals = [solution_counts(pattern, False, step_order(pattern, False, order)).total for order in ORDERS]
    assert totals == [82, 90]


def test_greedy_is_cheaper_for_sparse_nodes():
    for seed in range(3):
        pattern = np.random.default_rng(seed).random((30, 34)) < 0.08
        columns, greedy = (solution_counts(pattern, True, step_order(pattern, order=order)).total for order in ORDERS)
        assert greedy < 0.9 * columns


@settings(max_examples=50, deadline=None)
@given(patterns, st.sampled_from(ORDERS))
def test_processors_do_not_add_stages(pattern, order):
    assert len(step_order(pattern, order=order, processors=8)) <= len(step_order(pattern, order=order))


def test_wrong_requests_are_refused():
    pattern = np.ones((2, 3), dtype=bool)
    with pytest.raises(UnknownNameError, match="greedy"):
        step_order(pattern, order="gredy")
    with pytest.raises(ShapeError, match="processor"):
        step_order(pattern, processors=0)
    for wrong in (np.ones((2, 3)), np.ones(3, dtype=bool), np.ones((2, 1), dtype=bool)):
        with pytest.raises(ShapeError, match="pattern"):
            checked_pattern(wrong)
