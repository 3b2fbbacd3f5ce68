"""Limits of the robot in a problem: bounds of variables, or rows where they may yield or need more than a bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.ocp import blocks as known
from surefoot.ocp.shape import Block
from surefoot.ocp.timeline.limits import LimitedTimeline
from surefoot.ocp.timeline.phases import PhaseSpec


def own_blocks(problem: LimitedTimeline, phase: PhaseSpec) -> list[Block]:
    """Rows of the limits of drives and joints, and of the wrench cones of contacts, that hold in a phase.

    Args:
        problem: The problem.
        phase: The phase.
    """
    robot, soft, found = problem.robot, problem.softened, list[Block]()

    def add(kind: str, name: str, function: known.Function, key: tuple[Any, ...], place: Any = "path") -> None:
        found.append(Block(name, function, "row", place, key=key, slack=kind in soft))

    forward = problem.formulation.dynamics == "forward"
    if problem.limited["torques"] and robot.nu and (not forward or "torques" in soft):
        limits = [float(drive.torque_limit) for drive in robot.drives]
        add("torques", "torque limit", known.torque_share(robot), ("torque limit", str(limits)))
    if problem.limited["torque_speed"]:
        lines = [(d.torque_limit, d.speed_limit, d.corner_speed) for d in robot.drives]
        add("torque_speed", "torque-speed limit", known.torque_speed_rows(robot), ("torque-speed", str(lines)))
    for kind, name, rates in (("positions", "position limit", False), ("velocities", "speed limit", True)):
        if kind in soft:
            rows, _, _ = _joint_limits(problem, name)
            add(kind, name, known.coordinate_rows(rows, rates), (name, rows))
    for name in phase.contacts:
        surface, ground = robot.contacts[name], phase.spots[name][:3, :3]
        faces = known.wrench_faces(surface, phase.friction, problem.sole_margin, problem.friction == "inscribed")
        friction = surface.friction if phase.friction is None else phase.friction
        function = known.cone_rows(surface, faces, ground, friction if problem.friction == "cone" else None)
        key: tuple[Any, ...] = ("cone", name, faces.tobytes(), ground.tobytes() if surface.kind == "point" else b"")
        key += (friction,) if problem.friction == "cone" else ()
        for place in ("path", "impact"):
            add("cones", f"cone {name}", function, key, place)
    return found


def own_row_limits(problem: LimitedTimeline, name: str, size: int) -> tuple[Array, Array] | None:
    """Bounds of the rows of a limit of the robot; None if the rows are others.

    Args:
        problem: The problem.
        name: Of the rows.
        size: Their number.
    """
    if name in ("torque limit", "torque-speed limit"):
        return np.full(size, -problem.drive_share), np.full(size, problem.drive_share)
    if name.startswith("cone "):
        return np.zeros(size), np.full(size, np.inf)
    return _joint_limits(problem, name)[1:] if name in ("position limit", "speed limit") else None


def variable_limits(problem: LimitedTimeline) -> tuple[Array, Array, Array]:
    """Bounds (2 nv,) of coordinates and rates, and of the forces (nu,) of drives, that no motion may violate.

    Args:
        problem: The problem.
    """
    n, nu = problem.robot.nv, problem.robot.nu
    low, high = _box(problem)
    for kind, part in (("positions", slice(n)), ("velocities", slice(n, 2 * n))):
        if kind in problem.softened:
            low[part], high[part] = -np.inf, np.inf
    for name, (least, most) in problem.box.items():
        k = problem.chart.names.index(name.removeprefix("d ")) + (n if name.startswith("d ") else 0)
        low[k], high[k] = max(low[k], least), min(high[k], most)
    is_hard = problem.limited["torques"] and "torques" not in problem.softened
    efforts = np.array([float(drive.torque_limit) for drive in problem.robot.drives])
    return low, high, problem.drive_share * efforts if is_hard else np.full(nu, np.inf)


def _box(problem: LimitedTimeline) -> tuple[Array, Array]:
    """Limits (2 nv,) of coordinates and rates of the robot, with margins."""
    robot, n = problem.robot, problem.robot.nv
    none, home = np.full(n, np.inf), problem.chart.coordinates(robot.home)
    low, high = problem.chart.limits() if problem.limited["positions"] else (-none, none)
    low = np.minimum(low + problem.position_margin, np.maximum(home, low))
    high = np.maximum(high - problem.position_margin, np.minimum(home, high))
    speed = problem.drive_share * np.array(robot.limits.velocity) if problem.limited["velocities"] else none
    speed = np.where(speed > 0.0, speed, np.inf)
    speed[list(robot.base_rows)] = np.inf
    return np.r_[low, -speed], np.r_[high, speed]


def _joint_limits(problem: LimitedTimeline, name: str) -> tuple[tuple[int, ...], Array, Array]:
    """Coordinates with limits, and these: of positions or of speeds."""
    low, high = (half[0 if name == "position limit" else 1] for half in (np.split(part, 2) for part in _box(problem)))
    rows = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    return tuple(rows.tolist()), low[rows], high[rows]
