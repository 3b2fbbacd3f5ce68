"""Where a frame is and how it is turned, in the world or as seen from another frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.arrays import finite_array, placement_matrix
from surefoot.errors import one_of
from surefoot.kinematics import Frame, frame_bias_acceleration, relative_jacobian
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.spatial import so3
from surefoot.tasks.task import Task, derived, masked, pose_measures, rows_of

_LAST_ROW = np.array([0.0, 0.0, 0.0, 1.0])
_ROTATION_THEN_POSITION = np.array([0, 1, 2, 4, 5, 6, 8, 9, 10, 3, 7, 11])  # places in a (4, 4) array


@dataclass(frozen=True, eq=False)
class _FrameTask(Task):
    """A frame as seen from the world or from another frame.

        e = (p_target − p,  log(R_target Rᵀ))        [tasks.frame]   Nenchev & Konno 2019, section 2.4

    in the axes of the world (of the other frame), or of the target. J is the geometric Jacobian: the rotation vector
    shrinks with the angular velocity J v along it.

    Args:
        frame: Link, joint, contact surface or added frame.
        target: Where it should be.
        mask: Rows that count: letters of "xyz" for the position and "XYZ" for the rotation, booleans, or None for all.
        relative_to: The frame from which it is seen; the world if omitted.
        axes: Axes of the rows: "reference" (of the world or the other frame), or "target".
    """

    frame: str
    target: ArrayLike = field(default_factory=lambda: np.eye(4))
    mask: Sequence[bool] | str | None = None
    relative_to: str | None = field(default=None, kw_only=True)
    axes: str = field(default="reference", kw_only=True)

    _LETTERS = "xyzXYZ"
    _PLACES: ClassVar[tuple[int, ...]] = (0, 1, 2, 3, 4, 5)

    def _check(self) -> None:
        if self.axes not in ("reference", "target"):
            raise one_of("axes", self.axes, ("reference", "target"))
        super()._check()

    @property
    def default_name(self) -> str:
        """The frame."""
        return self.frame

    @derived
    def kept(self) -> tuple[int, ...]:
        """Rows of (position, rotation) that count, 0 … 5."""
        if self.mask is None:
            return self._PLACES
        return tuple(self._PLACES[k] for k in rows_of(self.mask, self._LETTERS, f"task `{self.name}`"))

    @property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres for the rows of the position, radians for those of the rotation."""
        return pose_measures(self.kept)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.kept)

    def frames(self, robot: Robot) -> tuple[Frame, Frame]:
        """The frame from which it is seen, and the frame."""
        first = WORLD if self.relative_to is None else frame_of(robot, self.relative_to)
        return first, frame_of(robot, self.frame)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Rows of (p_target − p, log(R_target Rᵀ))."""
        T = relative_placement(robot.tree, *self.frames(robot), q)
        R, p = self.split(target)
        parts = [p - T[:3, 3]] if self._has("linear") else [np.zeros(3)]
        parts.append(so3.log(R @ T[:3, :3].T) if self._has("angular") else np.zeros(3))
        return self._turned(ops.concatenate(parts), R)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Rows of the geometric Jacobian (rows, nv)."""
        return self._turned(relative_jacobian(robot.tree, *self.frames(robot), q), self.split(target)[0])

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Rows of J̇ v (rows,)."""
        if self.relative_to is not None:
            return super().bias(robot, q, v, target)
        return self._turned(frame_bias_acceleration(robot.tree, self.frames(robot)[1], q, v), self.split(target)[0])

    @abstractmethod
    def split(self, target: Array) -> tuple[Array, Array]:
        """R (3, 3) and p (3,) of the target's numbers."""

    def _has(self, part: str) -> bool:
        return any((k < 3) == (part == "linear") for k in self.kept)

    def _turned(self, rows: Array, R: Array) -> Array:
        """The rows that count of six rows in the axes of the reference, in the axes that are asked for."""
        if self.axes == "target":
            rows = ops.concatenate([R.T @ rows[:3], R.T @ rows[3:]])
        return masked(rows, self.kept)


@dataclass(frozen=True, eq=False)
class FramePose(_FrameTask):
    """Put a frame somewhere and turn it.

        FramePose("left_rubber_hand", T_world_hand)

    Args:
        frame: Link, joint, contact surface or added frame.
        target: (4, 4) placement in the world, or in `relative_to`.
        mask: Rows that count, of "xyzXYZ"; all if omitted.
        name: Unique among the tasks; the frame if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
        relative_to: The frame from which it is seen; the world if omitted.
        axes: Of the rows: "reference" or "target".
    """

    def numbers_of(self, target: Any) -> Numbers:
        """Rotation, row by row, and position (12,)."""
        T = placement_matrix(target, f"target of task `{self.name}`")
        return T.take(_ROTATION_THEN_POSITION)

    def batch_of_targets(self, targets: Numbers) -> Numbers:
        """Placements (n, 4, 4) as rows of numbers (n, 12)."""
        T = finite_array(targets, (None, 4, 4), f"targets of task `{self.name}`")
        R = T[:, :3, :3]
        x, y, z = R[:, 0], R[:, 1], R[:, 2]
        off = np.abs(np.cross(x, y) - z).max(axis=1, initial=0.0) + np.abs((x * x).sum(axis=1) - 1.0)
        wrong = np.flatnonzero((off + np.abs((y * y).sum(axis=1) - 1.0) > 1e-6) | (T[:, 3] != _LAST_ROW).any(axis=1))
        if len(wrong):
            placement_matrix(T[wrong[0]], f"target {wrong[0]} of task `{self.name}`")
        return np.concatenate([R.reshape(-1, 9), T[:, :3, 3]], axis=1)

    def split(self, target: Array) -> tuple[Array, Array]:
        """R (3, 3) and p (3,) of the target's numbers."""
        return target[:9].reshape(3, 3), target[9:]


@dataclass(frozen=True, eq=False)
class FramePosition(_FrameTask):
    """Put the origin of a frame somewhere.

    Args:
        frame: Link, joint, contact surface or added frame.
        target: (3,) [m] in the world, or in `relative_to`.
        mask: Rows that count, of "xyz"; all if omitted.
        name: Unique among the tasks; the frame if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
        relative_to: The frame from which it is seen; the world if omitted.
        axes: "reference".
    """

    target: ArrayLike = (0.0, 0.0, 0.0)
    _LETTERS = "xyz"
    _PLACES = (0, 1, 2)

    def numbers_of(self, target: Any) -> Numbers:
        """Position (3,)."""
        return self.checked_target(target, (3,))

    def split(self, target: Array) -> tuple[Array, Array]:
        """R (3, 3) and p (3,) of the target's numbers."""
        return np.eye(3), target


@dataclass(frozen=True, eq=False)
class FrameOrientation(_FrameTask):
    """Turn a frame.

    Args:
        frame: Link, joint, contact surface or added frame.
        target: (3, 3) rotation R_world_frame, or R_other_frame.
        mask: Rows that count, of "XYZ"; all if omitted.
        name: Unique among the tasks; the frame if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
        relative_to: The frame from which it is seen; the world if omitted.
        axes: Of the rows: "reference" or "target".
    """

    target: ArrayLike = field(default_factory=lambda: np.eye(3))
    _LETTERS = "XYZ"
    _PLACES = (3, 4, 5)

    def numbers_of(self, target: Any) -> Numbers:
        """Rotation, row by row (9,)."""
        T = np.eye(4)
        T[:3, :3] = self.checked_target(target, (3, 3))
        return placement_matrix(T, f"target of task `{self.name}`")[:3, :3].ravel()

    def split(self, target: Array) -> tuple[Array, Array]:
        """R (3, 3) and p (3,) of the target's numbers."""
        return target.reshape(3, 3), np.zeros(3)
