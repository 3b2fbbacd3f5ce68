"""The barrier program: variables v = (w, t) with bounds, where slacks t make equations of inequalities.

Row i reads c_i(w) − target_i − Σ sign_j t_j = 0 over its slacks j; gaps follow the rows. In the program proper an
inequality has one slack within its bounds, and an equation and a gap none. In the elastic program, which looks for
feasible points, every row, and every gap where wanted, has two more that take up what is missing, at a price of ρ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.form import Form, Slopes
from surefoot.solvers.staged.riccati.layout import Layout
from surefoot.solvers.staged.riccati.sweep import Quadratic, Sweep

PRICE = 1000.0
"""ρ of the elastic program."""
_DAMPING = 1e-5  # κ_d: slope that holds variables with one bound back
_SCALE = 100.0  # s_max


@dataclass(frozen=True)
class Iterate:
    """Variables v = (w, t), multipliers of gaps and rows, and of the lower and upper bounds that exist."""

    v: Array
    gaps: Array
    rows: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Elastic:
    """Stay near w (variables,): cost ½ pull Σ (weight (w_i − centre_i))²; gaps are elastic, too, or stay closed."""

    centre: Array
    weight: Array
    pull: float
    gaps: bool


@dataclass(frozen=True)
class Here:
    """Cost and residuals at v; also the cost of the program proper, and its largest residual."""

    cost: float
    gaps: Array
    rows: Array
    own_cost: float
    own_worst: float

    @property
    def violation(self) -> float:
        """θ: sum of the residuals."""
        return float(np.abs(self.gaps).sum() + np.abs(self.rows).sum())

    @property
    def worst(self) -> float:
        """Largest residual."""
        return _largest(np.array([_largest(self.gaps), _largest(self.rows)]))

    @property
    def finite(self) -> bool:
        """Whether all numbers are."""
        return bool(np.isfinite(self.cost) and np.isfinite(self.violation))


@dataclass(frozen=True)
class Errors:
    """Scaled optimality errors at an iterate."""

    stationarity: float
    violation: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest of the three; NaN if one of them is, which Python's `max` may pass over."""
        return _largest(np.array([self.stationarity, self.violation, self.complementarity]))


class Barrier:
    """A program proper, or an elastic one.

    Args:
        form: The staged program.
        relaxation: Relative widening of bounds, so that an interior exists.
        elastic: Make rows elastic around a point.
    """

    def __init__(self, form: Form, relaxation: float, elastic: Elastic | None = None) -> None:
        self.form, self.elastic, self.relaxation = form, elastic, relaxation
        unequal = np.flatnonzero(~form.equation)
        count, rows = len(unequal), len(form.equation)
        self.target = np.where(form.equation, form.row_lower, 0.0)
        self.row, self.sign, self.price = unequal, np.ones(count), np.zeros(count)
        lower = np.concatenate([form.lower, form.row_lower[unequal]])
        upper = np.concatenate([form.upper, form.row_upper[unequal]])
        lower, upper = (
            lower - relaxation * np.maximum(1.0, np.abs(lower)),
            upper + relaxation * np.maximum(1.0, np.abs(upper)),
        )
        self.own = len(lower)  # variables of the program proper
        if elastic is not None:
            rows += form.sizes.gaps if elastic.gaps else 0
            every = np.arange(rows)
            self.row = np.concatenate([self.row, every, every])
            self.sign = np.concatenate([self.sign, np.ones(rows), -np.ones(rows)])
            self.price = np.concatenate([self.price, np.full(2 * rows, PRICE)])
            lower = np.concatenate([lower, np.zeros(2 * rows)])
            upper = np.concatenate([upper, np.full(2 * rows, np.inf)])
        self.lower, self.upper = lower, upper
        self.below, self.above = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
        self.rows = len(form.equation)
        self.hard: NDArray[np.bool_] = np.bincount(self.row, minlength=self.rows)[: self.rows] == 0
        one_sided = np.isfinite(lower).astype(float) - np.isfinite(upper).astype(float)
        self.damping = _DAMPING * one_sided
        self.n = form.sizes.variables
        self._memory = Layout(form, self.hard, np.zeros(0, dtype=np.intp))

    def sweep(self, slopes: Slopes, quadratic: Quadratic) -> Sweep:
        """Factor a Newton system; the factors of the last one are overwritten."""
        found = Sweep(self.form, slopes, quadratic, self._memory)
        self._memory = found.memory
        return found

    def at(self, v: Array) -> Here:
        """Evaluate cost and residuals."""
        point = self.form.point(v[: self.n])
        t = v[self.n :]
        rows, gaps = self.collect(self.sign * t)
        rows, gaps = point.rows - self.target - rows, point.gaps - gaps
        if self.elastic is None:
            return Here(point.cost, gaps, rows, point.cost, max(_largest(gaps), _largest(rows)))
        own = point.rows - self.target - self.collect(np.where(self.price > 0.0, 0.0, self.sign * t))[0]
        cost = self._pull(v[: self.n]) + float(self.price @ t)
        return Here(cost, gaps, rows, point.cost, max(_largest(point.gaps), _largest(own)))

    def collect(self, t: Array) -> tuple[Array, Array]:
        """Sums over the slacks of each row, and of each gap."""
        total = np.bincount(self.row, t, minlength=self.rows + self.form.sizes.gaps).astype(float)
        return total[: self.rows], total[self.rows :]

    def _pull(self, w: Array) -> float:
        e = self.elastic
        return 0.0 if e is None else 0.5 * e.pull * float(np.sum((e.weight * (w - e.centre)) ** 2))

    def gradient(self, v: Array, slopes: Slopes) -> Array:
        """Of the cost, over v."""
        if self.elastic is None:
            return np.concatenate([slopes.gradient, self.price])
        e = self.elastic
        own = np.where(self.form.frozen, 0.0, e.pull * e.weight**2 * (v[: self.n] - e.centre))
        return np.concatenate([own, self.price])

    def hessian(self, iterate: Iterate) -> tuple[Array, Array, Array]:
        """Blocks of the Lagrangian's second derivatives, those of end rows, and a diagonal."""
        cost = 1.0 if self.elastic is None else 0.0
        blocks, ends = self.form.hessian(iterate.v[: self.n], cost, iterate.gaps, iterate.rows)
        diagonal = np.zeros(self.n) if self.elastic is None else self.elastic.pull * self.elastic.weight**2
        return blocks, ends, diagonal

    def distances(self, v: Array) -> tuple[Array, Array]:
        """To the lower and upper bounds that exist."""
        return v[self.below] - self.lower[self.below], self.upper[self.above] - v[self.above]

    def merit(self, here: Here, v: Array, mu: float) -> float:
        """φ: cost with logarithms of the distances to bounds."""
        low, high = self.distances(v)
        if min(low.min(initial=1.0), high.min(initial=1.0)) <= 0.0:
            return np.inf
        logs = float(np.log(low).sum() + np.log(high).sum())
        damping = float(self.damping[self.below] @ np.where(self.damping[self.below] > 0.0, low, 0.0))
        damping -= float(self.damping[self.above] @ np.where(self.damping[self.above] < 0.0, high, 0.0))
        return here.cost - mu * logs + mu * damping

    def slope(self, gradient: Array, v: Array, mu: float) -> Array:
        """Gradient of the merit over v."""
        low, high = self.distances(v)
        out = gradient + mu * self.damping
        out[self.below] -= mu / low
        out[self.above] += mu / high
        return out

    def lagrangian(self, slopes: Slopes, gaps: Array, rows: Array) -> Array:
        """Transposed Jacobian of gaps and rows over v times multipliers."""
        return np.concatenate([self.form.transposed(slopes, gaps, rows), -self.sign * self.of_slacks(rows, gaps)])

    def of_slacks(self, rows: Array, gaps: Array) -> Array:
        """For each slack the entry of its row or gap."""
        return rows[self.row] if self.elastic is None else np.concatenate([rows, gaps])[self.row]

    def errors(self, iterate: Iterate, here: Here, slope: Array, mu: float) -> Errors:
        """Optimality errors of the barrier program (Wächter and Biegler 2006, equation 5).

        Args:
            iterate: Variables and multipliers.
            here: Residuals there.
            slope: Gradient of cost and constraints times multipliers, over v.
            mu: Barrier parameter.
        """
        slope = slope.copy()
        slope[self.below] -= iterate.low
        slope[self.above] += iterate.high
        low, high = self.distances(iterate.v)
        z = float(iterate.low.sum() + iterate.high.sum())
        y = float(np.abs(iterate.gaps).sum() + np.abs(iterate.rows).sum())
        bounds = len(low) + len(high)
        s_d = max(_SCALE, (y + z) / max(1, bounds + len(iterate.gaps) + len(iterate.rows))) / _SCALE
        s_c = max(_SCALE, z / max(1, bounds)) / _SCALE
        products = np.concatenate([low * iterate.low, high * iterate.high])
        return Errors(
            float(np.abs(slope).max(initial=0.0)) / s_d, here.worst, float(np.abs(products - mu).max(initial=0.0)) / s_c
        )

    def interior(self, v: Array, push: float) -> Array:
        """The nearest point well inside the bounds (section 3.6).

        Args:
            v: Variables.
            push: κ_1 = κ_2.
        """
        out, width = v.copy(), self.upper - self.lower
        low, high = self.lower[self.below], self.upper[self.above]
        low = low + push * np.minimum(np.maximum(1.0, np.abs(low)), width[self.below])
        high = high - push * np.minimum(np.maximum(1.0, np.abs(high)), width[self.above])
        out[self.below] = np.maximum(out[self.below], low)
        out[self.above] = np.minimum(out[self.above], high)
        return out

    def held(self, iterate: Iterate, mu: float) -> Iterate:
        """Multipliers of bounds within a factor of 1e10 of μ / distance (equation 16)."""
        low, high = (np.maximum(d, 1e-300) for d in self.distances(iterate.v))
        return replace(
            iterate,
            low=np.clip(iterate.low, mu / (1e10 * low), 1e10 * mu / low),
            high=np.clip(iterate.high, mu / (1e10 * high), 1e10 * mu / high),
        )


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
