"""Joint motions of a floating robot that do not disturb its base, and the robot as seen from its momentum.

Quasi-velocities (Nenchev & Konno 2019, section 4.7), all in world axes: of the base q'_B = (v_B, ω_B, θ'), mixed
q'_M = (v_C, ω_B, θ'), centroidal q'_C = (v_C, ω_C, θ'). The transforms here start from v, whose base twist is in base
axes.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import factor_full, solve
from surefoot.dynamics.tree import BaseCoupling, base_coupling
from surefoot.kinematics import Frame, frame_jacobian
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial.so3 import skew
from surefoot.spatial.twist import rotation_matrix


def reaction_null_space(tree: Tree, q: Array) -> Array:
    """Orthonormal basis (n, n - 6) of N(H_BB): rates of the n joints with no reaction on the base (numbers).

    H_BB θ' = 0        [dyn.reaction-null-space]   Nenchev & Konno 2019, (4.102); Nenchev, Umetani & Yoshida 1992

    Where H_BB loses rank the basis has more columns.

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
    """
    return _null_space(base_coupling(tree, q).H_BB)


def angular_reaction_null_space(tree: Tree, q: Array) -> Array:
    """Orthonormal basis (n, n - 3) of N(H_C) = N(J_ω): rates without coupling angular momentum (numbers).

    H_C θ' = 0        [dyn.reaction-null-space]   Nenchev & Konno 2019, section 4.7.3

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
    """
    return _null_space(base_coupling(tree, q).H_C)


def _null_space(matrix: Array) -> Array:
    """Orthonormal basis (n, n - rank) of the null space."""
    _, values, right = np.linalg.svd(matrix)
    largest = values[0] if values.size else 0.0
    rank = int(np.sum(values > max(matrix.shape) * np.finfo(float).eps * largest))
    return right[rank:].T


def generalized_jacobian(tree: Tree, frame: Frame, q: Array) -> Array:
    """Ĵ_E (6, n): twist of a frame, at its origin in world axes, for rates of the joints at zero momentum.

    Ĵ_E = J_E - T_EB M_B⁻¹ H_BB = J_E - T_EC (J_CB; J_ω)        [dyn.generalized-jacobian]   Umetani & Yoshida 1989;
    Nenchev & Konno 2019, (4.107)

    Args:
        tree: The tree of a floating robot.
        frame: The frame.
        q: (nq,) configuration.
    """
    coupling = base_coupling(tree, q)
    J = frame_jacobian(tree, frame, q)
    T_EB = J[:, :6] @ rotation_matrix(coupling.R.T)
    base = solve(factor_full(coupling.M_B), coupling.H_BB)
    return J[:, 6:] - T_EB @ base


def mixed_transform(tree: Tree, q: Array) -> Array:
    """T (nv, nv) with T v = (v_C, ω_B, θ').

    q'_M = T_MB q'_B,  T_MB = [[E, -[r_CB×], J_CB], [0, E, 0], [0, 0, E]]        [dyn.mixed]
    Nenchev & Konno 2019, section 4.6.3

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
    """
    coupling = base_coupling(tree, q)
    return _transform(coupling, np.zeros_like(coupling.H_C))


def centroidal_transform(tree: Tree, q: Array) -> Array:
    """T (nv, nv) with T v = (v_C, ω_C, θ'): T⁻ᵀ M T⁻¹ = diag(m E, I_C, M_θ - H_BBᵀ M_B⁻¹ H_BB).

    q'_C = T_CB q'_B,  T_CB = [[E, -[r_CB×], J_CB], [0, E, J_ω], [0, 0, E]]        [dyn.centroidal-form]
    Nenchev & Konno 2019, section 4.6.3 and (4.150) (erratum: inertias transform by congruence, where (4.135) mixes)

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
    """
    coupling = base_coupling(tree, q)
    return _transform(coupling, coupling.J_omega)


def _transform(coupling: BaseCoupling, J_omega: Array) -> Array:
    """[[E, -[r_CB×], J_CB], [0, E, J_ω], [0, 0, E]] diag(R, R, E)."""
    size = 6 + J_omega.shape[1]
    T = ops.eye(size, like=coupling.H_C)
    T[:3, 3:6] = -skew(coupling.offset)
    T[:3, 6:], T[3:6, 6:] = coupling.J_CB, J_omega
    T[:6, :6] = T[:6, :6] @ rotation_matrix(coupling.R)
    return T
