"""Where a frame can get: joint positions drawn at random inside their limits, placed by a kernel, counted in a grid.

Each cell knows how often it was hit, from how many directions (of 24 equal parts of the sphere; Zacharias et al. 2007
call it reachability), and how well the limb moves there (mean manipulability √det(J Jᵀ) of the position). Arms that
move in a plane or along a line have grids of two or one dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.analysis.limb import joints_between
from surefoot.kinematics import frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.robot import Robot

_FLAT = 1e-6  # extent over the largest one below which points lie in a plane or on a line
_PER_CELL = 40  # samples per cell of the box, on average, where the size of a cell is not given
_BLOCK = 65536


@dataclass(frozen=True, eq=False)
class Workspace:
    """The cells that a frame reaches. Dimensions r = 3, 2 (planar limbs) or 1.

    Args:
        robot: Name of the robot.
        frame: The frame.
        root: (3,) where the limb's first joint is, in world [m].
        corner: (3,) world point of the lower corner of the grid [m].
        axes: (r, 3) unit directions of the grid in world.
        cell: Width of a cell [m].
        counts: (cells…) how often a cell was hit.
        directions: (cells…) share of all directions that the frame's z axis had anywhere which it had in this cell.
        manipulability: (cells…) mean of √det(J Jᵀ) of the position within the r dimensions, over the largest mean.
        samples: Number of joint positions that were drawn.
        farthest: Largest distance from the root [m].
    """

    robot: str
    frame: str
    root: Array
    corner: Array
    axes: Array
    cell: float
    counts: NDArray[np.int64]
    directions: Array = field(repr=False)
    manipulability: Array = field(repr=False)
    samples: int
    farthest: float

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """(cells…) whether a cell was hit."""
        occupied: NDArray[np.bool_] = np.greater(self.counts, 0)
        return occupied

    @property
    def volume(self) -> float:
        """Estimate [mʳ]: cells with all neighbours hit count whole, those at the edge half."""
        occupied = self.occupied
        # Cells whose neighbours across all faces are occupied
        padded, inner = np.pad(occupied, 1), occupied.copy()
        for axis in range(occupied.ndim):
            for step in (-1, 1):
                inner &= np.roll(padded, step, axis)[(slice(1, -1),) * occupied.ndim]
        edge = occupied & ~inner
        return float((occupied.sum() - 0.5 * edge.sum()) * self.cell ** len(self.axes))

    @property
    def unseen(self) -> float:
        """How many cells were probably missed, over those that were hit; Chao 1984: f₁²/(2 f₂)."""
        once, twice = (int((self.counts == k).sum()) for k in (1, 2))
        return once**2 / (2.0 * max(twice, 1)) / max(int(self.occupied.sum()), 1)

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Whether world points (n, 3) lie in cells that were hit.

        Args:
            points: (n, 3) [m].
        """
        index = np.floor((np.asarray(points, dtype=float) - self.corner) @ self.axes.T / self.cell).astype(int)
        inside: NDArray[np.bool_] = np.all((index >= 0) & (index < self.counts.shape), axis=1)
        safe = np.where(inside[:, None], index, 0)
        return inside & self.occupied[tuple(safe.T)]


def sample_workspace(
    robot: Robot,
    frame: str,
    rng: np.random.Generator,
    root: str | None = None,
    samples: int = 1_000_000,
    cell: float | None = None,
) -> Workspace:
    """The workspace of a limb, all other joints at home.   [ik.workspace].

    Args:
        robot: The robot.
        frame: End of the limb.
        rng: Where the joint positions come from.
        root: Link at its other end; None for the base.
        samples: Number of joint positions.
        cell: Width of a cell [m]; None for about 40 samples per cell of the box.
    """
    if samples < 1 or (cell is not None and not cell > 0.0):
        raise ShapeError("a workspace needs samples and a positive cell", evidence={"samples": samples, "cell": cell})
    limb = _SampledLimb(robot, frame, root)
    points, parts, invariants = limb.draw(rng, samples)
    axes = _span_axes(points)
    spread = (points - points[0]) @ axes.T
    low, high = spread.min(0), spread.max(0)
    cell = cell or _default_cell(high - low, samples)
    shape = tuple(int(k) for k in np.floor((high - low) / cell).astype(int) + 1)
    index = np.ravel_multi_index(tuple(((spread - low) / cell).astype(np.int64).T), shape)
    counts = np.bincount(index, minlength=int(np.prod(shape)))
    moves = np.sqrt(np.maximum(invariants[:, len(axes) - 1], 0.0))
    measure = np.bincount(index, moves, len(counts)) / np.maximum(counts, 1)
    away = np.linalg.norm(points - limb.root, axis=1)
    return Workspace(
        robot=robot.name,
        frame=frame,
        root=limb.root,
        corner=points[0] + low @ axes,
        axes=axes,
        cell=float(cell),
        counts=counts.reshape(shape),
        directions=_direction_shares(index, parts, len(counts)).reshape(shape),
        manipulability=(measure / (measure.max() or 1.0)).reshape(shape),
        samples=samples,
        farthest=float(away.max()),
    )


class _SampledLimb:
    """The kernel from joint positions (m,) of a limb to its frame, and the range of these positions."""

    def __init__(self, robot: Robot, frame: str, root: str | None) -> None:
        self.chain = joints_between(robot, frame, root)
        self.low, self.high = (np.array(x) for x in zip(*(_range(robot, i) for i in self.chain), strict=True))
        self.root = robot.placements(robot.home)[robot.tree.body_names[self.chain[0]]][:3, 3]
        self.kernel = _reach_kernel(robot, frame, self.chain)

    def draw(self, rng: np.random.Generator, samples: int) -> tuple[Array, Array, Array]:
        """Positions (n, 3), parts of the sphere (n,) and invariants of J Jᵀ (n, 3) of random postures."""
        found = np.empty((samples, 3)), np.empty(samples), np.empty((samples, 3))
        for start in range(0, samples, _BLOCK):
            part = slice(start, min(start + _BLOCK, samples))
            draw = self.low + (self.high - self.low) * rng.random((part.stop - start, len(self.chain)))
            self.kernel(draw, out=[x[part] for x in found])
        return found


def _range(robot: Robot, joint: int) -> tuple[float, float]:
    """Limits of a one-axis joint; a full turn for a hinge without limits."""
    tree, kind = robot.tree, robot.tree.kinds[joint]
    if tree.nv_of(joint) != 1:
        raise NotSupportedError(
            f"joint `{tree.joint_names[joint]}` is {kind}", next_step="choose a limb of one-axis joints"
        )
    if kind == "continuous":
        return -np.pi, np.pi
    low, high = (float(x[tree.q_index[joint]]) for x in (robot.limits.lower, robot.limits.upper))
    if np.isfinite([low, high]).all():
        return low, high
    if kind != "revolute":
        raise NotSupportedError(f"joint `{tree.joint_names[joint]}` has no limits", next_step="give it limits")
    return -np.pi, np.pi


def _reach_kernel(robot: Robot, frame: str, chain: list[int]) -> Kernel:
    """Kernel of joints (m,) -> position (3,), part of the sphere to which z points, invariants of J Jᵀ (3,)."""
    tree, target = robot.tree, frame_of(robot, frame)
    columns = [int(tree.v_index[i]) for i in chain]

    def reach(joints: Any) -> tuple[Any, Any, Any]:
        q = robot.home.astype(object)
        for value, i in zip(joints, chain, strict=True):
            at = int(tree.q_index[i])
            if tree.kinds[i] == "continuous":
                q[at], q[at + 1] = ops.cos(value), ops.sin(value)
            else:
                q[at] = value
        T, J = frame_placement(tree, target, q), frame_jacobian(tree, target, q)[:3, columns]
        # Which of 24 congruent parts a direction lies in: eight octants, each cut in three by the largest component
        z = T[:3, 2]
        octant = sum(ops.where(ops.less(_FLAT, x), 2.0**k, 0.0) for k, x in enumerate(z))
        x, y, up = ops.absolute(z)
        third = ops.where(ops.less(ops.maximum(y, up), x), 0.0, ops.where(ops.less(up, y), 1.0, 2.0))
        return T[:3, 3], (octant + 8.0 * third), _invariants(J @ J.T)

    return compile_robot(robot, functions={"reach": (reach, {"joints": (len(chain),)})}).reach


def _span_axes(points: Array) -> Array:
    """(r, 3) orthonormal axes of the space that the points span: world axes as far as they lie in it."""
    _, sizes, Vt = np.linalg.svd(points[:4096] - points[:4096].mean(0), full_matrices=False)
    span = Vt[sizes > _FLAT * max(float(sizes[0]), 1e-12)]
    axes: list[Array] = []
    for column in span.T @ span:  # world axes, projected into the span
        rest = column - sum((axis * (axis @ column) for axis in axes), np.zeros(3))
        if np.linalg.norm(rest) > 1e-3 and len(axes) < len(span):
            axes.append(rest / np.linalg.norm(rest))
    return np.array(axes).reshape(-1, 3)


def _default_cell(extent: Array, samples: int) -> float:
    return float(np.prod(extent) * _PER_CELL / samples) ** (1.0 / len(extent))


def _invariants(A: Any) -> Any:
    """Trace, sum of principal minors, determinant (3,): where r eigenvalues are not zero, entry r is their product."""
    minors = [A[i, i] * A[j, j] - A[i, j] * A[j, i] for i, j in ((0, 1), (0, 2), (1, 2))]
    volume = A[0] @ ops.cross(A[1], A[2])
    return ops.array([A[0, 0] + A[1, 1] + A[2, 2], minors[0] + minors[1] + minors[2], volume])


def _direction_shares(index: NDArray[np.int64], parts: Array, cells: int) -> Array:
    """Share of the parts of the sphere that each cell was reached in."""
    hit = np.zeros(24 * cells, dtype=bool)
    hit[24 * index + parts.astype(np.int64)] = True
    shares = hit.reshape(cells, 24)
    return np.asarray(shares.sum(1) / max(int(shares.any(0).sum()), 1))
