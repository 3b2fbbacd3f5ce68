"""The interior point: barrier updates, Newton steps, filter line search (Wächter and Biegler 2006, algorithm A)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.barrier import Barrier, Here, Iterate
from surefoot.solvers.staged.riccati.form import Slopes
from surefoot.solvers.staged.riccati.newton import Newton, Regularization, Step, with_least_squares
from surefoot.solvers.staged.riccati.sweep import WrongInertiaError
from surefoot.solvers.staged.solution import Iteration, Outcome
from surefoot.solvers.staged.watch import Watch

_KAPPA_EPSILON, _KAPPA_MU, _THETA_MU, _TAU = 10.0, 0.2, 1.5, 0.99
_GAMMA_THETA, _GAMMA_PHI, _GAMMA_ALPHA = 1e-5, 1e-8, 0.05
_S_THETA, _S_PHI, _ETA = 1.1, 2.3, 1e-4
_CORRECTIONS, _CORRECTED = 4, 0.99
_EPS = float(np.finfo(float).eps)
_ACCEPTABLE, _ACCEPTABLE_STEPS = 100.0, 15
_SHORT, _CREEPING = 1e-2, 10  # step length, and how many such steps in a row ask for restoration

End = Outcome | Literal["stuck", "accepted"]
"""Of a run: "stuck" asks for restoration, "accepted" ends one."""


class Filter:
    """Pairs of violation and merit that later iterates must improve on."""

    def __init__(self, most: float) -> None:
        self._most, self._pairs = most, list[tuple[float, float]]()

    def accepts(self, violation: float, merit: float) -> bool:
        """Whether a point is better than every pair in one of the two."""
        return violation <= self._most and all(violation < a or merit < b for a, b in self._pairs)

    def add(self, violation: float, merit: float) -> None:
        """Forbid what is not better than this point by a margin."""
        self._pairs.append(((1.0 - _GAMMA_THETA) * violation, merit - _GAMMA_PHI * violation))


@dataclass(frozen=True)
class _Trial:
    v: Array
    here: Here
    alpha: float
    dual: float
    kind: str


class InteriorPoint:
    """One barrier program on its way to a solution.

    Args:
        barrier: The program.
        iterate: First iterate, inside the bounds.
        mu: First barrier parameter.
        tolerance: Of the optimality error.
        watch: Limits and table.
        accepted: Ends a restoration as soon as a point is good enough for the program proper.
    """

    def __init__(
        self,
        barrier: Barrier,
        iterate: Iterate,
        mu: float,
        tolerance: float,
        watch: Watch,
        accepted: Callable[[Array], bool] | None = None,
    ) -> None:
        self.barrier, self.iterate, self.mu = barrier, iterate, mu
        self._tolerance, self._watch, self._accepted = tolerance, watch, accepted
        self.here: Here = barrier.at(iterate.v)
        self.move(iterate, self.here)
        self.refresh()
        self._regularization, self._fine, self._tiny, self._short = Regularization(), 0, 0, 0
        self.newton: Newton | None = None
        self.last: Step | None = None
        self.best, self.best_error = iterate, np.inf

    def refresh(self) -> None:
        """Judge later iterates by the present one alone."""
        first = max(1.0, self.here.violation)
        self._most, self._small = 1e4 * first, 1e-4 * first
        self.filter = Filter(self._most)

    def move(self, iterate: Iterate, here: Here) -> None:
        """Go on from another iterate.

        Args:
            iterate: The new one.
            here: Cost and residuals there.
        """
        self.iterate, self.here = iterate, here
        self.slopes: Slopes = self.barrier.form.slopes(iterate.v[: self.barrier.n])
        gradient = self.barrier.gradient(iterate.v, self.slopes)
        self.slope = gradient + self.barrier.lagrangian(self.slopes, iterate.gaps, iterate.rows)

    def run(self) -> End:
        """Iterate to the end."""
        if not self._watch.table:
            self._note(None, None)
        while True:
            end = self._judge()
            if end is not None:
                return end
            self._update_barrier()
            try:
                self.newton = Newton(self.barrier, self.iterate, self.slopes, self.slope, self.mu, self._regularization)
            except WrongInertiaError:
                return "stuck"
            self.last = self.newton.step(self.here.gaps, self.here.rows)
            trial = self._search(self.newton, self.last)
            if trial is None:
                return "stuck"
            self._take(self.last, trial)
            self._note(self.last, trial)
            if self._accepted is not None and self._accepted(self.iterate.v):
                return "accepted"
            if self._creeps(trial):
                return "stuck"

    def _creeps(self, trial: _Trial) -> bool:
        """Whether many steps were short, far from feasible: bounds stop every direction that the filter accepts.

        Near a feasible point, short steps keep multipliers from changing that have become wrong far from it: new ones.
        """
        self._short = self._short + 1 if trial.alpha < _SHORT and self._accepted is None else 0
        if self._short < _CREEPING:
            return False
        self._short = 0
        if trial.here.worst > _ACCEPTABLE * self._tolerance:
            return True
        self.move(with_least_squares(self.barrier, self.iterate), self.here)
        return False

    def _judge(self) -> End | None:
        """Whether to stop here."""
        errors = self.barrier.errors(self.iterate, self.here, self.slope, 0.0)
        if errors.worst < self.best_error:
            self.best, self.best_error = self.iterate, errors.worst
        if errors.worst <= self._tolerance:
            return "solved"
        self._fine = self._fine + 1 if errors.worst <= _ACCEPTABLE * self._tolerance else 0
        if self._fine >= _ACCEPTABLE_STEPS or (self._tiny > 1 and self.mu <= 0.1 * self._tolerance):
            return "acceptable" if self._fine else "stuck"
        return self._watch.limit()

    def _update_barrier(self) -> None:
        """Smaller μ as soon as the barrier program is solved well enough (equation 7)."""
        least = 0.1 * self._tolerance
        while self.mu > least:
            errors = self.barrier.errors(self.iterate, self.here, self.slope, self.mu)
            if errors.worst > _KAPPA_EPSILON * self.mu and self._tiny < 1:
                return
            self._tiny = 0
            self.mu = max(least, min(_KAPPA_MU * self.mu, self.mu**_THETA_MU))
            self.filter = Filter(self._most)

    def _boundary(self, distance: Array, step: Array) -> float:
        """Largest step length that keeps 1 − τ of all distances."""
        tau = max(_TAU, 1.0 - self.mu)
        shrinking = step < -tau * distance  # others end inside
        return min(1.0, float((-tau * distance[shrinking] / step[shrinking]).min(initial=1.0)))

    def longest(self, v: Array, dv: Array) -> float:
        """Longest primal step."""
        b = self.barrier
        low, high = b.distances(v)
        return min(self._boundary(low, dv[b.below]), self._boundary(high, -dv[b.above]))

    def _search(self, newton: Newton, step: Step) -> _Trial | None:
        """A step length that the filter accepts; None: restoration is due."""
        b, it, here = self.barrier, self.iterate, self.here
        theta, phi = here.violation, b.merit(here, it.v, self.mu)
        slope = float(b.slope(b.gradient(it.v, self.slopes), it.v, self.mu) @ step.v)
        longest = self.longest(it.v, step.v)
        dual = min(self._boundary(it.low, step.low), self._boundary(it.high, step.high))
        if float(np.max(np.abs(step.v) / (1.0 + np.abs(it.v)), initial=0.0)) < 10.0 * _EPS:
            self._tiny += 1
            v = it.v + longest * step.v
            return _Trial(v, b.at(v), longest, dual, "t")
        self._tiny = 0
        least = self._least(theta, slope)
        alpha = longest
        while alpha >= least or alpha == longest:
            v = it.v + alpha * step.v
            trial = b.at(v)
            if self._good(trial, v, alpha, theta, phi, slope):
                return _Trial(v, trial, alpha, dual, "")
            if alpha == longest and trial.finite and trial.violation >= theta:
                corrected = self._correct(newton, trial, alpha, dual, (theta, phi, slope))
                if corrected is not None:
                    return corrected
            alpha *= 0.5
        return None

    def _least(self, theta: float, slope: float) -> float:
        """Step length below which restoration begins (equation 23)."""
        least = _GAMMA_THETA
        if slope < 0.0:
            least = min(least, _GAMMA_PHI * theta / -slope)
            if theta <= self._small:
                least = min(least, theta**_S_THETA / (-slope) ** _S_PHI)
        return _GAMMA_ALPHA * least

    def _good(self, trial: Here, v: Array, alpha: float, theta: float, phi: float, slope: float) -> bool:
        """Whether the filter line search accepts a point; keeps the filter up to date."""
        if not trial.finite:
            return False
        merit = self.barrier.merit(trial, v, self.mu)
        rounding = 10.0 * _EPS * abs(phi)
        if not np.isfinite(merit) or not self.filter.accepts(trial.violation, merit - rounding):
            return False
        switched = slope < 0.0 and alpha * (-slope) ** _S_PHI > theta**_S_THETA
        decreased = merit - phi - rounding <= _ETA * alpha * slope
        if theta <= self._small and switched:
            return decreased
        better = trial.violation <= (1.0 - _GAMMA_THETA) * theta or merit - rounding <= phi - _GAMMA_PHI * theta
        if better and not (switched and decreased):
            self.filter.add(theta, phi)
        return better

    def _correct(
        self, newton: Newton, trial: Here, alpha: float, dual: float, start: tuple[float, float, float]
    ) -> _Trial | None:
        """Second-order corrections (section 2.4)."""
        theta, phi, slope = start
        gaps, rows = alpha * self.here.gaps + trial.gaps, alpha * self.here.rows + trial.rows
        before = trial.violation
        for _ in range(_CORRECTIONS):
            step = newton.step(gaps, rows)
            length = self.longest(self.iterate.v, step.v)
            v = self.iterate.v + length * step.v
            now = self.barrier.at(v)
            if self._good(now, v, alpha, theta, phi, slope):
                return _Trial(v, now, length, dual, "c")
            if not now.finite or now.violation > _CORRECTED * before:
                return None
            before = now.violation
            gaps, rows = length * gaps + now.gaps, length * rows + now.rows
        return None

    def _take(self, step: Step, trial: _Trial) -> None:
        it, a, z = self.iterate, trial.alpha, trial.dual
        moved = Iterate(
            trial.v, it.gaps + a * step.gaps, it.rows + a * step.rows, it.low + z * step.low, it.high + z * step.high
        )
        self.move(self.barrier.held(moved, self.mu), trial.here)

    def _note(self, step: Step | None, trial: _Trial | None) -> None:
        errors = self.barrier.errors(self.iterate, self.here, self.slope, 0.0)
        form, table = self.barrier.form, self._watch.table
        cost = self.here.own_cost / form.cost_scale
        line = Iteration(0, cost, self.here.own_worst, errors.stationarity, self.mu, 0.0, 0.0, 0.0, 0.0)
        if step is not None and trial is not None and self.newton is not None:
            line = replace(
                line,
                number=table[-1].number + 1,
                step=float(np.abs(step.v).max(initial=0.0)),
                regularization=self.newton.delta,
                primal_step=trial.alpha,
                dual_step=trial.dual,
                kind="r" + trial.kind if self._accepted is not None else trial.kind,
            )
        self._watch.note(line)
