"""Where and when to step, from the measured DCM: one small hierarchy of least squares.

All in the frame of the stance foot, x forward, y to the left. With σ = e^{ω t_r}, t_r the time until landing, the
nominal CoP p, its change δ, the landing u and the DCM offset b from the foot that lands,

    p + (ξ − p) σ − e = u + b,   e = (σ − 1) δ        [step.dcm]

is linear in x = (σ, u, e), as are the limits of the CoP, e ≤ (σ − 1)(p_max − p) and likewise below. First the limits
of landing, time and CoP; then b within the viable offsets (`capture_box`); then, with weights, the nominal u, t_r, b
and p. The first of these without CoP is the program of Khadiv, Herzog, Moosavian and Righetti (2016; IEEE T-RO 36,
2020); there, viability is a soft constraint with a large weight, here it is a priority.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, isfinite, log, sqrt
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError, one_of
from surefoot.reduced.capture import capture_box
from surefoot.solvers.hierarchy import HierarchySolver, StackedHierarchy

Side = Literal["left", "right"]
_STARTS = (0, 4, 6, 13)
_KEPT = 1e-9
"""Violation of the viable offsets that is rounding [m]."""


@dataclass(frozen=True)
class StepLimits:
    """Limits of steps, in the frame of a left stance foot; a right one is its mirror image.

    Args:
        forward: Least and largest x of the landing [m].
        width: Least and largest distance of the feet across [m]; with a positive least one, legs do not cross.
        duration: Shortest and longest step [s].
        cop_forward: Least and largest x of the CoP on the foot [m].
        cop_side: Least and largest y of the CoP on the left foot [m]; positive is outward.
    """

    forward: tuple[float, float]
    width: tuple[float, float]
    duration: tuple[float, float]
    cop_forward: tuple[float, float] = (0.0, 0.0)
    cop_side: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("forward", "width", "duration", "cop_forward", "cop_side"):
            low, high = getattr(self, name)
            if not (np.isfinite([low, high]).all() and low <= high):
                raise ShapeError(
                    f"`{name}` of the step limits must be (least, largest), both finite", evidence={name: (low, high)}
                )
        if self.duration[0] <= 0.0:
            raise ShapeError("steps must take time", evidence={"duration": self.duration})

    def landing(self, stance: Side) -> Array:
        """Box (2, 2) of the landing relative to the stance foot.

        Args:
            stance: Which foot stands.
        """
        return _box(self.forward, (-self.width[1], -self.width[0]), stance)

    def cop(self, stance: Side) -> Array:
        """Box (2, 2) of the CoP on the stance foot.

        Args:
            stance: Which foot stands.
        """
        return _box(self.cop_forward, self.cop_side, stance)

    def viable(self, landing: Side, omega: float) -> Array:
        """Box (2, 2) of the DCM offsets from a foot that lands with which steps can go on within the limits.

        Args:
            landing: Which foot lands.
            omega: √(g / z) [1/s].
        """
        other = _other(landing)
        boxes = self.landing(landing), self.landing(other), self.cop(landing), self.cop(other)
        return capture_box(omega, self.duration[0], *boxes)


@dataclass(frozen=True)
class StepWeights:
    """Weights of squared departures from the nominal step; only their ratios matter.

    Args:
        landing: Of the landing [1/m²].
        time: Of the time of landing [1/s²].
        offset: Of the DCM offset at landing [1/m²]; large: back in the nominal gait after one step.
        cop: Of the shift of the DCM at landing by the CoP [1/m²].
    """

    landing: float = 1.0
    time: float = 0.1
    offset: float = 100.0
    cop: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0.0):
                raise ShapeError(f"the weight `{name}` must be positive and finite", evidence={name: value})


@dataclass(frozen=True)
class NominalStep:
    """The step as planned, in the frame of the stance foot.

    Args:
        landing: (2,) where the swing foot lands [m].
        duration: From the last landing to this one [s].
        offset: (2,) DCM relative to the foot that lands [m], at that moment; see `step_offset`.
        cop: (2,) CoP on the stance foot [m].
    """

    landing: Sequence[float] | Array
    duration: float
    offset: Sequence[float] | Array
    cop: Sequence[float] | Array = (0.0, 0.0)

    @classmethod
    def through(
        cls,
        omega: float,
        landing: ArrayLike,
        duration: float,
        dcm: ArrayLike,
        elapsed: float = 0.0,
        cop: ArrayLike = (0.0, 0.0),
    ) -> NominalStep:
        """The planned step whose DCM passes a point: the offset follows from [step.dcm].

        With double supports of length T_d, in which the ZMP moves straight from foot to foot, count steps from middle
        to middle: a switch of feet there has the effect of the double support on the DCM, but for (ωT_d)²/24.

        Args:
            omega: √(g / z) [1/s].
            landing: (2,) where the swing foot lands [m].
            duration: From the last landing to this one [s].
            dcm: (2,) planned DCM in the single support [m].
            elapsed: When it is there [s].
            cop: (2,) CoP on the stance foot [m].
        """
        p, u, xi = (np.asarray(x, dtype=float) for x in (cop, landing, dcm))
        offset = p + (xi - p) * exp(omega * (duration - elapsed)) - u
        return cls(tuple(u.tolist()), duration, tuple(offset.tolist()), tuple(p.tolist()))


class AdaptedStep(NamedTuple):
    """The step to take now.

    Args:
        landing: (2,) where to land, in the frame of the stance foot [m].
        remaining: Time until landing [s].
        cop: (2,) CoP to hold until then [m].
        offset: (2,) DCM relative to the foot that lands, expected at that moment [m].
        outside: (2,) how far `offset` lies above (positive) or below its viable box: (0, 0) as long as further steps
            within the limits keep the robot from falling.
    """

    landing: Array
    remaining: float
    cop: Array
    offset: Array
    outside: Array

    @property
    def viable(self) -> bool:
        """Whether steps can go on within the limits."""
        return abs(self.outside[0]) <= _KEPT and abs(self.outside[1]) <= _KEPT


class StepAdapter:
    """Adapts the landing, its time and the CoP of the present step to the measured DCM; for every control tick.

        limits = StepLimits(forward=(-0.2, 0.4), width=(0.12, 0.4), duration=(0.35, 0.9))
        adapter = StepAdapter(omega, limits)
        step = adapter.adapt("left", dcm, elapsed, nominal)

    Args:
        omega: √(g / z) [1/s].
        limits: Of landing, duration and CoP.
        weights: Of the departures from the nominal step.
    """

    def __init__(self, omega: float, limits: StepLimits, weights: StepWeights | None = None) -> None:
        if not (np.isfinite(omega) and omega > 0.0):
            raise ShapeError("omega must be positive and finite", evidence={"omega": omega})
        self.omega, self.limits, self.weights = float(omega), limits, weights or StepWeights()
        self._sides = {
            side: (
                limits.landing(side).tolist(),
                limits.cop(side).tolist(),
                limits.viable(_other(side), omega).tolist(),
                HierarchySolver(),
                self._pattern(),
            )
            for side in ("left", "right")
        }

    def adapt(
        self,
        stance: Side,
        dcm: ArrayLike,
        elapsed: float,
        nominal: NominalStep,
        reachable: ArrayLike | None = None,
        soonest: float = 0.0,
        viable: ArrayLike | None = None,
    ) -> AdaptedStep:
        """The step nearest to the nominal one that keeps the limits and, if possible, remains viable.

        Args:
            stance: Which foot stands.
            dcm: (2,) measured DCM in the frame of the stance foot [m].
            elapsed: Time since the last landing [s].
            nominal: The step as planned.
            reachable: Box (2, 2) that the swing foot can still reach; goes before the limits of the landing. None: all.
            soonest: Time that the swing foot needs at least [s].
            viable: Box (2, 2) in which the DCM offset should be, such as `capture_box` for some steps; that of any
                number of steps within the limits if omitted.

        Raises:
            ShapeError: The DCM or the time is not finite.
            UnknownNameError: The foot is neither left nor right.
        """
        if stance not in self._sides:
            raise one_of("foot", stance, self._sides)
        (low, high), cop, within, solver, problem = self._sides[stance]
        if viable is not None:
            within = np.asarray(viable, dtype=float).tolist()
        if reachable is not None:
            (low_x, low_y), (high_x, high_y) = np.asarray(reachable, dtype=float).tolist()
            low = [min(max(low[0], low_x), high_x), min(max(low[1], low_y), high_y)]
            high = [max(min(high[0], high_x), low[0]), max(min(high[1], high_y), low[1])]
        x, y = float(dcm[0]), float(dcm[1])  # type: ignore[index, arg-type]
        if not (isfinite(x) and isfinite(y) and isfinite(elapsed)):
            raise ShapeError("the DCM or the time is not finite", evidence={"dcm": (x, y), "elapsed": elapsed})
        shortest, longest = self.limits.duration
        least = exp(self.omega * max(shortest - elapsed, soonest, 0.0))
        most = max(least, exp(self.omega * max(longest - elapsed, 0.0)))
        sigma = min(max(exp(self.omega * (nominal.duration - elapsed)), least), most)
        bounds = [least, *low], [most, *high]
        self._fill(problem, (x, y), sigma, nominal, cop, within, bounds)
        found = solver.solve_stacked(problem).x
        return self._step(found, (x, y), nominal, within)

    def _pattern(self) -> StackedHierarchy:
        """The rows with all entries that do not change: CoP above and below, viable offsets, wishes."""
        A = np.zeros((13, 5))
        roots = [sqrt(w) for w in (self.weights.landing, self.weights.offset, self.weights.cop)]
        for k in (0, 1):
            A[k, 3 + k] = A[2 + k, 3 + k] = 1.0
            A[4 + k, [1 + k, 3 + k]] = -1.0
            A[7 + k, 1 + k] = roots[0]
            A[9 + k, [1 + k, 3 + k]] = -roots[1]
            A[11 + k, 3 + k] = roots[2]
        lower, upper = np.full(18, -np.inf), np.full(18, np.inf)
        lower[6], upper[6] = 2 * (sqrt(self.weights.time) / self.omega,)
        lower[11:13] = upper[11:13] = 0.0
        return StackedHierarchy(A, lower, upper, _STARTS, (0.0, 0.0, 0.0))

    def _fill(
        self,
        problem: StackedHierarchy,
        dcm: tuple[float, float],
        sigma: float,
        nominal: NominalStep,
        cop: list[list[float]],
        viable: list[list[float]],
        bounds: tuple[list[float], list[float]],
    ) -> None:
        A, lower, upper = problem.A, problem.lower, problem.upper
        landing, offset = sqrt(self.weights.landing), sqrt(self.weights.offset)
        A[6, 0] = sqrt(self.weights.time) / (self.omega * sigma)  # (σ − σ_n) / (ω σ_n) is nearly the change of time
        for k in (0, 1):
            p = nominal.cop[k]
            A[k, 0], upper[k] = p - cop[1][k], p - cop[1][k]
            A[2 + k, 0], lower[2 + k] = p - cop[0][k], p - cop[0][k]
            A[4 + k, 0], A[9 + k, 0] = dcm[k] - p, offset * (dcm[k] - p)
            lower[4 + k], upper[4 + k] = viable[0][k] - p, viable[1][k] - p
            lower[7 + k] = upper[7 + k] = landing * nominal.landing[k]
            lower[9 + k] = upper[9 + k] = offset * (nominal.offset[k] - p)
        lower[13:16], upper[13:16] = bounds

    def _step(
        self, found: Array, dcm: tuple[float, float], nominal: NominalStep, viable: list[list[float]]
    ) -> AdaptedStep:
        sigma, ux, uy, ex, ey = found.tolist()
        landing, shift = (ux, uy), (ex, ey)
        growth = max(sigma - 1.0, 1e-12)
        offset, cop, outside = np.empty(2), np.empty(2), np.empty(2)
        for k in (0, 1):
            p = nominal.cop[k]
            b = p + (dcm[k] - p) * sigma - shift[k] - landing[k]
            offset[k], cop[k] = b, p + shift[k] / growth
            outside[k] = b - min(max(b, viable[0][k]), viable[1][k])
        return AdaptedStep(found[1:3], max(log(sigma), 0.0) / self.omega, cop, offset, outside)


def _other(side: Side) -> Side:
    return "right" if side == "left" else "left"


def _box(x: tuple[float, float], y: tuple[float, float], stance: Side) -> Array:
    """A box on the left foot, or its mirror image on the right one."""
    low, high = y if stance == "left" else (-y[1], -y[0])
    return np.array([[x[0], low], [x[1], high]])
