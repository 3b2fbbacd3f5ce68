"""`integrate`: from t0 to t1, in fixed steps or under error control, with events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError, one_of
from surefoot.solvers.ode.events import Event, EventWatch, Occurrence
from surefoot.solvers.ode.field import Chart, Field, IntegrationError, StepTooSmallError, VectorField
from surefoot.solvers.ode.manifold import VECTOR_SPACE, Manifold
from surefoot.solvers.ode.methods import DORMAND_PRINCE, Tableau
from surefoot.solvers.ode.result import OdeResult
from surefoot.solvers.ode.runge_kutta import Segment, Trial, doubled_step, end_of, segment_of, single_step, take_leg


class Steps(TypedDict, total=False):
    """Options of `integrate` about its steps."""

    tol: ArrayLike | None
    step: float | None
    max_step: float
    max_steps: int


class _Progress:
    """Where an integration is, and what it has collected.

    Args:
        field: f(t, x).
        manifold: Where x lives.
        method: The method.
        watch: The events.
        t: Time at the start [s].
        x: (n,) at the start.
    """

    def __init__(
        self, field: Field, manifold: Manifold, method: Tableau, watch: EventWatch, t: float, x: Array
    ) -> None:
        self.field, self.manifold, self.method = field, manifold, method
        self.t, self.x, self.velocity = t, x, field(t, x)
        self.rejected = 0
        self.ended = False
        self._watch = watch
        self._times, self._states = [t], [x]
        self._segments: list[Segment] = []
        self._occurrences: list[Occurrence] = []

    def chart(self) -> Chart:
        """The field about the present state."""
        return Chart(self.field, self.manifold, self.x)

    def accept(self, trial: Trial, end: float) -> None:
        """Go along a trial, which ends at the time `end`, or up to a terminal event in it.

        Costs one evaluation of the field, the first one of the next step, unless the method has it already.
        """
        velocity, end_slope = end_of(self.method, trial.legs[-1])
        slopes = [*(leg.stages[0] for leg in trial.legs[1:]), end_slope]
        ends = [*(leg.t for leg in trial.legs[1:]), end]
        for leg, slope, t in zip(trial.legs, slopes, ends, strict=True):
            segment = segment_of(self.method, leg, slope)
            found = self._watch.search(segment)
            self._occurrences += found
            if found and found[-1].event.terminal:
                self._stop(segment, found[-1])
                return
            self._add(segment, t, leg.chart.point(leg.end))
        self.velocity = velocity

    def _add(self, segment: Segment, t: float, x: Array) -> None:
        self.t, self.x = t, x
        self._times.append(t)
        self._states.append(x)
        self._segments.append(segment)

    def _stop(self, segment: Segment, terminal: Occurrence) -> None:
        """End at a terminal event, with the polynomial of a step that leads there."""
        self.ended = True
        leg = segment.leg
        if terminal.t > leg.t:
            short = take_leg(self.method, leg.chart, leg.t, terminal.t - leg.t, leg.start, leg.stages[0])
            _, slope = end_of(self.method, short)
            self._add(segment_of(self.method, short, slope), terminal.t, terminal.x)

    def result(self) -> OdeResult:
        """The result so far."""
        return OdeResult(
            np.array(self._times),
            np.array(self._states),
            tuple(self._occurrences),
            self.field.evaluations,
            self.rejected,
            tuple(self._segments),
        )


_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


def _next_step(method: Tableau, h: float, ratio: float) -> float:
    """h⁺ = h (tol / error)^(1/(order+1)), a little less, and within a factor of five.   Wimmer 2016, 2.1.

    Args:
        method: Gives the exponent.
        h: The step that had this error [s].
        ratio: error / tol, ≤ 1 for an accepted step.
    """
    wanted = _SAFETY * max(ratio, 1e-12) ** -method.error_exponent
    return h * min(_GROW, max(_SHRINK, wanted))


def _first_step(
    method: Tableau, field: Field, manifold: Manifold, t: float, x: Array, velocity: Array, tol: Array, longest: float
) -> float:
    """A step with which to begin: from the size of the velocity and of its change along a small Euler step.

    Hairer, Nørsett, Wanner 1993, II.4, "Starting step size", in a form without the size of x, which a
    manifold does not have: the small step moves by √tol.

    Args:
        method: Its order enters.
        field: f(t, x).
        manifold: Where x lives.
        t: Time at the start [s].
        x: (n,) at the start.
        velocity: (m,) f at the start.
        tol: (m,) or one number: tolerated error.
        longest: Upper bound [s].
    """
    speed = float(np.max(np.abs(velocity)))
    probe = min(longest, math.sqrt(float(np.min(tol))) / speed) if speed > 0.0 else 1e-6 * longest
    change = field(t + probe, manifold.add(x, probe * velocity)) - velocity
    scale = max(float(np.max(np.abs(velocity) / tol)), float(np.max(np.abs(change) / tol)) / probe)
    guess = (0.01 / scale) ** method.error_exponent if scale > 0.0 else longest
    return min(longest, 100.0 * probe, guess)


def _refuse_tiny(t: float, t1: float, h: float, ratios: Array, x: Array) -> None:
    """Raise if a step that was too inaccurate cannot get smaller.

    Args:
        t: Time [s].
        t1: End of the integration [s].
        h: The next step to try [s].
        ratios: (m,) error / tol of the last one.
        x: (n,).

    Raises:
        StepTooSmallError: h is lost in the rounding of t.
    """
    if h >= 16.0 * math.ulp(max(abs(t), abs(t1))):
        return
    raise StepTooSmallError(
        f"the step became too small at t = {t:.9g}",
        evidence={
            "time": t,
            "step": h,
            "state": x,
            "error / tol": float(np.max(ratios)),
            "worst component": int(np.argmax(ratios)),
        },
        next_step="the system has a pole or a jump here, or is stiff: end at an event before a jump, raise `tol`, "
        "or use fixed steps",
    )


def integrate(
    field: VectorField,
    x0: ArrayLike,
    t0: float,
    t1: float,
    *,
    method: Tableau = DORMAND_PRINCE,
    manifold: Manifold = VECTOR_SPACE,
    events: Sequence[Event] = (),
    time_tolerance: float = 1e-10,
    **steps: Unpack[Steps],
) -> OdeResult:
    """Solve dx/dt = f(t, x), x(t0) = x0, up to t1 or to the first terminal event.

    Fixed steps where only `step` is given; adaptive ones where `tol` is given, by the embedded pair of the method or,
    where it has none, by step doubling.

    Args:
        field: f(t, x) -> (m,), the velocity of x.
        x0: (n,).
        t0: Begin [s].
        t1: End [s], after t0.
        method: Table of the method.
        manifold: Where x lives; m = n in a vector space.
        events: What to look for.
        time_tolerance: To which events are located [s].
        **steps: `tol`: tolerated error of each step, absolute, in units of the velocity times second: one number or
            (m,). `step`: the step [s]; with `tol` the first one to try; the last step is shortened to end at t1.
            `max_step`: longest step with error control [s]. `max_steps`: give up after that many accepted and
            rejected steps (100 000).

    Raises:
        ShapeError: An argument is wrong.
        FieldNotFiniteError: The field or an event is NaN or infinite; `so_far` has the solution before.
        StepTooSmallError: Error control needs smaller steps than there are, or too many.
    """
    x0 = np.array(x0, dtype=float)
    _check_problem(x0, t0, t1)
    _check_steps(steps, time_tolerance)
    tol, step, max_steps = steps.get("tol"), steps.get("step"), steps.get("max_steps", 100_000)
    watch = EventWatch(events, method, t0, time_tolerance)
    progress = _Progress(Field(field), manifold, method, watch, t0, x0)
    try:
        if tol is not None:
            longest = min(steps.get("max_step", math.inf), t1 - t0)
            _adaptive(progress, t1, np.asarray(tol, dtype=float), step, longest, max_steps)
        elif step is not None:
            _fixed(progress, t1, step, max_steps)
        else:
            raise ShapeError("neither `step` nor `tol` is given", next_step="give one of them")
    except IntegrationError as error:
        error.so_far = progress.result()
        raise
    return progress.result()


def _fixed(progress: _Progress, t1: float, step: float, max_steps: int) -> None:
    t0 = progress.t
    count = max(1, math.ceil((t1 - t0) / step - 1e-9))
    if count > max_steps:
        raise ShapeError(f"{count} steps are more than max_steps", evidence={"step": step, "max_steps": max_steps})
    for i in range(1, count + 1):
        end = t1 if i == count else t0 + i * step
        trial = single_step(progress.method, progress.chart(), progress.t, end - progress.t, progress.velocity)
        progress.accept(trial, end)
        if progress.ended:
            return


def _adaptive(progress: _Progress, t1: float, tol: Array, step: float | None, max_step: float, max_steps: int) -> None:
    method = progress.method
    attempt = doubled_step if method.companion is None else single_step
    h = step or _first_step(
        method, progress.field, progress.manifold, progress.t, progress.x, progress.velocity, tol, max_step
    )
    may_grow = True
    for _ in range(max_steps):
        h, end = _up_to(progress.t, t1, min(h, max_step))
        trial = attempt(method, progress.chart(), progress.t, h, progress.velocity)
        ratios = np.abs(trial.error) / tol
        ratio = float(np.max(ratios))
        wanted = _next_step(method, h, ratio)
        if ratio <= 1.0:
            progress.accept(trial, end)
            if progress.ended or progress.t >= t1:
                return
            h, may_grow = (wanted if may_grow else min(wanted, h)), True
        else:
            progress.rejected += 1
            _refuse_tiny(progress.t, t1, wanted, ratios, progress.x)
            h, may_grow = wanted, False
    raise StepTooSmallError(
        f"{max_steps} steps did not reach the end; the steps became too small",
        evidence={"time": progress.t, "end": t1, "step": h, "rejected": progress.rejected, "state": progress.x},
        next_step="the system is stiff for an explicit method, or `tol` is too small; raise `tol` or `max_steps`",
    )


def _up_to(t: float, t1: float, h: float) -> tuple[float, float]:
    """The step and its end; stretched a little or shortened where it would end near or beyond t1."""
    return (t1 - t, t1) if t + 1.01 * h >= t1 else (h, t + h)


def _check_problem(x0: Array, t0: float, t1: float) -> None:
    if x0.ndim != 1 or not np.isfinite(x0).all():
        raise ShapeError("x0 is not a finite vector", evidence={"x0": x0})
    if not (math.isfinite(t0) and math.isfinite(t1) and t1 > t0):
        raise ShapeError("the end is not after the beginning", evidence={"t0": t0, "t1": t1})


def _check_steps(steps: Steps, time_tolerance: float) -> None:
    for name in steps:
        if name not in Steps.__annotations__:
            raise one_of("option of integrate", name, Steps.__annotations__)
    for name, value in {**steps, "time_tolerance": time_tolerance}.items():
        if value is not None and not np.all(np.asarray(value) > 0.0):
            raise ShapeError(f"`{name}` must be positive", evidence={name: value})
