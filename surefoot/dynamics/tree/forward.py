"""Forward dynamics by any of the methods, and the inverse of the mass matrix; robots whose mass matrix has none."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from surefoot.dynamics.algebra import factor, inverse, solve
from surefoot.dynamics.tree.aba import ABA, aba
from surefoot.dynamics.tree.crba import composite_bodies, crba
from surefoot.dynamics.tree.newton_euler import assembled_equations
from surefoot.dynamics.tree.rnea import rnea
from surefoot.errors import ModelError, one_of
from surefoot.kinematics.recursion import bodies, dof_rows, joint_subspace, run
from surefoot.ops import Array
from surefoot.robot import Tree

ForwardMethod = Literal["auto", "aba", "crba", "newton_euler"]


def forward_dynamics(
    tree: Tree, q: Array, v: Array, tau: Array, external: Array | None = None, method: ForwardMethod = "auto"
) -> Array:
    """Accelerations (nv,) under joint forces: M a = tau - h + Σ J_iᵀ F_i.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
        method: "aba", O(n), for trees without followers; "crba" or "newton_euler", the mass matrix by that method and
            its sparse factors; "auto": "aba" where it can, else "crba".

    Raises:
        ModelError: The mass matrix of the robot is singular.
        NotSupportedError: "aba" for a tree with followers.
    """
    require_invertible(tree)
    if method == "auto":
        method = "crba" if (tree.mimic_source >= 0).any() else "aba"
    match method:
        case "aba":
            return aba(tree, q, v, tau, external)
        case "crba":
            M, h = crba(tree, q), rnea(tree, q, v, np.zeros(len(tree.armature)), external)
        case "newton_euler":
            M, h = assembled_equations(tree, q, v, external)
        case _:
            raise one_of("method", method, get_args(ForwardMethod))
    return solve(factor(tree, M), tau - h)


def minverse(tree: Tree, q: Array) -> Array:
    """M(q)⁻¹ (nv, nv), by the sparse factors of M.   [dyn.cholesky].

    Args:
        tree: The tree.
        q: (nq,) configuration.

    Raises:
        ModelError: The mass matrix of the robot is singular.
    """
    require_invertible(tree)
    return inverse(factor(tree, crba(tree, q)))


def require_invertible(tree: Tree) -> None:
    """Refuse a tree whose mass matrix has no inverse.

    Raises:
        ModelError: Some joints move no inertia.
    """
    names = singular_joints(tree)
    if names:
        raise ModelError(
            f"the mass matrix is singular: {len(names)} joint(s) move no inertia, so that forces do not determine "
            "accelerations",
            evidence={"joints": ", ".join(names)},
            next_step="give the links that they move a mass and an inertia, or the joints an armature",
        )


@lru_cache(maxsize=256)
def singular_joints(tree: Tree) -> tuple[str, ...]:
    """Names of the joints that move no inertia of their own, in any configuration: those that make M singular.

    A joint counts if, with all joints that it carries free to give way, no force is needed to accelerate it: the pivot
    of its degree of freedom in M = Lᵀ D L vanishes. This is tested at a configuration without special angles, where
    nothing vanishes but what vanishes everywhere.
    """
    q = _generic_configuration(tree)
    little = _NEGLIGIBLE * _reach(tree, q)
    pivots = _pivots(tree, q, little)
    lost = {int(k) for k in np.flatnonzero(pivots <= 100.0 * little)}
    own = [(i, dof_rows(tree, i)) for i in range(tree.n) if tree.mimic_source[i] < 0]
    return tuple(tree.joint_names[i] for i, rows in own if lost & set(range(rows.start, rows.stop)))


def _pivots(tree: Tree, q: Array, little: Array) -> Array:
    """D (nv,) of M + diag(little) = Lᵀ D L; chains of many single joints by articulated bodies, which take O(n)."""
    if tree.n < _MANY or len(tree.armature) != tree.n or (tree.mimic_source >= 0).any():
        return 1.0 / factor(tree, crba(tree, q) + np.diag(little)).reciprocals
    rest = np.zeros(tree.n)
    fields, _ = run(ABA, tree, {"q": q, "v": rest, "tau": rest, "armature": tree.armature + little})
    return np.array([1.0 / fields[i]["reciprocals"][0] for i in np.argsort(tree.v_index)])


_MANY = 100
_NEGLIGIBLE = 1e-13  # of the inertia that a joint could meet
_UNIT_PARTS = {"continuous": slice(0, 2), "spherical": slice(0, 4), "planar": slice(2, 4), "free": slice(3, 7)}


def _generic_configuration(tree: Tree) -> Array:
    """A configuration (nq,) without special angles, always the same."""
    rng, parts = np.random.default_rng(0), []
    for i in range(tree.n):
        own = rng.uniform(0.2, 1.0, tree.nq_of(i))
        unit = _UNIT_PARTS.get(tree.kinds[i], slice(0))
        own[unit] /= np.linalg.norm(own[unit]) if own[unit].size else 1.0
        parts.append(own)
    return np.concatenate(parts)


def _reach(tree: Tree, q: Array) -> Array:
    """The most inertia (nv,) that each degree of freedom could meet: all that it carries; 1 where that is nothing."""
    most = np.zeros(len(tree.armature))
    for i, (body, own) in enumerate(zip(bodies(tree), composite_bodies(tree, q), strict=False)):
        S = joint_subspace(body)
        trace = own["inertia"][[0, 3, 5]].sum()
        most[dof_rows(tree, i)] += own["mass"] * np.sum(S[:3] ** 2, axis=0) + trace * np.sum(S[3:] ** 2, axis=0)
    return np.where(most > 0.0, most, 1.0)
