"""Regressors: dynamics as linear functions of the inertial parameters.

    tau = Y(q, v, a) π + armature a        [dyn.regressor]   Atkeson, An & Hollerbach 1986; Gautier & Khalil 1988

π holds for each body mass, first moments and inertia about its origin: m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz,
I_yz, I_zz. A column of Y is the answer of a body that has nothing but this one parameter.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot import ops
from surefoot.dynamics.tree.rnea import RNEA, net_wrench
from surefoot.kinematics import body_jacobians, body_placements
from surefoot.kinematics.recursion import TWISTS, Body, Recursion, bodies, run
from surefoot.ops import Array
from surefoot.robot import Tree

_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
_MOTION = Recursion(RNEA.sweeps[:1], RNEA.world)


def inertial_parameters(tree: Tree) -> Array:
    """π (10 n,), kg, kg m and kg m²."""
    parts = [[body.mass, *body.moment, *(body.inertia[i, j] for i, j in _ENTRIES)] for body in bodies(tree)]
    return np.array(parts).reshape(-1)


def joint_torque_regressor(tree: Tree, q: Array, v: Array, a: Array) -> Array:
    """Y (nv, 10 n).   [dyn.regressor].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
    """
    fields, _ = run(_MOTION, tree, {"q": q, "v": v, "a": a})
    Y = ops.zeros((len(tree.armature), 10 * tree.n), like=[q, v, a])
    for i, (body, J) in enumerate(zip(bodies(tree), body_jacobians(tree, q), strict=True)):
        W, acceleration = fields[i]["W"], fields[i]["acceleration"]
        wrenches = [net_wrench(unit, W, acceleration) for unit in _unit_bodies(body)]
        Y[J.columns, 10 * i : 10 * i + 10] = J.block.T @ ops.stack(wrenches, axis=1)
    return Y


def _unit_bodies(body: Body) -> list[Body]:
    """The body with one parameter 1 and all others 0, for every parameter."""
    nothing = replace(body, mass=0.0, moment=np.zeros(3), inertia=np.zeros((3, 3)))
    moments = [replace(nothing, moment=axis) for axis in np.eye(3)]
    return [replace(nothing, mass=1.0), *moments, *(replace(nothing, inertia=_unit_inertia(*ij)) for ij in _ENTRIES)]


def _unit_inertia(i: int, j: int) -> Array:
    out = np.zeros((3, 3))
    out[i, j] = out[j, i] = 1.0
    return out


def kinetic_energy_regressor(tree: Tree, q: Array, v: Array) -> Array:
    """Row y (10 n,) with y π the kinetic energy of the bodies, J (without armature).

    T = Σ ½ m v·v + h · (v × ω) + ½ ω · I ω        [dyn.energy-regressor]   Gautier & Khalil 1988

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    fields, _ = run(TWISTS, tree, {"q": q, "v": v})
    parts = []
    for own in fields[: tree.n]:
        linear, (x, y, z) = own["twist"][:3], own["twist"][3:]
        squares = ops.array([0.5 * x * x, x * y, 0.5 * y * y, x * z, y * z, 0.5 * z * z])
        parts += [ops.array([0.5 * (linear @ linear)]), ops.cross(linear, ops.array([x, y, z])), squares]
    return ops.concatenate(parts)


def potential_energy_regressor(tree: Tree, q: Array) -> Array:
    """Row y (10 n,) with y π the potential energy, J: -g · (m p + R h) for every body.

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    parts = []
    for R, p in body_placements(tree, q):
        parts += [ops.array([-(tree.gravity @ p)]), -(tree.gravity @ R), np.zeros(6)]
    return ops.concatenate(parts)
