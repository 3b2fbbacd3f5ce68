"""Busenhart 1994, 4.3 and 6.3: operation counts of the cart-pole, ordering and storage of the small examples.

Patterns of the cart-pole follow from its constraint matrices (3.64 and others), with the prismatic axis taken as
generic and a pole without inertia; ties of the greedy order go to the last row. Table 4.2 prints 6/1/13/6 for the first
sequence, which is not what table 4.1 gives.
"""

import numpy as np
import pytest

from surefoot.solvers.dyadic.counts import gauss_counts, path_counts, reduction_counts
from surefoot.solvers.dyadic.order import Structure, fill_in_index, step_order
from surefoot.solvers.dyadic.plan import DyadicPlan, made_layout, row_wise

PLANE = "th1 th2 X11 X12 X21 X22 phi s"
POSITION = (PLANE, "th1 b, th1 b, th1 th2 phi b, th1 th2 phi b, X11 s b, X12 s b, th1 X11 X21 phi b, th1 X12 X22 phi b")
VELOCITY = (PLANE, "th1, th1 th2 phi, X11 s, X12 s, th1 X11 X21 phi, th1 X12 X22 phi")
DYNAMICS = (
    "u w1 w2 X11 X12 X21 X22 t1 t2 f11 f12 f21 f22 th s",
    "t1 t2 f21 f22, t2, X11 f11 f21, X12 f12 f22 b, X21 f21, X22 f22 b, w1, w1 w2 th, X11 s, X12 s, w1 X11 X21 th b, "
    "w1 X12 X22 th b, t2 f21 f22, u f11 f12",
)
EXAMPLE_4_9 = np.array([[1, 1, 1], [1, 0, 1]], dtype=bool)


def pattern(unknowns, rows):
    names = [*unknowns.split(), "b"]
    return np.array([[name in row.split() for name in names] for row in rows.split(",")])


def from_one(*pairs):
    """Steps as they are printed, one at a time."""
    return [((p - 1, r - 1),) for p, r in pairs]


@pytest.mark.parametrize(
    ("node", "explicit_rhs", "gauss", "columns", "greedy"),
    [
        (POSITION, False, 512, (99, 65, 216, 52), (99, 65, 216, 52)),
        (VELOCITY, True, 512, (88, 66, 198, 44), (88, 66, 198, 44)),
        (DYNAMICS, True, 3375, (270, 205, 605, 130), (225, 171, 504, 108)),
    ],
    ids=["position", "velocity", "dynamics"],
)
def test_cart_pole(node, explicit_rhs, gauss, columns, greedy):
    """Table 6.17."""
    rows = pattern(*node)
    assert gauss_counts(rows.shape[1] - 1)[::2] == (gauss, gauss)
    assert DyadicPlan(rows, explicit_rhs, "columns").counts == columns
    assert DyadicPlan(rows, explicit_rhs, "greedy").counts == greedy


@pytest.mark.parametrize(
    ("pairs", "counts"),
    [
        ([(1, 4), (1, 3), (2, 3)], (7, 1, 14, 6)),
        ([(1, 3), (2, 3), (1, 4), (2, 4)], (10, 3, 21, 8)),
    ],
)
def test_step_sequences(pairs, counts):
    """Table 4.2, example 4.9."""
    assert reduction_counts(EXAMPLE_4_9, False, from_one(*pairs)) == counts


def test_longer_path():
    """Table 4.2: (4.48) by two processors."""
    stages = [((0, 2),), ((0, 3), (1, 2)), ((1, 3),)]
    assert path_counts(EXAMPLE_4_9, False, stages) == (8, 3, 17, 6)


def test_greedy_finds_the_cheaper_sequence():
    """(4.47)."""
    assert list(step_order(EXAMPLE_4_9, False)) == from_one((1, 4), (1, 3), (2, 3))


def test_fill_in_index():
    """Table 4.3."""
    structure = Structure(np.array([[1, 1, 1], [1, 0, 0]], dtype=bool), False)
    assert (fill_in_index(structure, 0, 2), fill_in_index(structure, 0, 3)) == (12, 0)


def test_two_processors():
    """(4.41) and (4.42): two stages instead of three."""
    rows = np.array([[1, 1, 1], [0, 1, 1]], dtype=bool)
    assert len(step_order(rows, False, "columns")) == 3
    for order in ("columns", "greedy"):
        first, second = step_order(rows, False, order, processors=2)
        assert (set(first), second) == ({(0, 2), (1, 3)}, ((1, 2),))


def test_row_wise_storage():
    """(4.59), (4.60); columns are printed from 1."""
    pointers, columns = row_wise(np.array([[0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]], dtype=bool))
    assert (pointers.tolist(), (columns + 1).tolist()) == ([0, 1, 1, 4], [2, 1, 3, 4])


def test_storage_of_back_substitution():
    """(4.73), (4.74): the diagonal is not stored, right sides are not indexed."""
    layout = made_layout(np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 0]], dtype=bool), True, [((0, 4),), ((1, 5),)])
    beside = layout.upper_column < 4
    assert (layout.upper_column[beside] + 1).tolist() == [2, 4, 3, 4]
    assert (layout.upper_start - np.arange(5)).tolist() == [0, 2, 4, 4, 4]


def test_groups_of_a_step():
    """(4.65) to (4.70): the third step works on six consecutive entries of both rows; ten columns, b the last."""
    row_2, row_20 = "0 1 0 1 1 1 0 1 0 1", "0 1 0 0 1 0 1 1 0 1"
    later = "0 0 1 1 0 0 0 0 0 0"  # fills the third column of both, afterwards or before
    rows = np.array([[int(x) for x in row.split()] for row in (row_2, row_20, later)], dtype=bool)
    layout = made_layout(rows, True, [((1, 9),), ((1, 10),)])
    groups = slice(*layout.step_groups[1:3])
    assert layout.group_length[groups].tolist() == [6]
    assert layout.group_p[groups] == layout.upper_start[1]
    assert layout.group_r[groups] == layout.step_rp[1] + 1
