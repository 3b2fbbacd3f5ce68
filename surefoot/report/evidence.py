"""`Evidence`: the data behind the page of a motion, with the layers computed from it: ZMP, capture point, stances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array, finite_array, increasing_times
from surefoot.compiler import compile_robot
from surefoot.contact import contact_placements, sum_wrenches, zero_moment_point
from surefoot.errors import ShapeError, one_of
from surefoot.markup import Html
from surefoot.motion import AuditResult, ContactSchedule, World
from surefoot.robot import BodyVolume, Robot

Bound = float | Array


@dataclass(frozen=True)
class Verdict:
    """How it ended.

    Args:
        text: In a few words, such as "passed" or "fell at 2.31 s".
        passed: Whether nothing is wrong.
        of: What ended so, such as "run"; with it, the verdict of the audit is shown as well.
    """

    text: str
    passed: bool
    of: str = ""


@dataclass(frozen=True, eq=False)
class Plot:
    """Lines over time, with their limits.

    Args:
        title: What it shows.
        unit: Of its values.
        lines: Values (n,) by name; NaN where there is none.
        group: Plots of one group stand under one heading.
        lower: Limits by name of the line, a number or (n,); the name "" is a limit of all lines.
        upper: The same from above.
        time: (n,) [s], if other than that of the evidence.
        key: Whether it stands in the overview as well.
        small: Whether it is one of many small plots, of which the first ones are shown at once.
    """

    title: str
    unit: str
    lines: Mapping[str, Array]
    group: str = "Plan"
    lower: Mapping[str, Bound] = field(default_factory=dict)
    upper: Mapping[str, Bound] = field(default_factory=dict)
    time: Array | None = None
    key: bool = False
    small: bool = False


@dataclass(frozen=True, eq=False)
class Region:
    """An area of a plane that is valid for a while, such as a support polygon.

    Args:
        start: From when on [s].
        end: Until when [s].
        corners: (k, 2), in order.
    """

    start: float
    end: float
    corners: Array


@dataclass(frozen=True, eq=False)
class Outline:
    """An outline on the ground, such as that of a planned step.

    Args:
        name: What it is.
        corners: (k, 3) in world [m].
    """

    name: str
    corners: Array


@dataclass(frozen=True, eq=False)
class DataTable:
    """A table in the summary.

    Args:
        title: What it shows.
        head: Names of the columns, with units.
        rows: Texts, numbers, and None for none.
        jumps: Columns with times that the replay jumps to.
    """

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    jumps: Sequence[int] = ()


@dataclass(frozen=True, eq=False)
class PlanePlot:
    """Points that move in a plane.

    Args:
        title: What it shows.
        axes: Names of the axes, such as ("x", "y").
        unit: Of both axes.
        tracks: Places (n, 2) by name, at the times of the evidence.
        regions: Areas, such as support polygons.
        group: The heading that it stands under.
        outlines: Drawn dashed, such as planned steps.
    """

    title: str
    axes: tuple[str, str]
    unit: str
    tracks: Mapping[str, Array]
    regions: tuple[Region, ...] = ()
    group: str = "Balance"
    outlines: tuple[Outline, ...] = ()


@dataclass(frozen=True, eq=False)
class Ghost:
    """Another motion, drawn pale beside the first, such as a plan or another run.

    Args:
        name: What it is called.
        robot: The robot that moves.
        time: (n,) [s], on the clock of the evidence.
        q: (n, nq).
    """

    name: str
    robot: Robot
    time: Array
    q: Array


@dataclass(frozen=True, eq=False)
class EventMark:
    """Something that happened to the robot, such as a push; a force is drawn as an arrow that ends where it acts.

    Args:
        name: In a few words.
        start: From when on [s].
        end: Until when [s].
        link: The link that it concerns; "" for none.
        force: (3,) on the link, in world [N].
    """

    name: str
    start: float
    end: float
    link: str = ""
    force: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A motion and the data about it; unknown parts are None or empty and omitted from the page.

    Args:
        title: Heading of the page.
        robot: The robot.
        time: (n,) increasing [s].
        q: (n, nq) its motion.
        subtitle: One line under the heading.
        verdict: How it ended.
        world: Ground, obstacles and objects.
        v: (n, nv) its velocities.
        wrenches: Contact → (n, 6) on the robot, contact frame, linear first [N], [N m].
        schedule: Which contacts hold when; None to tell by the wrenches.
        com: (n, 3) centre of mass in world [m].
        zmp: (n, 3) zero moment point in world [m]; NaN without contact.
        capture_point: (n, 3) in world [m]; NaN where there is none.
        objects: Object → (n, 4, 4) its placements in world; those omitted stay where the world has them.
        volumes: Collision volumes; None for the collision shapes of the robot.
        ghosts: Other motions to compare with.
        plots: Lines over time, in the order of their groups.
        planes: Plots in a plane.
        tables: Tables of the summary.
        outlines: Drawn on the ground and in the top view, such as planned steps.
        audit: What an audit found.
        metrics: Numbers and texts by name.
        incidents: What happened: tables with kind, where, start_s, end_s, worst.
        scenario_text: The scenario as TOML text.
        versions: Package → version.
        seed: Of all randomness.
        notes: Remarks in sentences.
        events: What happened to it: pushes, loads, changes of the ground.
        details: Further HTML under the summary.
    """

    title: str
    robot: Robot
    time: Array
    q: Array
    subtitle: str = ""
    verdict: Verdict | None = None
    world: World | None = None
    v: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    schedule: ContactSchedule | None = None
    com: Array | None = None
    zmp: Array | None = None
    capture_point: Array | None = None
    objects: Mapping[str, Array] = field(default_factory=dict)
    volumes: tuple[BodyVolume, ...] | None = None
    ghosts: tuple[Ghost, ...] = ()
    plots: tuple[Plot, ...] = ()
    planes: tuple[PlanePlot, ...] = ()
    tables: tuple[DataTable, ...] = ()
    outlines: tuple[Outline, ...] = ()
    audit: AuditResult | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    incidents: Sequence[Mapping[str, Any]] = ()
    scenario_text: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    notes: tuple[str, ...] = ()
    events: tuple[EventMark, ...] = ()
    details: Html = field(default_factory=Html)

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "time", increasing_times(self.time))
        n = len(self.time)
        set_field(self, "q", finite_array(self.q, (n, self.robot.nq), "q"))
        if self.v is not None:
            set_field(self, "v", finite_array(self.v, (n, self.robot.nv), "v"))
        for name, series in self.wrenches.items():
            if name not in self.robot.contacts:
                raise one_of("contact", name, self.robot.contacts)
            _require_shape(series, (n, 6), f"wrench of `{name}`")
        for name in ("com", "zmp", "capture_point"):
            if getattr(self, name) is not None:
                _require_shape(getattr(self, name), (n, 3), name)
        for name, series in self.objects.items():
            _require_shape(series, (n, 4, 4), f"placements of object `{name}`")
        for mark in self.events:
            if mark.link:
                self.robot.frame_id(mark.link)
        for plot in self.plots:
            length = n if plot.time is None else len(plot.time)
            for name, series in plot.lines.items():
                _require_shape(series, (length,), f"line `{name}` of plot `{plot.title}`")


def _require_shape(values: Array, shape: tuple[int, ...], what: str) -> None:
    if np.shape(values) != shape:
        raise ShapeError(f"{what} has shape {np.shape(values)}, expected {shape}")


Flags = NDArray[np.bool_]
_SHORTEST = 0.03  # [s]: shorter touches and shorter gaps between touches are not shown
_LEAST_LOAD = 0.01  # of the weight: a contact with less does not carry


def with_layers(evidence: Evidence) -> Evidence:
    """Add centre of mass, ZMP and capture point where they are missing and can be computed.

    Args:
        evidence: A motion; the ZMP needs wrenches, the capture point velocities and gravity.
    """
    robot = evidence.robot
    if robot.base != "floating" or robot.tree.n == 0:
        return evidence
    kernels = compile_robot(robot)
    com = np.asarray(kernels.com(evidence.q)) if evidence.com is None else evidence.com
    found: dict[str, Any] = {"com": com}
    frames = dict(zip(robot.contacts, contact_placements(robot, evidence.q).swapaxes(0, 1), strict=True))
    level = _level(robot, evidence.wrenches, frames, com)
    if evidence.zmp is None and any(np.any(w) for w in evidence.wrenches.values()):
        places = np.stack([frames[name] for name in evidence.wrenches], axis=1)
        net = sum_wrenches(np.stack(list(evidence.wrenches.values()), axis=1), places)
        point = np.column_stack([np.zeros((len(level), 2)), level])
        found["zmp"] = zero_moment_point(net, point=point, least_load=_LEAST_LOAD * _weight(robot))
    if evidence.capture_point is None and evidence.v is not None and bool(robot.tree.gravity[2] < -1e-3):
        velocity = np.asarray(kernels.bundle(["vcom"])(evidence.q, evidence.v)["vcom"])
        found["capture_point"] = capture_point(com, velocity, level, float(np.linalg.norm(robot.tree.gravity)))
    return replace(evidence, **found)


def capture_point(com: Array, velocity: Array, level: Array, gravity: float) -> Array:
    """Where a linear pendulum of the same height would come to rest, (n, 3) in world [m].

        ξ = c + ċ / ω,  ω² = g / (c_z − h)        Pratt et al. 2006

    Args:
        com: (n, 3) centre of mass [m].
        velocity: (n, 3) its velocity [m/s].
        level: (n,) h, height of the ground [m].
        gravity: g [m/s²].
    """
    height = com[:, 2] - level
    stands = height > 1e-3
    rate = np.sqrt(gravity / np.where(stands, height, 1.0))
    found = np.column_stack([com[:, :2] + velocity[:, :2] / rate[:, None], level])
    return np.where(stands[:, None], found, np.nan)


def contact_activity(evidence: Evidence) -> dict[str, Flags]:
    """When each contact carries: (n,) by contact, from the schedule or from the wrenches; empty if unknown."""
    time = evidence.time
    if evidence.schedule is not None:
        return {name: _scheduled(evidence.schedule, name, time) for name in evidence.schedule.names}
    least = max(_LEAST_LOAD * _weight(evidence.robot), 1e-9)
    return {name: _settled(time, wrench[:, 2] > least) for name, wrench in evidence.wrenches.items()}


def spans(time: Array, flags: Flags) -> list[tuple[float, float]]:
    """Intervals (start, end) [s] in which flags hold.

    Args:
        time: (n,) [s].
        flags: (n,).
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    last = len(time) - 1
    return [(float(time[a]), float(time[min(b, last)])) for a, b in edges.reshape(-1, 2)]


def _scheduled(schedule: ContactSchedule, name: str, time: Array) -> Flags:
    flags = np.zeros(len(time), dtype=bool)
    for start, end in schedule.active(name):
        flags |= (time >= start - 1e-9) & (time <= end + 1e-9)
    return flags


def _settled(time: Array, flags: Flags) -> Flags:
    """Without short gaps, then without short touches."""
    out = flags.copy()
    for value in (False, True):
        for start, end in spans(time, out == value):
            if end - start < _SHORTEST and start > time[0] and end < time[-1]:
                out[(time >= start) & (time < end)] = not value
    return out


def _level(robot: Robot, wrenches: Mapping[str, Array], placements: Mapping[str, Array], com: Array) -> Array:
    """Height of the contacts, each counted by its load (n,) [m]; while nothing is loaded, of the lowest one."""
    if not placements:
        return np.zeros(len(com))
    lowest = np.min([T[:, 2, 3] for T in placements.values()], axis=0)
    if not wrenches:
        return np.asarray(lowest)
    loads = {name: np.maximum(wrench[:, 2], 0.0) for name, wrench in wrenches.items()}
    total = np.sum(list(loads.values()), axis=0)
    mean = np.sum([load * placements[name][:, 2, 3] for name, load in loads.items()], axis=0)
    carried = total > _LEAST_LOAD * _weight(robot)
    return np.where(carried, mean / np.where(carried, total, 1.0), lowest)


def _weight(robot: Robot) -> float:
    return robot.mass * float(np.linalg.norm(robot.tree.gravity))
