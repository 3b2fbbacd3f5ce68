"""The steps of a walk as they were planned and as they were made, with their plots, table and outlines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import contact_placements, sum_wrenches, zero_moment_point
from surefoot.geometry import convex_hull, distance_inside
from surefoot.motion import Log
from surefoot.report import DataTable, Outline, Plot
from surefoot.robot import Foot, Robot, anatomy

_LEAST_LOAD = 0.02  # of the weight: a contact with less does not carry
SWING = 2.0
"""Phase of the controller with a foot in the air."""
_EVERY = 0.01  # margins of the ZMP are looked at that often [s]
_MOVED = 0.01  # a landing that was moved further is adapted [m]


@dataclass(frozen=True)
class Step:
    """A step that was made.

    Args:
        foot: Name of the foot.
        start: Lift-off [s].
        end: Touch-down [s].
        planned: x and y in the world as planned at lift-off, seen from the foot that stood [m].
        adapted: The same as planned just before touch-down [m].
        measured: Where the foot landed [m].
        yaw: Of the foot there [rad].
        late: How much later than planned it touched down [s].
        margin: Least distance of the ZMP from the edge of the support during the swing [m].
    """

    foot: str
    start: float
    end: float
    planned: tuple[float, float]
    adapted: tuple[float, float]
    measured: tuple[float, float]
    yaw: float
    late: float
    margin: float

    @property
    def is_adapted(self) -> bool:
        """Whether the landing was moved during the swing."""
        return _way(self.planned, self.adapted) > _MOVED


class WalkRecord:
    """The log of a walk, with what can be computed from it.

    Args:
        robot: The robot.
        log: Of a run with `WalkingController`.
    """

    def __init__(self, robot: Robot, log: Log) -> None:
        self.robot, self.log = robot, log
        self.feet = anatomy(robot).feet
        self.weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
        self.time = np.asarray(log.time)
        """(n,) [s]."""
        self.support = np.asarray(log["control.support"]).astype(int)
        """(n,) number of the foot that stands."""
        self.landings = np.flatnonzero(np.diff(np.asarray(log["control.steps"]))) + 1
        """Rows at which feet have just landed."""
        self.wrenches = {name: np.asarray(log[f"contact.{name}.wrench"]) for name in robot.contacts}

    @cached_property
    def contact_poses(self) -> Array:
        """(n, contacts, 4, 4) in world."""
        return np.asarray(contact_placements(self.robot, self.log["q"]))

    @cached_property
    def foot_poses(self) -> Array:
        """(n, 2, 4, 4) in world, as they were."""
        return np.stack([self._poses_of(foot) for foot in self.feet], axis=1)

    def _poses_of(self, foot: Foot) -> Array:
        robot, home = self.robot, self.robot.placements(self.robot.home)
        names, body = list(robot.contacts), robot.body_of(foot.link)
        name = next(name for name in foot.contacts if robot.body_of(robot.contacts[name].frame) == body)
        contact = home[robot.contacts[name].frame] @ robot.contacts[name].placement
        to_foot = np.linalg.inv(contact) @ home[foot.link] @ foot.placement
        return np.asarray(self.contact_poses[:, names.index(name)] @ to_foot)

    def in_world(self, column: str) -> Array:
        """(n, 2) points of the log that are relative to the foot that stands, in world [m].

        Args:
            column: Its name.
        """
        T = self.foot_poses[np.arange(len(self.time)), self.support]
        yaw = np.arctan2(T[:, 1, 0], T[:, 0, 0])
        c, s, (x, y) = np.cos(yaw), np.sin(yaw), np.asarray(self.log[column]).T
        return T[:, :2, 3] + np.column_stack([c * x - s * y, s * x + c * y])

    @cached_property
    def zmp(self) -> Array:
        """(n, 3) zero-moment point of the measured wrenches; NaN without contact [m]."""
        level = self.contact_poses[:, :, 2, 3].min(axis=1)
        net = sum_wrenches(np.stack(list(self.wrenches.values()), axis=1), self.contact_poses)
        point = np.column_stack([np.zeros((len(level), 2)), level])
        return np.asarray(zero_moment_point(net, point=point, least_load=_LEAST_LOAD * self.weight))

    @cached_property
    def loaded(self) -> NDArray[np.bool_]:
        """(n, contacts) whether they carry."""
        return np.column_stack([wrench[:, 2] > _LEAST_LOAD * self.weight for wrench in self.wrenches.values()])

    @cached_property
    def corners(self) -> list[Array]:
        """(n, k, 2) of each contact, in world [m]."""
        return [
            (T[:, :3, :3] @ surface.corners.T + T[:, :3, 3:]).swapaxes(1, 2)[:, :, :2]
            for T, surface in zip(self.contact_poses.swapaxes(0, 1), self.robot.contacts.values(), strict=True)
        ]

    def support_limits(self) -> tuple[Array, Array]:
        """(n, 2) lowest and highest x and y of the support; NaN in the air [m]."""
        low, high = np.full((2, len(self.time), 2), np.nan)
        for k, corners in enumerate(self.corners):
            rows = self.loaded[:, k]
            low[rows] = np.fmin(low[rows], corners[rows].min(axis=1))
            high[rows] = np.fmax(high[rows], corners[rows].max(axis=1))
        return low, high

    def margin(self, row: int) -> float:
        """Distance of the ZMP from the edge of the support; negative outside, NaN in the air [m].

        Args:
            row: Of the log.
        """
        points = [corners[row] for k, corners in enumerate(self.corners) if self.loaded[row, k]]
        if not points or not np.isfinite(self.zmp[row]).all():
            return float("nan")
        return float(distance_inside(self.zmp[row, :2], convex_hull(np.vstack(points))))

    @cached_property
    def steps(self) -> list[Step]:
        """All steps that ended."""
        swings = np.asarray(self.log["control.phase"]) == SWING
        lifts = np.flatnonzero(swings[1:] & ~swings[:-1]) + 1
        if not len(lifts):
            return []
        landing, late = self.in_world("control.landing"), np.asarray(self.log["control.late"])
        every = max(1, round(_EVERY / max(float(np.diff(self.time[:2])[0]), 1e-6)))
        found = []
        for end in self.landings:
            start = int(lifts[np.searchsorted(lifts, end) - 1])
            foot = int(self.support[end])
            T = self.foot_poses[end, foot]
            margins = [self.margin(row) for row in range(start, end, every)]
            x, y = (tuple(map(float, landing[row])) for row in (start, end - 1))
            found.append(
                Step(
                    self.feet[foot].name,
                    float(self.time[start]),
                    float(self.time[end]),
                    x,  # type: ignore[arg-type]
                    y,  # type: ignore[arg-type]
                    (float(T[0, 3]), float(T[1, 3])),
                    float(np.arctan2(T[1, 0], T[0, 0])),
                    float(late[end - 1]),
                    float(np.nanmin(margins)) if np.isfinite(margins).any() else float("nan"),
                )
            )
        return found

    # -- for the page ---------------------------------------------------------------------------------------------

    def table(self) -> DataTable:
        """The steps as a table."""
        head = (
            "step", "foot", "landed [s]", "planned x, y [m]", "measured x, y [m]", "off [mm]", "late [ms]",
            "ZMP margin [mm]", "adapted by [mm]",
        )  # fmt: skip
        sides = {foot.name: foot.side for foot in self.feet}
        rows = [
            (
                k,
                sides[step.foot] or step.foot,
                round(step.end, 2),
                _place(step.planned),
                _place(step.measured),
                round(1000.0 * _way(step.adapted, step.measured), 1),
                round(1000.0 * step.late),
                round(1000.0 * step.margin, 1),
                round(1000.0 * _way(step.planned, step.adapted)) if step.is_adapted else None,
            )
            for k, step in enumerate(self.steps, 1)
        ]
        return DataTable("Steps", head, rows, jumps=[2])

    def outlines(self) -> list[Outline]:
        """The soles as they were planned to land, on the ground."""
        soles = {foot.name: foot.sole for foot in self.feet}
        level = float(self.contact_poses[0, :, 2, 3].min())
        found = []
        for step in self.steps:
            c, s = np.cos(step.yaw), np.sin(step.yaw)
            flat = np.asarray(soles[step.foot]) @ np.array([[c, s], [-s, c]]) + step.planned
            found.append(Outline(f"planned {step.foot}", np.column_stack([flat, np.full(len(flat), level)])))
        return found

    def plots(self) -> list[Plot]:
        """DCM with its reference, ZMP with the limits of the support, and heights of the soles."""
        points = {name: self.in_world(f"control.{name}") for name in ("dcm", "dcm_reference", "zmp_command")}
        low, high = self.support_limits()
        found = []
        for k, axis in enumerate("xy"):
            dcm = {"DCM": points["dcm"][:, k], "reference": points["dcm_reference"][:, k]}
            zmp = {"ZMP": self.zmp[:, k], "command": points["zmp_command"][:, k]}
            found += [
                Plot(f"DCM along {axis}", "m", dcm, "Walking", key=axis == "y"),
                Plot(
                    f"ZMP along {axis}, with the edges of the support", "m", zmp, "Walking",
                    lower={"": low[:, k]}, upper={"": high[:, k]},
                ),
            ]  # fmt: skip
        ground = float(self.foot_poses[0, :, 2, 3].min())
        heights = {foot.name: self.foot_poses[:, k, 2, 3] - ground for k, foot in enumerate(self.feet)}
        return [*found, Plot("Height of the soles", "m", heights, "Walking", key=True)]


def _way(a: tuple[float, float], b: tuple[float, float]) -> float:
    return float(np.hypot(b[0] - a[0], b[1] - a[1]))


def _place(point: tuple[float, float]) -> str:
    return f"{point[0]:.3f}, {point[1]:.3f}".replace("-", "−")
