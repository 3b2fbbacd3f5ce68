"""Jacobians of frames: the twist of a frame is J v.

    J = [e_1 × r_1 … ; e_1 …]        [kin.jacobian]   Nenchev & Konno 2019, section 2.4.2; Orin & Schrader 1984
    (any joint: the columns of S in the wanted axes, with e × r for their angular part)

Only joints on the way to the frame enter (Buschmann 2014, section 2.4: columns of other joints are zero), and r runs
from joint to frame, so that no position in the world is needed. `body_jacobians` computes those of all bodies at once,
without the zero columns; `analytic_jacobian` is for tasks that are written in angles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.kinematics.fk import JOINT_PLACEMENTS
from surefoot.kinematics.frames import WORLD, Frame, Reference, frame_placement, path_between, require_reference
from surefoot.kinematics.recursion import Body, bodies, dof_rows, joint_subspace, run
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial import euler, se3


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


@dataclass(frozen=True, eq=False)
class BodyJacobian:
    """The columns of a body's Jacobian that are not zero by structure.

    Args:
        columns: (k,) their places in v, ascending.
        block: (6, k) twist of the body at its origin, in its axes, for unit rates.
    """

    columns: NDArray[np.int64]
    block: Array

    def dense(self, nv: int) -> Array:
        """The whole Jacobian (6, nv)."""
        J = ops.zeros((6, nv), like=self.block)
        J[:, self.columns] = self.block
        return J


def body_jacobians(tree: Tree, q: Array) -> list[BodyJacobian]:
    """The Jacobian of every body, in its axes at its origin, from its parent's.

    J_i = X_ip J_p + S_i        [kin.body-jacobians]   Buschmann 2014, section 2.4 (ancestor lists)

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields, _ = run(JOINT_PLACEMENTS, tree, {"q": q})
    out: list[BodyJacobian] = []
    nothing = BodyJacobian(np.zeros(0, dtype=np.int64), ops.zeros((6, 0), like=q))
    for i, body in enumerate(bodies(tree)):
        parent = out[tree.parents[i]] if tree.parents[i] >= 0 else nothing
        carried = _carried(fields[i]["R"], fields[i]["p"], parent.block)
        rows = dof_rows(tree, i)
        out.append(_with_joint(parent.columns, carried, np.arange(rows.start, rows.stop), joint_subspace(body)))
    return out


def _carried(R: Array, p: Array, block: Array) -> Array:
    """Twists (6, k) of the parent, in the child."""
    linear = [column[:3] + ops.cross(column[3:], p) for column in block.T]
    moved = ops.stack(linear, axis=1) if linear else block[:3]
    return ops.concatenate([R.T @ moved, R.T @ block[3:]])


def _with_joint(columns: NDArray[np.int64], carried: Array, own: NDArray[np.int64], S: Array) -> BodyJacobian:
    """Add the joint's own columns; a follower may add to one that is already there."""
    together = np.union1d(columns, own)
    block = ops.zeros((6, len(together)), like=carried)
    block[:, np.searchsorted(together, columns)] = carried
    places = np.searchsorted(together, own)
    block[:, places] = block[:, places] + S
    return BodyJacobian(together, block)


def analytic_jacobian(tree: Tree, frame: Frame, q: Array, convention: str = "zyx") -> Array:
    """J_a (6, nv): J_a v is the rate of the frame's position in world, m/s, and of its three angles, rad/s.

    J_a = diag(E, A⁻¹) J, ω = A dθ/dt        [kin.analytic]   Nenchev & Konno 2019, section 2.4.2
    (erratum: the determinant of A for z-y-x is -cos θ)

    Args:
        tree: The tree.
        frame: The frame.
        q: (nq,) configuration.
        convention: A key of `surefoot.spatial.euler.SEQUENCES`.

    Raises:
        SingularParametersError: The rates of the angles do not exist here (numbers only).
    """
    J = frame_jacobian(tree, frame, q)
    angles = euler.from_matrix(convention, se3.rotation(frame_placement(tree, frame, q)))
    return ops.concatenate([J[:3], euler.rate_map_inverse(convention, angles, "world") @ J[3:]])
