"""Motions that were planned: what the planner and the run show; a hand that moves while the robot stands."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.contact import contact_placements, sum_wrenches, zero_moment_point
from surefoot.motion import Log
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.motions import plan_of

LARGEST_MISS = 0.1
"""How far the frame may end from where it should be, as share of its way."""


def motion(run: StudiedRun) -> Findings:
    """Metrics of the plan and of the run; trouble of either.

    Args:
        run: The run; its controller is `follow`.
    """
    plan = plan_of(run.simulation.controller)
    if plan is None:
        return Findings({}, "the controller does not follow a plan")
    if plan.judge is None:
        return Findings(dict(plan.metrics), plan.trouble)
    found = plan.judge(run.simulation.robot, run.log)
    metrics = {**plan.metrics, **found.metrics}
    trouble = plan.trouble or found.trouble
    return Findings(metrics, trouble, found.plots, found.tables, found.outlines, found.details)


def reach(run: StudiedRun) -> Findings:
    """Way of the frame, ways of the ZMP and of the other things that a torque designer looks at.

    Args:
        run: The run; its controller is `hand_reach`.
    """
    robot, log, table = run.simulation.robot, run.log, run.scenario.controller
    if table.frame is None or table.displacement is None:
        return Findings({}, "the controller does not move a frame")
    start = table.start or 0.0
    before = max(0, int(np.searchsorted(log.time, start)) - 1)
    places = [robot.placements(np.array(log["q"][row]))[table.frame][:3, 3] for row in (before, -1)]
    way = places[1] - places[0]
    zmp = zero_moment_points(robot, log)
    if np.isnan(zmp[[before, -1]]).any():
        return Findings({"frame_way_m": way.tolist()}, "the robot does not stand: no contact supports it")
    edge = np.vstack(list(robot.contact_corners(np.array(log["q"][-1])).values()))[:, :2]
    missed = float(np.linalg.norm(way - np.array(table.displacement)))
    metrics = {
        "frame_way_m": way.tolist(),
        "frame_error_m": missed,
        "zmp_start_m": zmp[before].tolist(),
        "zmp_end_m": zmp[-1].tolist(),
        "zmp_way_m": (zmp[-1] - zmp[before]).tolist(),
        "sole_points": sum(len(contact.corners) for contact in robot.contacts.values()),
        "support_box_m": [edge.min(axis=0).tolist(), edge.max(axis=0).tolist()],
        "largest_torque": float(np.abs(log["tau"]).max()),
    }
    if not missed <= LARGEST_MISS * float(np.linalg.norm(table.displacement)):
        return Findings(metrics, f"the frame ends {missed:.3g} m from its target")
    return Findings(metrics)


def zero_moment_points(robot: Robot, log: Log) -> Array:
    """(n, 2) of the ZMP on z = 0 in world [m]; NaN while nothing touches.   Nenchev & Konno 2019, (8.5)–(8.8)."""
    names = [f"contact.{name}.wrench" for name in robot.contacts]
    wrenches = np.stack([log[name] for name in names], axis=1) if names else np.zeros((len(log), 0, 6))
    return zero_moment_point(sum_wrenches(wrenches, contact_placements(robot, log["q"])))[:, :2]
