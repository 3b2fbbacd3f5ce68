"""`Evidence`: everything that the page about one motion shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.arrays import Array, finite_array, increasing_times
from surefoot.errors import ShapeError, one_of
from surefoot.motion import ContactSchedule, World
from surefoot.motion.audit_result import AuditResult
from surefoot.robot import Robot
from surefoot.robot.volumes import BodyVolume

__all__ = ["Evidence", "Ghost", "PlanePlot", "Plot", "Region", "Verdict"]

Bound = float | Array


@dataclass(frozen=True)
class Verdict:
    """How it ended.

    Args:
        text: In a few words, such as "passed" or "fell at 2.31 s".
        passed: Whether nothing is wrong.
        of: What ended so, such as "run"; where it is said, the verdict of the audit stands beside it.
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
    """An area of a plane that counts for a while, such as a support polygon.

    Args:
        start: From when on [s].
        end: Until when [s].
        corners: (k, 2), in order.
    """

    start: float
    end: float
    corners: Array


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
    """

    title: str
    axes: tuple[str, str]
    unit: str
    tracks: Mapping[str, Array]
    regions: tuple[Region, ...] = ()
    group: str = "Balance"


@dataclass(frozen=True, eq=False)
class Ghost:
    """Another motion, drawn pale beside the first: a plan, or another run.

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
class Evidence:
    """A motion and what is known about it. What is not known is None or empty, and the page does without.

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
        objects: Object → (n, 4, 4) its placements in world; those left out stay where the world has them.
        volumes: Collision volumes; None for the collision shapes of the robot.
        ghosts: Other motions to compare with.
        plots: Lines over time, in the order of their groups.
        planes: Plots in a plane.
        audit: What an audit found.
        metrics: Numbers and texts by name.
        incidents: What happened: tables with kind, where, start_s, end_s, worst.
        scenario_text: The scenario as TOML text.
        versions: Package → version.
        seed: Of all randomness.
        notes: Remarks in sentences.
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
    audit: AuditResult | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    incidents: Sequence[Mapping[str, Any]] = ()
    scenario_text: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    notes: tuple[str, ...] = ()

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
        for plot in self.plots:
            length = n if plot.time is None else len(plot.time)
            for name, series in plot.lines.items():
                _require_shape(series, (length,), f"line `{name}` of plot `{plot.title}`")


def _require_shape(values: Array, shape: tuple[int, ...], what: str) -> None:
    if np.shape(values) != shape:
        raise ShapeError(f"{what} has shape {np.shape(values)}, expected {shape}")
