"""The same motion with other drives: elastic versus rigid gears, real versus ideal drives."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Log
from surefoot.scenario.build import build_simulation
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.schema import Scenario
from surefoot.sim import Simulation

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
    twin = _twin(run.scenario, name=name.removesuffix(_ELASTIC), drives="auto")
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


def _twin(scenario: Scenario, **robot: str) -> Simulation:
    """The simulation of a scenario with other keys of `[robot]`."""
    return build_simulation(scenario.model_copy(update={"robot": scenario.robot.model_copy(update=robot)}))


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
        return "the elastic gears do not deflect at all"
    return None


def servo(run: StudiedRun) -> Findings:
    """Tracking errors of the drives of the scenario and of ideal torque sources, and the delay between both motions.

    Args:
        run: The run; its scenario is run again with ideal drives.
    """
    other = _twin(run.scenario, drives="torque").run()
    rows = min(len(run.log), len(other))
    own, best = (np.array(log["tracking.error"][:rows]) for log in (run.log, other))
    if rows < 2 or np.isnan(own).all() or np.isnan(best).all():
        return Findings({}, "no joint has a reference, so there is nothing to compare")
    metrics = {
        "drive_kind": run.scenario.robot.drives,
        "tracking_rms_drive": _rms(own),
        "tracking_rms_ideal": _rms(best),
        "tracking_peak_drive": float(np.nanmax(np.abs(own))),
        "tracking_peak_ideal": float(np.nanmax(np.abs(best))),
        "delay_s": _delay(np.array(run.log["q"][:rows]), np.array(other["q"][:rows]), run.log.time[:rows]),
    }
    return Findings(metrics)


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(values**2)))


def _delay(motion: np.ndarray, reference: np.ndarray, time: np.ndarray) -> float:
    """Shift [s] at which the speeds of two motions correlate best."""
    speeds = [np.gradient(x, time, axis=0) for x in (motion, reference)]
    step = float(np.mean(np.diff(time)))
    longest = min(len(time) // 2, int(1.0 / step))
    scores = [float(np.sum(speeds[0][k:] * speeds[1][: len(time) - k])) for k in range(longest)]
    return step * int(np.argmax(scores))
