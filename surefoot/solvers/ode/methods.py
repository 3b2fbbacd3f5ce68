"""Explicit Runge-Kutta methods as data, each with its source; `runge_kutta` runs them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError

Row = tuple[float, ...]


@dataclass(frozen=True)
class Tableau:
    """The coefficients of an explicit method with s stages, and where they come from.

    k_i = f(t + c_i h, x + h Σ_{j<i} a_ij k_j),   x⁺ = x + h Σ b_i k_i        [ode.runge-kutta]   Butcher 1964

    Args:
        name: How people call it.
        source: Author, year, place.
        order: p: the error of one step is O(h^(p+1)).
        nodes: c (s,), c_0 = 0.
        rows: a_ij of the stages 1 … s-1: row i has i entries.
        weights: b (s,).
        companion: Weights (s,) of the embedded method whose difference to x⁺ estimates the error; None: no pair.
        companion_order: Order of the embedded method.
        quartic: d (s,): h θ² (1-θ)² Σ d_i k_i added to the cubic Hermite polynomial gives dense output of order 4;
            None: the cubic alone.
    """

    name: str
    source: str
    order: int
    nodes: Row
    rows: tuple[Row, ...]
    weights: Row
    companion: Row | None = None
    companion_order: int = 0
    quartic: Row | None = None

    def __post_init__(self) -> None:
        lengths = [len(row) for row in self.rows]
        columns = [len(column) for column in (self.nodes, self.companion, self.quartic) if column is not None]
        if lengths != list(range(1, self.stages)) or any(size != self.stages for size in columns):
            raise ShapeError(
                f"the table of `{self.name}` is not that of an explicit method",
                evidence={"stages": self.stages, "lengths of the rows": lengths, "other lengths": columns},
                next_step="give stage i = 1, 2, … exactly i entries, and nodes and weights one entry for each stage",
            )

    @property
    def stages(self) -> int:
        """s: evaluations of the field in one step on its own."""
        return len(self.weights)

    @cached_property
    def a(self) -> tuple[Array, ...]:
        """Row i (i,) for each stage i; the first one is empty."""
        return (np.empty(0), *(np.array(row, dtype=float) for row in self.rows))

    @cached_property
    def b(self) -> Array:
        """The weights (s,)."""
        return np.array(self.weights, dtype=float)

    @cached_property
    def error_weights(self) -> Array:
        """Differences b - b* (s,): h Σ (b - b*)_i k_i estimates the error of a step; zero without an embedded pair."""
        return self.b - (self.b if self.companion is None else np.array(self.companion, dtype=float))

    @cached_property
    def d(self) -> Array | None:
        """`quartic` as an array (s,)."""
        return None if self.quartic is None else np.array(self.quartic, dtype=float)

    @cached_property
    def ends_with_slope(self) -> bool:
        """Whether the last stage is f(t + h, x⁺), which is the first stage of the next step."""
        return self.stages > 1 and (*self.rows[-1], 0) == self.weights

    @property
    def error_exponent(self) -> float:
        """1 / (order of the error estimate + 1): how the step follows the error, h⁺ = h (tol / error)^exponent.

        With step doubling the estimate has the order of the method: 1/2 for Euler (Wimmer 2016, 2.1), 1/5 for RK4.
        """
        order = self.order if self.companion is None else min(self.order, self.companion_order)
        return 1.0 / (order + 1)


EULER = Tableau(
    name="euler",
    source="Euler 1768, Institutionum calculi integralis I, § 650; Wimmer 2016, 2.1",
    order=1,
    nodes=(0,),
    rows=(),
    weights=(1,),
)

MIDPOINT = Tableau(
    name="midpoint",
    source="Runge 1895, Math. Ann. 46; Wimmer 2016, 2.1 (erratum: (2.12) is f(x + h/2 f))",
    order=2,
    nodes=(0, 1 / 2),
    rows=((1 / 2,),),
    weights=(0, 1),
)

HEUN = Tableau(
    name="heun",
    source="Heun 1900, Z. Math. Phys. 45; with Euler as its companion",
    order=2,
    nodes=(0, 1),
    rows=((1,),),
    weights=(1 / 2, 1 / 2),
    companion=(1, 0),
    companion_order=1,
)

RK4 = Tableau(
    name="rk4",
    source="Kutta 1901, Z. Math. Phys. 46; Wimmer 2016, 2.1",
    order=4,
    nodes=(0, 1 / 2, 1 / 2, 1),
    rows=((1 / 2,), (0, 1 / 2), (0, 0, 1)),
    weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
)

KUTTA_MERSON = Tableau(
    name="kutta-merson",
    source="Merson 1957, Proc. Symp. Data Processing, Salisbury; Hairer, Nørsett, Wanner 1993, II.4. Its companion is "
    "of order 5 for linear systems with constant coefficients, and of order 3 otherwise",
    order=4,
    nodes=(0, 1 / 3, 1 / 3, 1 / 2, 1),
    rows=((1 / 3,), (1 / 6, 1 / 6), (1 / 8, 0, 3 / 8), (1 / 2, 0, -3 / 2, 2)),
    weights=(1 / 6, 0, 0, 2 / 3, 1 / 6),
    companion=(1 / 10, 0, 3 / 10, 2 / 5, 1 / 5),
    companion_order=3,
)

CASH_KARP = Tableau(
    name="cash-karp",
    source="Cash & Karp 1990, ACM TOMS 16(3), 201-222; Wimmer 2016, Table 2.1 (errata: columns shifted, the last "
    "weight 1/4 of the fourth-order method missing)",
    order=5,
    nodes=(0, 1 / 5, 3 / 10, 3 / 5, 1, 7 / 8),
    rows=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (3 / 10, -9 / 10, 6 / 5),
        (-11 / 54, 5 / 2, -70 / 27, 35 / 27),
        (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096),
    ),
    weights=(37 / 378, 0, 250 / 621, 125 / 594, 0, 512 / 1771),
    companion=(2825 / 27648, 0, 18575 / 48384, 13525 / 55296, 277 / 14336, 1 / 4),
    companion_order=4,
)

DORMAND_PRINCE = Tableau(
    name="dormand-prince",
    source="Dormand & Prince 1980, J. Comput. Appl. Math. 6, 19-26; dense output: Shampine 1986, Math. Comp. 46, "
    "135-150, in the form of Hairer, Nørsett, Wanner 1993, II.6",
    order=5,
    nodes=(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1),
    rows=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    weights=(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0),
    companion=(5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40),
    companion_order=4,
    quartic=(
        -12715105075 / 11282082432,
        0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ),
)

METHODS = {m.name: m for m in (EULER, MIDPOINT, HEUN, RK4, KUTTA_MERSON, CASH_KARP, DORMAND_PRINCE)}
"""All methods by name."""
