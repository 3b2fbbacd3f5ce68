"""One interface to all references of walking: from a path of the ZMP to CoM, ZMP and DCM over time, by name.

| name | method | feet |
|---|---|---|
| `dcm` | bounded motion of the DCM over the path, exact (`DcmPlan`) | as planned |
| `preview` | smoothest motion whose ZMP follows the path (`preview_control`) | as planned |
| `mpc` | predictive control with ZMP in the soles (`FootstepMpc`) | may move |
| `cps`, `cpt` | capture-point gaits (`CaptureGait`) | as planned |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError, one_of
from surefoot.reduced.capture_gait import CaptureGait
from surefoot.reduced.dcm import DcmPlan, ZmpPiece
from surefoot.reduced.lip import natural_frequency, pendulum_state
from surefoot.reduced.mpc import FootstepMpc
from surefoot.reduced.preview import preview_control
from surefoot.reduced.supports import Supports

METHODS = ("dcm", "preview", "mpc", "cps", "cpt")
_TICK = 0.02
"""Time between plans of the predictive control [s]; its ZMP is straight in between."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Motion of the pendulum over time.

    Args:
        t: (n,) [s].
        com: (n, 2) [m].
        velocity: (n, 2) [m/s].
        zmp: (n, 2) [m].
        dcm: (n, 2) [m].
        feet: (m, 2) places of the supports [m].
    """

    t: Array
    com: Array
    velocity: Array
    zmp: Array
    dcm: Array
    feet: Array


@dataclass(frozen=True, eq=False)
class _Walk:
    """What the methods get."""

    pieces: Sequence[ZmpPiece]
    supports: Supports
    omega: float
    dt: float
    t: Array
    com: Array
    velocity: Array
    foot: Array | None

    def sole(self, method: str) -> Array:
        """The box of the sole."""
        if self.foot is None:
            raise ShapeError(f"method `{method}` needs the size of the foot", next_step="give `foot`, a box (2, 2)")
        return self.foot


def walking_reference(
    method: str,
    pieces: Sequence[ZmpPiece],
    height: float,
    gravity: float = 9.81,
    *,
    dt: float = 0.005,
    foot: ArrayLike | None = None,
    com: ArrayLike | None = None,
    velocity: ArrayLike = (0.0, 0.0),
) -> Reference:
    """CoM, ZMP and DCM for a path of the ZMP.

    Args:
        method: One of `METHODS`.
        pieces: The path: duration, ZMP at the start and at the end, (2,) each. Points of rest are the supports.
        height: Of the CoM above the ground [m].
        gravity: [m/s²].
        dt: Time between samples [s].
        foot: Box (2, 2) of the sole around a support, in the axes of the path; `mpc`, `cps` and `cpt` need it [m].
        com: (2,) at the beginning; the first ZMP if omitted [m].
        velocity: (2,) at the beginning [m/s]. `dcm` takes that of its DCM instead, which the path determines.

    Raises:
        UnknownNameError: The method is not one of them.
        ShapeError: The path is empty, a number is not finite, or the foot is missing.
    """
    if method not in _MAKERS:
        raise one_of("walking reference", method, METHODS)
    omega, supports = natural_frequency(height, gravity), Supports(pieces)
    count = int(np.ceil(supports.duration / number(dt, "dt", positive=True) - 1e-9)) + 1
    t = dt * np.arange(count, dtype=np.float64)
    start = supports.points[0] if com is None else finite_array(com, (2,), "com")
    sole = None if foot is None else finite_array(foot, (2, 2), "foot")
    walk = _Walk(pieces, supports, omega, dt, t, start, finite_array(velocity, (2,), "velocity"), sole)
    positions, rates, zmp, feet = _MAKERS[method](walk)
    return Reference(t, positions, rates, zmp, positions + rates / omega, feet)


_Motion = tuple[Array, Array, Array, Array]


def _dcm(walk: _Walk) -> _Motion:
    """The DCM by pieces from their ends backwards, the converging part from their beginnings forwards."""
    omega, starts, plan = walk.omega, walk.supports.starts, DcmPlan(walk.pieces, walk.omega)
    begin = np.array([piece.start for piece in walk.pieces], dtype=float)
    end = np.array([piece.end for piece in walk.pieces], dtype=float)
    length = np.diff(starts)[:, None]
    lead = np.divide(end - begin, omega * length, out=np.zeros_like(end), where=length > 0.0)
    ends = np.array([plan.at(t)[1] for t in starts[1:]])
    converging = np.empty_like(end)  # at the beginning of pieces
    now = 2.0 * walk.com - plan.at(0.0)[1]
    for k in range(len(end)):
        converging[k] = now
        now = end[k] - lead[k] + (now - begin[k] + lead[k]) * exp(-omega * float(length[k, 0]))
    time = np.minimum(walk.t, starts[-1])
    k = np.minimum(np.searchsorted(starts, time, side="right") - 1, len(end) - 1)
    passed, left = (time - starts[k])[:, None], (starts[k + 1] - time)[:, None]
    zmp = begin[k] + omega * lead[k] * passed
    dcm = zmp + lead[k] + (ends[k] - end[k] - lead[k]) * np.exp(-omega * left)
    other = zmp - lead[k] + (converging[k] - begin[k] + lead[k]) * np.exp(-omega * passed)
    return 0.5 * (dcm + other), 0.5 * omega * (dcm - other), zmp, walk.supports.points


def _preview(walk: _Walk) -> _Motion:
    com, velocity, acceleration = preview_control(
        walk.supports.path(walk.t), walk.omega, walk.dt, walk.com, walk.velocity
    )
    return com, velocity, com - acceleration / walk.omega**2, walk.supports.points


def _capture(method: str) -> Callable[[_Walk], _Motion]:
    def make(walk: _Walk) -> _Motion:
        dcm = walk.com + walk.velocity / walk.omega
        gait = CaptureGait(method, walk.pieces, walk.omega, walk.sole(method), dcm)  # type: ignore[arg-type]
        com, velocity, zmp = (np.empty((len(walk.t), 2)) for _ in range(3))
        c, v = walk.com, walk.velocity
        for k, t in enumerate(walk.t.tolist()):
            p = gait.law(t, c + v / walk.omega)
            com[k], velocity[k], zmp[k] = c, v, p
            c, v = pendulum_state(c, v, p, walk.omega, walk.dt)
        return com, velocity, zmp, walk.supports.points

    return make


def _mpc(walk: _Walk) -> _Motion:
    """Closed loop with the pendulum: each plan is followed for one tick."""
    every = max(1, round(_TICK / walk.dt))
    mpc = FootstepMpc(walk.omega, walk.sole("mpc"), every * walk.dt)
    supports, feet, plan = walk.supports, walk.supports.points.copy(), DcmPlan(walk.pieces, walk.omega)
    com, velocity, zmp = (np.empty((len(walk.t), 2)) for _ in range(3))
    c, v, p = walk.com, walk.velocity, supports.points[0]
    for k in range(0, len(walk.t), every):
        t = walk.t[k]
        first, schedule = mpc.schedule(supports, plan, t, feet)
        found = mpc.plan(c, v, p, schedule)
        settled = min(supports.feet(t + mpc.tick)[1] + 1 - first, len(found.feet))  # before the next plan
        feet[first : first + settled] = found.feet[:settled]
        rate = (found.zmp[0] - p) / mpc.tick
        inside = slice(k, min(k + every, len(walk.t)))
        passed = walk.t[inside] - t
        com[inside], velocity[inside] = pendulum_state(c, v, p, walk.omega, passed, rate)
        zmp[inside] = p + rate * passed[:, None]
        c, v = pendulum_state(c, v, p, walk.omega, mpc.tick, rate)
        p = found.zmp[0]
    return com, velocity, zmp, feet


_MAKERS: dict[str, Callable[[_Walk], _Motion]] = {
    "dcm": _dcm,
    "preview": _preview,
    "mpc": _mpc,
    "cps": _capture("cps"),
    "cpt": _capture("cpt"),
}
