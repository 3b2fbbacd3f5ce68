"""Newton steps of the barrier program, with inertia correction and iterative refinement."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.barrier import Barrier, Iterate
from surefoot.solvers.staged.riccati.elimination import SWEEP
from surefoot.solvers.staged.riccati.form import Slopes
from surefoot.solvers.staged.riccati.sweep import Quadratic, WrongInertiaError

_FIRST, _LEAST, _MOST = 1e-4, 1e-20, 1e10  # δ_w (section 3.1)
_GROW_FIRST, _GROW, _SHRINK = 100.0, 8.0, 1.0 / 3.0
_REFINED, _REFINEMENTS = 1e-5, 3  # relative residual of the linear system, and steps to reach it
LARGEST_FIRST = 1e3
"""Multipliers above start from zero."""
_STALLED = 0.1  # share of the residual that a step must not exceed for another one


@dataclass(frozen=True)
class Step:
    """Changes of an iterate, as `Iterate` has them."""

    v: Array
    gaps: Array
    rows: Array
    low: Array
    high: Array


class Regularization:
    """δ_w of the last steps, from which the next trial follows."""

    def __init__(self) -> None:
        self.last = 0.0

    def trials(self) -> list[float]:
        """δ_w to try one after the other; the first is zero."""
        value = max(_LEAST, _SHRINK * self.last) if self.last else _FIRST
        out = [0.0]
        while value <= _MOST:
            out.append(value)
            value *= _GROW if self.last else _GROW_FIRST
        return out


class Newton:
    """The linearised optimality conditions at an iterate.

    Args:
        barrier: The barrier program.
        iterate: Where.
        slopes: First derivatives there.
        slope: Gradient of cost and constraints times multipliers, over v.
        mu: Barrier parameter.
        regularization: Of earlier steps; updated.

    Raises:
        WrongInertiaError: No regularisation helps.
    """

    def __init__(
        self,
        barrier: Barrier,
        iterate: Iterate,
        slopes: Slopes,
        slope: Array,
        mu: float,
        regularization: Regularization | None = None,
    ) -> None:
        self._barrier, self._iterate, self._slopes, self._mu = barrier, iterate, slopes, mu
        low, high = barrier.distances(iterate.v)
        sigma = np.zeros(len(iterate.v))
        sigma[barrier.below] += iterate.low / low
        sigma[barrier.above] += iterate.high / high
        self._slope = barrier.slope(slope, iterate.v, mu)
        self._hessian, self._ends, diagonal = barrier.hessian(iterate)
        sigma[: barrier.n] += diagonal
        regularization = regularization or Regularization()
        for self.delta in regularization.trials():
            try:
                self._factor(sigma + self.delta)
                break
            except WrongInertiaError:
                continue
        else:
            raise WrongInertiaError
        if self.delta:
            regularization.last = self.delta

    def _factor(self, sigma: Array) -> None:
        b = self._barrier
        self._diagonal, self._slack = sigma[: b.n], np.maximum(sigma[b.n :], 1e-20)
        give, self._give = b.collect(1.0 / self._slack)
        self._weight = np.where(b.hard, 0.0, 1.0 / np.where(b.hard, 1.0, give))
        soft = self._give if b.elastic is not None and b.elastic.gaps else None
        quadratic = Quadratic(self._hessian, self._ends, self._diagonal, self._weight, b.hard, soft)
        self.sweep = b.sweep(self._slopes, quadratic)

    def step(self, gaps: Array, rows: Array) -> Step:
        """The step for given residuals of gaps and rows.

        Args:
            gaps: At the iterate, or those of a second-order correction.
            rows: The same of rows.
        """
        b, it = self._barrier, self._iterate
        slope = self._slope
        dw, dgaps, dy, dt = self._solve(slope[: b.n], gaps, rows, slope[b.n :])
        self._shift = b.collect(b.sign * slope[b.n :] / self._slack)[1]
        size = max(1e-8, float(np.abs(slope).max(initial=0.0)), float(np.abs(gaps).max(initial=0.0)))
        before = float(np.finfo(float).max)
        for _ in range(_REFINEMENTS):
            left, left_gaps, left_rows = self._left(dw, dgaps, dy, slope[: b.n], gaps, rows)
            worst = float(np.max([np.abs(part).max(initial=0.0) for part in (left, left_gaps, left_rows)]))
            if worst <= _REFINED * size or not worst <= _STALLED * before:
                break
            before = worst
            more = self._solve(left, left_gaps, left_rows, np.zeros(len(dt)))
            dw, dgaps, dy, dt = (a + c for a, c in zip((dw, dgaps, dy, dt), more, strict=True))
        dv = np.concatenate([dw, dt])
        low, high = b.distances(it.v)
        dlow = self._mu / low - it.low - it.low / low * dv[b.below]
        dhigh = self._mu / high - it.high + it.high / high * dv[b.above]
        return Step(dv, dgaps, dy, dlow, dhigh)

    def _solve(self, slope: Array, gaps: Array, rows: Array, slack: Array) -> tuple[Array, Array, Array, Array]:
        """dw, dλ, dy and dt of the condensed system."""
        b = self._barrier
        shift, shift_gaps = b.collect(b.sign * slack / self._slack)
        pull = self._weight * (rows + shift)
        pull[b.hard] = 0.0
        h = slope + b.form.transposed(self._slopes, np.zeros(len(gaps)), pull)
        dw, dgaps, hard = self.sweep.solve(h, gaps + shift_gaps, rows)
        moved = b.form.product(self._slopes, dw)[1]
        dy = np.where(b.hard, hard, self._weight * (moved + rows + shift))
        return dw, dgaps, dy, (b.sign * b.of_slacks(dy, dgaps) - slack) / self._slack

    def _left(
        self, dw: Array, dgaps: Array, dy: Array, slope: Array, gaps: Array, rows: Array
    ) -> tuple[Array, Array, Array]:
        """What a solution leaves of the equations of w, gaps and hard rows."""
        b, s = self._barrier, self._barrier.form.sizes
        left = slope + self._diagonal * dw + b.form.transposed(self._slopes, dgaps, dy)
        sizes, z = self.sweep.memory.sizes, self.sweep.memory.small[2]
        SWEEP["bend"](
            sizes.ctypes.data, s.stages, self._hessian.ctypes.data, b.form.shared.start, dw.ctypes.data, z.ctypes.data,
            left.ctypes.data,
        )  # fmt: skip
        if s.end_rows:
            np.add.at(left, s.end_block, self._ends @ dw[s.end_block])
        left[b.form.frozen] = 0.0
        moved_gaps, moved = b.form.product(self._slopes, dw)
        left_gaps = moved_gaps + gaps + self._shift - self._give * dgaps
        return left, left_gaps, np.where(b.hard, moved + rows - self.sweep.delta * dy, 0.0)


def with_least_squares(barrier: Barrier, iterate: Iterate) -> Iterate:
    """Multipliers of gaps and rows that make the Lagrangian's gradient smallest, or zero where these are large.

    Section 3.6. Where the Jacobian has not full rank, an iterate stays as it is.

    Args:
        barrier: The barrier program.
        iterate: Variables and multipliers of bounds.
    """
    form, n = barrier.form, barrier.n
    slopes = form.slopes(iterate.v[:n])
    give = np.bincount(barrier.row, minlength=len(barrier.target)).astype(float)
    weight = np.where(barrier.hard, 0.0, 1.0 / np.where(barrier.hard, 1.0, give))
    sizes = form.sizes
    blocks = np.zeros(int(np.sum((np.add(sizes.states, sizes.controls) + sizes.parameters) ** 2)))
    ends = np.zeros((len(sizes.end_block),) * 2)
    try:
        sweep = barrier.sweep(slopes, Quadratic(blocks, ends, np.ones(n), weight, barrier.hard))
    except WrongInertiaError:
        return iterate
    slope = barrier.gradient(iterate.v, slopes)
    slope[barrier.below] -= iterate.low
    slope[barrier.above] += iterate.high
    shift = np.bincount(barrier.row, barrier.sign * slope[n:], minlength=len(barrier.target))
    pull = np.where(barrier.hard, 0.0, weight * shift)
    none = np.zeros(sizes.gaps)
    h = slope[:n] + form.transposed(slopes, none, pull)
    h[form.frozen] = 0.0
    dw, gaps, hard = sweep.solve(h, none, np.zeros(len(weight)))
    rows = np.where(barrier.hard, hard, weight * (form.product(slopes, dw)[1] + shift))
    if not np.abs(np.concatenate([gaps, rows])).max(initial=0.0) <= LARGEST_FIRST:
        gaps, rows = none, np.zeros_like(rows)
    return replace(iterate, gaps=gaps, rows=rows)
