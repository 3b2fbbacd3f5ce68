"""Strides as maps: one step from a section to itself, its fixed point, and how fast disturbances die out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from surefoot.arrays import Array
from surefoot.errors import SimulationError

_TOLERANCE, _POINTS = 1e-10, 81
Field = Callable[[float, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class Stride:
    """One step.

    Args:
        end: (n,) the section after it.
        duration: [s], or in the units of the model.
        length: [m].
        time: (k,) of the motion.
        motion: (k, 2) an angle and its rate, to draw.
        work: Of the actuators, positive parts only [J].
    """

    end: Array
    duration: float
    length: float
    time: Array
    motion: Array
    work: float = 0.0


class Walker(Protocol):
    """A study walker: a map from its section to itself."""

    @property
    def name(self) -> str:
        """Short."""
        ...

    @property
    def idea(self) -> str:
        """In a sentence."""
        ...

    @property
    def start(self) -> ArrayLike:
        """(n,) a section near the gait."""
        ...

    @property
    def weight(self) -> float:
        """[N]."""
        ...

    @property
    def pace(self) -> int:
        """Entry of the section that is the forward speed, or the stance leg's rate."""
        ...

    def stride(self, section: Array) -> Stride:
        """One step; raises `SimulationError` where it falls."""
        ...


@dataclass(frozen=True, eq=False)
class LimitCycle:
    """A gait that repeats itself.

    Args:
        section: (n,) the fixed point.
        eigenvalues: (n,) of the stride map there, largest first; stable if all are inside the unit circle.
        stride: The step.
    """

    section: Array
    eigenvalues: NDArray[np.complex128]
    stride: Stride

    @property
    def speed(self) -> float:
        """Mean [m/s]."""
        return self.stride.length / self.stride.duration


def limit_cycle(walker: Walker, guess: ArrayLike | None = None, most: int = 40) -> LimitCycle:
    """The fixed point of a walker's stride by Newton's method, with central differences.

    Args:
        walker: The walker.
        guess: (n,) where to begin; its `start` if omitted.
        most: Iterations.

    Raises:
        SimulationError: It falls, or there is none nearby.
    """
    x = np.array(walker.start if guess is None else guess, dtype=float)
    for _ in range(most):
        gap = walker.stride(x).end - x
        J = _slope(walker, x)
        if np.abs(gap).max() < 1e-9:
            values = np.linalg.eigvals(J).astype(np.complex128)
            return LimitCycle(x, values[np.argsort(-np.abs(values))], walker.stride(x))
        step = np.linalg.solve(np.eye(len(x)) - J, gap)
        step *= min(1.0, 0.2 / max(float(np.abs(step).max()), 1e-12))
        while len(walk(walker, x + step, 1)) == 0 and np.abs(step).max() > 1e-12:
            step *= 0.5
        x = x + step
    raise SimulationError(f"no periodic gait of `{walker.name}` was found", evidence={"gap": gap})


def _slope(walker: Walker, x: Array, size: float = 1e-5) -> Array:
    columns = [
        (walker.stride(x + size * e).end - walker.stride(x - size * e).end) / (2.0 * size) for e in np.eye(len(x))
    ]
    return np.column_stack(columns)


def walk(walker: Walker, section: ArrayLike, steps: int) -> list[Stride]:
    """Up to a number of steps; fewer if it falls.

    Args:
        walker: The walker.
        section: (n,) where it starts.
        steps: How many.
    """
    found: list[Stride] = []
    x = np.array(section, dtype=float)
    for _ in range(steps):
        try:
            found.append(walker.stride(x))
        except SimulationError:
            break
        x = found[-1].end
    return found


def survived_kick(walker: Walker, section: Array, shares: tuple[float, ...], steps: int = 15) -> float:
    """The largest share by which the pace may be both too fast and too slow, so that a number of steps follows.

    Args:
        walker: The walker.
        section: (n,) its fixed point.
        shares: Tried, in rising order.
        steps: How many.
    """
    best, pace = 0.0, np.eye(len(section))[walker.pace] * section
    for share in shares:
        if any(len(walk(walker, section + sign * share * pace, steps)) < steps for sign in (1.0, -1.0)):
            break
        best = share
    return best


def integrated(
    field: Field, start: ArrayLike, event: Callable[[float, Array], float], longest: float
) -> tuple[Array, Array]:
    """Times (k,) and states (k, n) until an event function passes 0 from above.

    Args:
        field: Rates of the state.
        start: (n,).
        event: Of time and state.
        longest: Time after which it counts as a fall.

    Raises:
        SimulationError: The event does not come.
    """

    def crossing(t: float, x: Array) -> float:
        return event(t, x)

    crossing.terminal, crossing.direction = True, -1.0  # type: ignore[attr-defined]
    found = solve_ivp(field, (0.0, longest), np.array(start, dtype=float), method="DOP853", rtol=_TOLERANCE,
                      atol=_TOLERANCE, events=crossing, dense_output=True)  # fmt: skip
    if not len(found.t_events[0]) or not np.isfinite(found.y).all():
        raise SimulationError("the walker fell", evidence={"after": float(found.t[-1])})
    time = np.linspace(0.0, found.t[-1], _POINTS)
    return time, np.vstack([found.sol(time[:-1]).T, found.y[:, -1]])
