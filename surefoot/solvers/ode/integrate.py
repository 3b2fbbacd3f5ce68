"""`integrate`: from t0 to t1, in fixed steps or under error control, with events."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.solvers.ode.events import Event, EventWatch
from surefoot.solvers.ode.failures import IntegrationError, StepTooSmallError
from surefoot.solvers.ode.field import Field, VectorField
from surefoot.solvers.ode.manifold import VECTOR_SPACE, Manifold
from surefoot.solvers.ode.methods import DORMAND_PRINCE
from surefoot.solvers.ode.progress import Progress
from surefoot.solvers.ode.result import OdeResult
from surefoot.solvers.ode.runge_kutta import doubled_step, single_step
from surefoot.solvers.ode.step_size import first_step, next_step, refuse_tiny
from surefoot.solvers.ode.tableau import Tableau

__all__ = ["integrate"]


def integrate(
    field: VectorField,
    x0: ArrayLike,
    t0: float,
    t1: float,
    *,
    method: Tableau = DORMAND_PRINCE,
    tol: ArrayLike | None = None,
    step: float | None = None,
    manifold: Manifold = VECTOR_SPACE,
    events: Sequence[Event] = (),
    time_tolerance: float = 1e-10,
    max_step: float = math.inf,
    max_steps: int = 100_000,
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
        tol: Tolerated error of each step, absolute, in units of the velocity times second: one number or (m,).
        step: The step [s]; with `tol` the first one to try. The last step is shortened to end at t1.
        manifold: Where x lives; m = n in a vector space.
        events: What to look for.
        time_tolerance: To which events are located [s].
        max_step: Longest step with error control [s].
        max_steps: Give up after that many accepted and rejected steps.

    Raises:
        ShapeError: An argument is wrong.
        FieldNotFiniteError: The field or an event is NaN or infinite; `so_far` has the solution before.
        StepTooSmallError: Error control needs smaller steps than there are, or too many.
    """
    x0 = np.array(x0, dtype=float)
    _check_problem(x0, t0, t1)
    _check_positive(tol=tol, step=step, time_tolerance=time_tolerance, max_step=max_step)
    watch = EventWatch(events, method, t0, time_tolerance)
    progress = Progress(Field(field), manifold, method, watch, t0, x0)
    try:
        if tol is not None:
            _adaptive(progress, t1, np.asarray(tol, dtype=float), step, min(max_step, t1 - t0), max_steps)
        elif step is not None:
            _fixed(progress, t1, step, max_steps)
        else:
            raise ShapeError("neither `step` nor `tol` is given", next_step="give one of them")
    except IntegrationError as error:
        error.so_far = progress.result()
        raise
    return progress.result()


def _fixed(progress: Progress, t1: float, step: float, max_steps: int) -> None:
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


def _adaptive(progress: Progress, t1: float, tol: Array, step: float | None, max_step: float, max_steps: int) -> None:
    method = progress.method
    attempt = doubled_step if method.companion is None else single_step
    h = step or first_step(
        method, progress.field, progress.manifold, progress.t, progress.x, progress.velocity, tol, max_step
    )
    may_grow = True
    for _ in range(max_steps):
        h, end = _up_to(progress.t, t1, min(h, max_step))
        trial = attempt(method, progress.chart(), progress.t, h, progress.velocity)
        ratios = np.abs(trial.error) / tol
        ratio = float(np.max(ratios))
        wanted = next_step(method, h, ratio)
        if ratio <= 1.0:
            progress.accept(trial, end)
            if progress.ended or progress.t >= t1:
                return
            h, may_grow = (wanted if may_grow else min(wanted, h)), True
        else:
            progress.rejected += 1
            refuse_tiny(progress.t, t1, wanted, ratios, progress.x)
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


def _check_positive(**values: ArrayLike | None) -> None:
    for name, value in values.items():
        if value is not None and not np.all(np.asarray(value) > 0.0):
            raise ShapeError(f"`{name}` must be positive", evidence={name: value})
