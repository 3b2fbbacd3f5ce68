"""Which curves the page of a run shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.motion import Log, Obstacle
from surefoot.report import Curve, run_page
from surefoot.robot import Robot

__all__ = ["page_of_run"]


def page_of_run(
    robot: Robot,
    log: Log,
    metrics: Mapping[str, Any],
    planned: Sequence[Curve] = (),
    obstacles: Sequence[Obstacle] = (),
) -> str:
    """The page as HTML.

    Args:
        robot: The robot.
        log: What was measured.
        metrics: What it sums up to.
        planned: Plots of what was planned.
        obstacles: What stands in the world.
    """
    curves = [*planned, *_of_base(robot, log), *_of_estimate(log), *_of_contacts(robot, log), *_of_drives(log)]
    return run_page(robot, np.asarray(log.time), np.asarray(log["q"]), curves, metrics, obstacles)


def _of_base(robot: Robot, log: Log) -> list[Curve]:
    if robot.base != "floating":
        return []
    return [
        Curve("base height", "m", {"height": log["base.height"]}),
        Curve("base tilt", "rad", {"tilt": log["base.tilt"]}),
    ]


def _of_estimate(log: Log) -> list[Curve]:
    if "estimate.attitude_error" not in log:
        return []
    return [
        Curve("estimate: attitude error", "°", {"error": np.rad2deg(log["estimate.attitude_error"])}),
        Curve("estimate: velocity error", "m/s", {"error": log["estimate.velocity_error"]}),
    ]


def _of_contacts(robot: Robot, log: Log) -> list[Curve]:
    forces = {name: log[f"contact.{name}.wrench"][:, 2] for name in robot.contacts}
    if not any(values.any() for values in forces.values()):
        return []
    slips = {name: log[f"contact.{name}.slip"] for name in robot.contacts}
    found = [Curve("normal force by contact", "N", forces), Curve("way that each contact slid", "m", slips)]
    if "sensor.zmp" in log:
        x, y = log["sensor.zmp"].T
        found.append(Curve("measured ZMP", "m", {"x": x, "y": y}))
    return found


def _of_drives(log: Log) -> list[Curve]:
    found = [Curve("energy residual", "J", {"residual": log["energy.residual"]})]
    if log["tau"].any():
        found.insert(0, Curve("highest torque / limit", "1", {"ratio": log["torque.ratio"]}))
    if np.isfinite(log["tracking.error"]).any():
        found.insert(0, Curve("largest joint tracking error", "rad | m", {"error": _largest(log["tracking.error"])}))
    if log["push.force"].any():
        found.append(Curve("push", "N", {"force": np.linalg.norm(log["push.force"], axis=1)}))
    return found


def _largest(errors: np.ndarray) -> np.ndarray:
    return np.abs(errors).max(axis=1, initial=0.0)
