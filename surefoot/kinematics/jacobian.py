"""Jacobians of frames: the twist of a frame is J v.

    J = [e_1 × r_1 … ; e_1 …]        [kin.jacobian]   Nenchev & Konno 2019, section 2.4.2; Orin & Schrader 1984
    (any joint: the columns of S in the wanted axes, with e × r for their angular part)

Only the joints on the way to the frame are looked at (Buschmann 2014, section 2.4: columns of other joints are zero),
and r runs from joint to frame, so that no position in the world is needed.
"""

from __future__ import annotations

from surefoot import ops
from surefoot.kinematics.bodies import Body, bodies, joint_subspace
from surefoot.kinematics.frame import WORLD, Frame, Reference, require_reference
from surefoot.kinematics.path import path_between
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["frame_jacobian", "relative_jacobian"]


def frame_jacobian(tree: Tree, frame: Frame, q: Array, reference: Reference = "local_world_aligned") -> Array:
    """J (6, nv) with J v the twist of the frame, linear first.   [kin.jacobian].

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        reference: One of `REFERENCES`.
    """
    return relative_jacobian(tree, WORLD, frame, q, reference)


def relative_jacobian(
    tree: Tree, first: Frame, second: Frame, q: Array, reference: Reference = "local_world_aligned"
) -> Array:
    """J (6, nv) with J v the twist of the second frame as an observer on the first one sees it.

    It is the frame Jacobian with the first frame in the world's place: "local" is at the second frame's origin in its
    axes, "local_world_aligned" there in the axes of the first, "world" at the origin and in the axes of the first.
    Joints that move both alike do not enter.

    Args:
        tree: The tree.
        first: The frame of the observer.
        second: The frame that is looked at.
        q: (nq,) configuration.
        reference: One of `REFERENCES`.
    """
    require_reference(reference)
    path = path_between(tree, first, second, q)
    axes = path.reversed().axes(second) if reference == "local" else path.axes(first)
    levers = path.reversed().levers(first) if reference == "world" else path.levers(second)
    J = ops.zeros((6, len(tree.armature)), like=q)
    for sign, branch in ((1.0, path.outward), (-1.0, path.inward)):
        for i in branch:
            rows = dof_rows(tree, i)
            J[:, rows] = J[:, rows] + sign * _columns(bodies(tree)[i], axes[i], levers[i])
    return J


def _columns(body: Body, R: Array, lever: Array) -> Array:
    """What unit rates of a joint give to what lies beyond it: twists (6, nv of the joint).

    Args:
        body: The body that the joint moves.
        R: R_axes_body (3, 3): the axes in which twists are written.
        lever: The point at which they are taken, in the body (3,), m.
    """
    S = joint_subspace(body)
    arms = ops.stack([ops.cross(axis, lever) for axis in S[3:].T], axis=1)
    return ops.concatenate([R @ (S[:3] + arms), R @ S[3:]])
