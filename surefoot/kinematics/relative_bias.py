"""What the velocities alone do to the relative acceleration of two frames: J̇ v of `relative_jacobian`.   [kin.bias].

One walk along the path from the first frame to the second. With ω_i, U_i the twist of body i as an observer on the
first frame sees it (taken at the second frame's origin), e_i the angular and s_i the sliding rate of its joint, and r_i
the way from the body to that origin, every joint adds (its axes are fixed in its body)

    ± ( ω_i × s_i + (ω_i × e_i) × r_i + e_i × (U - U_i + ω_i × r_i) ;  ω_i × e_i )

the derivative of its column of J, times its rate. Joints that move both frames alike do not enter.
"""

from __future__ import annotations

from surefoot import ops
from surefoot.kinematics.bodies import bodies, joint_subspace
from surefoot.kinematics.frame import Frame
from surefoot.kinematics.path import path_between
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["relative_bias"]


def relative_bias(tree: Tree, first: Frame, second: Frame, q: Array, v: Array) -> Array:
    """J̇ v (6,), m/s² and rad/s², of `relative_jacobian(…, "local_world_aligned")`, in the axes of the first frame.

    Args:
        tree: The tree.
        first: The frame of the observer.
        second: The frame that is looked at.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    path = path_between(tree, first, second, q)
    axes, levers = path.axes(first), path.levers(second)
    seen, total = [], ops.zeros(6, like=[q, v])
    for sign, branch in ((-1.0, path.inward), (1.0, path.outward)):
        for i in branch:
            S, rates = joint_subspace(bodies(tree)[i]), v[dof_rows(tree, i)]
            turn, slide, arm = axes[i] @ (S[3:] @ rates), axes[i] @ (S[:3] @ rates), axes[i] @ levers[i]
            before, total = total, total + sign * ops.concatenate([slide + ops.cross(turn, arm), turn])
            seen.append((sign, turn, slide, arm, total if sign > 0.0 else before))
    out = ops.zeros(6, like=[q, v])
    for sign, turn, slide, arm, body in seen:
        alpha = ops.cross(body[3:], turn)
        arm_rate = total[:3] - body[:3] + ops.cross(body[3:], arm)
        linear = ops.cross(body[3:], slide) + ops.cross(alpha, arm) + ops.cross(turn, arm_rate)
        out = out + sign * ops.concatenate([linear, alpha])
    return out
