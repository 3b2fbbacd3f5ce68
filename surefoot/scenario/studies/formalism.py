"""Runs of Busenhart 1994: one repeated with the redundant-coordinate formalism, a swing-up, a walk in the plane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.control.layered import LayeredWalk
from surefoot.redundant import Simulated, inputs_of, model_of, simulate, state_of
from surefoot.scenario.findings import Findings, StudiedRun

LARGEST_DIFFERENCE = 1e-4
"""Between the joints of both runs [rad] or [m]."""
LARGEST_OPENING = 1e-8
"""Of the hinges of the formalism, after projection [rad] or [m]."""
_PLAIN = ("revolute", "prismatic")


def formalism(run: StudiedRun) -> Findings:
    """Joint motion by the formalism of Busenhart 1994, under the torques of the run, against that of the run.

    Every body has coordinates of its own there, and forward dynamics is a weighted least-squares problem in each step.

    Args:
        run: The run; a robot whose joints have one axis each.
    """
    robot, log = run.simulation.robot, run.log
    names = [robot.tree.joint_names[i] for i in range(robot.tree.n) if robot.tree.kinds[i] in _PLAIN]
    if len(names) < robot.tree.n:
        return Findings({}, "the robot has multi-axis joints, whose coordinates differ in the formalism")
    model, dt = model_of(robot), run.simulation.settings.control_dt
    start = state_of(robot, model, np.array(log["q"][0]), np.array(log["v"][0]))
    found = simulate(model, start, _torques(run), float(log.time[-1] - log.time[0]), dt)
    order = [model.layout.freedoms.names.index(name) for name in names]
    rows = min(len(found.time), len(log))
    difference = np.abs(found.coordinates[:rows, order] - np.array(log["q"][:rows]))
    metrics = _metrics(found, difference)
    if not metrics["hinge_opening_max"] <= LARGEST_OPENING:
        return Findings(metrics, f"a hinge opens by {metrics['hinge_opening_max']:.2g}")
    if not metrics["joint_difference_max"] <= LARGEST_DIFFERENCE:
        return Findings(metrics, f"the two runs differ by {metrics['joint_difference_max']:.2g}")
    return Findings(metrics)


def _torques(run: StudiedRun) -> Callable[[float, Any], Array]:
    """Joint forces of the run, in the step that begins at a time: those of the next row of its log."""
    robot, log = run.simulation.robot, run.log
    forces = np.zeros((len(log), robot.nv))
    forces[:, robot.driven] = log["tau"]
    q, start, dt = np.array(log["q"]), float(log.time[0]), run.simulation.settings.control_dt

    def acting(t: float, _: Any) -> Array:
        k = min(round((t - start) / dt) + 1, len(log) - 1)
        return inputs_of(robot, q[k - 1], forces[k])

    return acting


def _metrics(found: Simulated, difference: Array) -> dict[str, Any]:
    energy = found.kinetic + found.potential
    return {
        "joint_difference_max": float(difference.max()),
        "hinge_opening_max": float(max(found.open_angle.max(), found.open_distance.max())),
        "energy_change_j": float(np.ptp(energy)),
        "bodies": int(found.positions.shape[1]),
        "freedoms": int(found.coordinates.shape[1]),
        "steps": len(found.time) - 1,
    }


_UPRIGHT, _CALM = 0.25, 3.0  # [rad], [s]


def swing_up(run: StudiedRun) -> Findings:
    """Whether the last joint, 0 upright, came up and stayed there for the last 3 s.

    Args:
        run: The run of a pole on a cart.
    """
    log = run.log
    tilt = np.abs(np.remainder(np.array(log["q"])[:, -1] + np.pi, 2.0 * np.pi) - np.pi)
    fallen = np.flatnonzero(tilt > _UPRIGHT)
    up = len(fallen) == 0 or fallen[-1] + 1 < len(tilt)
    since = float(log.time[fallen[-1] + 1] if len(fallen) and up else log.time[0 if up else -1])
    metrics = {
        "upright_at_s": since if up else None,
        "tilt_end_rad": float(tilt[-1]),
        "force_max_n": float(np.abs(log["tau"]).max()),
        "travel_max_m": float(np.abs(np.array(log["q"])[:, 0]).max()),
    }
    if not up or float(log.time[-1]) - since < _CALM:
        return Findings(metrics, f"the pole is not upright for the last {_CALM:g} s")
    return Findings(metrics)


LARGEST_LAG = 0.4
"""Share of the commanded speed by which the mean speed may be off: the wish for speed has no integral part."""


def pace(run: StudiedRun) -> Findings:
    """Mean speed of the base over the second half against the commanded one.

    Args:
        run: The run of a planar biped under `layered_walk`.
    """
    controller, log = run.simulation.controller, run.log
    if not isinstance(controller, LayeredWalk):
        return Findings({}, "the controller does not walk at a commanded speed")
    half, x = len(log) // 2, np.array(log["q"])[:, 0]
    speed = float((x[-1] - x[half]) / max(float(log.time[-1] - log.time[half]), 1e-9))
    metrics = {
        "commanded_speed_m_s": controller.speed,
        "mean_speed_m_s": speed,
        "steps": controller.steps,
        "least_height_m": float(np.array(log["q"])[:, 1].min()),
    }
    if abs(speed - controller.speed) > LARGEST_LAG * abs(controller.speed):
        return Findings(metrics, f"it walks at {speed:.2f} m/s, not at {controller.speed:g} m/s")
    return Findings(metrics)
