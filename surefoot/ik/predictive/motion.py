"""How a redundant arm moves when its task is given and its self-motion is free, and the derivatives of that.

    q' = f(q, u, t) = J# w'_e + (I − J# J) u,   w'_e = w'_d + K e(q)        [ik.predictive]
    Buschmann 2014, (5.100) and (5.19); Nakamura & Hanafusa 1987

With G = (J Jᵀ + k² I)⁻¹, J# = Jᵀ G and y = G (w'_e − J u) this is q' = u + Jᵀ y, and the derivatives (A.53), (A.54) and
(A.59) of Buschmann 2014 come down to

    f_u = N = I − J# J,   f_q = N Y − J# (D(q') − K e_q),   Y_ij = yᵀ ∂J_i/∂q_j,   D(x) = ∂(J x)/∂q at fixed x

for every damping k (k = 0: the pseudoinverse itself; Wampler 1986). Plain functions over `surefoot.ops`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot import ops
from surefoot.kinematics import Frame, frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_velocity_derivatives
from surefoot.ops import Array
from surefoot.robot import Tree


@dataclass(frozen=True, eq=False)
class TaskRows:
    """A task of one frame: which of its six coordinates are given, and how firmly.

    Args:
        frame: The frame.
        rows: Of the twist at the frame's origin in world axes, linear first: (0, 1, 2) is its position.
        gain: K: rate at which an error is taken back [1/s].
        damping: k of the damped pseudoinverse [m or rad].
    """

    frame: Frame
    rows: tuple[int, ...]
    gain: float
    damping: float


@dataclass(frozen=True, eq=False)
class NullSpaceMotion:
    """The motion that results from a null-space velocity.

    Args:
        rate: q' (n,) [rad/s or m/s].
        projector: N (n, n), symmetric: N u is the self-motion.
        inverse: J# (n, rows).
        pull: y (rows,): q' = u + Jᵀ y.
        error_slope: ∂e/∂q (rows, n).
    """

    rate: Array
    projector: Array
    inverse: Array
    pull: Array
    error_slope: Array


def null_space_motion(tree: Tree, task: TaskRows, q: Array, u: Array, pose: Array, twist: Array) -> NullSpaceMotion:
    """The joint velocities of a task and of a null-space velocity.   [ik.predictive].

    Args:
        tree: The tree; its joints turn or slide.
        task: The task.
        q: (n,) posture [rad or m].
        u: (n,) null-space velocity [rad/s or m/s].
        pose: (4, 4) wanted T_world_frame.
        twist: (6,) its rate in world axes, linear first.
    """
    rows = list(task.rows)
    full = frame_jacobian(tree, task.frame, q)
    error, slope = _error(frame_placement(tree, task.frame, q), pose, full)
    J = full[rows]
    wanted = ops.array(twist)[rows] + task.gain * error[rows]
    right = ops.concatenate([J, (wanted - J @ u)[:, None]], axis=1)
    solved = ops.solve(J @ J.T + task.damping**2 * np.eye(len(rows)), right)
    inverse, pull = solved[:, :-1].T, solved[:, -1]
    return NullSpaceMotion(u + J.T @ pull, np.eye(len(q)) - inverse @ J, inverse, pull, slope[rows])


def motion_by_posture(tree: Tree, task: TaskRows, q: Array, motion: NullSpaceMotion) -> Array:
    """f_q (n, n) at fixed u and t.   [ik.predictive].

    Args:
        tree: The tree.
        task: The task.
        q: (n,) posture.
        motion: The motion there.
    """
    rows = list(task.rows)
    bent = ops.stack([motion.pull @ _bend(tree, task.frame, q, unit)[rows] for unit in np.eye(len(q))])
    along = _bend(tree, task.frame, q, motion.rate)[rows]
    return motion.projector @ bent - motion.inverse @ (along - task.gain * motion.error_slope)


def _bend(tree: Tree, frame: Frame, q: Array, x: Array) -> Array:
    """D(x) = ∂(J x)/∂q (6, n) at fixed x."""
    return frame_velocity_derivatives(tree, frame, q, x)[0]


def _error(T: Array, pose: Array, J: Array) -> tuple[Array, Array]:
    """Error of the pose (6,), and its derivative by q (6, n).

    Of the rotation it is sin(θ) times the axis: with E = R_d Rᵀ the vector of ½ (E − Eᵀ), whose derivative is
    −½ (tr(E) I − Eᵀ) J_ω: smooth, and the rotation vector near zero.
    """
    E = ops.array(pose[:3, :3] @ T[:3, :3].T)
    turn = 0.5 * ops.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]])
    turned = 0.5 * ((E[0, 0] + E[1, 1] + E[2, 2]) * np.eye(3) - E.T)
    return ops.concatenate([pose[:3, 3] - T[:3, 3], turn]), -ops.concatenate([J[:3], turned @ J[3:]])
