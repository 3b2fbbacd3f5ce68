"""Derivatives of how frames and the centre of mass move.

Derivatives by q are taken in the tangent space: the columns of a free, spherical or planar joint are for small motions
in the axes of its body. The derivative of a frame's placement is its local Jacobian: T(q ⊕ δ) = T(q) exp(J δ). With the
motions S_j of joint j, the twist V_p and the spatial acceleration A_p of what carries the joint, the twist V_j of what
it moves, and V of the frame, all referred to one point and written in the axes of the frame, which move along,

    ∂V/∂q_j = Ψ̇_j,  ∂V/∂v_j = S_j                                     Ψ̇ = V_p × S,  Ψ̈ = A_p × S + V_p × Ψ̇
    ∂A/∂q_j = Ψ̈_j - V × Ψ̇_j,  ∂A/∂v_j = Ψ̇_j + V_j × S_j - V × S_j,  ∂A/∂a_j = S_j        [kin.derivatives]

(Carpentier & Mansard 2018; Singh, Russell & Wensing 2022). In axes, or at a point, that do not move along with the
frame, its motion by S_j adds S_j × V and S_j × A. They are derivatives of what `frame_velocity` and
`frame_acceleration` return: for "local_world_aligned" the point moves along with the frame, and only the axes stay.
(Pinocchio's functions of that name keep the point fixed in space for this reference, which adds S_v × ω.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from surefoot import ops
from surefoot.kinematics.com import moments
from surefoot.kinematics.fk import place
from surefoot.kinematics.frames.frame import WORLD, Frame, Reference, require_reference
from surefoot.kinematics.frames.path import path_between
from surefoot.kinematics.recursion import (
    Fields,
    Recursion,
    Sweep,
    bodies,
    dof_rows,
    joint_subspace,
    move,
    run,
    world_at_rest,
)
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial import twist


def frame_velocity_derivatives(
    tree: Tree, frame: Frame, q: Array, v: Array, reference: Reference = "local_world_aligned"
) -> tuple[Array, Array]:
    """∂V/∂q and ∂V/∂v (6, nv) of the twist of a frame; the second one is its Jacobian.   [kin.derivatives].

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        v: (nv,) velocity.
        reference: One of `REFERENCES`, for the twist.
    """
    links = list(_links(tree, frame, q, reference))
    V, seen = np.zeros(6), []
    for rows, S in links:
        seen.append(V)
        V = V + S @ v[rows]
    dq, dv = (ops.zeros((6, len(tree.armature)), like=[q, v]) for _ in range(2))
    for (rows, S), carrier in zip(links, seen, strict=True):
        dq[:, rows] = dq[:, rows] + _crossed(carrier, S) - _crossed(V, _left_behind(S, reference))
        dv[:, rows] = dv[:, rows] + S
    return dq, dv


def frame_acceleration_derivatives(
    tree: Tree, frame: Frame, q: Array, v: Array, a: Array, reference: Reference = "local_world_aligned"
) -> tuple[Array, Array, Array]:
    """∂A/∂q, ∂A/∂v and ∂A/∂a (6, nv) of the spatial acceleration of a frame.   [kin.derivatives].

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        reference: One of `REFERENCES`, for the acceleration.
    """
    links = list(_links(tree, frame, q, reference))
    V, A, seen = np.zeros(6), np.zeros(6), []
    for rows, S in links:
        carrier, pushed, V = V, A, V + S @ v[rows]
        A = A + S @ a[rows] + twist.cross(V, S @ v[rows])
        seen.append((carrier, pushed, V))
    dq, dv, da = (ops.zeros((6, len(tree.armature)), like=[q, v, a]) for _ in range(3))
    for (rows, S), (carrier, pushed, own) in zip(links, seen, strict=True):
        drift = _crossed(carrier, S)
        turned = _crossed(pushed, S) - _crossed(V - carrier, drift)
        dq[:, rows] = dq[:, rows] + turned - _crossed(A, _left_behind(S, reference))
        dv[:, rows] = dv[:, rows] + drift - _crossed(V - own, S)
        da[:, rows] = da[:, rows] + S
    return dq, dv, da


def com_velocity_derivative(tree: Tree, q: Array, v: Array) -> Array:
    """∂v_com/∂q (3, nv) of the velocity of the centre of mass, in world.

    A joint moves the masses beyond it along S = (λ, σ), and their velocity u against its parent, which turns with ω:
    the velocity of their first moment h changes by ω × (σ × h + m λ) + σ × ∫ u dm.   [kin.com-derivative]

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    outward = (Sweep("outward", place), Sweep("outward", move))
    fields, _ = run(Recursion((*outward, *moments(tree).sweeps), world_at_rest), tree, {"q": q, "v": v})
    out = ops.zeros((3, len(tree.armature)), like=[q, v])
    for i, body in enumerate(bodies(tree)):
        rows, own, S = dof_rows(tree, i), fields[i], joint_subspace(body)
        relative = S @ v[rows]
        omega = own["twist"][3:] - relative[3:]
        momentum = own.get("rate", np.zeros(3)) + _moment_rate(own, relative)
        columns = [ops.cross(omega, _moment_rate(own, s)) + ops.cross(s[3:], momentum) for s in S.T]
        out[:, rows] = out[:, rows] + own["R"] @ ops.stack(columns, axis=1)
    return out


def _moment_rate(own: Fields, motion: Array) -> Array:
    """Rate (3,) of the first moment of what a joint carries, per mass of the robot, at a twist (6,)."""
    return ops.cross(motion[3:], own["moment"]) + own["share"] * motion[:3]


def _links(tree: Tree, frame: Frame, q: Array, reference: Reference) -> Iterator[tuple[slice, Array]]:
    """Rows in v and motions S (6, k) of the joints that move a frame, from the root on, in its reference."""
    require_reference(reference)
    path = path_between(tree, WORLD, frame, q)
    axes = path.reversed().axes(frame) if reference == "local" else path.axes(WORLD)
    levers = path.reversed().levers(WORLD) if reference == "world" else path.levers(frame)
    for i in path.outward:
        at_point = [twist.shift(motion, levers[i]) for motion in joint_subspace(bodies(tree)[i]).T]
        columns = [ops.concatenate([axes[i] @ motion[:3], axes[i] @ motion[3:]]) for motion in at_point]
        yield dof_rows(tree, i), ops.stack(columns, axis=1)


def _left_behind(S: Array, reference: Reference) -> Array:
    """How the axes and the point of the reference move (6, k), as the frame sees it, when the frame moves along S."""
    if reference == "local":
        return np.zeros(S.shape)
    return S if reference == "world" else ops.concatenate([np.zeros((3, S.shape[1])), S[3:]])


def _crossed(motion: Array, columns: Array) -> Array:
    """Motion × every column (6, k)."""
    return ops.stack([twist.cross(motion, column) for column in columns.T], axis=1)
