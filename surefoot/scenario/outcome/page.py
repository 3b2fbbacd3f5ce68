"""The page of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import hypot

import numpy as np

from surefoot.arrays import Array
from surefoot.geometry import Box
from surefoot.motion import GroundBox, Log, MovableObject, World
from surefoot.report import EventMark, Evidence, Plot, Verdict, motion_plots, report_page
from surefoot.robot import Robot
from surefoot.scenario.build import build_event, build_ground
from surefoot.scenario.outcome.files import RunRecord, scenario_toml
from surefoot.scenario.schema import EventTable
from surefoot.sim import Payload, Push
from surefoot.sim.native import with_friction, with_ground
from surefoot.spatial import se3

_INSTANT = 1e-9  # rounding of times [s]
_SETTLES = 0.01  # soles that touch the ground carry the robot after so long [s]


def page_of_run(run: RunRecord) -> str:
    """The page of a run as HTML."""
    return report_page(evidence_of_run(run))


def evidence_of_run(run: RunRecord) -> Evidence:
    """The evidence of a run; wall-clock times stay out, so that the same run gives the same page.

    Args:
        run: The run; changes of friction and terrain among its events count in the plots of contacts.
    """
    robot, log, metrics, world = run.robot, run.log, run.metrics, run.world
    wrenches = {name: _from_the_start(log[f"contact.{name}.wrench"], log.time) for name in robot.contacts}
    tau = log["tau"] if log["tau"].any() else None
    later = _later(world, log, run.scenario.events)
    plots = (
        *_of_base(robot, log),
        *run.planned,
        *run.findings.plots,
        *motion_plots(robot, log["q"], log["v"], tau, wrenches, world, later),
        *_of_contacts(robot, log),
        *_of_tracking(robot, log),
        *_of_estimate(log),
        *_of_constraints(log),
        *_of_balance(log),
    )
    shown, moved = _with_moving_ground(world, log)
    return Evidence(
        title=f"{metrics['scenario']} · {metrics['robot']}",
        robot=robot,
        time=log.time,
        q=log["q"],
        subtitle=run.scenario.description,
        verdict=Verdict(str(metrics["verdict"]), metrics["verdict"] == "passed", "run"),
        world=shown,
        objects=moved,
        v=log["v"],
        wrenches=wrenches,
        plots=plots,
        tables=tuple(run.findings.tables),
        outlines=tuple(run.findings.outlines),
        details=run.findings.details,
        metrics=metrics,
        incidents=metrics.get("incidents", ()),
        audit=run.audit,
        scenario_text=scenario_toml(run.scenario),
        versions=metrics.get("versions", {}),
        seed=metrics.get("seed"),
        notes=tuple(metrics.get("notes", ())),
        events=tuple(
            _mark(table, robot, log, np.array(log["q"][0]))
            for table in run.scenario.events
            if table.time <= log.time[-1]
        ),
    )


def _from_the_start(wrenches: Array, time: Array) -> Array:
    """(n, 6): forces of a sample are those of the step before it; samples before the first forces get these.

    A robot whose soles touch the ground exactly sinks in for a step or two; one that is dropped keeps its zeros.
    """
    out = np.array(wrenches)
    loaded = np.flatnonzero(out.any(axis=1) & (time <= time[0] + _SETTLES))
    if len(loaded):
        out[: loaded[0]] = out[loaded[0]]
    return out


def _mark(table: EventTable, robot: Robot, log: Log, q: Array) -> EventMark:
    """An event on the time line; a push with its force."""
    event = build_event(table, robot, q)
    last = float(log.time[-1])
    if isinstance(event, Push):
        x, y, z = (float(value) for value in event.wrench[:3])
        size = hypot(x, y, z)
        name = f"push, {size:.3g} N for {event.duration:.3g} s"
        return EventMark(name, event.time, min(event.time + event.duration, last), event.link, (x, y, z))
    name = table.kind.replace("_", " ")
    name += f" {table.friction:g}" if table.kind == "friction" and table.friction is not None else ""
    end = last if table.duration is None else min(table.time + table.duration, last)
    link = event.link if isinstance(event, Payload) else table.link
    return EventMark(name, table.time, end, link or "")


def _with_moving_ground(world: World | None, log: Log) -> tuple[World | None, dict[str, Array]]:
    """The world with moving pieces of ground as objects, and their placements (n, 4, 4)."""
    if world is None or not world.moving:
        return world, {}
    pieces = {k: piece for k, piece in enumerate(world.ground) if k in world.moving and isinstance(piece, GroundBox)}
    boards = [MovableObject(f"ground {k}", Box(piece.size), 1.0, piece.pose) for k, piece in pieces.items()]
    moved = {f"ground {k}": np.array([se3.from_pose(row) for row in log[f"ground.{k}.pose"]]) for k in pieces}
    still = tuple(piece for k, piece in enumerate(world.ground) if k not in pieces)
    return replace(world, ground=still, objects=(*world.objects, *boards)), moved


def _later(world: World | None, log: Log, events: Sequence[EventTable]) -> list[tuple[int, World]]:
    """Worlds that changes of friction and terrain make of one, each with the sample from which it holds.

    Forces of a sample are those of the step before it: that at the instant of a change still has the old ground.
    """
    found: list[tuple[int, World]] = []
    for event in sorted(events, key=lambda event: event.time):
        if event.kind == "friction" and event.friction is not None:
            world = with_friction(world, event.friction, event.pieces)
        elif event.kind == "terrain":
            world = with_ground(world, build_ground(event.ground or []))
        else:
            continue
        if world is not None:
            found.append((int(np.searchsorted(log.time, event.time + _INSTANT)), world))
    return found


def _of_base(robot: Robot, log: Log) -> list[Plot]:
    if robot.base != "floating":
        return []
    heights = {"base": log["base.height"], "centre of mass": log["com.height"]}
    return [
        Plot("Height above ground", "m", heights, "Base", key=True),
        Plot("Base tilt", "°", {"tilt": np.rad2deg(log["base.tilt"])}, "Base"),
    ]


def _of_contacts(robot: Robot, log: Log) -> list[Plot]:
    slips = {name: log[f"contact.{name}.slip"] for name in robot.contacts}
    slid = {name: 1000.0 * values for name, values in slips.items() if values.any()}
    found = [Plot("Slip distance per contact", "mm", slid, "Contacts")] if slid else []
    if "sensor.zmp" in log:
        found.append(Plot("Measured ZMP", "m", dict(zip("xy", log["sensor.zmp"].T, strict=True)), "Balance"))
    return found


def _of_tracking(robot: Robot, log: Log) -> list[Plot]:
    """The largest error of all joints, then each joint that has a reference, worst first."""
    errors = log["tracking.error"]
    known = np.isfinite(errors)
    if not known.any():
        return []
    names = [drive.joint for drive in robot.drives]
    largest = np.where(known.any(axis=1), np.where(known, np.abs(errors), 0.0).max(axis=1, initial=0.0), np.nan)
    order = np.argsort(-np.where(known, np.abs(errors), 0.0).max(axis=0, initial=0.0))
    if len(names) != errors.shape[1]:  # drives with several degrees of freedom
        names = [f"entry {k}" for k in range(errors.shape[1])]
    return [
        Plot("Largest joint tracking error", "rad | m", {"error": largest}, "Tracking", key=True),
        *(Plot(names[k], "rad | m", {"error": errors[:, k]}, "Tracking", small=True) for k in order),
    ]


def _of_estimate(log: Log) -> list[Plot]:
    if "estimate.attitude_error" not in log:
        return []
    return [
        Plot("Attitude error", "°", {"error": np.rad2deg(log["estimate.attitude_error"])}, "Estimate"),
        Plot("Velocity error", "m/s", {"error": log["estimate.velocity_error"]}, "Estimate"),
    ]


def _of_constraints(log: Log) -> list[Plot]:
    """How far the robot is off its closed chains, couplings and held contacts."""
    if "constraint.gap" not in log:
        return []
    return [
        Plot("Largest constraint gap", "m | rad", {"gap": log["constraint.gap"]}, "Constraints"),
        Plot("Largest constraint gap rate", "m/s | rad/s", {"rate": log["constraint.rate"]}, "Constraints"),
    ]


def _of_balance(log: Log) -> list[Plot]:
    """The account of energy and momentum, and pushes."""
    names = ("drives", "contacts", "damping", "pushes")
    works = {name: log[f"energy.{name}"] for name in names if log[f"energy.{name}"].any()}
    found = [Plot("Energy residual", "J", {"residual": log["energy.residual"]}, "Energy")]
    if works:
        found.insert(0, Plot("Cumulative work", "J", works, "Energy"))
    if np.isfinite(log["momentum.residual"]).any():
        axes = dict(zip("xyz", log["momentum.residual"].T, strict=True))
        found.append(Plot("Momentum residual", "N s", axes, "Momentum"))
    if log["push.force"].any():
        found.append(Plot("Push force", "N", {"force": np.linalg.norm(log["push.force"], axis=1)}, "Momentum"))
    return found
