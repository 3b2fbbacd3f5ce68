"""Places and memory of the Riccati sweep, for one choice of hard rows.

The border b = (the part of x_0 that end rows see, p) is the same in all stages; end rows belong to the last one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.form import Form

_WIDTH = 16  # of `sizes`
_PAD = 8  # numbers that loops read beyond the end of weights, and do not use


class Layout:
    """Where the unknowns z = (u, y, x, b) of all stages are, and memory for their factors.

    Args:
        form: Sizes and places of rows.
        hard: Rows that remain equations, (rows,).
        first: Entries of x_0 that end rows see.

    Attributes:
        sizes: for each stage: numbers of states, controls, parameters, hard rows, and of all unknowns; places of its
            Hessian, factor and value function, of its first row, its last, the gap after it and its variables; places
            of what substitution leaves, of the factor of an elastic gap, and of its gradient.
        places: of the entries of `Form.variables` in z; −1 where there is none.
    """

    def __init__(self, form: Form, hard: NDArray[np.bool_], first: NDArray[np.intp]) -> None:
        s, self.first, self.border = form.sizes, first, len(first) + form.sizes.parameters
        counts = np.add.reduceat(np.append(hard, 0).astype(int), form.row_starts[:-1])
        counts = np.where(np.diff(form.row_starts) > 0, counts, 0)
        states, controls = np.array(s.states), np.array(s.controls)
        n = controls + counts + states + self.border
        value, pivots = states + self.border, controls + counts
        table = np.zeros((s.stages, _WIDTH), dtype=np.int64)
        columns = [states, controls, np.full(s.stages, s.parameters), counts, n]
        parts = [(states + controls + s.parameters) ** 2, pivots * n, value**2]
        columns += [_begins(part) for part in parts]
        columns += [form.row_starts[:-1], form.row_starts[1:], np.append(s.gap_starts[:-1], 0), s.starts[:-1]]
        columns += [_begins(pivots), _begins(states * (states + value)), _begins(value)]
        table[:, : len(columns)] = np.column_stack(columns)
        self.sizes, self.hard = table, hard.astype(np.int64)
        self.places = np.concatenate([*(self._block(form, k, table[k]) for k in range(s.stages)), self._ends(form)])
        self.factors, self.values = np.empty(int((pivots * n).sum())), np.empty(int((value**2).sum()))
        self.softened = np.empty(int((states * (states + value)).sum()))
        self.left, self.slopes = np.empty(int(pivots.sum())), np.empty(int(value.sum()))
        most, rows = int(max(n.max(), (states + value).max())), int(np.diff(form.row_starts).max(initial=0))
        wide = int(value.max())
        self.scratch = [np.empty(size) for size in (most**2, rows * most, *[wide * most] * 3)]
        self.ones, self.small = np.ones(wide + _PAD), [np.empty(most + _PAD) for _ in range(3)]

    def _block(self, form: Form, k: int, row: NDArray[np.int64]) -> NDArray[np.int64]:
        nx, nu, parameters, hard, n = row[:5]
        p = np.arange(n - parameters, n)
        return np.concatenate([nu + hard + np.arange(nx), np.arange(nu), p])

    def _ends(self, form: Form) -> NDArray[np.int64]:
        s, (nx, nu, parameters, hard, n) = form.sizes, self.sizes[-1, :5]
        first = np.full(s.states[0], -1)
        first[self.first] = n - self.border + np.arange(len(self.first))
        return np.concatenate([first, nu + hard + np.arange(nx), np.arange(n - parameters, n)])


def padded(weights: Array) -> Array:
    """Weights with room at the end."""
    return np.concatenate([weights, np.zeros(_PAD)])


def _begins(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray(np.cumsum(lengths) - lengths)
