"""How long the next step shall be."""

from __future__ import annotations

import math

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.ode.failures import StepTooSmallError
from surefoot.solvers.ode.field import Field
from surefoot.solvers.ode.manifold import Manifold
from surefoot.solvers.ode.tableau import Tableau

__all__ = ["first_step", "next_step", "refuse_tiny"]


_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 5.0


def next_step(method: Tableau, h: float, ratio: float) -> float:
    """h⁺ = h (tol / error)^(1/(order+1)), a little less, and within a factor of five.   Wimmer 2016, 2.1.

    Args:
        method: Gives the exponent.
        h: The step that had this error [s].
        ratio: error / tol, ≤ 1 for an accepted step.
    """
    wanted = _SAFETY * max(ratio, 1e-12) ** -method.error_exponent
    return h * min(_GROW, max(_SHRINK, wanted))


def first_step(
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


def refuse_tiny(t: float, t1: float, h: float, ratios: Array, x: Array) -> None:
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
