"""Velocity jump and energy loss of a falling robot at touchdown, versus the laws of impact."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.dynamics import contact, kinetic_energy
from surefoot.dynamics.impacts import impact as impact_of_laws
from surefoot.scenario.findings import Findings, StudiedRun

LARGEST_ERROR = 0.05
"""By which share the jump and the energy lost may be off."""


def impact(run: StudiedRun) -> Findings:
    """Velocity jump and energy lost at the first touch-down, in the run and by [dyn.impact] (plastic: e = 0).

    Args:
        run: The run: a robot that falls; one row of the log for each step.
    """
    robot, log = run.simulation.robot, run.log
    loads = {name: np.array(log[f"contact.{name}.wrench"])[:, 2] for name in robot.contacts}
    rows = [int(np.argmax(load > 0.0)) for load in loads.values() if (load > 0.0).any()]
    if not rows or min(rows) < 1:
        return Findings({}, "the robot does not fall on anything")
    k = min(rows)
    last = min(k + 1, len(log) - 1)  # feet come down to the ground in one step, and stop in the next
    q, before, after = (np.array(x) for x in (log["q"][k - 1], log["v"][k - 1], log["v"][last]))
    touching = [name for name, load in loads.items() if load[last] > 0.0]
    ties = [contact(robot, q, name) for name in touching]
    found = impact_of_laws(robot, q, before, ties)
    seen, lost = after - before, _kinetic(run, q, before) - _kinetic(run, q, after)
    error = float(np.linalg.norm(seen - found.jump) / max(float(np.linalg.norm(found.jump)), 1e-12))
    metrics = {
        "touch_down_s": float(log.time[k]),
        "feet_down": len(touching),
        "contact_rows": len(found.rows),
        "contact_rank": found.rank,
        "kinetic_energy_before_j": _kinetic(run, q, before),
        "energy_lost_j": lost,
        "energy_lost_by_laws_j": found.energy_lost,
        "velocity_jump": float(np.linalg.norm(seen)),
        "velocity_jump_by_laws": float(np.linalg.norm(found.jump)),
        "jump_error": error,
        "impulse_ns": float(np.linalg.norm(found.joint_impulse[robot.base_rows[:3]])),
    }
    return Findings(metrics, _trouble(metrics))


def _kinetic(run: StudiedRun, q: Array, v: Array) -> float:
    return float(kinetic_energy(run.simulation.robot.tree, q, v))


def _trouble(metrics: dict[str, float]) -> str | None:
    lost, law = metrics["energy_lost_j"], metrics["energy_lost_by_laws_j"]
    if lost < 0.0:
        return f"the impact adds {-lost:.3g} J"
    if not abs(lost - law) <= LARGEST_ERROR * law:
        return f"the impact dissipates {lost:.3g} J, expected {law:.3g} J"
    if not metrics["jump_error"] <= LARGEST_ERROR:
        return f"the velocity jump deviates from the laws of impact: {metrics['jump_error']:.2g}"
    return None
