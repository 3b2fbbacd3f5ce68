"""Incidents of a run, with time stamps: falls, slips, touches of itself and of obstacles, limits."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.geometry import contains
from surefoot.motion import GroundPlane, State, World
from surefoot.robot import Robot
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.measured import WORLD, Touches

LOW = 0.5
"""Share of the home height of the centre of mass below which a robot has fallen."""
TILTED = np.deg2rad(60.0)


class FallDetector:
    """A robot that stands has fallen when its centre of mass is below half its home height, or its base tilted by 60°.

    At home, the height is that over the lowest corner of the contact surfaces; later, that over the ground below the
    centre of mass. Tilts are against the home posture. Robots that are fixed to the world or have no contact surface
    do not stand, so they never fall; nor does a robot where there is no ground or no gravity.

    Args:
        robot: The robot.
        world: The world; None for empty space.
    """

    def __init__(self, robot: Robot, world: World | None) -> None:
        self._world, self._level = world, _level_of(world)
        self._stands = robot.base_joint is not None and bool(robot.contacts) and _can_be_stood_on(world)
        data = robot.model.createData()
        com = pin.centerOfMass(robot.model, data, np.array(robot.home))
        corners = robot.contact_corners(robot.home).values()
        self._least_height = LOW * float(com[2] - min((c[:, 2].min() for c in corners), default=0.0))
        self._up = data.oMi[(robot.base_joint or 0) + 1].rotation.T @ np.array([0.0, 0.0, 1.0])

    def height(self, point: ArrayLike) -> float:
        """Height of a point over the ground below it [m], over z = 0 where there is none.

        Args:
            point: (3,) in world [m].
        """
        x, y, z = np.asarray(point, dtype=float)
        if self._level is not None:
            return float(z) - self._level
        pieces = () if self._world is None else self._world.ground
        heights = [height for piece in pieces if np.isfinite(height := float(piece.height(x, y)))]
        below = [height for height in heights if height <= z]
        return float(z) - (max(below) if below else min(heights, default=0.0))

    def tilt(self, T_world_base: Array) -> float:
        """Angle between the base's up at home and now [rad].

        Args:
            T_world_base: (4, 4).
        """
        cosine = float((T_world_base[:3, :3] @ self._up)[2])
        return float(np.arccos(min(max(cosine, -1.0), 1.0)))

    def has_fallen(self, com: ArrayLike, T_world_base: Array) -> bool:
        """Whether a robot has fallen.

        Args:
            com: (3,) its centre of mass in world [m].
            T_world_base: (4, 4) of the body that the base joint moves.
        """
        return self.is_fall(self.height(com), self.tilt(T_world_base))

    def is_fall(self, height: float, tilt: float) -> bool:
        """Whether a robot has fallen.

        Args:
            height: Of its centre of mass over the ground [m].
            tilt: Of its base [rad].
        """
        return self._stands and (height < self._least_height or tilt > TILTED)


def _can_be_stood_on(world: World | None) -> bool:
    return world is not None and bool(world.ground) and bool(world.gravity.any())


def _level_of(world: World | None) -> float | None:
    """Height of the ground where it is the same everywhere [m]."""
    if world is None or not world.ground:
        return 0.0
    piece = world.ground[0]
    if len(world.ground) > 1 or not isinstance(piece, GroundPlane) or piece.normal[2] != 1.0:
        return None
    return float(piece.point[2])


Indices = NDArray[np.int64]
Kind = Literal["fall", "slip", "self_collision", "obstacle_touch", "position_limit", "velocity_limit", "torque_limit"]
SLIP = 0.005
"""Way of a loaded contact within `SLIP_TIME` that counts as a slip [m]."""
SLIP_TIME = 0.1
"""[s]."""
BEYOND = 1e-3
"""How far a joint may be beyond its limit [rad] or [m]."""
FASTER = 1e-3
"""By which share a joint may be faster than its limit."""
SATURATED = 0.05
"""How long a drive may be at its limit [s]."""


@dataclass
class Incident:
    """Something went wrong for a while.

    Args:
        kind: What.
        where: Contact, joint, link, or link and obstacle; "" for a fall.
        start: First time [s].
        end: Last time [s].
        worst: Way [m], depth or excess [rad] or [m], force [N], speed over its limit, time at the limit [s].
    """

    kind: Kind
    where: str
    start: float
    end: float
    worst: float

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class IncidentBook:
    """Looks at one robot after each tick and writes down what goes wrong.

    Args:
        robot: The robot.
        world: The world; None for empty space.
        index: Number of the robot.
    """

    def __init__(self, robot: Robot, world: World | None, index: int) -> None:
        self._robot, self._index = robot, index
        self._obstacles = () if world is None else world.obstacles
        self._touching = np.unique([robot.body_of(contact.frame) for contact in robot.contacts.values()])
        self.falls = FallDetector(robot, world)
        self.incidents: list[Incident] = []
        self.fall_time: float | None = None
        self._open: dict[tuple[str, str], Incident] = {}
        self._slips: dict[str, deque[tuple[float, float]]] = {name: deque() for name in robot.contacts}
        self._base_link = robot.tree.body_names[robot.base_joint or 0]
        self.base_height = self.com_height = self.tilt = np.nan
        self._axes = _limited_axes(robot)
        self._fastest = self._axes[-1] * (1.0 + FASTER)
        self._driven = [drive.joint for drive in robot.drives for _ in range(self._axes_of(drive.joint))]
        self._saturated = np.zeros(robot.nu)

    def measure(self, engine: PhysicsEngine) -> None:
        """Take the heights of base and centre of mass over the ground [m], and the tilt of the base [rad]."""
        base = engine.placement(self._base_link, self._index)
        self.base_height, self.tilt = self.falls.height(base[:3, 3]), self.falls.tilt(base)
        self.com_height = self.falls.height(engine.com(self._index))

    def look(self, engine: PhysicsEngine, state: State, share_of_limit: Array, dt: float) -> None:
        """After a tick, and after `measure`.

        Args:
            engine: The engine.
            state: Of the robot.
            share_of_limit: (nu,) torque over its limit.
            dt: Length of the tick [s].
        """
        now: dict[tuple[str, str], float] = {}
        if self.fall_time is None and self.falls.is_fall(self.com_height, self.tilt):
            self.fall_time = state.t
            self.incidents.append(Incident("fall", "", state.t, state.t, self.tilt))
        self._look_at_slips(engine, state.t, now)
        self._look_at_limits(state, now)
        self._look_at_touches(engine.touches(self._index), now)
        self._look_at_drives(share_of_limit, dt, now)
        if now or self._open:
            self._note(now, state.t)

    def _note(self, now: dict[tuple[str, str], float], t: float) -> None:
        """Open what is new, prolong what goes on, close the rest."""
        self._open = {key: incident for key, incident in self._open.items() if key in now}
        for (kind, where), size in now.items():
            if (kind, where) in self._open:
                incident = self._open[kind, where]
                incident.end, incident.worst = t, max(incident.worst, size)
            else:
                incident = Incident(kind, where, t, t, size)  # type: ignore[arg-type]
                self._open[kind, where] = incident
                self.incidents.append(incident)

    def _look_at_slips(self, engine: PhysicsEngine, t: float, now: dict[tuple[str, str], float]) -> None:
        for name, history in self._slips.items():
            way = engine.slip(name, self._index)
            history.append((t, way))
            while history[0][0] < t - SLIP_TIME:
                history.popleft()
            if way - history[0][1] > SLIP:
                now["slip", name] = way - history[0][1]

    def _look_at_limits(self, state: State, now: dict[tuple[str, str], float]) -> None:
        names, rows, columns, lower, upper, speed = self._axes
        q, v = state.q[columns], np.abs(state.v[rows])
        excess = np.maximum(lower - q, q - upper)
        for k in (excess > BEYOND).nonzero()[0].tolist():
            now["position_limit", names[k]] = float(excess[k])
        for k in (v > self._fastest).nonzero()[0].tolist():
            now["velocity_limit", names[k]] = float(v[k] / speed[k])

    def _look_at_touches(self, touches: Touches, now: dict[tuple[str, str], float]) -> None:
        is_own = touches.against == self._index
        if is_own.any():
            own = touches.where(is_own)
            for body, load in zip(own.body, own.load, strict=True):
                where = self._robot.tree.body_names[int(body)]
                now["self_collision", where] = max(now.get(("self_collision", where), 0.0), float(load))
        if self._obstacles:
            self._look_at_obstacles(touches.where(touches.against == WORLD), now)

    def _look_at_obstacles(self, touches: Touches, now: dict[tuple[str, str], float]) -> None:
        """Touches of the world whose point, halfway between both surfaces, lies in an obstacle.

        Bodies with contact surfaces may touch obstacles that are touchable.
        """
        for item in self._obstacles:
            here = contains(item.shape, (touches.point - item.pose[:3, 3]) @ item.pose[:3, :3])
            counts = ~np.isin(touches.body, self._touching) if item.touchable else True
            own = touches.where(here & (touches.load > 0.0) & counts)
            for body, load in zip(own.body, own.load, strict=True):
                where = f"{self._robot.tree.body_names[int(body)]} and {item.name}"
                now["obstacle_touch", where] = max(now.get(("obstacle_touch", where), 0.0), float(load))

    def _look_at_drives(self, share: Array, dt: float, now: dict[tuple[str, str], float]) -> None:
        self._saturated = np.where(share >= 1.0 - 1e-6, self._saturated + dt, 0.0)
        for k in (self._saturated > SATURATED).nonzero()[0].tolist():
            now["torque_limit", self._driven[k]] = float(self._saturated[k])

    def _axes_of(self, joint: str) -> int:
        return self._robot.tree.nv_of(self._robot.joint_index(joint))


def _limited_axes(robot: Robot) -> tuple[list[str], Indices, Indices, Array, Array, Array]:
    """Names, rows of v, entries of q, bounds of q and |v| of the joints with one axis and one coordinate."""
    tree, limits = robot.tree, robot.limits
    chosen = [i for i in range(tree.n) if tree.nv_of(i) == 1 and tree.nq_of(i) == 1]
    rows, columns = tree.v_index[chosen], tree.q_index[chosen]
    names = [tree.joint_names[i] for i in chosen]
    speed = np.where(limits.velocity[rows] > 0.0, limits.velocity[rows], np.inf)
    return names, rows, columns, limits.lower[columns], limits.upper[columns], speed
