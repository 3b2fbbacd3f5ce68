"""`HandPath`: a limb and the path of its hand, as `follow_consistently` wants them."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError
from surefoot.ik import PathProblem
from surefoot.ik.analysis_limb import joints_between
from surefoot.robot import Robot
from surefoot.scenario.motions.eight_path import EightPath

__all__ = ["HandPath", "end_frame", "frame_poses"]

Array = NDArray[np.float64]
_RANK = 1e-9  # singular values below this share of the largest belong to directions that the limb never moves in
_POSTURES = 8


def end_frame(robot: Robot) -> str:
    """The last frame of a robot that is one chain, up to where it branches into fingers.

    Args:
        robot: The robot; its base is fixed.
    """
    tree, body = robot.tree, -1
    while len(further := [i for i in range(tree.n) if tree.parents[i] == body]) == 1:
        body = further[0]
    if body < 0:
        raise NotSupportedError(
            f"`{robot.name}` has several limbs", next_step="name the frame that moves: --set motion.frame=…"
        )
    frames = [f for f in robot.model.frames if f.parentJoint == body + 1 and f.type != pin.FrameType.JOINT]
    return str(frames[-1].name)


def frame_poses(robot: Robot, q: Array, frame: str) -> Array:
    """T_world_frame (n, 4, 4) over postures.

    Args:
        robot: The robot.
        q: (n, nq) postures.
        frame: The frame.
    """
    data, index, out = robot.model.createData(), robot.frame_id(frame), np.empty((len(q), 4, 4))
    for k, row in enumerate(q):
        pin.framesForwardKinematics(robot.model, data, np.array(row))
        out[k] = data.oMf[index].homogeneous
    return out


class HandPath:
    """The joints x (n,) of a limb [rad] or [m], as they differ from home, and an eight for its frame.

    Only directions that the limb moves in at all are task rows: x, z and the turn about y for an arm in that plane.

    Args:
        robot: The robot; its base is fixed.
        frame: The frame that moves.
        path: Where it should be.
        orientation: Whether the orientation of the frame counts too.

    Raises:
        NotSupportedError: The limb has fewer joints than the path has rows, cannot move in the plane of the path, or
            has joints of several axes or without drive.
    """

    def __init__(self, robot: Robot, frame: str, path: EightPath, orientation: bool) -> None:
        tree, joints = robot.tree, joints_between(robot, frame)
        if several := [tree.joint_names[i] for i in joints if tree.nv_of(i) != 1]:
            raise NotSupportedError(f"joint `{several[0]}` has several axes; the path is for joints with one")
        driven = {drive.joint for drive in robot.drives}
        if slack := [tree.joint_names[i] for i in joints if tree.joint_names[i] not in driven]:
            raise NotSupportedError(
                f"joint `{slack[0]}` on the way to `{frame}` has no drive", subject=frame, kind="frame"
            )
        self.robot, self.frame, self.path, self.orientation = robot, frame, path, orientation
        self.joints = tuple(tree.joint_names[i] for i in joints)
        self.columns = np.array([int(tree.v_index[i]) for i in joints])
        self._data, self._index = robot.model.createData(), robot.frame_id(frame)
        self._rows = np.eye(6 if orientation else 3)
        self._rows = self._moving_rows()
        self._require_way()

    @property
    def problem(self) -> PathProblem:
        """Error, Jacobian and direction in the rows that count."""
        return PathProblem(self._error, self.jacobian, lambda s: self._reduced(self.path.twist(s)))

    def posture(self, x: Array) -> Array:
        """(nq,) the whole robot.

        Args:
            x: (n,) joints of the limb.
        """
        step = np.zeros(self.robot.nv)
        step[self.columns] = x
        return np.array(pin.integrate(self.robot.model, np.array(self.robot.home), step))

    def joints_of(self, q: Array) -> Array:
        """The joints x (n,) of the limb in a posture.

        Args:
            q: (nq,) posture.
        """
        return np.array(pin.difference(self.robot.model, np.array(self.robot.home), np.array(q)))[self.columns]

    def miss(self, x: Array, s: float) -> Array:
        """(6,) the path's pose at s minus that of the frame, in world axes, linear first [m], [rad].

        Args:
            x: (n,) joints of the limb.
            s: Path parameter.
        """
        pin.framesForwardKinematics(self.robot.model, self._data, self.posture(x))
        T, place = self.path.pose(s), self._data.oMf[self._index]
        return np.concatenate([T[:3, 3] - place.translation, pin.log3(T[:3, :3] @ place.rotation.T)])

    def jacobian(self, x: Array) -> Array:
        """(m, n) in the rows that count.

        Args:
            x: (n,) joints of the limb.
        """
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        J = pin.computeFrameJacobian(self.robot.model, self._data, self.posture(x), self._index, axes)
        return self._reduced(np.reshape(J, (6, self.robot.nv))[:, self.columns])

    def _error(self, x: Array, s: float) -> Array:
        return self._reduced(self.miss(x, s))

    def _reduced(self, twist: Array) -> Array:
        return np.asarray(self._rows @ twist[: self._rows.shape[1]])

    def _moving_rows(self) -> Array:
        """(m, 3 or 6) an orthonormal basis of the directions in which the limb ever moves."""
        random = np.random.default_rng(0)
        postures = random.uniform(-1.0, 1.0, (_POSTURES, len(self.columns)))
        U, sizes, _ = np.linalg.svd(np.hstack([self.jacobian(x) for x in postures]), full_matrices=False)
        kept = sizes > _RANK * sizes[0]
        return self._rows if kept.all() else np.array(U[:, kept].T)

    def _require_way(self) -> None:
        """Refuse a limb that can never follow the path."""
        m, n = len(self._rows), len(self.columns)
        if n < m:
            raise NotSupportedError(
                f"the {n} joints of the limb to `{self.frame}` cannot follow a path with {m} rows",
                subject=self.frame,
                kind="frame",
                next_step="let the orientation go: --set motion.orientation=false",
            )
        for s in np.linspace(self.path.start, self.path.end, 40):
            twist = self.path.twist(float(s))[: self._rows.shape[1]]
            if np.abs(twist - self._rows.T @ (self._rows @ twist)).max() > _RANK:
                raise NotSupportedError(
                    f"`{self.frame}` cannot move in the plane of the eight",
                    subject=self.frame,
                    kind="frame",
                    evidence={"a direction of the path": twist},
                    next_step="choose another one, e.g. --set motion.plane=xz",
                )
