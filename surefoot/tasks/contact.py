"""A contact surface that holds on to a spot, and closed chains."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.arrays import placement_matrix
from surefoot.errors import one_of
from surefoot.kinematics import Frame, contact_frame, relative_jacobian
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.spatial import so3
from surefoot.tasks.task import Task, masked, pose_measures


@dataclass(frozen=True, eq=False)
class _Tied(Task):
    """Hold some directions of one frame as seen from another."""

    robot: Robot

    @property
    @abstractmethod
    def kept(self) -> tuple[int, ...]:
        """Rows of (x, y, z, rx, ry, rz) that are held."""

    @abstractmethod
    def frames(self, robot: Robot) -> tuple[Frame, Frame]:
        """The frame from which is looked, and the one that is looked at."""

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres, then radians."""
        return pose_measures(self.kept)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Held directions of (p_target − p, log(R_target Rᵀ)), in the axes of the target."""
        R, p = target[:9].reshape(3, 3), target[9:]
        T = relative_placement(robot.tree, *self.frames(robot), q)
        turn = so3.log(R @ T[:3, :3].T) if any(k > 2 for k in self.kept) else np.zeros(3)
        return masked(ops.concatenate([R.T @ (p - T[:3, 3]), R.T @ turn]), self.kept)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Held rows of the geometric Jacobian, in the axes of the target."""
        R = target[:9].reshape(3, 3)
        J = relative_jacobian(robot.tree, *self.frames(robot), q)
        return masked(ops.concatenate([R.T @ J[:3], R.T @ J[3:]]), self.kept)


@dataclass(frozen=True, eq=False)
class Contact(_Tied):
    """Hold a contact surface on a spot, in the directions that a contact of its kind ties.

    A rectangle with friction is held in all six directions, a point in three, a rectangle that slides in z and its two
    tilts (Nenchev & Konno 2019, section 2.9).

    Args:
        robot: The robot.
        contact: The contact surface.
        target: (4, 4) placement of the contact frame in the world, z out of the ground; where home has it if omitted.
        name: Unique among the tasks; the contact if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
        slides: Whether friction does not hold it.
    """

    contact: str
    target: ArrayLike | None = None
    slides: bool = field(default=False, kw_only=True)

    @property
    def default_name(self) -> str:
        """The contact surface."""
        return self.contact

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Directions that the contact ties."""
        if self.contact not in self.robot.contacts:
            raise one_of("contact surface", self.contact, self.robot.contacts)
        surface = self.robot.contacts[self.contact]
        surface = replace(surface, friction=0.0) if self.slides else surface
        return tuple(k for k, holds in enumerate(surface.tied) if holds)

    def frames(self, robot: Robot) -> tuple[Frame, Frame]:
        """The world and the contact frame."""
        return WORLD, contact_frame(robot, self.contact)

    def numbers_of(self, target: Any) -> Numbers:
        """Rotation, row by row, and position (12,)."""
        return _numbers(self._at_home() if target is None else target, self.name)

    def _at_home(self) -> Numbers:
        surface = self.robot.contacts[self.contact]
        return self.robot.placements(self.robot.home)[surface.frame] @ surface.placement


@dataclass(frozen=True, eq=False)
class LoopClosure(_Tied):
    """Keep a closed chain closed.

    Args:
        robot: The robot.
        loop: The loop.
        name: Unique among the tasks; the loop if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    loop: str

    @property
    def default_name(self) -> str:
        """The loop."""
        return self.loop

    @cached_property
    def _loop(self) -> int:
        names = [loop.name for loop in self.robot.loops]
        if self.loop not in names:
            raise one_of("loop", self.loop, names)
        return names.index(self.loop)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Directions that the loop ties."""
        return tuple(k for k, holds in enumerate(self.robot.loops[self._loop].directions) if holds)

    def frames(self, robot: Robot) -> tuple[Frame, Frame]:
        """The tied frames on a and on b."""
        loop = robot.loops[self._loop]
        return _moved(robot, loop.frame_a, loop.placement_a), _moved(robot, loop.frame_b, loop.placement_b)

    def numbers_of(self, target: Any) -> Numbers:
        """Where the second frame is seen from the first (12,)."""
        return _numbers(np.eye(4) if target is None else target, self.name)


def loop_tasks(robot: Robot) -> list[LoopClosure]:
    """One task for each closed chain of a robot."""
    return [LoopClosure(robot, loop.name, name=f"loop {loop.name}") for loop in robot.loops]


def _moved(robot: Robot, name: str, T: Numbers) -> Frame:
    """A frame placed in another frame."""
    carrier = WORLD if name == "universe" else frame_of(robot, name)
    return Frame(carrier.body, carrier.R @ T[:3, :3], carrier.p + carrier.R @ T[:3, 3])


def _numbers(T: ArrayLike, name: str) -> Numbers:
    T = placement_matrix(T, f"target of task `{name}`")
    return np.concatenate([T[:3, :3].ravel(), T[:3, 3]])
