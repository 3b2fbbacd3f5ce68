"""How well an estimator knows the base."""

from __future__ import annotations

import numpy as np

from surefoot.scenario.findings import Findings, StudiedRun

LARGEST_ATTITUDE_ERROR = np.deg2rad(1.0)
"""[rad]."""
LARGEST_VELOCITY_ERROR = 0.05
"""[m/s]."""


def estimate(run: StudiedRun) -> Findings:
    """Largest and mean errors of attitude, velocity and position of the base; and whether the robot stayed up."""
    log = run.log
    if "estimate.attitude_error" not in log:
        return Findings({}, "nothing was estimated: the robot has no floating base, or the scenario no estimator")
    errors = {name: np.array(log[f"estimate.{name}_error"]) for name in ("attitude", "velocity", "position")}
    metrics = {f"estimate_{name}_max": float(np.nanmax(values)) for name, values in errors.items()}
    metrics |= {f"estimate_{name}_rms": float(np.sqrt(np.nanmean(values**2))) for name, values in errors.items()}
    metrics["estimate_attitude_max_deg"] = float(np.rad2deg(metrics["estimate_attitude_max"]))
    if not metrics["estimate_attitude_max"] <= LARGEST_ATTITUDE_ERROR:
        return Findings(metrics, f"the attitude error reaches {metrics['estimate_attitude_max_deg']:.2f}°")
    if not metrics["estimate_velocity_max"] <= LARGEST_VELOCITY_ERROR:
        return Findings(metrics, f"the velocity error reaches {metrics['estimate_velocity_max']:.3f} m/s")
    return Findings(metrics)
