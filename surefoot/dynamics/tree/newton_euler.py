"""The equations of motion by Newton-Euler assembly, body by body.

    M = Σ J_iᵀ M_i J_i,  h = Σ J_iᵀ (M_i (dJ_i/dt v) + h_i - F_i)        [dyn.newton-euler-assembly]
    Buschmann 2014, (3.22)-(3.25): M_i (dJ_i/dt v) + h_i is the wrench that body i takes at a = 0

Only columns of ancestors are looked at (section 3.2, "sparse mass matrix"): body i adds to the entries between the
degrees of freedom that move it. O(n d²) for a tree of depth d; on strongly branched trees it rivals composite bodies,
and it is the independent check of them.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import inertia_times, mirror, own_inertia
from surefoot.dynamics.tree.rnea import RNEA
from surefoot.kinematics import body_jacobians
from surefoot.kinematics.recursion import Recursion, bodies, run
from surefoot.ops import Array
from surefoot.robot import Tree

_WRENCHES = Recursion(RNEA.sweeps[:1], RNEA.world)


def assembled_equations(tree: Tree, q: Array, v: Array, external: Array | None = None) -> tuple[Array, Array]:
    """M (nv, nv) and h (nv,) of M a + h = tau.   [dyn.newton-euler-assembly].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
    """
    inputs = {"q": q, "v": v, "a": np.zeros(len(tree.armature))}
    if external is not None:
        inputs["external"] = external
    fields, _ = run(_WRENCHES, tree, inputs)
    h = ops.zeros(len(tree.armature), like=[q, v, external])
    for J, body in zip(body_jacobians(tree, q), fields, strict=False):
        h[J.columns] = h[J.columns] + J.block.T @ body["wrench"]
    return assembled_mass_matrix(tree, q), h


def assembled_mass_matrix(tree: Tree, q: Array) -> Array:
    """M (nv, nv) = Σ J_iᵀ M_i J_i, with the armature on its diagonal.   [dyn.newton-euler-assembly].

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    M = ops.zeros((len(tree.armature),) * 2, like=q)
    for J, body in zip(body_jacobians(tree, q), bodies(tree), strict=True):
        momenta = inertia_times(own_inertia(body), J.block)
        for place, column in enumerate(J.columns):
            rows = J.columns[: place + 1]
            M[rows, column] = M[rows, column] + J.block[:, : place + 1].T @ momenta[:, place]
    return mirror(M) + np.diag(tree.armature)
