"""How bodies move: twists and accelerations, outwards, in body axes.

    V_i = X_ip V_p + S_i v_i        [kin.twist]   Buschmann 2014, section 2.3
    ω_i' = Rᵀ ω_p' + ω_i × s_ω + S_ω a_i
    a_i  = Rᵀ (a_p + W_p r) + (Rᵀ ω_p + ω_i) × s_v + S_v a_i        [kin.acceleration]   Buschmann 2014, (2.67), (2.68)
    (errata: (2.67) and (A.25) need ω~_0p ω_pi; the Coriolis term of (2.68) is 2 ω~ J_Jv v)

with s = S v, r the origin of the body in its parent, and W = ω~' + ω~ ω~. The acceleration a of the origin is the
*classical* one: it needs no linear velocities, and W r is all that a lever arm adds. Nothing here depends on where a
root body is.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.kinematics.bodies import Body, joint_placement, joint_subspace, to_child
from surefoot.kinematics.recursion import Fields, Recursion, Step, Sweep
from surefoot.ops import Array

__all__ = ["ACCELERATIONS", "TWISTS", "accelerate", "acceleration_matrix", "move"]


def move(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Outward step: "twist" (6,) at the body's origin, in its axes; needs the joint's "q" and "v".   [kin.twist]."""
    R, p = joint_placement(body, joint["q"])
    return Step({"twist": to_child(R, p, parent["twist"]) + joint_subspace(body) @ joint["v"]})


def accelerate(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Outward step: "omega", "alpha" and the classical "acceleration" of the origin (3,), and "W" (3, 3).

    Needs the joint's "q", "v" and "a".   [kin.acceleration].
    """
    R, p = joint_placement(body, joint["q"])
    S = joint_subspace(body)
    relative, push = S @ joint["v"], S @ joint["a"]
    carried = R.T @ parent["omega"]
    omega = carried + relative[3:]
    alpha = R.T @ parent["alpha"] + ops.cross(omega, relative[3:]) + push[3:]
    coriolis = ops.cross(carried + omega, relative[:3])
    acceleration = R.T @ (parent["acceleration"] + parent["W"] @ p) + coriolis + push[:3]
    W = acceleration_matrix(omega, alpha)
    return Step({"omega": omega, "alpha": alpha, "acceleration": acceleration, "W": W})


def acceleration_matrix(omega: Array, alpha: Array) -> Array:
    """W (3, 3) = ω~' + ω~ ω~: a body point r accelerates by W r against the origin.

    Args:
        omega: ω (3,), rad/s.
        alpha: dω/dt (3,), rad/s².
    """
    (x, y, z), (dx, dy, dz) = omega, alpha
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return ops.array(
        [[-(yy + zz), xy - dz, xz + dy], [xy + dz, -(xx + zz), yz - dx], [xz - dy, yz + dx, -(xx + yy)]],
    )


def _resting(gravity: Array) -> Fields:
    """The world does not move; accelerations are true ones, without gravity."""
    rest = np.zeros(3)
    return {"twist": np.zeros(6), "omega": rest, "alpha": rest, "acceleration": rest, "W": np.zeros((3, 3))}


TWISTS = Recursion((Sweep("outward", move),), _resting)
ACCELERATIONS = Recursion((Sweep("outward", move), Sweep("outward", accelerate)), _resting)
