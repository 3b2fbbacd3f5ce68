"""Whether forces determine the accelerations of a state: motions without inertia, and the joints that make them.

    xᵀ M x > 0    for all x ≠ 0, or for those with J x = 0        [dyn.free-inertia]

Methods that begin with M⁻¹ need the first, those that keep to motions that are left need the second. Links that are
point masses can make M singular in single postures, where joint axes meet the mass; `singular_joints` finds
joints that are singular everywhere.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis
from surefoot.errors import ModelError
from surefoot.kinematics.recursion import dof_rows
from surefoot.robot import Tree

_NO_INERTIA = 1e-12  # of what the joints of a motion move alone
_PLAIN = 1e-6
_TAKES_PART = 0.1  # share that a joint has in a motion


def require_inertia(tree: Tree, M: Array, rows: RowBasis, everywhere: bool) -> None:
    """Refuse a state in which forces do not determine accelerations.

    Args:
        tree: The tree.
        M: (nv, nv) its mass matrix.
        rows: Of the constraints.
        everywhere: Whether motions that the constraints forbid must have inertia too.

    Raises:
        ModelError: Some motion has no inertia; names the joints that make it.
    """
    diagonal = np.diag(M)
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = M / np.outer(scale, scale)
    if _plainly_regular(scaled):
        return
    lost = _weightless_motions(scaled, np.eye(len(M)))
    if not lost.size:
        return
    left = np.linalg.qr((rows.Q / scale).T, mode="complete")[0][:, rows.rank :]
    lost_too = _weightless_motions(scaled, left)
    if not everywhere and not lost_too.size:
        return
    # Names of the joints that take part
    share = np.abs(lost_too if lost_too.size else lost).max(axis=1)
    own = [i for i in range(tree.n) if tree.mimic_source[i] < 0]
    names = [tree.joint_names[i] for i in own if share[dof_rows(tree, i)].max(initial=0.0) > _TAKES_PART * share.max()]
    repair = "give the links that they move a mass and an inertia, or the joints an armature"
    if not lost_too.size:
        repair = (
            f'use method="lagrange", which needs inertia only along motions that the constraints leave, or {repair}'
        )
    raise ModelError(
        "the mass matrix is singular in this posture, so that forces do not determine accelerations: "
        f"{', '.join(f'`{name}`' for name in names)} {'moves' if len(names) == 1 else 'together move'} no inertia",
        evidence={"joints": ", ".join(names)},
        next_step=repair,
    )


def _plainly_regular(M: Array) -> bool:
    """Whether all pivots are so large that eigenvalues need not be looked at."""
    try:
        return bool((np.diag(np.linalg.cholesky(M)) ** 2 > _PLAIN).all())
    except np.linalg.LinAlgError:
        return False


def _weightless_motions(M: Array, motions: Array) -> Array:
    """Columns (nv, k): of the space that motions (nv, n) span, what has no inertia."""
    if not motions.size:
        return motions
    values, axes = np.linalg.eigh(motions.T @ M @ motions)
    return np.asarray(motions @ axes[:, values <= _NO_INERTIA])
