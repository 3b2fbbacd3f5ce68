"""`Tableau`: an explicit Runge-Kutta method as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError

__all__ = ["Tableau"]

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
