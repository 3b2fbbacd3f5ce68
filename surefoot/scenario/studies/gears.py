"""The same motion with rigid and with elastic gears."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.motion import Log
from surefoot.scenario.schema import Scenario
from surefoot.scenario.studies.findings import Findings, StudiedRun
from surefoot.sim import Simulation

__all__ = ["gears"]

Array = NDArray[np.float64]
_ELASTIC = ":elastic"


def gears(run: StudiedRun) -> Findings:
    """Tracking, torques, energy and wind-up of elastic gears, beside those of rigid ones.

    Rigid gears add the inertia of their rotors to the joints; elastic ones let them turn behind springs (Buschmann
    2014, section 3.3.2). The wind-up is the motor's angle, seen at the joint, less the joint's.

    Args:
        run: The run; its scenario is run again with the other kind of gears.
    """
    name = run.scenario.robot.name
    if not name.endswith(_ELASTIC):
        return Findings({}, f"the robot has no elastic gears; use `{name}{_ELASTIC}`")
    twin = _simulation(run.scenario, name.removesuffix(_ELASTIC))
    other = twin.run()
    metrics: dict[str, Any] = {}
    for kind, log, simulation in (("elastic", run.log, run.simulation), ("rigid", other, twin)):
        metrics |= {f"{key}_{kind}": value for key, value in _of_run(log, simulation).items()}
    wind_up = _wind_up(run.log, run.simulation)
    metrics["peak_wind_up_rad"] = float(np.abs(wind_up).max())
    rows = min(len(run.log), len(other))
    joints = run.simulation.robot.nu
    difference = np.abs(np.array(run.log["q"][:rows, -joints:]) - np.array(other["q"][:rows, -joints:]))
    metrics["peak_difference_rad"] = float(difference.max())
    return Findings(metrics, _trouble(metrics))


def _simulation(scenario: Scenario, robot: str) -> Simulation:
    from surefoot.scenario.build import build_simulation

    return build_simulation(
        scenario.model_copy(update={"robot": scenario.robot.model_copy(update={"name": robot, "drives": "auto"})})
    )


def _of_run(log: Log, simulation: Simulation) -> dict[str, float]:
    errors = np.array(log["tracking.error"])
    inertia = np.array(simulation.robot.tree.armature)[simulation.robot.driven]
    return {
        "tracking_rms": float(np.sqrt(np.nanmean(errors**2))),
        "peak_torque_nm": float(np.abs(log["tau"]).max()),
        "peak_speed": float(np.abs(log["v"]).max()),
        "energy_residual_j": float(np.abs(log["energy.residual"]).max()),
        "rotor_inertia_at_joints_kgm2": float(inertia.sum()),
    }


def _wind_up(log: Log, simulation: Simulation) -> Array:
    """(rows, nu) [rad]: nothing where gears are rigid."""
    if "drive.motor_angle" not in log:
        return np.zeros((len(log), 1))
    robot = simulation.robot
    ratio = np.array([drive.gear_ratio for drive in robot.drives])
    found: Array = np.array(log["drive.motor_angle"]) / ratio - np.array(log["q"][:, -robot.nu :])
    return found


def _trouble(metrics: dict[str, Any]) -> str | None:
    if not metrics["peak_wind_up_rad"] > 0.0:
        return "the elastic gears do not give way at all"
    return None
