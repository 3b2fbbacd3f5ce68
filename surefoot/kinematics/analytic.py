"""Jacobians of a position and three angles, for tasks that are written in angles."""

from __future__ import annotations

from surefoot import ops
from surefoot.kinematics.frame import Frame
from surefoot.kinematics.frames import frame_placement
from surefoot.kinematics.jacobian import frame_jacobian
from surefoot.ops import Array
from surefoot.robot.tree import Tree
from surefoot.spatial import euler, se3

__all__ = ["analytic_jacobian"]


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
