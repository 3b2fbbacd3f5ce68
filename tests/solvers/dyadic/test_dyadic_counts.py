"""Operation counts: their identity, and what full and empty patterns cost."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.solvers.dyadic.counts import gauss_counts, path_counts, reduction_counts, solution_counts
from surefoot.solvers.dyadic.order import ORDERS, step_order
from tests.solvers.dyadic.test_dyadic_order import patterns


@settings(max_examples=50, deadline=None)
@given(patterns, st.booleans(), st.sampled_from(ORDERS), st.integers(1, 3))
def test_identity_of_the_tables(pattern, explicit_rhs, order, processors):
    adds, subs, mults, divs = solution_counts(
        pattern, explicit_rhs, step_order(pattern, explicit_rhs, order, processors)
    )
    assert mults == 3 * (divs // 2) + (adds - divs // 2) + subs


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 7), st.integers(1, 7))
def test_full_rows(m, n):
    """Each of m n steps (p, r) works on the n − p entries right of p, b included; U has n (n − 1) / 2 beside 1."""
    pattern = np.ones((m, n + 1), dtype=bool)
    adds, subs, _, divs = solution_counts(pattern, True, step_order(pattern, True, "columns"))
    elements = m * n * (n + 1) // 2
    first_visits = n * (n - 1) // 2 if m else 0  # row p has only b then, and not n − p entries
    assert (adds, divs) == (m * n + elements, 2 * m * n)
    assert subs == elements - first_visits + (n * (n - 1) // 2 if m else 0)


@settings(max_examples=50, deadline=None)
@given(patterns, st.integers(1, 4))
def test_processors_share_the_work(pattern, processors):
    stages = step_order(pattern, processors=processors)
    work, path = reduction_counts(pattern, True, stages).total, path_counts(pattern, True, stages).total
    assert work / processors <= path <= work


def test_gauss():
    assert gauss_counts(55) == (166375, 0, 166375, 0)
    assert gauss_counts(107).adds == 1225043
