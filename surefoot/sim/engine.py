"""`PhysicsEngine`: what a simulation asks of the physics, whoever computes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.motion import Ground, State
from surefoot.robot import Robot
from surefoot.sim.drives import Actuation
from surefoot.sim.measured import Balance, Touches

__all__ = ["PhysicsEngine"]


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
        """Way [m] that the loaded contact surface slid since the reset."""
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
            point: (3,) in world [m] where the force acts; the centre of mass of the body if left out.
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
