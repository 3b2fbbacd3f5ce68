"""Events: zeros of functions of time and state, found while integrating."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.solvers.ode.field import FieldNotFiniteError
from surefoot.solvers.ode.methods import Tableau
from surefoot.solvers.ode.runge_kutta import Segment, take_leg

_PATIENCE = 20
"""Steps of false position before halving; functions that are nearly straight need about six."""


def bracketed_zero(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """A point within `tolerance` of a change of sign: false position, Illinois variant (Dowell & Jarratt 1971).

    Args:
        function: g(s), with signs that differ at the ends; it may jump. Where rounding at an end made the signs equal,
            the end nearer to zero is given back.
        low: Lower end.
        high: Upper end.
        tolerance: Width of the bracket at which to stop; not smaller than the rounding of the ends.
    """
    g_low, g_high = function(low), function(high)
    if (g_low > 0.0) == (g_high > 0.0) or g_low == 0.0 or g_high == 0.0:
        return low if abs(g_low) < abs(g_high) else high
    tolerance = max(tolerance, 4.0 * math.ulp(max(abs(low), abs(high))))
    last_side = count = 0
    while high - low > tolerance:
        s = high - g_high * (high - low) / (g_high - g_low) if count < _PATIENCE else 0.5 * (low + high)
        s = min(max(s, low + 0.5 * tolerance), high - 0.5 * tolerance)  # so that the far end comes near, too
        g = function(s)
        if g == 0.0:
            return s
        side = 1 if (g > 0.0) == (g_high > 0.0) else -1
        if side == 1:
            high, g_high, g_low = s, g, (0.5 * g_low if last_side == 1 else g_low)
        else:
            low, g_low, g_high = s, g, (0.5 * g_high if last_side == -1 else g_high)
        last_side, count = side, count + 1
    return low if abs(g_low) < abs(g_high) else high


_LOOKS_PER_LEG = 4
"""Signs are compared that often in each leg, so that a function that crosses and comes back is seen."""


@dataclass(frozen=True)
class Event:
    """Something that happens where a function crosses zero.

    Args:
        function: g(t, x), continuous.
        direction: +1: only where g rises through zero, -1: only where it falls, 0: both.
        terminal: Whether the integration ends there.
        name: For the result.
    """

    function: Callable[[float, Array], float]
    direction: int = 0
    terminal: bool = False
    name: str = "event"

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise ShapeError(f"the direction of event `{self.name}` is {self.direction}, expected -1, 0 or 1")

    def value(self, t: float, x: Array) -> float:
        """g(t, x).

        Raises:
            FieldNotFiniteError: It is not finite.
        """
        value = float(self.function(t, x))
        if not math.isfinite(value):
            raise FieldNotFiniteError(
                f"event `{self.name}` is not finite at t = {t:.9g}",
                evidence={"time": t, "state": x, "value": value},
                next_step="make the event function defined on both sides of its zero",
            )
        return value


@dataclass(frozen=True)
class Occurrence:
    """An event that happened.

    Args:
        event: Which one.
        t: When [s].
        x: (n,) the state then.
        rising: Whether its function rose through zero.
    """

    event: Event
    t: float
    x: Array
    rising: bool


class EventWatch:
    """Follows the signs of all events along an integration.

    A zero within `time_tolerance` of the start has happened before and is not found again: signs count from there on.
    Reaching zero counts as crossing it, leaving zero does not. A function that crosses twice between two looks (four
    in each leg) goes unseen: limit the step where this matters.

    Args:
        events: What to look for.
        method: The method that integrates.
        t0: Where the integration begins [s].
        time_tolerance: To which events are located [s].
    """

    def __init__(self, events: Sequence[Event], method: Tableau, t0: float, time_tolerance: float) -> None:
        self.events = tuple(events)
        self._method = method
        self._tolerance = time_tolerance
        self._last_look = t0
        self._signs: list[float] | None = None

    def search(self, segment: Segment) -> list[Occurrence]:
        """The events in the next segment in the order of time, up to and with the first terminal one."""
        if not self.events:
            return []
        found = sorted(self._crossings(segment), key=lambda occurrence: occurrence.t)
        ends = [i for i, occurrence in enumerate(found) if occurrence.event.terminal]
        return found[: ends[0] + 1] if ends else found

    def _crossings(self, segment: Segment) -> Iterator[Occurrence]:
        for look in self._looks(segment):
            x = segment.at(look)
            signs = [float(np.sign(event.value(look, x))) for event in self.events]
            for event, before, now in zip(self.events, self._signs or signs, signs, strict=True):
                if before not in (0.0, now) and event.direction in (0, -before):
                    t, state = self._locate(event, segment, self._last_look, look)
                    yield Occurrence(event, t, state, before < 0.0)
            self._signs, self._last_look = signs, look

    def _looks(self, segment: Segment) -> Iterator[float]:
        leg = segment.leg
        if self._signs is None:
            yield leg.t + min(self._tolerance, 0.5 * leg.h)
        for i in range(1, _LOOKS_PER_LEG + 1):
            yield leg.t + i / _LOOKS_PER_LEG * leg.h

    def _locate(self, event: Event, segment: Segment, early: float, late: float) -> tuple[float, Array]:
        """Time and state of a zero between two looks.

        On true steps of the method from the start of the leg, so that the event has the accuracy of the method and not
        that of the polynomial between; where the two disagree about a zero at all (it only just grazes), on the
        polynomial.
        """

        def true_state(t: float) -> Array:
            leg = segment.leg
            return leg.chart.point(take_leg(self._method, leg.chart, leg.t, t - leg.t, leg.start, leg.stages[0]).end)

        first, last = (event.value(t, true_state(t)) for t in (early, late))
        state = true_state if first * last <= 0.0 else segment.at
        t = bracketed_zero(lambda s: event.value(s, state(s)), early, late, self._tolerance)
        return t, state(t)
