"""Drift of a pendulum in redundant coordinates off its circle, by stabilisation gain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from surefoot.arrays import Array
from surefoot.scenario.findings import Findings, StudiedRun

__all__ = ["ALPHAS", "EXPECTED", "TOLERANCE", "pendulum_drift", "swing", "swing_field"]

ALPHAS = (0.0, 1.0, 10.0, 100.0)
"""Gains α = β [1/s]."""
TOLERANCE = 1e-6
"""Of the adaptive integration, absolute and relative."""
EXPECTED = {0.0: 3.0e-2, 1.0: 4.5e-6, 10.0: 2.6e-7, 100.0: 1.7e-8}
"""max |‖r‖ − 1| over 100 s."""
_LENGTH = 100.0  # [s] for which the numbers above hold
_FACTOR = 1.5  # by which drift may be off
_QUADRATIC = (1.7, 2.3)  # exponents of time that count as t²


def pendulum_drift(run: StudiedRun) -> Findings:
    """Drift of a point mass (m = 1 kg, l = 1 m) that falls from the horizontal, for `ALPHAS`, over 100 s.

        r̈ = g + r λ,    r·r̈ + v·v + 2 α r·v + α² ½ (r·r − 1) = 0        [study.drift]
        Buschmann 2014, section 3.4.1, Figs. 3.10 and 3.11 (errata: of (3.56))

    Args:
        run: The run: a pendulum under the gravity of its world; the drift beside it does not depend on its engine.
    """
    world = run.simulation.world
    gravity = 9.81 if world is None else float(np.linalg.norm(world.gravity))
    metrics: dict[str, Any] = {}
    for alpha in ALPHAS:
        found = swing(alpha, gravity, _LENGTH)
        gap = np.abs(np.hypot(found[1], found[2]) - 1.0)
        metrics |= {f"drift_alpha_{alpha:g}_m": float(gap.max()), f"evaluations_alpha_{alpha:g}": int(found[3][0])}
        if alpha == 0.0:
            metrics["drift_exponent"] = _exponent(found[0], gap)
    metrics["run_gap_max"] = float(run.log["constraint.gap"].max()) if "constraint.gap" in run.log else None
    return Findings(metrics, _trouble(metrics) if gravity == 9.81 else None)


def swing(alpha: float, gravity: float, duration: float) -> tuple[Array, Array, Array, Array]:
    """Times (n,) [s], x and z of the mass (n,) [m], and the number of evaluations (1,).

    Args:
        alpha: Gain α = β [1/s].
        gravity: [m/s²].
        duration: [s].
    """
    start = np.array([1.0, 0.0, 0.0, 0.0])
    found = solve_ivp(
        swing_field(alpha, gravity), (0.0, duration), start, method="RK45", rtol=TOLERANCE, atol=TOLERANCE
    )
    return found.t, found.y[0], found.y[1], np.array([found.nfev])


def swing_field(alpha: float, gravity: float) -> Callable[[float, Array], list[float]]:
    """d/dt (x, z, ẋ, ż) of the tied mass.   [study.drift].

    Args:
        alpha: Gain α = β [1/s].
        gravity: [m/s²].
    """

    def field(_: float, state: Array) -> list[float]:
        x, z, u, w = state
        square = x * x + z * z
        drift = u * u + w * w + 2.0 * alpha * (x * u + z * w) + 0.5 * alpha * alpha * (square - 1.0)
        multiplier = (gravity * z - drift) / square
        return [u, w, x * multiplier, z * multiplier - gravity]

    return field


def _exponent(time: Array, gap: Array) -> float:
    """The p of gap ∝ t^p, from the largest gap so far in the second half of the time."""
    late = time > 0.5 * time[-1]
    so_far = np.maximum.accumulate(gap)
    return float(np.polyfit(np.log(time[late]), np.log(so_far[late]), 1)[0])


def _trouble(metrics: dict[str, Any]) -> str | None:
    for alpha, expected in EXPECTED.items():
        found = metrics[f"drift_alpha_{alpha:g}_m"]
        if not expected / _FACTOR < found < expected * _FACTOR:
            return f"with α = {alpha:g} the drift is {found:.2g} m, not {expected:.2g} m"
    if not _QUADRATIC[0] < metrics["drift_exponent"] < _QUADRATIC[1]:
        return f"without α the drift grows as t^{metrics['drift_exponent']:.2f}, not as t²"
    return None
