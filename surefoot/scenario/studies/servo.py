"""A drive against an ideal one that gets the same commands."""

from __future__ import annotations

import numpy as np

from surefoot.scenario.studies.findings import Findings, StudiedRun
from surefoot.sim import Simulation

__all__ = ["servo"]


def servo(run: StudiedRun) -> Findings:
    """Tracking errors of the drives of the scenario and of ideal torque sources, and the delay between both motions.

    Args:
        run: The run; its scenario is run again with ideal drives.
    """
    from surefoot.scenario.build import build_simulation

    ideal = run.scenario.model_copy(update={"robot": run.scenario.robot.model_copy(update={"drives": "torque"})})
    twin: Simulation = build_simulation(ideal)
    other = twin.run()
    rows = min(len(run.log), len(other))
    own, best = (np.array(log["tracking.error"][:rows]) for log in (run.log, other))
    if rows < 2 or np.isnan(own).all() or np.isnan(best).all():
        return Findings({}, "nothing can be compared: no joint has a reference")
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
