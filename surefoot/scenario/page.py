"""Which curves the page of a run shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.motion import Log
from surefoot.report import Curve, run_page
from surefoot.robot import Robot

__all__ = ["page_of_run"]


def page_of_run(robot: Robot, log: Log, metrics: Mapping[str, Any]) -> str:
    """The page as HTML.

    Args:
        robot: The robot.
        log: What was measured.
        metrics: What it sums up to.
    """
    curves = [
        Curve("highest torque / limit", "1", {"ratio": log["torque.ratio"]}),
        Curve("largest joint tracking error", "rad | m", {"error": _largest(log["tracking.error"])}),
        Curve("energy residual", "J", {"residual": log["energy.residual"]}),
        Curve("push", "N", {"force": np.linalg.norm(log["push.force"], axis=1)}),
    ]
    if robot.contacts:
        slips = {name: log[f"contact.{name}.slip"] for name in robot.contacts}
        curves.insert(2, Curve("way that each contact slid", "m", slips))
    if "estimate.attitude_error" in log:
        curves.insert(0, Curve("estimate: velocity error", "m/s", {"error": log["estimate.velocity_error"]}))
        degrees = np.rad2deg(log["estimate.attitude_error"])
        curves.insert(0, Curve("estimate: attitude error", "°", {"error": degrees}))
    if robot.base == "floating":
        forces = {name: log[f"contact.{name}.wrench"][:, 2] for name in robot.contacts}
        curves = [
            Curve("base height", "m", {"height": log["base.height"]}),
            Curve("base tilt", "rad", {"tilt": log["base.tilt"]}),
            Curve("normal force by contact", "N", forces),
            *curves,
        ]
    return run_page(robot, np.asarray(log.time), np.asarray(log["q"]), curves, metrics)


def _largest(errors: np.ndarray) -> np.ndarray:
    return np.abs(errors).max(axis=1, initial=0.0)
