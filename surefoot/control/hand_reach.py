"""`HandReach`: move a frame along a straight line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.control.driven_joints import drive_index
from surefoot.control.joint_follower import JointFollower, JointGains, JointMotion, Posture
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import Quintic
from surefoot.robot import Robot
from surefoot.solvers import ode

__all__ = ["HandReach"]

_CURVE_TOLERANCE = 1e-10  # of one step along the curve [rad]
_LONGEST_STEP = 0.02  # of the way
_LANDED = 1e-12  # [m]
_MOST_STEPS = 100
_DAMPING = 1e-6  # λ² as a share of the trace of J Jᵀ
_SINGULAR = 1e-3  # smallest by largest singular value of a posture that counts as singular


class HandReach(JointFollower):
    """Move the origin of a frame by a displacement on a straight line, from rest to rest, and hold it there.

    The way along the line is a quintic of time. Joint positions follow the curve of least joint speeds,

        dx/ds = Jᵀ (J Jᵀ)⁻¹ d        [control.hand-reach]   Whitney 1969

    and are brought onto the line by damped least squares from there (Wampler 1986). Only positions count, the
    orientation is free; the base rests as in the start posture. Nenchev & Konno 2019, section 8.4.7.

    Args:
        robot: The robot.
        frame: The frame.
        displacement: (3,) in world [m].
        start: When it begins [s].
        duration: How long it takes [s].
        joints: Driven joints that move; those between the frame and the nearest body that branches if omitted.
        q0: Start posture: (nq,), or positions of joints by name, the others as at home; home if omitted.
        gravity: False for a robot that nothing pulls and that stands on nothing.
        **gains: As in `JointGains`.

    Raises:
        NotSupportedError: The line leaves the reach of the limb, or it passes a singular posture.
        ShapeError: A joint leaves its limits on the way.
        UnknownNameError: There is no such frame or joint.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        displacement: ArrayLike,
        start: float = 0.0,
        duration: float = 2.0,
        joints: Sequence[str] | None = None,
        q0: Posture | None = None,
        gravity: bool = True,
        **gains: Unpack[JointGains],
    ) -> None:
        super().__init__(robot, q0, gravity, **gains)
        self.frame, self._frame_id, self._data = frame, robot.frame_id(frame), robot.model.createData()
        self.displacement = finite_array(displacement, (3,), "displacement of a frame")
        names = _limb(robot, frame) if joints is None else list(joints)
        drives = [drive_index(robot, joint) for joint in names]
        self._columns, self._to_drives = self._motions[:, drives], np.eye(robot.nu)[:, drives]
        self.start = number(start, "start of the reach")
        self._timing = Quintic.at_rest(0.0, 1.0, number(duration, "duration of the reach", positive=True))
        self._origin = self._look(np.zeros(len(names))).position
        self._curve = self._joint_curve(len(names))
        self._require_inside_limits([self._to_drives @ x for x in self._curve.x], "the way of the hand")

    def motion(self, t: float) -> JointMotion:
        """How the driven joints shall move.

        Args:
            t: Time [s].
        """
        s, ds, dds = (float(part) for part in self._timing.sample(t - self.start))
        s = min(max(s, 0.0), 1.0)  # rounding
        x = self._onto_line(self._curve.sample(s)[0], s)
        tangent, bend = self._tangent_and_bend(x)
        parts = (x, ds * tangent, dds * tangent + ds**2 * bend)
        return JointMotion(*(self._to_drives @ part for part in parts))

    def _joint_curve(self, size: int) -> ode.OdeResult:
        """The displacements of the limb's joints over the share 0 … 1 of the way."""

        def slope(s: float, x: Array) -> Array:
            return self._tangent(self._look(x).jacobian, s)

        return ode.integrate(slope, np.zeros(size), 0.0, 1.0, tol=_CURVE_TOLERANCE, max_step=_LONGEST_STEP)

    def _tangent(self, J: Array, s: float) -> Array:
        """dx/ds of the limb's joints."""
        sizes = np.linalg.svd(J, compute_uv=False) if J.size else np.zeros(1)
        if J.shape[1] < 3 or sizes[-1] <= _SINGULAR * sizes[0]:
            raise NotSupportedError(
                f"`{self.frame}` of `{self.robot.name}` cannot move on along the line: its limb is singular",
                subject=self.frame,
                kind="frame",
                evidence={"share of the way": round(s, 3), "joints": J.shape[1]},
                next_step="ask for a shorter way, start elsewhere, or name more joints",
            )
        return J.T @ np.linalg.solve(J @ J.T, self.displacement)

    def _tangent_and_bend(self, x: Array) -> tuple[Array, Array]:
        """dx/ds and d²x/ds², with y = (J Jᵀ)⁻¹ d: J'ᵀ y + Jᵀ y', J Jᵀ y' = −(J' Jᵀ + J J'ᵀ) y."""
        J = self._look(x).jacobian
        square = J @ J.T
        y = np.linalg.solve(square, self.displacement)
        tangent = J.T @ y
        dJ = self._jacobian_change(x, tangent)
        dy = -np.linalg.solve(square, dJ @ tangent + J @ (dJ.T @ y))
        return tangent, dJ.T @ y + J.T @ dy

    def _onto_line(self, x: Array, s: float) -> Array:
        """The nearby displacements of the joints that put the frame on the line: damped least squares."""
        goal = self._origin + s * self.displacement
        for _ in range(_MOST_STEPS):
            position, J = self._look(x)
            miss = goal - position
            if np.abs(miss).max() <= _LANDED:
                return x
            square = J @ J.T
            x = x + J.T @ np.linalg.solve(square + _DAMPING * np.trace(square) * np.eye(3), miss)
        raise ShapeError(
            f"`{self.frame}` does not reach its line",
            subject=self.frame,
            kind="frame",
            evidence={"share of the way": s, "miss [m]": miss.tolist()},
        )

    def _look(self, x: Array) -> _Look:
        """Where the frame is, and how the limb moves it."""
        model, data = self.robot.model, self._data
        pin.computeJointJacobians(model, data, self._moved(self._columns @ x))
        position = np.array(pin.updateFramePlacement(model, data, self._frame_id).translation)
        J = pin.getFrameJacobian(model, data, self._frame_id, pin.LOCAL_WORLD_ALIGNED)
        return _Look(position, np.array(J[:3]) @ self._columns)

    def _jacobian_change(self, x: Array, rate: Array) -> Array:
        """dJ/ds (3, k) for a rate dx/ds of the limb's joints."""
        model, data = self.robot.model, self._data
        pin.computeJointJacobiansTimeVariation(model, data, self._moved(self._columns @ x), self._columns @ rate)
        pin.updateFramePlacement(model, data, self._frame_id)
        dJ = pin.getFrameJacobianTimeVariation(model, data, self._frame_id, pin.LOCAL_WORLD_ALIGNED)
        return np.array(dJ[:3]) @ self._columns


class _Look(NamedTuple):
    """Position (3,) of the frame in world [m] and its Jacobian (3, k) by the limb's joints."""

    position: Array
    jacobian: Array


def _limb(robot: Robot, frame: str) -> list[str]:
    """The driven joints from the nearest body that branches, or the base, out to the frame."""
    tree, driven = robot.tree, {drive.joint for drive in robot.drives}
    i, out = robot.body_of(frame), []
    while i >= 0 and i != robot.base_joint:
        out.append(tree.joint_names[i])
        i = int(tree.parents[i])
        if i >= 0 and len(tree.children(i)) > 1:
            break
    return [joint for joint in reversed(out) if joint in driven]
