"""Keep away from singular postures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.kinematics import frame_jacobian
from surefoot.kinematics.frames import frame_of
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import Task, masked, rows_of

_FLOOR = 1e-12


@dataclass(frozen=True, eq=False)
class Manipulability(Task):
    """Bring the manipulability of a frame to a value, or keep it above one (`above=inf`).

        w = √det(J Jᵀ)        [tasks.manipulability]   Yoshikawa 1985; Nenchev & Konno 2019, section 2.6

    J has the rows that count and the columns of the robot's joints without its base.

    Args:
        frame: The frame.
        target: The value of w.
        mask: Rows of the Jacobian that count, of "xyzXYZ".
        name: Unique among the tasks; "manipulability" if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    frame: str
    target: float = 0.0
    mask: Sequence[bool] | str | None = "xyz"

    def _check(self) -> None:
        _ = self.kept
        super()._check()

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Rows of the Jacobian that count."""
        return rows_of(self.mask, "xyzXYZ", f"task `{self.name}`")

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """A number without a unit of its own."""
        return (("1", 1),)

    def numbers_of(self, target: Any) -> Numbers:
        """The value (1,)."""
        return self.checked_target([target], (1,))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Target − w."""
        J = masked(frame_jacobian(robot.tree, frame_of(robot, self.frame), q), self.kept)
        columns = [k for k in range(robot.nv) if k not in robot.base_rows]
        J = J[:, columns]
        return ops.array([target[0] - ops.sqrt(ops.maximum(_determinant(J @ J.T), _FLOOR**2))])


def _determinant(A: Array) -> Array:
    """Determinant of a symmetric positive semi-definite matrix, by elimination."""
    if not ops.is_symbolic(A):
        return np.asarray(np.linalg.det(A))
    A, found = A.copy(), 1.0
    for k in range(len(A)):
        pivot = ops.maximum(A[k, k], _FLOOR**2)
        found = found * pivot
        for i in range(k + 1, len(A)):
            A[i, k + 1 :] = A[i, k + 1 :] - (A[i, k] / pivot) * A[k, k + 1 :]
    return np.asarray(found)[()]
