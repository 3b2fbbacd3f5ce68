"""`PhysicsEngine`: the physics that a simulation needs; and `BaseEngine`, the part that both engines share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import Command, Ground, State, World
from surefoot.robot import Robot
from surefoot.sim.drives import Actuation, DrivenJoints, ideal_drives
from surefoot.sim.measured import Balance, Touches


def refuse_moving(world: World | None, ground: Sequence[Ground]) -> None:
    """Refuse to replace ground where some of it moves, before or after.

    Args:
        world: The world; None for empty space.
        ground: What would be in its place.

    Raises:
        NotSupportedError: Some of it moves.
    """
    if world is not None and (world.moving or World(ground=tuple(ground)).moving):
        raise NotSupportedError("ground that moves cannot be replaced", next_step="give the world all it needs")


@runtime_checkable
class PhysicsEngine(Protocol):
    """Moves one robot or several, and the objects of a world. Robots are counted from 0 in the order given.

    `advance` goes one step; then `states` are those at its end, and `torques`, `acceleration`, `touches`, `wrench` are
    those that acted during the step; after `begin` they are those at the start of the first step.
    """

    robots: tuple[Robot, ...]
    dt: float
    notes: tuple[str, ...]

    @property
    def time(self) -> float:
        """Now [s]."""
        ...

    @property
    def state(self) -> State:
        """State of the first robot now."""
        ...

    @property
    def states(self) -> tuple[State, ...]:
        """State of each robot now."""
        ...

    @property
    def balance(self) -> Balance:
        """The account of energy and momentum since the reset."""
        ...

    def reset(self, *states: State) -> None:
        """Begin again from a state of each robot; objects go back to their places, accounts to zero."""
        ...

    def begin(self, *actuations: Actuation) -> None:
        """Find the forces that act in the state as it is, without a step; one actuation for each robot."""
        ...

    def advance(self, *actuations: Actuation) -> None:
        """One step of dt; one actuation for each robot.

        Raises:
            SimulationError: Positions, velocities or forces grew beyond all bounds.
        """
        ...

    def torques(self, robot: int = 0) -> Array:
        """(nu,) torques of the drives that acted, within their limits [N m] or [N]; 0 where a joint is locked."""
        ...

    def acceleration(self, robot: int = 0) -> Array:
        """(nv,) of the step, layout of v."""
        ...

    def touches(self, robot: int = 0) -> Touches:
        """Where the robot touches something."""
        ...

    def wrench(self, contact: str, robot: int = 0) -> Array:
        """(6,) on the robot, in the frame of the contact surface, linear first [N], [N m]."""
        ...

    def slip(self, contact: str, robot: int = 0) -> float:
        """Slip distance [m] of the loaded contact surface since the reset."""
        ...

    def placement(self, link: str, robot: int = 0) -> Array:
        """T_world_link (4, 4) now."""
        ...

    def com(self, robot: int = 0) -> Array:
        """(3,) centre of mass of the robot in world now [m]."""
        ...

    def push(self, link: str, wrench: ArrayLike, robot: int = 0, point: ArrayLike | None = None) -> None:
        """Add a wrench on the body that carries a link, until `release`.

        Args:
            link: The link.
            wrench: (6,) force [N] and moment [N m] in world axes.
            robot: Which robot.
            point: (3,) in world [m] where the force acts; the centre of mass of the body if omitted.
        """
        ...

    def release(self) -> None:
        """End all pushes."""
        ...

    def set_friction(self, friction: float, pieces: Sequence[int] | None = None) -> None:
        """Change the Coulomb coefficient of pieces of ground (their indices; None for all)."""
        ...

    def set_ground(self, ground: Sequence[Ground]) -> None:
        """Replace the pieces of ground; as many and of the same kinds as before."""
        ...

    def set_payload(self, link: str, mass: float, position: ArrayLike, robot: int = 0) -> None:
        """Put a point mass [kg] at a position (3,) in the frame of a link [m]; 0 takes it away again."""
        ...


class BaseEngine(ABC):
    """Robots, steps under commands to ideal drives, and pushes.

    Args:
        robots: The robot, or several.
        dt: Step [s].
    """

    def __init__(self, robots: Robot | Sequence[Robot], dt: float) -> None:
        self.robots: tuple[Robot, ...] = (robots,) if isinstance(robots, Robot) else tuple(robots)
        if not self.robots:
            raise ShapeError("an engine needs a robot")
        self.dt = number(dt, "dt", positive=True)
        self._torque_limits = [DrivenJoints(robot).torque_limits for robot in self.robots]

    @property
    def robot(self) -> Robot:
        """The first robot."""
        return self.robots[0]

    @property
    @abstractmethod
    def states(self) -> tuple[State, ...]:
        """State of each robot now."""

    @property
    def state(self) -> State:
        """State of the first robot now."""
        return self.states[0]

    @abstractmethod
    def advance(self, *actuations: Actuation) -> None:
        """One step of dt; one actuation for each robot."""

    def step(self, *commands: Command) -> State:
        """Go on by one step under commands to ideal drives with the torque limits of the robots.

        Returns:
            The state of the first robot.
        """
        self.advance(*ideal_drives(self.robots, commands, self._torque_limits))
        return self.state

    def push(self, link: str, wrench: ArrayLike, robot: int = 0, point: ArrayLike | None = None) -> None:
        """Add a wrench on the body that carries a link, until `release`.

        Args:
            link: The link.
            wrench: (6,) force [N] and moment [N m] in world axes.
            robot: Which robot.
            point: (3,) in world [m] where the force acts; the centre of mass of the body if omitted. The lever arm
                stays that of this moment; push again after a release where the body moves far.
        """
        body = self._moving_body(link, robot)
        if body is None:
            raise NotSupportedError(f"link `{link}` is fixed to the world; a push does nothing there")
        added = np.array(finite_array(wrench, (6,), "wrench of a push"))
        if point is not None:
            arm = finite_array(point, (3,), "point of a push") - self._centre_of(body, robot)
            added[3:] += np.cross(arm, added[:3])
        self._add_push(body, added, robot)

    @abstractmethod
    def _moving_body(self, link: str, robot: int) -> int | None:
        """Index of the body that carries a link; None where that is the world."""

    @abstractmethod
    def _centre_of(self, body: int, robot: int) -> Array:
        """(3,) centre of mass of a body in world now [m]."""

    @abstractmethod
    def _add_push(self, body: int, wrench: Array, robot: int) -> None:
        """Add a wrench (6,) on a body about its centre of mass, in world axes."""

    def _index(self, robot: int) -> int:
        """The number of a robot, if there is such a robot."""
        if not 0 <= robot < len(self.robots):
            raise ShapeError(f"there is no robot {robot}", evidence={"robots": [item.name for item in self.robots]})
        return robot

    def _require_states(self, states: Sequence[State]) -> None:
        """Refuse states to begin from that do not fit the robots, or are of different times."""
        if len(states) != len(self.robots):
            raise ShapeError(f"{len(states)} states for {len(self.robots)} robots")
        if len({state.t for state in states}) > 1:
            raise ShapeError("the states are of different times", evidence={"times": [state.t for state in states]})
        for robot, state in zip(self.robots, states, strict=True):
            robot.checked_q(state.q)
            finite_array(state.v, (robot.nv,), f"v of `{robot.name}`")
