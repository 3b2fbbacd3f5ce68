"""The index vectors stay inside their rows and cover each entry that a step changes, once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.solvers.dyadic.order import ORDERS, Structure, step_order
from surefoot.solvers.dyadic.plan import made_layout, row_wise
from tests.solvers.dyadic.test_dyadic_order import patterns


@settings(max_examples=50, deadline=None)
@given(patterns, st.booleans(), st.sampled_from(ORDERS))
def test_groups_are_the_columns_of_their_steps(pattern, explicit_rhs, order):
    stages, n = step_order(pattern, explicit_rhs, order), pattern.shape[1] - 1
    layout, structure = made_layout(pattern, explicit_rhs, stages), Structure(pattern, explicit_rhs)
    for s, ((p, r),) in enumerate(stages):
        both = structure.reduce(p, r)
        assert (layout.step_p[s], layout.step_r[s]) == (p, r - n)
        assert layout.lower_start[r - n] <= layout.step_rp[s] < layout.lower_start[r - n + 1]
        columns = []
        for g in range(layout.step_groups[s], layout.step_groups[s + 1]):
            length = np.arange(layout.group_length[g])
            in_p, in_r = layout.group_p[g] + length, layout.group_r[g] + length
            assert (layout.upper_start[p] <= in_p).all()
            assert (in_p < layout.upper_start[p + 1]).all()
            assert (layout.step_rp[s] < in_r).all()
            assert (in_r < layout.lower_start[r - n + 1]).all()
            columns += layout.upper_column[in_p].tolist()
        assert columns == [j for j in range(p + 1, n + 1) if both >> j & 1]


@settings(max_examples=50, deadline=None)
@given(patterns)
def test_row_wise_storage_gives_the_matrix_back(pattern):
    pointers, columns = row_wise(pattern)
    back = np.zeros_like(pattern)
    back[np.repeat(np.arange(len(pattern)), np.diff(pointers)), columns] = True
    np.testing.assert_array_equal(back, pattern)


def test_only_what_is_ever_non_zero_is_stored():
    """A diagonal of rules never fills in: n entries and n + n right sides."""
    layout = made_layout(np.eye(5, 6, dtype=bool), True, [((i, 5 + i),) for i in range(5)])
    assert (layout.upper_start[-1], layout.lower_start[-1]) == (5, 10)
