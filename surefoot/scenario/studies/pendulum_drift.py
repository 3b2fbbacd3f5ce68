"""Drift of a pendulum in redundant coordinates off its circle, by stabilisation gain."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from surefoot.arrays import Array
from surefoot.dynamics import own_constraints
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.sim.native import ConstrainedMover, NativeEngine

ALPHAS = (0.0, 1.0, 10.0, 100.0)
"""Gains α = β [1/s]."""
TOLERANCE = 1e-6
"""Of the adaptive integration, absolute and relative."""
EXPECTED = {0.0: 3.0e-2, 1.0: 4.5e-6, 10.0: 2.6e-7, 100.0: 1.7e-8}
"""max |‖r‖ − 1| over 100 s in the source's coordinates."""
_LENGTH = 100.0  # [s] for which the numbers above hold
_FACTOR = 5.0  # by which drift in other coordinates may be off
_QUADRATIC = (1.7, 2.3)  # exponents of time that count as t²


def pendulum_drift(run: StudiedRun) -> Findings:
    """Drift of a point mass (m = 1 kg, l = 1 m) that falls from the horizontal, for `ALPHAS`, over 100 s.

        M a = force + Jᵀ λ,    J a + J̇ v + 2 α J v + α² r = 0        [study.drift]
        Buschmann 2014, section 3.4.1, Figs. 3.10 and 3.11 (errata: of (3.56))

    The equations are those of the engine, integrated with error control as in the source. There the mass has two
    coordinates and one constraint, here the rod's angle is a third one and the pin has two: steps and drift differ by
    less than a factor of 5, and the laws are the same: t² without α, bounded with it, the less the larger α is.

    Args:
        run: The run: a pendulum under the gravity of its world.
    """
    robot, world = run.simulation.robot, run.simulation.world
    gravity = 9.81 if world is None else float(np.linalg.norm(world.gravity))
    metrics: dict[str, Any] = {}
    for alpha in ALPHAS:
        time, gap, evaluations = swing(robot, alpha, _LENGTH)
        metrics |= {f"drift_alpha_{alpha:g}_m": float(gap.max()), f"evaluations_alpha_{alpha:g}": evaluations}
        if alpha == 0.0:
            metrics["drift_exponent"] = _exponent(time, gap)
    metrics["run_gap_max"] = float(run.log["constraint.gap"].max()) if "constraint.gap" in run.log else None
    return Findings(metrics, _trouble(metrics) if gravity == 9.81 else None)


def swing(robot: Robot, alpha: float, duration: float) -> tuple[Array, Array, int]:
    """Times (n,) [s], gap of the closed chain (n,) [m], and the number of evaluations.

    Args:
        robot: Tied by closed chains, which are closed at home.
        alpha: Gain α = β [1/s].
        duration: [s].
    """
    engine = NativeEngine(robot, None, stabilisation="baumgarte", baumgarte=(alpha, alpha))
    mover, rows = engine.mover(), own_constraints(robot)
    if not isinstance(mover, ConstrainedMover):
        raise NotSupportedError(f"`{robot.name}` has no closed chain that could drift", next_step="use pendulum:tied")
    nq = robot.nq

    def field(_: float, state: Array) -> Array:
        return np.concatenate([state[nq:], mover.acceleration_at(state[:nq], state[nq:])])

    start = np.concatenate([mover.q, mover.v])
    found = solve_ivp(field, (0.0, duration), start, method="RK45", rtol=TOLERANCE, atol=TOLERANCE)
    gaps = [float(np.linalg.norm(rows.residual(robot.tree, q))) for q in found.y[:nq].T]
    return found.t, np.array(gaps), int(found.nfev)


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
