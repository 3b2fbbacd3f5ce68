"""Which mover a robot of the native engine needs."""

from __future__ import annotations

from surefoot.errors import NotSupportedError
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.sim.contact_laws import ContactLaw, Rigid
from surefoot.sim.native_constrained import ConstrainedMover, Holding, held_by_constraints
from surefoot.sim.native_kernels import Settings
from surefoot.sim.native_mover import Mover
from surefoot.sim.native_rigid import RigidMover

__all__ = ["make_mover"]


def make_mover(
    robot: Robot, world: World | None, law: ContactLaw | Rigid, settings: Settings, holding: Holding
) -> Mover:
    """What moves a robot.

    Args:
        robot: The robot, with the gravity of the world.
        world: The world; None for empty space.
        law: Contact law.
        settings: Of the step.
        holding: How constraints are kept.

    Raises:
        NotSupportedError: Rigid contacts of a robot that constraints hold.
    """
    if not held_by_constraints(robot, holding):
        return RigidMover(robot, world, settings, law) if isinstance(law, Rigid) else Mover(robot, world, settings)
    if isinstance(law, Rigid):
        raise NotSupportedError(
            f"`{robot.name}` is held by constraints; rigid contacts are for trees",
            next_step='use contact="spring_damper", or hold its surfaces with `held`',
        )
    return ConstrainedMover(robot, world, settings, holding)
