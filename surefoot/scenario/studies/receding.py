"""How a robot under a receding horizon keeps upright, how far it comes, and how well its programs are solved."""

from __future__ import annotations

import numpy as np

from surefoot.report import Plot
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.schema import MpcTable
from surefoot.scenario.studies.stand import LARGEST_TILT, LEAST_HEIGHT

_SLOWEST = 0.5  # share of the speed asked for that must be reached
_AWAY = 0.5  # how far a robot that is to stay may be moved at the end, share of its height


def mpc(run: StudiedRun) -> Findings:
    """Height and tilt of the base, way and speed, violation and failures of the programs.

    Args:
        run: The run; its controller is `mpc`.
    """
    log, table = run.log, run.scenario.mpc or MpcTable()
    if run.scenario.controller.kind != "mpc":
        return Findings({}, "the controller is not a receding horizon")
    height = float(log["base.height"].min() / log["base.height"][0])
    tilt = float(log["base.tilt"].max())
    way, late = np.asarray(log["q"])[:, :2] - np.asarray(log["q"])[0, :2], log.time >= 0.5 * log.time[-1]
    span = max(float(log.time[late][-1] - log.time[late][0]), 1e-9)
    mean = (way[late][-1] - way[late][0]) / span
    violation = np.asarray(log["control.violation"])
    metrics = {
        "least_height_share": height,
        "largest_tilt_deg": float(np.rad2deg(tilt)),
        "way_forward_m": float(way[-1, 0]),
        "way_left_m": float(way[-1, 1]),
        "mean_speed_forward_m_s": float(mean[0]),
        "mean_speed_left_m_s": float(mean[1]),
        "mpc_rate_hz": 1.0 / table.step,
        "mpc_solutions": int(log["control.solutions"][-1]),
        "mpc_failures": int(log["control.failures"][-1]),
        "mpc_late": int(log["control.late"][-1]),
        "mpc_violation_median": float(np.median(violation)),
        "mpc_violation_p95": float(np.quantile(violation, 0.95)),
    }
    plots = (
        Plot("violation of the program before the step", "1", {"violation": violation}),
        Plot("speed of the base", "m/s", {"forward": log["v"][:, 0], "left": log["v"][:, 1]}),
    )
    return Findings(metrics, _trouble(metrics, table.speed, float(log["base.height"][0])), plots)


def _trouble(found: dict[str, float], speed: tuple[float, float], height: float) -> str | None:
    tilt = found["largest_tilt_deg"]
    if found["least_height_share"] < LEAST_HEIGHT or tilt > np.rad2deg(LARGEST_TILT):
        return f"did not stay upright: base at {found['least_height_share']:.0%} of its height, tilted by {tilt:.0f}°"
    asked, made = np.array(speed), np.array([found["mean_speed_forward_m_s"], found["mean_speed_left_m_s"]])
    size = float(np.linalg.norm(asked))
    if size > 0.0 and float(made @ asked) / size < _SLOWEST * size:
        return f"went at {np.linalg.norm(made):.2f} m/s where {size:.2f} m/s were asked for"
    away = float(np.hypot(found["way_forward_m"], found["way_left_m"]))
    if size == 0.0 and away > _AWAY * height:
        return f"was {away:.2f} m away from where it was to stay"
    return None
