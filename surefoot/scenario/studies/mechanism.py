"""Whether a mechanism with closed chains stays closed and keeps its energy."""

from __future__ import annotations

import numpy as np

from surefoot.dynamics import own_constraints
from surefoot.scenario.findings import Findings, StudiedRun

LARGEST_GAP = 1e-6
"""Of a closed chain that is projected [m] or [rad]."""
LARGEST_LEAK = 1e-3
"""Energy that may come from nowhere, as a share of the largest change of kinetic energy."""
_RANK = 1e-9  # of the largest singular value


def mechanism(run: StudiedRun) -> Findings:
    """Mobility, gaps and energy.

    Args:
        run: The run; its robot has closed chains or couplings.
    """
    robot, log = run.simulation.robot, run.log
    if "constraint.gap" not in log:
        return Findings({}, "no constraints to study: use a robot with closed chains and the engine `native`")
    rows = own_constraints(robot)
    ranks = [_rank(np.asarray(rows.jacobian(robot.tree, np.array(q)))) for q in _some(log["q"])]
    energy = np.array(log["energy.total"])
    turned_over = float(np.ptp(energy)) + float(np.abs(np.array(log["energy.drives"])).max())
    leak = float(np.abs(log["energy.residual"]).max())
    metrics = {
        "closed_chains": len(robot.loops),
        "couplings": len(robot.couplings),
        "constraint_rows": len(rows.rows),
        "constraint_rank": min(ranks, default=0),
        "mobility": robot.nv - min(ranks, default=0),
        "redundant_rows": len(rows.rows) - max(ranks, default=0),
        "gap_max": float(log["constraint.gap"].max()),
        "gap_rate_max": float(log["constraint.rate"].max()),
        "peak_speed": float(np.abs(log["v"]).max()),
        "energy_leak_j": leak,
    }
    if run.scenario.simulation.stabilisation in (None, "projection") and not metrics["gap_max"] <= LARGEST_GAP:
        return Findings(metrics, f"a closed chain opens by {metrics['gap_max']:.2g}")
    if not leak <= LARGEST_LEAK * max(turned_over, 1.0):
        return Findings(metrics, f"the energy error reaches {leak:.2g} J")
    return Findings(metrics)


def _some(q: np.ndarray) -> np.ndarray:
    """A few configurations of a run."""
    return q[np.unique(np.linspace(0, len(q) - 1, 9).astype(int))]


def _rank(J: np.ndarray) -> int:
    values = np.linalg.svd(J, compute_uv=False)
    return int(np.sum(values > _RANK * values.max(initial=1e-300)))
