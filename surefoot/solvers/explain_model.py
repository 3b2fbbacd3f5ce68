"""A model of HiGHS that is kept from question to question, so that each begins at the basis of the last.

    lower ≤ A x − s − ρ t ≤ upper,   s = s⁺ − s⁻,   s⁺ + s⁻ ≤ measure r_g,   s⁺, s⁻, r, t ≥ 0        [explain.model]

ρ is what is violated at a first x, so that t = 1 helps everywhere. Rows with a single entry are bounds of x: s then is
a second column of that x. Columns s and r of a group are added when they are first asked for; all of them, and t, are
zero until they are opened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import highspy
import numpy as np
import scipy.sparse as sparse
from highspy import HighsModelStatus as Status
from numpy.typing import NDArray

from surefoot.solvers.explain_basis import Basis, Relief, basis_of, extended, go_to, swapped
from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_lp import linear_program
from surefoot.solvers.explain_projection import outside

__all__ = ["LEAVING", "OTHER_METHODS", "RELAXING", "Model", "Status"]

Numbers = NDArray[np.float64]
Places = NDArray[np.int32]
_OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "presolve": "off",
    "solver": "simplex",
    "simplex_scale_strategy": 2,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}
_DEVEX = {"simplex_dual_edge_weight_strategy": 1}  # exact weights of a new basis are a solve for each row
LEAVING: Mapping[str, Any] = {
    **_DEVEX,
    "simplex_scale_strategy": 0,  # rows and columns are scaled
    "dual_simplex_cost_perturbation_multiplier": 0.0,  # taking it back takes hundreds of pivots
}
"""How to search for a point without some rows, from a basis that is a few pivots away."""
RELAXING: Mapping[str, Any] = _DEVEX
"""How to search for the least relaxation, from a basis that bounds it."""
OTHER_METHODS: Sequence[Mapping[str, Any]] = (
    {"simplex_scale_strategy": 0},
    {"solver": "ipm"},
    {"solver": "ipm", "run_crossover": "off"},
)
"""How to search where rounding spoils the usual search."""
_ANY_STRATEGY, _PRIMAL = 0, 4  # of simplex methods
_MOST_PIVOTS = 50  # for each row and column; searches that take more go round in circles
_ROUNDING_OF_RAYS = 1e-6  # sum of what rays leave of unknowns without bounds; HiGHS searches on for a cleaner one
_ROUNDING_OF_ENTRIES = 1e-9  # of a model; smaller ones are left out
_NOTHING = 1e-10  # multipliers below this share of the largest are rounding


class Model:
    """Rows in HiGHS.

    Args:
        rows: The rows; t = 1 helps with these ends, and with wider ones.
        search: Options for questions that begin at bases that are known.
    """

    def __init__(self, rows: ScaledRows, search: Mapping[str, Any] | None = None) -> None:
        self.rows, self.unknowns = rows, len(rows.columns)
        self._part(sparse.csr_array(rows.A))
        self._lower, self._upper = rows.lower, rows.upper
        self._reliefs: dict[int, Relief] = {}
        self._open: list[Places] = []
        self._by_row = False
        self.search = search
        self.highs = highspy.Highs()
        self._set_options({**_OPTIONS, **(search or {})})
        self.highs.passModel(self._start())

    def _part(self, A: Any) -> None:
        """The first row with a single entry for each unknown is a bound; all others are rows of the model."""
        single = np.flatnonzero(np.diff(A.indptr) == 1)
        self._bounded, first = np.unique(A.indices[A.indptr[single]], return_index=True)
        self._bounds = single[first]
        self._factor = A.data[A.indptr[self._bounds]]
        self._general = np.setdiff1d(np.arange(A.shape[0]), self._bounds)
        self._matrix = A[self._general]
        self._by_column = sparse.csc_array(self._matrix)
        self._on_bounded = self._matrix.T.tocsr()[self._bounded]
        self._place = np.full(A.shape[0], -1)
        self._place[self._general] = np.arange(len(self._general))
        self._place[self._bounds] = np.arange(len(self._bounds))
        self._is_bound = np.isin(np.arange(A.shape[0]), self._bounds)
        self._order = np.argsort(self.rows.group, kind="stable")
        self._starts = np.searchsorted(self.rows.group[self._order], np.arange(self.rows.groups + 1))

    def _start(self) -> Any:
        n, general = self.unknowns, self._general
        low, high = self._limits()
        nearest = np.clip(0.0, low, high)
        lower, upper = self._lower[general], self._upper[general]
        excess = outside(self._matrix @ nearest, lower, upper)
        whole = sparse.csr_array(-excess[:, None])
        A = sparse.hstack([self._matrix, whole])
        return linear_program(np.zeros(n + 1), (np.append(low, 0.0), np.append(high, 0.0)), A, (lower, upper))

    def _limits(self) -> tuple[Numbers, Numbers]:
        """Bounds of x (n,)."""
        low, high = np.full(self.unknowns, -np.inf), np.full(self.unknowns, np.inf)
        ends = self._lower[self._bounds] / self._factor, self._upper[self._bounds] / self._factor
        low[self._bounded], high[self._bounded] = np.minimum(*ends), np.maximum(*ends)
        return low, high

    def set_ends(self, lower: Numbers, upper: Numbers) -> None:
        """Other ends.

        Args:
            lower: (rows,).
            upper: (rows,).
        """
        changed = (lower != self._lower) | (upper != self._upper)
        self._lower, self._upper = lower, upper
        at = np.flatnonzero(changed[self._general]).astype(np.int32)
        if len(at):
            self.highs.changeRowsBounds(len(at), at, lower[self._general[at]], upper[self._general[at]])
        at = self._bounded[changed[self._bounds]].astype(np.int32)
        if len(at):
            low, high = self._limits()
            self.highs.changeColsBounds(len(at), at, low[at], high[at])

    def open(self, columns: Places, costs: Numbers) -> None:
        """Let columns that are zero be positive.

        Args:
            columns: Their numbers.
            costs: Of one unit each.
        """
        self._open.append(columns)
        self.highs.changeColsBounds(len(columns), columns, np.zeros(len(columns)), np.full(len(columns), np.inf))
        self.highs.changeColsCost(len(columns), columns, costs)

    def open_whole(self) -> None:
        """Let t be positive, at the cost of 1."""
        self.open(np.array([self.unknowns], dtype=np.int32), np.ones(1))

    def open_rows(self, group: int, cost: float) -> None:
        """Let each row of a group give way, for itself.

        Args:
            group: Its number.
            cost: Of a row that moves by 1.
        """
        relief = self._reliefs[group]
        self.open(relief.columns, np.full(len(relief.columns), cost))

    def open_group(self, group: int, cost: float) -> None:
        """Let a group give way.

        Args:
            group: Its number.
            cost: Of one unit.
        """
        relief = self._reliefs[group]
        movable = relief.moves > 0.0
        if relief.shared is None:
            self.open(relief.columns[movable], cost / relief.moves[movable])
        elif movable.any():
            self.open(relief.columns[movable], np.zeros(int(movable.sum())))
            self.open(np.array([relief.shared], dtype=np.int32), np.array([cost / relief.moves.max()]))

    def close(self) -> None:
        """Zero for all columns that were opened, and no cost."""
        if self._open:
            columns = np.concatenate(self._open)
            nothing = np.zeros(len(columns))
            self.highs.changeColsBounds(len(columns), columns, nothing, nothing)
            self.highs.changeColsCost(len(columns), columns, nothing)
        self._open = []

    def add_reliefs(self, groups: Sequence[int], *, by_row: bool) -> None:
        """Add columns with which groups give way, where there are none: at once, for HiGHS then begins anew.

        Args:
            groups: Their numbers.
            by_row: Whether each row gives way for itself, without r; columns of the other kind are taken out.
        """
        if by_row != self._by_row:
            self.drop_reliefs()
        self._by_row = by_row
        new = [g for g in groups if g not in self._reliefs]
        if not new:
            return
        first, bond = self.highs.getNumCol(), self.highs.getNumRow()
        rows = self.rows
        for g in new:
            own = self._order[self._starts[g] : self._starts[g + 1]]
            above, below = own[np.isfinite(rows.upper[own])], own[np.isfinite(rows.lower[own])]
            chosen, sides = np.concatenate([above, below]), np.repeat([1.0, -1.0], [len(above), len(below)])
            columns = np.arange(first, first + len(chosen), dtype=np.int32)
            moves, first = rows.measure[chosen], first + len(chosen)
            shares = not by_row and len(own) > 1 and bool(moves.any())
            bonds = _bonds(chosen, moves, bond) if shares else np.full(len(chosen), -1, dtype=np.int32)
            places, unknowns = self._stand(chosen)
            self._reliefs[g] = Relief(chosen, sides, columns, moves, first if shares else None, bonds, places, unknowns)
            first, bond = first + shares, max(bond, int(bonds.max(initial=-1)) + 1)
        self._add([self._reliefs[g] for g in new])

    def _stand(self, rows: NDArray[np.intp]) -> tuple[Places, Places]:
        """Where rows are in the model: their rows, and for bounds their columns of x; −1 for the other."""
        bound, place = self._is_bound[rows], self._place[rows]
        unknowns = np.full(len(rows), -1)
        unknowns[bound] = self._bounded[place[bound]]
        return np.where(bound, -1, place).astype(np.int32), unknowns.astype(np.int32)

    def _add(self, reliefs: Sequence[Relief]) -> None:
        """Columns s and r, and the rows that bind them."""
        before, above = self.highs.getNumCol(), self.highs.getNumRow()
        rows, sides, at = (np.concatenate([relief[k] for relief in reliefs]) for k in (0, 1, 2))
        shared = [relief for relief in reliefs if relief.shared is not None]
        counts, index, entries = self._entries(rows, sides)
        lengths = np.zeros(len(rows) + len(shared), dtype=np.int32)
        lengths[at - before] = counts
        start, nothing = _starts(lengths), np.zeros(len(lengths))
        self.highs.addCols(len(lengths), nothing, nothing, nothing, len(index), start, index, entries)
        if not shared:
            return
        row, column, entries = (np.concatenate(parts) for parts in zip(*map(_bond, shared), strict=True))
        order = np.argsort(row, kind="stable")
        in_rows = np.bincount(row - above)
        ends = np.full(len(in_rows), -np.inf), np.zeros(len(in_rows))
        self.highs.addRows(len(in_rows), *ends, len(row), _starts(in_rows), column[order], entries[order])

    def _entries(self, rows: NDArray[np.intp], sides: Numbers) -> tuple[Places, Places, Numbers]:
        """Of columns s: how many each has, their rows in the model, and the entries."""
        bound, place = self._is_bound[rows], self._place[rows]
        x, factor = np.zeros(len(rows), dtype=np.intp), -sides
        x[bound], factor[bound] = self._bounded[place[bound]], sides[bound] / self._factor[place[bound]]
        first = self._by_column.indptr[x]
        counts = np.where(bound, np.append(np.diff(self._by_column.indptr), 0)[x], 1)  # 0: there may be no unknowns
        of = np.repeat(np.arange(len(rows)), counts)
        source = np.arange(len(of)) - _starts(counts)[of] + first[of]
        source[~bound[of]] = 0
        taken = [
            part[source] if len(part) else np.zeros(len(of)) for part in (self._by_column.indices, self._by_column.data)
        ]
        index = np.where(bound[of], taken[0], place[of]).astype(np.int32)
        return counts.astype(np.int32), index, np.where(bound[of], taken[1], 1.0) * factor[of]

    @property
    def moved(self) -> bool:
        """Whether the last search left the basis where it began."""
        return bool(self.highs.getInfo().simplex_iteration_count > 0)

    def present_basis(self) -> Basis | None:
        """The present basis as one of the model without reliefs, if there is one; see `basis_of`."""
        shape = len(self._general), self.unknowns + 1
        return basis_of(self.highs, shape, self._reliefs.values(), self.multipliers())

    def begin(self, basis: Basis, bearer: int | None = None) -> None:
        """Go to a basis.

        Args:
            basis: For the model without reliefs.
            bearer: Number of a group, which is open, as others may be, that takes the place of t.
        """
        basis = extended(basis, (self.highs.getNumRow(), self.highs.getNumCol()))
        if bearer is not None:
            basis = swapped(basis, self.unknowns, self._reliefs[bearer], self._reliefs.values())
        go_to(self.highs, basis)

    def drop_reliefs(self) -> None:
        """Take out all columns with which groups give way; t is zero then."""
        self.close()
        if not self._reliefs:
            return
        columns = np.arange(self.unknowns + 1, self.highs.getNumCol(), dtype=np.int32)
        rows = np.arange(len(self._general), self.highs.getNumRow(), dtype=np.int32)
        self.highs.deleteCols(len(columns), columns)
        self.highs.deleteRows(len(rows), rows)
        self._reliefs = {}

    def run(self, method: Mapping[str, Any] | None = None, *, primal: bool = False, most: int | None = None) -> Status:
        """Solve.

        Args:
            method: Options for a search that begins anew; the last one is gone on with if left out.
            primal: Whether to begin at a basis that keeps all rows, and to keep them.
            most: Pivots after which to give up; so many that no search needs them if left out.
        """
        usual = {name: self.highs.getOptionValue(name)[1] for name in method or ()}
        if method is not None:
            self.highs.clearSolver()
        pivots = most or _MOST_PIVOTS * (self.highs.getNumRow() + self.highs.getNumCol())
        self._set_options(
            {
                "simplex_strategy": _PRIMAL if primal else _ANY_STRATEGY,
                "simplex_iteration_limit": pivots,
                "small_matrix_value": _ROUNDING_OF_RAYS,
                **(method or {}),
            }
        )
        self.highs.run()
        self._set_options({"small_matrix_value": _ROUNDING_OF_ENTRIES, **usual})
        return self.highs.getModelStatus()

    def _set_options(self, options: Mapping[str, Any]) -> None:
        for name, value in options.items():
            self.highs.setOptionValue(name, value)

    def invert_anew(self) -> None:
        """Let the next search begin at the present basis without what rounding has left of the last one."""
        self.highs.setBasis(self.highs.getBasis())

    def point(self, relieved: Sequence[int]) -> tuple[Numbers, Numbers]:
        """X (n,) at an optimum, and how far groups give way there.

        Args:
            relieved: Numbers of the groups that were opened.
        """
        values = np.array(self.highs.getSolution().col_value)
        x, amounts = values[: self.unknowns], np.zeros(len(relieved))
        for k, group in enumerate(relieved):
            relief = self._reliefs[group]
            s = values[relief.columns]
            bound = self._is_bound[relief.rows]
            at = self._place[relief.rows[bound]]
            np.add.at(x, self._bounded[at], relief.sides[bound] * s[bound] / self._factor[at])
            largest = relief.moves.max(initial=0.0)
            given = s.max(initial=0.0) if relief.shared is None else values[relief.shared]
            amounts[k] = given / largest if largest > 0.0 else 0.0
        return x, amounts

    def multipliers(self) -> Numbers:
        """Of all rows (rows,) at an optimum, positive at upper ends."""
        return self._of_all_rows(np.array(self.highs.getSolution().row_dual))

    def ray(self) -> Numbers | None:
        """Multipliers (rows,) that HiGHS takes for a proof that there is no solution, if there are any."""
        _, there, ray = self.highs.getDualRay()
        return self._of_all_rows(np.array(ray)) if there else None

    def _of_all_rows(self, duals: Numbers) -> Numbers:
        """From those of the rows of the model; bounds bear what these leave."""
        out = np.zeros(len(self.rows.upper))
        out[self._general] = -duals[: len(self._general)]
        out[self._bounds] = -(self._on_bounded @ out[self._general]) / self._factor
        largest = np.abs(out).max(initial=0.0)
        return np.where(np.abs(out) > _NOTHING * largest, out, 0.0)


def _bonds(rows: NDArray[np.intp], moves: Numbers, first: int) -> Places:
    """Rows of the model that bind columns of a group, one for each row that moves; −1 for those that do not."""
    out, at = np.full(len(rows), -1, dtype=np.int32), moves > 0.0
    out[at] = first + np.unique(rows[at], return_inverse=True)[1]
    return out


def _bond(relief: Relief) -> tuple[Places, Places, Numbers]:
    """Rows s⁺ + s⁻ − measure r ≤ 0 of the model: their rows, columns and entries."""
    at = np.flatnonzero(relief.bonds >= 0)
    bonds, one = np.unique(relief.bonds[at], return_index=True)
    shared = np.full(len(bonds), relief.shared, dtype=np.int32)
    entries = np.concatenate([np.ones(len(at)), -relief.moves[at[one]] / relief.moves.max()])
    return np.concatenate([relief.bonds[at], bonds]), np.concatenate([relief.columns[at], shared]), entries


def _starts(lengths: NDArray[Any]) -> Places:
    """Where parts begin that lie one after the other."""
    return (np.cumsum(lengths) - lengths).astype(np.int32)
