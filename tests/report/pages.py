"""Pages that the tests of this room look at."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np

from surefoot.geometry import Box
from surefoot.motion import Obstacle, World
from surefoot.motion.audit_result import AuditItem, AuditResult, Finding
from surefoot.report import Evidence, Plot, Verdict, motion_plots, report_page
from surefoot.robot import Robot, placement, zoo

NAME = "humanoid"


def swaying(robot: Robot, duration: float, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time, q and v of a humanoid that goes forward and swings its joints; not a motion that obeys physics."""
    time = np.linspace(0.0, duration, round(duration * rate) + 1)
    q = np.tile(robot.home, (len(time), 1))
    q[:, 0] += 0.2 * time
    q[:, 7:] += 0.2 * np.sin(2.0 * time)[:, None]
    v = np.zeros((len(time), robot.nv))
    v[:, 0] = 0.2
    v[:, 6:] = 0.4 * np.cos(2.0 * time)[:, None]
    return time, q, v


@functools.cache
def page_of_humanoid(duration: float = 2.0, audited: bool = True) -> str:
    """A page with everything on it: contacts that come and go, limits, findings, an obstacle, many joints."""
    robot = zoo.load(NAME)
    time, q, v = swaying(robot, duration, 500.0)
    left, right = list(robot.contacts)[:2]
    load = np.zeros((2, len(time), 6))
    load[0, :, 2] = np.where(np.sin(6.0 * time) > -0.3, 300.0, 0.0)
    load[1, :, 2] = np.where(np.sin(6.0 * time) < 0.3, 300.0, 0.0)
    wrenches = {left: load[0], right: load[1]}
    tau = np.full((len(time), robot.nu), 5.0)
    tau[len(time) // 2, 3] = 500.0
    plots = (
        *motion_plots(robot, q, v, tau, wrenches),
        Plot("Computation time per tick", "ms", {"controller": 0.1 + 0.0 * time}, "Timing"),
    )
    evidence = Evidence(
        "walk <b>", robot, time, q, "one line & more", Verdict("passed", True),
        World(obstacles=(Obstacle("box", Box((0.2, 0.2, 0.2)), placement((1.0, 0.5, 0.1))),)), v, wrenches,
        plots=plots, metrics={"slip_m": 1e-5, "name <b>": "a & b"}, scenario_text="[robot]\nname = 1",
        versions={"pin": "4"}, seed=3, notes=("a note",),
    )  # fmt: skip
    return report_page(replace(evidence, audit=an_audit(robot, duration)) if audited else evidence)


def an_audit(robot: Robot, duration: float) -> AuditResult:
    """An audit with two findings, one of which covers another."""
    time = np.linspace(0.0, duration, 200)
    margin = 0.3 + 0.4 * np.cos(5.0 * time)
    joint = robot.drives[3].joint
    covered = Finding("energy_residual", "energy", "defect", "", 0.6, 0.7, 0.65, 3.0, 1.0, "W", 2.0, "energy appears")
    torque = Finding(
        "joint_torque", "limits", "defect", joint, 0.5 * duration, 0.55 * duration, 0.5 * duration, 500.0, 100.0, "N m",
        400.0, "too much torque", "use a stronger drive", covers=(covered,),
    )  # fmt: skip
    remark = Finding("jerk", "energy", "remark", "", 0.2, 0.2, 0.2, 9.0, 5.0, "rad/s³", 4.0, "a jerk")
    items = (
        AuditItem("joint_torque", "limits", "joint torque", "N m", "failed", "", time, margin, (joint,), joint,
                  1.0, 5.0, 1.0),
        AuditItem("friction", "wrenches", "friction cone", "1", "passed", "", time, margin + 0.2),
        AuditItem("jerk", "energy", "jerk", "rad/s³", "remark", "", time, margin),
        AuditItem("rest", "energy", "rest at start and end", "rad/s", "skipped", "no velocities"),
    )  # fmt: skip
    return AuditResult(robot.name, duration, 200, items, (torque, remark), contacts="from forces")
