"""Is there an x with lower ≤ A x ≤ upper? The point, or the multipliers that prove there is none.

The squared violation  f(x) = ½ |v|²,  v = A x − nearest of [lower, upper],  has the gradient Aᵀ v. Where it is least
and not zero, Aᵀ v = 0, and v itself are Farkas multipliers:

    0 = vᵀ A x ≤ Σ_{v>0} v upper + Σ_{v<0} v lower < 0        [explain.farkas]   Farkas 1902; Dax 1990

f is convex and piecewise quadratic, and is minimised by Newton steps (Mangasarian 2004) inside proximal steps
(Rockafellar 1976), which keep them well posed where many x are as good. The least v is unique: which rows it names does
not depend on the start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_systems import MOST_DENSE, dense_if_small, gram, solve_normal, solve_widened

__all__ = ["Verdict", "outside", "polished", "project"]

Numbers = NDArray[np.float64]
_PULLS = (1e-2, 1e-4, 1e-6, 1e-8, *[1e-9] * 20)  # of the proximal steps, one after the other
_MOST_STEPS = 60  # Newton steps within a proximal step
_FAR = 1e6  # multipliers prove that no x within this many times the present size of x will do
_WORTH_PROVING = 1e3  # the same for multipliers that are worth being polished
_NOTHING = 1e-12  # multipliers below this share of the largest are left out
_POLISHES = 6


class Verdict(NamedTuple):
    """What was found.

    Args:
        x: (n,) a point that keeps all rows, or the one that violates them least.
        multipliers: (rows,) of the proof that there is none: positive at upper ends, negative at lower ones; else None.
        gap: By how much the proof fails to be 0 ≤ 0.
    """

    x: Numbers
    multipliers: Numbers | None = None
    gap: float = 0.0

    @property
    def feasible(self) -> bool:
        """Whether there is a point."""
        return self.multipliers is None

    def among(self, at: NDArray[np.intp], count: int) -> Verdict:
        """The verdict about all rows, from that about some.

        Args:
            at: Numbers of these rows.
            count: Of all rows.
        """
        if self.multipliers is None:
            return self
        multipliers = np.zeros(count)
        multipliers[at] = self.multipliers
        return self._replace(multipliers=multipliers)


def outside(values: Numbers, lower: Numbers, upper: Numbers) -> Numbers:
    """How far values lie above (+) or below (−) their ends.

    Args:
        values: (rows,).
        lower: (rows,).
        upper: (rows,).
    """
    return values - np.minimum(np.maximum(values, lower), upper)


def project(A: Any, lower: Numbers, upper: Numbers, start: Numbers, accuracy: float) -> Verdict | None:
    """A point that keeps all rows, or the proof that there is none; None if rounding leaves it open.

    Args:
        A: (rows, n) with rows of about unit length, dense or CSR.
        lower: (rows,) not above `upper`.
        upper: (rows,).
        start: (n,) where the search begins.
        accuracy: Violation that counts as none.
    """
    search = _Search(A, lower, upper, start, accuracy)
    try:
        return next((found for pull in _PULLS if (found := search.approach(pull)) is not None), None)
    except np.linalg.LinAlgError:
        return None


class _Search:
    """The present point of a search, and what is violated there."""

    def __init__(self, A: Any, lower: Numbers, upper: Numbers, start: Numbers, accuracy: float) -> None:
        self.A, self.lower, self.upper, self.accuracy = A, lower, upper, accuracy
        self._go_to(np.array(start))

    def _go_to(self, x: Numbers, values: Numbers | None = None) -> None:
        self.x = x
        self.values = self.A @ x if values is None else values
        self.v = outside(self.values, self.lower, self.upper)

    def approach(self, pull: float) -> Verdict | None:
        """Minimise f + ½ pull |x − x_before|² by Newton steps; a verdict as soon as there is one."""
        before, undone = self.x, np.inf
        for step in range(_MOST_STEPS):
            if np.abs(self.v).max(initial=0.0) <= self.accuracy:
                self._go_to(self.x)
                if np.abs(self.v).max(initial=0.0) <= self.accuracy:
                    return Verdict(self.x)
            active = np.flatnonzero(self.v)
            rows = dense_if_small(self.A[active])
            slope = rows.T @ self.v[active]
            verdict = self._proof(active, slope)
            if verdict is not None:
                return verdict
            gradient = slope + pull * (self.x - before)
            undone = float(np.abs(gradient).max(initial=0.0))
            if step and undone <= 1e-3 * pull * float(np.abs(self.x - before).max(initial=0.0)):
                return None
            self._search_line(-solve_normal(rows, gradient, pull), gradient, before, pull)
        return None

    def _search_line(self, d: Numbers, gradient: Numbers, before: Numbers, pull: float) -> None:
        """Go along d to where the slope is a tenth of what it was, or further down."""
        change = self.A @ d
        linear, quadratic = pull * float(d @ (self.x - before)), pull * float(d @ d)

        def slope(a: float) -> float:
            beyond = outside(self.values + a * change, self.lower, self.upper)
            return float(change @ beyond) + linear + a * quadratic

        first = float(gradient @ d)
        a = _gentle(slope, first) if first < 0.0 else 0.0
        self._go_to(self.x + a * d, self.values + a * change)

    def _proof(self, active: NDArray[np.intp], slope: Numbers) -> Verdict | None:
        """Violations as multipliers, polished, if they prove that there is no point."""
        far = 1.0 + float(np.abs(self.x).max(initial=0.0))
        if np.abs(slope).sum() * _WORTH_PROVING * far > self.v[active] @ self.v[active]:
            return None
        largest = np.abs(self.v).max()
        chosen = active[np.abs(self.v[active]) > _NOTHING * largest]
        chosen, y, rows = self._with_right_signs(chosen)
        gap = -float(y @ np.where(y > 0.0, self.upper[chosen], self.lower[chosen]))
        left = np.abs(rows.T @ y).sum()
        if gap <= 1e-13 * float(np.abs(y) @ np.abs(self.values[chosen])) or left * _FAR * far > gap:
            return None
        out = np.zeros(len(self.v))
        out[chosen] = y
        return Verdict(self.x, out, gap)

    def _with_right_signs(self, chosen: NDArray[np.intp]) -> tuple[NDArray[np.intp], Numbers, Any]:
        """Rows with polished multipliers; those that polishing would turn round are left out."""
        for _ in range(_POLISHES):
            rows = dense_if_small(self.A[chosen])
            y = polished(rows, self.v[chosen])
            right = y * self.v[chosen] > 0.0
            if right.all():
                break
            chosen, y, rows = chosen[right], y[right], rows[right]
        return chosen, y, rows


def _gentle(slope: Any, first: float) -> float:
    """A step a ≤ 1 at which the slope has fallen to a tenth, between bounds that close in on its zero."""
    low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
    if at_high <= -0.1 * first:
        return 1.0
    for _ in range(60):
        share = -at_low / (at_high - at_low)
        a = low + (high - low) * min(max(share, 0.1), 0.9)
        now = slope(a)
        if abs(now) <= -0.1 * first:
            return a
        low, high, at_low, at_high = (a, high, now, at_high) if now < 0.0 else (low, a, at_low, now)
    return low


def polished(rows: Any, y: Numbers) -> Numbers:
    """Multipliers without the part that rowsᵀ y shows: those whose rows add up to nothing, to the last digits.

    Args:
        rows: (k, n), dense or CSR.
        y: (k,).
    """
    tiny = 1e-13 * max(10, len(y))
    for _ in range(2):
        if rows.shape[0] <= min(rows.shape[1], MOST_DENSE):
            y = tiny * solve_widened(gram(rows), y, tiny)
        else:
            y = y - rows @ solve_normal(rows, rows.T @ y, tiny)
        y = y / np.abs(y).max(initial=np.finfo(float).tiny)
    return y
