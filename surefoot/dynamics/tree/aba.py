"""Forward dynamics by articulated bodies, O(n).

    a = M(q)⁻¹ (tau - h(q, v) + Σ J_iᵀ F_i)        [dyn.aba]   Featherstone 1983 and 2008, section 7.3;
    Buschmann 2014, Alg. 4 (errata: (2.67) and (2.68) have ω of the parent and J_v in the bias acceleration; the sums
    over children of (3.54) take K and k of the children)

Three sweeps. Outwards: velocities, the acceleration ζ that they cause in the joint, and the bias wrench. Inwards: the
articulated inertia and bias of each body, handed to the parent without what the joint gives way to:

    U = I_A S,  D = Sᵀ U + armature,  u = tau - Sᵀ p_A
    I_a = I_A - U D⁻¹ Uᵀ,  p_a = p_A + I_a ζ + U D⁻¹ u

Outwards: a' = X a_parent + ζ, joint acceleration D⁻¹ (u - Uᵀ a'). Accelerations are the classical ones of the body
origins, as in `surefoot.dynamics.tree.rnea`, and gravity is an upward acceleration of the world.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import (
    Factors,
    factor_full,
    grouped_bodies,
    is_exactly,
    mounted_turn,
    packed,
    rotate,
    rotate_symmetric,
    shift,
    solve,
    unpacked,
)
from surefoot.dynamics.tree.rnea import net_wrench
from surefoot.errors import NotSupportedError
from surefoot.kinematics.recursion import Body, Fields, Recursion, Step, Sweep, acceleration_matrix, joint_subspace, run
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial.so3 import skew


def aba(tree: Tree, q: Array, v: Array, tau: Array, external: Array | None = None) -> Array:
    """Accelerations (nv,), rad/s² or m/s², under joint forces.   [dyn.aba].

    For trees without followers (`mimic="reduce"`); `surefoot.dynamics.tree.forward` takes any.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.

    Raises:
        NotSupportedError: The tree has followers.
    """
    if (tree.mimic_source >= 0).any():
        raise NotSupportedError(
            'articulated bodies do not support joints that copy others (mimic="reduce")', next_step='use method="crba"'
        )
    inputs = {"q": q, "v": v, "tau": tau, "armature": tree.armature}
    if external is not None:
        inputs["external"] = external
    _, joints = run(ABA, tree, inputs, constants=grouped_bodies)
    return joints["a"]


def _world(gravity: Array) -> Fields:
    """A world at rest; gravity as its upward acceleration."""
    return {"omega": np.zeros(3), "W": np.zeros((3, 3)), "acceleration": -gravity, "alpha": np.zeros(3)}


def _velocities(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Velocities, and what they cause: accelerations in the joint and bias wrench; the body's own inertia.

    "lever" is the part ω × (ω × p) of ζ, in the axes of the parent; "zeta" the rest, in those of the body.
    """
    mount, turn, p = mounted_turn(body, joint["q"])
    relative = joint_subspace(body) @ joint["v"]
    carried = turn.T @ (mount.T @ parent["omega"])
    omega = carried + relative[3:]
    zeta = ops.concatenate([ops.cross(carried + omega, relative[:3]), ops.cross(carried, relative[3:])])
    W = acceleration_matrix(omega, np.zeros(3))
    bias = net_wrench(body, W, np.zeros(3))
    if "external" in joint:
        bias = bias - joint["external"]
    placement = {"mount": mount, "turn": turn, "p": p}
    motion = {"omega": omega, "W": W, "lever": parent["W"] @ p, "zeta": zeta}
    inertia = {"A": packed(body.mass * np.eye(3)), "B": -skew(body.moment), "C": packed(body.inertia)}
    return Step({**placement, **motion, **inertia, "bias": bias})


def _articulated(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Hand the articulated inertia and bias to the parent, less what the joint gives way to."""
    S, armature = joint_subspace(body), joint["armature"]
    inertia = _assembled(own["A"], own["B"], own["C"])
    U = inertia @ S
    factors = factor_full(S.T @ U + np.diag(armature))
    u = joint["tau"] - S.T @ own["bias"]
    gain, drive = _gain(S, armature, factors, U), solve(factors, u)
    # I_a (6, 6) = I_A - U D⁻¹ Uᵀ; along the joint it is I_a S = U D⁻¹ armature, without cancellation
    yielding = inertia - U @ gain
    for column, row in _unit_columns(S):
        yielding[row, :] = yielding[:, row] = gain[column] * (armature[column] * S[row, column])
    A, B, C = _blocks(yielding)
    bias = own["bias"] + _assembled(A, B, C) @ own["zeta"] + U @ drive
    A, B, C, bias = _in_parent(own, A, B, C, bias)
    own_values = {"gain": gain, "drive": drive, "reciprocals": factors.reciprocals}
    return Step(own=own_values, parent={"A": A, "B": B, "C": C, "bias": bias})


def _assembled(A: Array, B: Array, C: Array) -> Array:
    """The inertia (6, 6) of blocks."""
    return np.block([[unpacked(A), B], [B.T, unpacked(C)]])


def _blocks(inertia: Array) -> tuple[Array, Array, Array]:
    """The blocks of an inertia (6, 6), of which only the upper triangle is read."""
    return packed(inertia[:3, :3]), inertia[:3, 3:], packed(inertia[3:, 3:])


def _gain(S: Array, armature: Array, factors: Factors, U: Array) -> Array:
    """D⁻¹ Uᵀ (nv, 6); exactly the identity on coordinate axes of the joint that carry no armature."""
    gain = solve(factors, U.T)
    for column, row in _unit_columns(S):
        if is_exactly(armature[column], 0.0):
            gain[:, row] = np.eye(len(armature))[column] * S[row, column]
    return gain


def _unit_columns(S: Array) -> list[tuple[int, int]]:
    """(column, row) of the columns of S that are a coordinate axis, up to sign."""
    found = []
    for column, entries in enumerate(S.T):
        rows = [row for row in range(6) if not is_exactly(entries[row], 0.0)]
        if len(rows) == 1 and (is_exactly(entries[rows[0]], 1.0) or is_exactly(entries[rows[0]], -1.0)):
            found.append((column, rows[0]))
    return found


def _in_parent(own: Fields, A: Array, B: Array, C: Array, bias: Array) -> tuple[Array, Array, Array, Array]:
    """The blocks and the bias wrench in the axes of the parent and about its origin."""
    force, moment = bias[:3], bias[3:]
    for R in (own["turn"], own["mount"]):
        A, B, C = rotate_symmetric(R, A), rotate(R, B), rotate_symmetric(R, C)
        force, moment = R @ force, R @ moment
    force, moment = force + unpacked(A) @ own["lever"], moment + B.T @ own["lever"]
    B, C = shift(own["p"], A, B, C)
    return A, B, C, ops.concatenate([force, moment + ops.cross(own["p"], force)])


def _accelerations(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Acceleration of the joint, then of the body."""
    turn, mount = own["turn"], own["mount"]
    linear = parent["acceleration"] + ops.cross(parent["alpha"], own["p"]) + own["lever"]
    carried = ops.concatenate([turn.T @ (mount.T @ linear), turn.T @ (mount.T @ parent["alpha"])]) + own["zeta"]
    a = own["drive"] - own["gain"] @ carried
    motion = carried + joint_subspace(body) @ a
    return Step(own={"acceleration": motion[:3], "alpha": motion[3:]}, joint={"a": a})


ABA = Recursion(
    (Sweep("outward", _velocities), Sweep("inward", _articulated), Sweep("outward", _accelerations)), _world
)
