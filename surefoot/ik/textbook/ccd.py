"""Cyclic coordinate descent: one joint after the other turns as far as helps most, from the tip to the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, placement_matrix
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.kinematics.frames import frame_of
from surefoot.robot import Robot
from surefoot.spatial import se3, so3

_KINDS = ("revolute", "continuous", "prismatic")


@dataclass(frozen=True, eq=False)
class CcdResult:
    """Where cyclic coordinate descent ended.

    Args:
        q: (nq,) configuration, within the limits of the joints.
        position_error: Distance of the frame from its target [m].
        angle_error: Angle between the frame and its target [rad]; 0 for a target without orientation.
        sweeps: How often all joints were moved.
        success: Whether both errors are within their tolerances.
    """

    q: Array
    position_error: float
    angle_error: float
    sweeps: int
    success: bool


class CyclicDescent:
    """Cyclic coordinate descent for one frame of a robot.

        each joint makes |p_d − p|² + ℓ² (3 − tr R_dᵀ R) as small as it can, within its limits        [ik.ccd]
        revolute:  φ = atan2(z · Σ w b × a, Σ w (a·b − (a·z)(b·z)))        Wang & Chen 1991; Wimmer 2016, section 5.1
        prismatic: the step of the tip along the axis

    where the pairs a, b are the target and the tip as seen from the joint, with w = 1, and ½ ℓ² times the axes of the
    two frames. The sum never grows, no matrix is inverted, and singular postures do no harm. It converges slowly close
    to the target: use it for a first guess.

    Args:
        robot: The robot.
        frame: The frame.
        joints: Joints that move; all hinges and sliders between base and frame if omitted.

    Raises:
        NotSupportedError: No joint can move the frame, or one of them moves others along.
        UnknownNameError: There is no such frame, or a joint does not carry it.
    """

    def __init__(self, robot: Robot, frame: str, joints: Sequence[str] | None = None) -> None:
        tree = robot.tree
        self.robot, self.frame = robot, frame_of(robot, frame)
        chain = [self.frame.body, *tree.ancestors(self.frame.body)] if self.frame.body >= 0 else []
        movable = [i for i in chain if tree.kinds[i] in _KINDS and tree.mimic_source[i] < 0]
        names = {tree.joint_names[i] for i in movable}
        for joint in joints or ():
            if joint not in names:
                raise one_of(f"hinge or slider that carries `{frame}`", joint, names)
        self._joints = [i for i in movable if joints is None or tree.joint_names[i] in joints]
        led = {int(tree.mimic_source[i]) for i in chain}
        if not self._joints or led & set(self._joints):
            raise NotSupportedError(
                f"no joint moves `{frame}` of `{robot.name}` on its own",
                evidence={"joints that move others along": [tree.joint_names[i] for i in led & set(self._joints)]},
            )
        self._placements = compile_robot(robot).placements
        self._T_body_frame = se3.make(self.frame.R, self.frame.p)

    def solve(
        self,
        q0: ArrayLike,
        target: ArrayLike,
        sweeps: int = 200,
        position_tolerance: float = 1e-4,
        angle_tolerance: float = 1e-3,
        length: float = 0.3,
    ) -> CcdResult:
        """Bring the frame to a target.

        Args:
            q0: (nq,) where to start; joints beyond their limits are first brought to them.
            target: (3,) in world [m], or a placement (4, 4) in world.
            sweeps: Give up after this many.
            position_tolerance: [m].
            angle_tolerance: [rad].
            length: ℓ [m]: how much position a radian is worth.
        """
        q = np.array(self.robot.checked_q(q0))
        goal, weight = _goal(target, number(length, "length", positive=True))
        for at in [int(self.robot.tree.q_index[i]) for i in self._joints if self.robot.tree.kinds[i] != "continuous"]:
            q[at] = np.clip(q[at], self.robot.limits.lower[at], self.robot.limits.upper[at])
        for done in range(sweeps + 1):
            bodies = self._placements(q)
            tip = bodies[self.frame.body] @ self._T_body_frame
            errors = _errors(tip, goal, weight)
            success = errors[0] <= position_tolerance and errors[1] <= angle_tolerance
            if success or done == sweeps:
                break
            for i in self._joints:  # outer joints do not move inner ones: one look at the bodies serves the whole sweep
                tip = self._descend(q, i, bodies[i], tip, goal, weight)
        return CcdResult(q, *errors, done, bool(success))

    def _descend(self, q: Array, i: int, body: Array, tip: Array, goal: Array, weight: float) -> Array:
        """Move joint i in q to its best position; returns where the tip is then."""
        tree, limits = self.robot.tree, self.robot.limits
        axis, origin, at = body[:3, :3] @ tree.axes[i], body[:3, 3], int(tree.q_index[i])
        low, high = limits.lower[at] - q[at], limits.upper[at] - q[at]
        if tree.kinds[i] == "prismatic":
            step = float(np.clip(axis @ (goal[:3, 3] - tip[:3, 3]), low, high))
            q[at] += step
            return se3.make(tip[:3, :3], tip[:3, 3] + step * axis)
        angle = _best_turn(axis, tip[:3, 3] - origin, goal[:3, 3] - origin, tip[:3, :3], goal[:3, :3], weight)
        if tree.kinds[i] == "continuous":
            c, s = np.cos(angle), np.sin(angle)
            q[at : at + 2] = [c * q[at] - s * q[at + 1], s * q[at] + c * q[at + 1]]
        else:
            angle = _within(angle, low, high)
            q[at] += angle
        R = so3.exp(angle * axis)
        return se3.make(R @ tip[:3, :3], origin + R @ (tip[:3, 3] - origin))


def _within(angle: float, low: float, high: float) -> float:
    """The turn between low ≤ 0 ≤ high that comes nearest to the best one, on the circle."""
    for same in (angle, angle - 2.0 * np.pi * np.sign(angle)):
        if low <= same <= high:
            return float(same)
    ends = [end for end in (0.0, low, high) if np.isfinite(end)]
    return float(max(ends, key=lambda end: np.cos(end - angle)))


def _best_turn(axis: Array, tip: Array, goal: Array, R_tip: Array, R_goal: Array, weight: float) -> float:
    """How far the joint should turn what it carries, from the lever arms and the axes of tip and goal [rad]."""
    flat = np.eye(3) - np.outer(axis, axis)
    pull = np.outer(tip, goal) + 0.5 * weight * (R_tip @ R_goal.T)  # Σ w b aᵀ
    cosine = float(np.trace(flat @ pull))
    sine = float(axis @ [pull[1, 2] - pull[2, 1], pull[2, 0] - pull[0, 2], pull[0, 1] - pull[1, 0]])
    return float(np.arctan2(sine, cosine))


def _goal(target: ArrayLike, length: float) -> tuple[Array, float]:
    """The target as a placement, and ℓ²; zero where only the position counts."""
    if np.shape(target) == (3,):
        return se3.make(np.eye(3), finite_array(target, (3,), "target")), 0.0
    if np.shape(target) == (4, 4):
        return placement_matrix(target, "target"), length**2
    raise ShapeError(f"target has shape {np.shape(target)}, expected (3,) or (4, 4)")


def _errors(tip: Array, goal: Array, weight: float) -> tuple[float, float]:
    angle = float(so3.angle_between(tip[:3, :3], goal[:3, :3])) if weight > 0.0 else 0.0
    return float(np.linalg.norm(goal[:3, 3] - tip[:3, 3])), angle
