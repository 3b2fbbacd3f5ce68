"""What kind of singularity a posture is: which directions are lost, why, and whether self-motion escapes it.

A limb has lost rank where a wrench F ≠ 0 with Fᵀ J = 0 exists beside those that it can never do work against. To
second order a self-motion n (J n = 0) displaces the frame along F by ½ nᵀ H n, H_kj = Fᵀ ∂J_k/∂q_j, so that the form
Q = Nᵀ H N on a basis N of the self-motions tells (Bedrossian 1990; types after Nenchev & Konno 2019, section 2.5):

    Q ≠ 0 of one sign    the frame can give way to one side only: edge of the workspace, limb stretched or folded
    Q of both signs      self-motion leads out while the frame rests: avoidable
    Q = 0                inside the workspace; self-motion stays singular where H N = 0 (wrist, hip, shoulder)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.compiler import KernelSet, compile_robot
from surefoot.ik.analysis.limb import joints_between
from surefoot.ik.textbook import damped_inverse, self_motion_basis
from surefoot.robot import Robot
from surefoot.spatial import so3

_TRIES, _PUSH, _CLOSE = 40, 0.25, 1e-10  # steps back to the pose, size of a push [rad], pose error that counts as none


@dataclass(frozen=True, eq=False)
class SingularityReport:
    """A limb at one posture.

    Args:
        kind: "regular"; "stretched" or "folded" (edge of the workspace); "aligned" (two axes on one line); "interior"
            (others inside the workspace, e.g. the wrist over the first axis); "compound" (rank lost more than once).
        rank: Of the Jacobian here.
        full_rank: That the limb has in general.
        sizes: Singular values of the Jacobian, lengths over `length`, largest first.
        lost: (full_rank − rank, 6) wrenches (force, moment at the frame, world axes): no motion of the limb has power
            against them; |f|² + |m/length|² = 1.
        aligned: Pairs of joints whose axes lie on one line.
        moving: Joints that take part in the self-motions at this posture.
        avoidable: Whether self-motion regains the full rank with the frame at rest; None for a regular posture.
        escape: (nq,) such a posture, if avoidable.
        length: [m] by which lengths are made comparable with angles: the largest lever of the limb.
    """

    kind: str
    rank: int
    full_rank: int
    sizes: Array
    lost: Array
    aligned: tuple[tuple[str, str], ...]
    moving: tuple[str, ...]
    avoidable: bool | None
    escape: Array | None = field(repr=False)
    length: float


def singularity(
    robot: Robot, q: ArrayLike, frame: str, root: str | None = None, tolerance: float = 1e-6
) -> SingularityReport:
    """The singularity of a limb at a posture.   [ik.singularity].

    Args:
        robot: The robot.
        q: (nq,) posture.
        frame: End of the limb.
        root: Link at its other end, between the frame and the world; None for the base.
        tolerance: Singular values below this share of the largest are lost.

    Raises:
        NotSupportedError: The root does not carry the frame, or a joint between them copies another.
    """
    limb = _Limb(robot, robot.checked_q(q), frame, root, tolerance)
    J = limb.jacobian(limb.q)
    rank, full = limb.rank(J), limb.full_rank()
    N = self_motion_basis(limb.scaled(J), tolerance).T
    lost = limb.lost(J, rank, full)
    escape = limb.escape(N, full) if rank < full else None
    aligned = _aligned_pairs(J, limb.names, limb.length)
    return SingularityReport(
        kind=_kind(J, N, lost, bool(aligned), limb.span()),
        rank=rank,
        full_rank=full,
        sizes=np.array(np.linalg.svd(limb.scaled(J), compute_uv=False)),
        lost=lost,
        aligned=aligned,
        moving=tuple(name for name, size in zip(limb.names, np.abs(N).max(1, initial=0.0), strict=True) if size > 1e-6),
        avoidable=None if rank == full else escape is not None,
        escape=escape,
        length=limb.length,
    )


class _Limb:
    """The joints between two links, everything else at rest."""

    def __init__(self, robot: Robot, q: Array, frame: str, root: str | None, tolerance: float) -> None:
        self.robot, self.q, self.frame, self.tolerance = robot, q, frame, tolerance
        self.kernels: KernelSet = compile_robot(robot)
        chain = joints_between(robot, frame, root)
        tree = robot.tree
        self.first = tree.body_names[chain[0]]
        self.columns = [int(tree.v_index[i]) + k for i in chain for k in range(tree.nv_of(i))]
        self.names = [tree.joint_names[i] for i in chain for _ in range(tree.nv_of(i))]
        levers = np.linalg.norm(self.jacobian(q)[:3], axis=0)
        self.length = float(levers.max(initial=0.0)) or 1.0

    def jacobian(self, q: Array) -> Array:
        J: Array = self.kernels.jacobian(q, self.frame)[:, self.columns]
        return J

    def span(self) -> Array:
        """(3,) from the limb's first joint to its frame, in world [m]."""
        first, last = self.kernels.frames(self.q, [self.first, self.frame])[:, :3, 3]
        return np.asarray(last - first)

    def scaled(self, J: Array) -> Array:
        return J / np.repeat([self.length, 1.0], 3)[:, None]

    def moved(self, q: Array, step: Array) -> Array:
        v = np.zeros(self.robot.nv)
        v[self.columns] = step
        return np.asarray(pin.integrate(self.robot.model, q, v))

    def rank(self, J: Array) -> int:
        sizes = np.linalg.svd(self.scaled(J), compute_uv=False)
        return int(np.sum(sizes > self.tolerance * sizes.max(initial=0.0)))

    def full_rank(self) -> int:
        """The rank in general: the largest of a few postures drawn with a fixed seed."""
        steps = np.random.default_rng(0).uniform(-1.0, 1.0, (5, len(self.columns)))
        return max(self.rank(self.jacobian(self.moved(self.q, step))) for step in steps)

    def lost(self, J: Array, rank: int, full: int) -> Array:
        """Wrenches with Fᵀ J = 0 here that motions nearby have power against."""
        U, _, _ = np.linalg.svd(self.scaled(J))
        step = 1e-3 * np.random.default_rng(1).standard_normal(len(self.columns))
        near, _, _ = np.linalg.svd(self.scaled(self.jacobian(self.moved(self.q, step))))
        free = U[:, rank:]
        mixing, _, _ = np.linalg.svd(free.T @ near[:, :full])
        return (free @ mixing[:, : full - rank]).T * np.repeat([1.0, self.length], 3)

    def escape(self, N: Array, full: int) -> Array | None:
        """A posture of full rank that self-motion reaches with the frame at rest; None if none is found nearby."""
        pairs = [a + s * b for a, b in combinations(N.T, 2) for s in (1.0, -1.0)]
        goal = self.kernels.frames(self.q, [self.frame])[0]
        for push in [*N.T, *pairs]:
            for sign in (1.0, -1.0):
                q = self._back_to(goal, self.moved(self.q, sign * _PUSH / np.linalg.norm(push) * push))
                if q is not None and self.rank(self.jacobian(q)) == full and self._clearly_regular(q, full):
                    return q
        return None

    def _clearly_regular(self, q: Array, full: int) -> bool:
        sizes = np.linalg.svd(self.scaled(self.jacobian(q)), compute_uv=False)
        return bool(sizes[full - 1] > 1e3 * self.tolerance * sizes[0])

    def _back_to(self, goal: Array, q: Array) -> Array | None:
        """The posture near q with the frame at its goal, by Newton steps; None if they do not converge."""
        for _ in range(_TRIES):
            T = self.kernels.frames(q, [self.frame])[0]
            error = np.concatenate([(goal - T)[:3, 3], so3.log(goal[:3, :3] @ T[:3, :3].T)])
            if np.abs(error).max() < _CLOSE:
                return q
            q = self.moved(q, damped_inverse(self.jacobian(q), 1e-4) @ error)
        return None


def _kind(J: Array, N: Array, lost: Array, has_aligned: bool, span: Array) -> str:
    if len(lost) != 1:
        return "compound" if len(lost) else "regular"
    H = np.einsum("i,ikj->kj", lost[0], _jacobian_change(J))
    curves = np.linalg.eigvalsh(0.5 * N.T @ (H + H.T) @ N)
    small = 1e-6 * float(np.abs(J[:3]).max())
    if (curves > small).any() != (curves < -small).any():
        return "stretched" if (span @ lost[0][:3]) * curves[np.argmax(np.abs(curves))] < 0.0 else "folded"
    return "aligned" if has_aligned else "interior"


def _jacobian_change(J: Array) -> Array:
    """∂J_k/∂q_j (6, n, n) of a chain whose columns come in their order from the root: (row, k, j)."""
    lever, e = J[:3].T, J[3:].T
    n = len(e)
    out = np.zeros((6, n, n))
    for k in range(n):
        for j in range(n):
            out[:3, k, j] = np.cross(e[j], lever[k]) if j <= k else np.cross(e[k], lever[j])
            out[3:, k, j] = np.cross(e[j], e[k]) if j <= k else 0.0
    return out


def _aligned_pairs(J: Array, names: list[str], length: float) -> tuple[tuple[str, str], ...]:
    """Hinges whose axes are one line, by their columns: axis e through the point e × l from the frame."""
    hinges = [i for i in range(J.shape[1]) if np.linalg.norm(J[3:, i]) > 0.5]
    out = []
    for a, b in combinations(hinges, 2):
        sign = np.sign(J[3:, a] @ J[3:, b])
        apart = J[:, a] - sign * J[:, b]
        if np.linalg.norm(apart[3:]) < 1e-6 and np.linalg.norm(apart[:3]) < 1e-6 * length:
            out.append((names[a], names[b]))
    return tuple(out)
