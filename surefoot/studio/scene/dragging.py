"""`Dragging`: inverse kinematics for a frame that is pulled by hand while the feet stay where they are."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.ik import PositionSolver
from surefoot.robot import Robot
from surefoot.studio.scene.limbs import Limb
from surefoot.tasks import Contact, FramePose, FramePosition, Posture, Task

_LOCK = threading.Lock()  # compiled solvers are shared by all tabs that show the same robot
_NEAR_GROUND = 0.02  # [m]


class Dragging:
    """Solves again and again for one frame that is dragged.

    Where the target is out of reach, the feet stay and the frame comes as near as it can.

    Args:
        robot: The robot.
        frame: What is dragged: a link or a contact surface.
        q: (nq,) posture in which the drag begins; the robot stays as near to it as it can.
        held: Contacts that stay where they are; with none, the base of a robot stays that is not dragged itself.
        turns: Whether the frame is turned as well.
        collision: What it must not touch, or None.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        q: Array,
        held: Sequence[str] = (),
        turns: bool = True,
        collision: CollisionModel | None = None,
    ) -> None:
        self._robot = robot
        joints = None if held or _moves_base(robot, frame) else _joints_without_base(robot)
        strict, yielding = (_tasks(robot, frame, q, held, turns, priority) for priority in ((0, 1) if held else (0, 0)))
        with _LOCK:
            self._solvers = [PositionSolver(robot, strict, joints=joints, collision=collision)]
            if held:
                self._solvers.append(PositionSolver(robot, yielding, joints=joints))

    def solve(self, q: Array, target: Array) -> tuple[Array, bool]:
        """The posture (nq,) in which the frame is at the target, or near it, and whether it is there.

        Args:
            q: (nq,) posture to begin with.
            target: (4, 4) in world.
        """
        with _LOCK:
            for solver in self._solvers:
                numbers = target if isinstance(solver.tasks[0], FramePose) else target[:3, 3]
                found = solver.solve(q, {"drag": numbers}, restarts=0)
                if found.success:
                    break
        return found.q, found.success and solver is self._solvers[0]


def held_contacts(robot: Robot, q: Array, limb: Limb) -> tuple[str, ...]:
    """Contacts that stand on the ground now and do not belong to what is dragged.

    Args:
        robot: The robot.
        q: (nq,).
        limb: The limb that is dragged.
    """
    if robot.base == "fixed":
        return ()
    own = set(limb.bodies) - ({robot.base_joint} if robot.base_joint is not None else set())
    low = {name: float(corners[:, 2].min()) for name, corners in robot.contact_corners(q).items()}
    level = min(low.values(), default=0.0)
    return tuple(
        name
        for name, height in low.items()
        if height < level + _NEAR_GROUND and robot.body_of(robot.contacts[name].frame) not in own
    )


def closed(robot: Robot, q: Array, joint: str) -> Array:
    """The posture with its closed chains closed, one joint left where it is.

    Args:
        robot: The robot.
        q: (nq,).
        joint: Its name.
    """
    if not robot.loops:
        return q
    tasks = [Posture(robot, q, name="moved", joints=[joint], priority=0), Posture(robot, q, name="others", priority=1)]
    with _LOCK:
        return PositionSolver(robot, tasks, joints=_joints_without_base(robot)).solve(q, restarts=0).q


def body_of_frame(robot: Robot, frame: str) -> int:
    """Index of the body that carries a link or contact surface."""
    return robot.body_of(frame if robot.model.existFrame(frame) else robot.contacts[frame].frame)


def placement_of_frame(robot: Robot, q: Array, frame: str) -> Array:
    """T_world_frame (4, 4) of a link, or else of a contact surface of that name.

    Args:
        robot: The robot.
        q: (nq,).
        frame: Its name.
    """
    frames = robot.placements(q)
    return frames[frame] if frame in frames else _contact_placement(robot, frames, frame)


def _contact_placement(robot: Robot, frames: Mapping[str, Array], name: str) -> Array:
    surface = robot.contacts[name]
    return frames[surface.frame] @ surface.placement


def _moves_base(robot: Robot, frame: str) -> bool:
    return robot.base_joint is not None and body_of_frame(robot, frame) == robot.base_joint


def _joints_without_base(robot: Robot) -> list[str] | None:
    if robot.base_joint is None:
        return None
    return [name for i, name in enumerate(robot.joint_names) if i != robot.base_joint]


def _tasks(robot: Robot, frame: str, q: Array, held: Sequence[str], turns: bool, priority: int) -> list[Task]:
    """Drag, contacts, posture; with priority 1 the drag yields to the contacts."""
    T = placement_of_frame(robot, q, frame)
    drag: Task = (
        FramePose(frame, T, name="drag", priority=priority)
        if turns
        else FramePosition(frame, T[:3, 3], name="drag", priority=priority)
    )
    frames = robot.placements(q)
    holds = [Contact(robot, name, _contact_placement(robot, frames, name), name=f"hold {name}") for name in held]
    return [drag, *holds, Posture(robot, q, priority=1, weight=1.0 if priority == 0 else 1e-3)]
