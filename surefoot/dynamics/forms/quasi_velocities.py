"""The equations of motion in other velocities: of the base, mixed, centroidal; all in world axes.

    q'_B = (v_B, ω_B, θ'),   q'_M = (v_C, ω_B, θ'),   q'_C = (v_C, ω_C, θ')    Nenchev & Konno 2019, sections 4.8, 4.11

With u = T v, and v as everywhere (base twist in base axes),

    M_u u' + h_u = T⁻ᵀ (Sᵀ τ + Jᵀ λ),   M_u = T⁻ᵀ M T⁻¹,   h_u = T⁻ᵀ (h - M T⁻¹ Ṫ v)        [dyn.quasi-velocities]

(erratum: (4.135) and (4.136) multiply with T_MBᵀ from the left, which is not a congruence.) In the mixed form the
centre of mass decouples; in the centroidal one base and joints do, too: M_u = diag(m E, I_C, M_θ - H_BBᵀ M_B⁻¹ H_BB),
and gravity is in the rows of the centre of mass alone.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

from surefoot import ops
from surefoot.dynamics.algebra import solve_positive
from surefoot.dynamics.forms.reaction_null_space import centroidal_transform, mixed_transform
from surefoot.dynamics.tree import (
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    crba,
    nonlinear_effects,
)
from surefoot.errors import one_of
from surefoot.kinematics import body_placements, com, com_bias, com_velocity
from surefoot.kinematics.recursion import TWISTS, bodies, run
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial.so3 import skew
from surefoot.spatial.twist import rotation_matrix

QuasiVelocity = Literal["base", "mixed", "centroidal"]


class QuasiVelocityForm(NamedTuple):
    """M u' + h = T⁻ᵀ (Sᵀ τ + Jᵀ λ), u = T v, u' = T a + drift.

    Args:
        T: (nv, nv).
        inverse: T⁻¹ (nv, nv).
        drift: Ṫ v (nv,).
        M: (nv, nv).
        h: (nv,).
    """

    T: Array
    inverse: Array
    drift: Array
    M: Array
    h: Array

    def forces(self, joint_forces: Array) -> Array:
        """T⁻ᵀ Q (nv,): generalised forces Q (nv,) of v, as they act on u."""
        return self.inverse.T @ joint_forces

    def constraints(self, J: Array, drift: Array) -> tuple[Array, Array]:
        """J_u (m, nv) and its drift (m,), with J_u u' + drift_u = J a + drift.

        In the centroidal form the joints' part of J_u is J_cB - C_cCᵀ J_θ, the generalised constraint Jacobian
        (erratum of (4.161): C_cC is transposed).

        Args:
            J: (m, nv).
            drift: (m,).
        """
        changed = J @ self.inverse
        return changed, drift - changed @ self.drift

    def acceleration(self, quasi: Array) -> Array:
        """A (nv,) of u' (nv,)."""
        return self.inverse @ (quasi - self.drift)


def quasi_velocity_form(tree: Tree, q: Array, v: Array, kind: QuasiVelocity) -> QuasiVelocityForm:
    """The equations of motion of a floating robot in other velocities.   [dyn.quasi-velocities].

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        kind: "base", "mixed" or "centroidal".

    Raises:
        NotSupportedError: The robot does not float.
    """
    T = quasi_velocity_transform(tree, q, kind)
    inverse, drift = _inverse(T), quasi_velocity_drift(tree, q, v, kind)
    M, h = crba(tree, q), nonlinear_effects(tree, q, v)
    return QuasiVelocityForm(T, inverse, drift, inverse.T @ M @ inverse, inverse.T @ (h - M @ (inverse @ drift)))


def quasi_velocity_transform(tree: Tree, q: Array, kind: QuasiVelocity) -> Array:
    """T (nv, nv) with u = T v.

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
        kind: "base", "mixed" or "centroidal".
    """
    match kind:
        case "base":
            T = ops.eye(len(tree.armature), like=q)
            T[:6, :6] = rotation_matrix(base_coupling(tree, q).R)
            return T
        case "mixed":
            return mixed_transform(tree, q)
        case "centroidal":
            return centroidal_transform(tree, q)
        case _:
            raise one_of("quasi-velocity", kind, get_args(QuasiVelocity))


def quasi_velocity_drift(tree: Tree, q: Array, v: Array, kind: QuasiVelocity) -> Array:
    """Ṫ v (nv,): how u changes at a = 0.

    v_B' = R (ω × v) in the world's axes, ω_B' = 0, v_C' that of the centre of mass, and from l_C = I_C ω_C,
    I_C ω_C' = l_C' - İ_C ω_C        [dyn.quasi-velocities].

    Args:
        tree: The tree of a floating robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        kind: "base", "mixed" or "centroidal".
    """
    out = ops.zeros(len(tree.armature), like=[q, v])
    if kind == "base":
        out[:3] = base_coupling(tree, q).R @ ops.cross(v[3:6], v[:3])
        return out
    out[:3] = com_bias(tree, q, v)
    if kind == "centroidal":
        I_C = centroidal_inertia(tree, q)[3:, 3:]
        omega = solve_positive(I_C, centroidal_momentum(tree, q, v)[3:])
        turning = centroidal_momentum_bias(tree, q, v)[3:] - locked_inertia_rate(tree, q, v) @ omega
        out[3:6] = solve_positive(I_C, turning)
    return out


def locked_inertia_rate(tree: Tree, q: Array, v: Array) -> Array:
    """İ_C (3, 3), kg m²/s, in world axes.

    İ_C = Σ ([ω_i×] I_i - I_i [ω_i×] - m_i ([ṙ_i×] [r_i×] + [r_i×] [ṙ_i×]))        [dyn.locked-inertia]
    Nenchev & Konno 2019, (4.141), with r_i the centre of body i seen from that of the robot

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    fields, _ = run(TWISTS, tree, {"q": q, "v": v})
    centre, speed = com(tree, q), com_velocity(tree, q, v)
    out = ops.zeros((3, 3), like=[q, v])
    for i, (R, p) in enumerate(body_placements(tree, q)):
        mass = bodies(tree)[i].mass
        twist, arm = fields[i]["twist"], tree.coms[i]
        turn = skew(R @ twist[3:])
        away = skew(p + R @ arm - centre)
        leaving = skew(R @ (twist[:3] + ops.cross(twist[3:], arm)) - speed)
        inertia = R @ tree.inertias[i] @ R.T
        out = out + turn @ inertia - inertia @ turn - mass * (leaving @ away + away @ leaving)
    return out


def _inverse(T: Array) -> Array:
    """T⁻¹ of a transform whose joints' rows are those of the identity, and whose base block is [[R, X], [0, R]]."""
    R, X, J = T[:3, :3], T[:3, 3:6], T[:6, 6:]
    out = ops.eye(len(T), like=T)
    out[:3, :3] = out[3:6, 3:6] = R.T
    out[:3, 3:6] = -(R.T @ X @ R.T)
    out[:6, 6:] = -(out[:6, :6] @ J)
    return out
