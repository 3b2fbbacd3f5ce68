"""The world of the native engine: changes of the ground, notes on its limits, and objects.

An object is a robot of one free body, with the points by which it touches the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot.arrays import Array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Shape, Sphere, surface_points
from surefoot.motion import Ground, GroundBox, MovableObject, World
from surefoot.motion.world import GroundLaw, Pivot, ground_under
from surefoot.robot import ContactSurface, Link, Robot, placement
from surefoot.sim.engine import refuse_moving
from surefoot.sim.native.mover import Mover


def with_friction(world: World | None, friction: float, pieces: Sequence[int] | None) -> World | None:
    """The world with another Coulomb coefficient of pieces of ground.

    Args:
        world: The world; None for empty space.
        friction: ≥ 0.
        pieces: Their indices; None for all.
    """
    ground = [] if world is None else list(world.ground)
    chosen = range(len(ground)) if pieces is None else [int(k) for k in pieces]
    if wrong := [k for k in chosen if not 0 <= k < len(ground)]:
        raise ShapeError(
            "there are no such pieces of ground", evidence={"pieces": wrong, "number of pieces": len(ground)}
        )
    value = number(friction, "friction of the ground")
    for k in chosen:
        ground[k] = replace(ground[k], friction=value)
    return None if world is None else replace(world, ground=tuple(ground))


def with_ground(world: World | None, ground: Sequence[Ground]) -> World | None:
    """The world with other ground.

    Args:
        world: The world; None for empty space.
        ground: As many pieces of the same kinds as before.

    Raises:
        NotSupportedError: Another number of pieces, or other kinds.
    """
    refuse_moving(world, ground)
    old = () if world is None else world.ground
    before, after = ([type(piece).__name__ for piece in pieces] for pieces in (old, ground))
    if before != after:
        raise NotSupportedError(
            "ground can be replaced only by as many pieces of the same kinds",
            evidence={"before": before, "after": after},
            next_step="build the world with all pieces that will be needed; boxes can wait below the ground",
        )
    return None if world is None else replace(world, ground=tuple(ground))


def notes_of(robots: Sequence[Robot], world: World | None, self_collision: bool) -> tuple[str, ...]:
    """What is simulated otherwise than described.

    Args:
        robots: The robots.
        world: The world; None for empty space.
        self_collision: Whether robots should touch themselves.
    """
    out = []
    if world is not None and world.ground:
        out.append("robots touch the ground by the points of their contact surfaces, and nothing else")
    things = 0 if world is None else len(world.objects)
    if len(robots) + things > 1:
        out.append("robots and objects do not touch each other in the native engine")
    if world is not None and any(not item.touchable for item in world.obstacles):
        out.append("obstacles are not touched in the native engine, except by contact surfaces if they are touchable")
    if self_collision:
        out.append("robots do not touch themselves in the native engine")
    for robot in robots:
        names = [contact.name for contact in robot.contacts.values() if robot.body_of(contact.frame) < 0]
        out += [f"contact surface `{name}` of {robot.name} is fixed to the world" for name in names]
    return tuple(out)


class MovingGround:
    """Where the moving pieces of ground are: laws by the time, boards by the forces of what stands on them.

    A board's angle obeys I θ̈ = m − k θ − d θ̇ with m the moment of its weight and of the contact forces of the step
    before; spring and damper are integrated implicitly.

    Args:
        world: The world; None for empty space.
    """

    def __init__(self, world: World | None) -> None:
        self.world = world

    def reset(self, movers: Sequence[Mover], time: float, dt: float) -> None:
        """Boards at their first angles, at rest; then `lead`."""
        self._tilts = {k: (piece.motion.angle, 0.0) for k, piece in self._moving() if isinstance(piece.motion, Pivot)}
        self.places: dict[int, Array] = {k: piece.pose for k, piece in self._moving()}
        """T_world_box (4, 4) of the pieces that move, at the start of the last step, by index."""
        self._twists: dict[int, Array] = {}
        self.lead(movers, time, dt)

    def _moving(self) -> list[tuple[int, GroundBox]]:
        pieces = () if self.world is None else self.world.ground
        return [(k, x) for k, x in enumerate(pieces) if isinstance(x, GroundBox) and x.motion is not None]

    def lead(self, movers: Sequence[Mover], time: float, dt: float) -> None:
        """Give all movers the ground as it is now, with its velocity at the end of a step.

        Args:
            movers: Robots and objects.
            time: Now [s].
            dt: Of the step [s].
        """
        if self.world is None or not self.world.moving:
            return
        ground = list(self.world.ground)
        for k, piece in self._moving():
            match piece.motion:
                case GroundLaw() as law:
                    pose, twist = law.placed(piece.pose, time)[0], law.placed(piece.pose, time + dt)[1]
                case Pivot() as pivot:
                    pose, twist = pivot.placed(piece.pose, *self._tilts[k])
            self.places[k], self._twists[k] = pose, twist
            ground[k] = replace(piece, pose=pose, motion=None)
        self._now = replace(self.world, ground=tuple(ground))
        for mover in movers:
            mover.moving = self.below

    def below(self, points: Array) -> Array:
        """(n, 8) planes under points, and velocities of the ground there [m/s].

        Args:
            points: (n, 3) in world [m].
        """
        planes, owners = ground_under(self._now, points)
        speeds = np.zeros((len(points), 3))
        for k, twist in self._twists.items():
            rows = owners == k
            speeds[rows] = twist[:3] + np.cross(twist[3:], points[rows] - self.places[k][:3, 3])
        return np.hstack([planes, speeds])

    def tilt(self, movers: Sequence[Mover], dt: float) -> None:
        """Move boards on under the contact forces of a step.

        Args:
            movers: Robots and objects, after their step.
            dt: Of the step [s].
        """
        for k, piece in self._moving():
            if self.world is None or not isinstance(piece.motion, Pivot):
                continue
            pivot, (angle, rate), pose = piece.motion, self._tilts[k], self.places[k]
            axis, point = pose[:3, :3] @ pivot.axis, pose[:3, :3] @ pivot.point + pose[:3, 3]
            moment = np.cross(pose[:3, 3] - point, pivot.mass * self.world.gravity)
            for mover in movers:
                here, force = mover.record["point"], mover.record["force"]
                rows = ground_under(self._now, here)[1] == k
                moment -= np.cross(here[rows] - point, force[rows]).sum(axis=0)
            inertia = pivot.inertia(piece.size)
            pull = float(moment @ axis) - pivot.stiffness * angle
            rate = (rate + dt * pull / inertia) / (1.0 + dt * (pivot.damping + dt * pivot.stiffness) / inertia)
            self._tilts[k] = angle + dt * rate, rate


_AROUND = 8  # points on each rim of a cylinder


def object_robot(thing: MovableObject, friction: float) -> Robot:
    """A free body of the object's mass and shape.

    Args:
        thing: The object.
        friction: Coulomb coefficient of its surface.

    Raises:
        NotSupportedError: The shape is not a box, ball, cylinder or capsule.
    """
    body = Link(thing.name, mass=thing.mass, inertia=np.diag(_moments(thing.shape, thing.mass, thing.name)))
    surface = _surface(thing.shape, thing.name, friction)
    return Robot.from_tree(f"object {thing.name}", [body], "floating", contacts=(surface,))


def _surface(shape: Shape, name: str, friction: float) -> ContactSurface:
    """Corners, or balls whose centres stand one radius above the corners."""
    match shape:
        case Sphere(radius):
            return ContactSurface(name, name, "point", placement((0.0, 0.0, -radius)), friction=friction, radius=radius)
        case Capsule(radius, length):
            ends = np.array([[0.0, 0.0, 0.5 * length - radius], [0.0, 0.0, -0.5 * length - radius]])
            return ContactSurface(name, name, "line", corners=ends, friction=friction, radius=radius)
        case _:
            corners = surface_points(shape, around=_AROUND)
            return ContactSurface(name, name, "polygon", corners=corners, friction=friction)


def _moments(shape: Shape, mass: float, name: str) -> Array:
    """Principal moments of inertia (3,) of a homogeneous shape about its centre [kg m²]."""
    match shape:
        case Box(size):
            squares = np.square(size)
            return mass / 12.0 * (squares.sum() - squares)
        case Sphere(radius):
            return np.full(3, 0.4 * mass * radius**2)
        case Cylinder(radius, length):
            across = mass * (3.0 * radius**2 + length**2) / 12.0
            return np.array([across, across, 0.5 * mass * radius**2])
        case Capsule(radius, length):
            return _capsule_moments(mass, radius, length)
    raise NotSupportedError(
        f"object `{name}` is a {type(shape).__name__.lower()}, which the native engine does not move",
        next_step='use a box, sphere, cylinder or capsule, or the engine "mujoco"',
    )


def _capsule_moments(mass: float, r: float, length: float) -> Array:
    """Of a cylinder with a half ball on each end; the centre of a half ball lies ⅜ r from its plane."""
    tube, ball = r**2 * length, 4.0 / 3.0 * r**3
    m_tube, m_ball = mass * tube / (tube + ball), mass * ball / (tube + ball)
    along = 0.5 * m_tube * r**2 + 0.4 * m_ball * r**2
    ends = m_ball * (0.4 * r**2 + 0.25 * length**2 + 0.375 * length * r)
    across = m_tube * (3.0 * r**2 + length**2) / 12.0 + ends
    return np.array([across, across, along])
