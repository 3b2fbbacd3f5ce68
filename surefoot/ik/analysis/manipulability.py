"""How well a limb moves its frame in which direction.   Yoshikawa 1985; Nenchev & Konno 2019, section 2.6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import ShapeError
from surefoot.robot import Robot


@dataclass(frozen=True, eq=False)
class ManipulabilityEllipsoid:
    """The task rates that joint rates of length 1 give, {J v: |v| ≤ 1}; with a leading batch axis where J has one.

    Args:
        axes: (m, m) columns u_i: directions of the half axes, longest first.
        lengths: (m,) σ_i of the half axes, zero in lost directions.
        measure: w = σ_1 ⋯ σ_m = √det(J Jᵀ).
        condition: κ = σ_1/σ_m; inf in a singular posture.
    """

    axes: Array
    lengths: Array
    measure: Any
    condition: Any


def manipulability_ellipsoid(J: ArrayLike) -> ManipulabilityEllipsoid:
    """The ellipsoid of one Jacobian (m, n), or of a batch (k, m, n).   [ik.manipulability].

    Args:
        J: Rows in one unit (all m/s or all rad/s), or scaled; lengths are in that unit per unit of joint rates.
    """
    J = np.asarray(J, dtype=float)
    if J.ndim not in (2, 3) or not np.isfinite(J).all():
        raise ShapeError("a Jacobian must be a finite matrix, or a batch of them", evidence={"shape": J.shape})
    m = J.shape[-2]
    axes, found, _ = np.linalg.svd(J)
    lengths = np.zeros((*J.shape[:-2], m))
    lengths[..., : found.shape[-1]] = found
    smallest = lengths[..., -1]
    safe = np.where(smallest > 0.0, smallest, 1.0)
    condition = np.where(smallest > 0.0, lengths[..., 0] / safe, np.inf)[()]
    return ManipulabilityEllipsoid(axes, lengths, np.prod(lengths, axis=-1), condition)


class Manipulability:
    """w(q) = √det(J Jᵀ) of a frame, with its gradient: a criterion to climb (`-w` for a null space).

    ∂w/∂q_j = w tr(J⁺ ∂J/∂q_j)        [ik.manipulability-gradient]   Nenchev & Konno 2019, (2.44)

    Args:
        robot: The robot.
        frame: The frame.
        rows: Which of (x, y, z, rx, ry, rz) at the frame, in world axes, are the task.
        joints: Entries of v that count; None for all.
    """

    def __init__(
        self, robot: Robot, frame: str, rows: Sequence[int] = (0, 1, 2), joints: Sequence[int] | None = None
    ) -> None:
        self._rows = np.array(rows, dtype=int)
        self._joints = np.arange(robot.nv) if joints is None else np.array(joints, dtype=int)
        self._kernel = compile_robot(robot).frame_kernel("dV", frame)
        self._rates = np.eye(robot.nv)[self._joints]

    def __call__(self, q: ArrayLike) -> tuple[float, Array]:
        """The measure w and its gradient (nv,); the gradient is zero where w is."""
        copies = np.repeat(np.asarray(q, dtype=float)[None], len(self._joints), axis=0)
        changes, J_all = self._kernel(copies, self._rates)  # (joints, 6, nv): ∂(J e_k)/∂q
        J = J_all[0][np.ix_(self._rows, self._joints)]
        measure = float(manipulability_ellipsoid(J).measure)
        gradient = measure * np.einsum("ki,kij->j", np.linalg.pinv(J), changes[:, self._rows])
        return measure, gradient
