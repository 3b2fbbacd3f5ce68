"""The figure-eight of a hand: `EightPath`, and `HandPath`, a limb and its path for `follow_consistently`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.ik.analysis import joints_between
from surefoot.ik.singular import PathProblem
from surefoot.robot import Robot
from surefoot.spatial import so3

_RANK = 1e-9  # singular values below this share of the largest belong to directions that the limb never moves in
_POSTURES = 8
_WIDE = 0.25  # share of a cycle in which the tilt changes, about an outer turn


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
            f"`{robot.name}` has several limbs", next_step="choose the moving frame: --set motion.frame=…"
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


@dataclass(frozen=True, eq=False)
class EightPath:
    """An eight that begins and ends at its outer turn.

        p(s) = c + a sin(s) u + b sin(2 s) w,  R(s) = exp(tilt k(s) (u × w)) R,  s = π/2 … π/2 + 2π cycles

    It crosses its centre at s = π, 2π, …; k is the number of the cycle, and goes up smoothly about the outer turn
    between two cycles.

    Args:
        centre: c (3,) in world [m].
        rotation: R (3, 3), R_world_frame in the first cycle.
        axes: (2, 3) u and w, of unit length.
        size: a and b [m].
        cycles: Number of cycles.
        tilt: Turn from one cycle to the next [rad].
    """

    centre: Array
    rotation: Array
    axes: Array
    size: tuple[float, float]
    cycles: int
    tilt: float = 0.0

    @property
    def start(self) -> float:
        """First s."""
        return 0.5 * np.pi

    @property
    def end(self) -> float:
        """Last s."""
        return self.start + 2.0 * np.pi * self.cycles

    def pose(self, s: float) -> Array:
        """T_world_frame (4, 4).

        Args:
            s: Path parameter.
        """
        (a, b), (u, w) = self.size, self.axes
        T = np.eye(4)
        T[:3, 3] = self.centre + a * np.sin(s) * u + b * np.sin(2.0 * s) * w
        T[:3, :3] = np.array(so3.exp(self.tilt * self._cycle(s)[0] * np.cross(u, w)), dtype=float) @ self.rotation
        return T

    def twist(self, s: float) -> Array:
        """(6,) rate of the frame for s' = 1, in world axes, linear first.

        Args:
            s: Path parameter.
        """
        (a, b), (u, w) = self.size, self.axes
        linear = a * np.cos(s) * u + 2.0 * b * np.cos(2.0 * s) * w
        return np.concatenate([linear, self.tilt * self._cycle(s)[1] * np.cross(u, w)])

    def _cycle(self, s: float) -> tuple[float, float]:
        """The number of the cycle k, and dk/ds."""
        if self.cycles == 1:
            return 0.0, 0.0
        at = (s - self.start) / (2.0 * np.pi)
        turn = min(max(round(at), 1), self.cycles - 1)
        x = float(np.clip((at - turn) / _WIDE + 0.5, 0.0, 1.0))
        rate = 30.0 * (x * (1.0 - x)) ** 2 / (_WIDE * 2.0 * np.pi)
        return turn - 1.0 + x**3 * (10.0 - 15.0 * x + 6.0 * x**2), rate


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
            raise NotSupportedError(
                f"joint `{several[0]}` has several axes; the motion supports only joints with one axis"
            )
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
                next_step="release the orientation: --set motion.orientation=false",
            )
        for s in np.linspace(self.path.start, self.path.end, 40):
            twist = self.path.twist(float(s))[: self._rows.shape[1]]
            if not np.abs(twist - self._rows.T @ (self._rows @ twist)).max() <= _RANK:
                raise NotSupportedError(
                    f"`{self.frame}` cannot move in the plane of the eight",
                    subject=self.frame,
                    kind="frame",
                    evidence={"a direction of the path": twist},
                    next_step="choose another one, e.g. --set motion.plane=xz",
                )
