"""Coordinates for optimal control: nv numbers y that solvers may add to, in place of a configuration with quaternions.

A floating base has its position in world and the angles yaw, pitch, roll (Koch, (2.8)), a joint without bounds its
angle; all others keep their coordinate. With ẏ and ÿ as rates,

    q = q(y),    v = B(y) ẏ,    a = B(y) ÿ + Ḃ ẏ        [ocp.chart]

The angles are singular at a pitch of ±90°.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.ops import Array as AnyArray
from surefoot.robot import Robot
from surefoot.spatial import euler, quaternion

_SAME = ("revolute", "prismatic", "helical", "translation")
_BASE = ("x", "y", "z", "yaw", "pitch", "roll")


class Chart:
    """Coordinates y of a robot, in the order of v.

    Args:
        robot: The robot; it has no ball joints.

    Attributes:
        names: nv names: of joints, and `x y z yaw pitch roll` of a floating base.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot, tree = robot, robot.tree
        self.joints = [i for i in range(tree.n) if tree.mimic_source[i] < 0]
        wrong = [tree.joint_names[i] for i in self.joints if tree.kinds[i] == "spherical"]
        if wrong:
            raise NotSupportedError(
                f"optimal control has no coordinates for the ball joint `{wrong[0]}`",
                next_step="replace it by three hinges",
                subject=wrong[0],
                kind="joint",
            )
        self.names = [""] * robot.nv
        for i in self.joints:
            rows, name = self._rows(i), tree.joint_names[i]
            labels = {6: _BASE, 3: ("x", "y", "yaw" if tree.kinds[i] == "planar" else "z"), 1: (name,)}[len(rows)]
            for row, label in zip(rows, labels, strict=True):
                self.names[row] = label

    def _rows(self, i: int) -> range:
        start = int(self.robot.tree.v_index[i])
        return range(start, start + self.robot.tree.nv_of(i))

    def configuration(self, y: AnyArray) -> AnyArray:
        """Configuration q (nq,) of y (nv,); also for symbols."""
        tree = self.robot.tree
        parts = []
        for i in sorted(self.joints, key=lambda i: int(tree.q_index[i])):
            own = y[self._rows(i)[0] : self._rows(i)[-1] + 1]
            match tree.kinds[i]:
                case "free":
                    own = ops.concatenate([own[:3], _quaternion(own[3:])])
                case "planar":
                    own = ops.array([own[0], own[1], ops.cos(own[2]), ops.sin(own[2])])
                case "continuous":
                    own = ops.array([ops.cos(own[0]), ops.sin(own[0])])
            parts.append(own)
        return ops.concatenate(parts)

    def motion(self, y: AnyArray, dy: AnyArray, ddy: AnyArray | None = None) -> tuple[AnyArray, AnyArray]:
        """Velocity v and acceleration a (nv,) of rates; a is zero if ddy is None. Also for symbols."""
        v = ops.zeros(len(dy), like=[y, dy]) + dy
        rest = np.zeros(len(dy)) if ddy is None else ddy
        a = ops.zeros(len(dy), like=[y, dy, rest]) + rest
        for i in self.joints:
            rows, kind = self._rows(i), self.robot.tree.kinds[i]
            if kind in ("free", "planar"):
                one = slice(rows[0], rows[-1] + 1)
                v[one], a[one] = (_free if kind == "free" else _planar)(y[one], dy[one], rest[one])
        return v, a

    def second_rates(self, y: AnyArray, dy: AnyArray, a: AnyArray) -> AnyArray:
        """Second rates ÿ (nv,) of an acceleration; also for symbols."""
        ddy = ops.zeros(len(dy), like=[y, dy, a]) + a
        _, bias = self.motion(y, dy)
        for i in self.joints:
            rows, kind = self._rows(i), self.robot.tree.kinds[i]
            if kind in ("free", "planar"):
                one = slice(rows[0], rows[-1] + 1)
                own, rest = y[one], (a - bias)[one]
                if kind == "free":
                    linear = euler.to_matrix("zyx", own[3:]) @ rest[:3]
                    ddy[one] = ops.concatenate([linear, euler.rate_map_inverse("zyx", own[3:]) @ rest[3:]])
                else:
                    c, s = ops.cos(own[2]), ops.sin(own[2])
                    ddy[one] = ops.array([c * rest[0] - s * rest[1], s * rest[0] + c * rest[1], rest[2]])
        return ddy

    def coordinates(self, q: Any) -> Array:
        """Coordinates y (nv,) of a configuration (numbers)."""
        q, tree, y = np.asarray(q, dtype=float), self.robot.tree, np.zeros(self.robot.nv)
        for i in self.joints:
            start, rows = int(tree.q_index[i]), list(self._rows(i))
            own = q[start : start + tree.nq_of(i)]
            match tree.kinds[i]:
                case "free":
                    y[rows] = np.r_[own[:3], euler.from_matrix("zyx", quaternion.to_matrix(own[3:]))]
                case "planar":
                    y[rows] = np.r_[own[:2], np.arctan2(own[3], own[2])]
                case "continuous":
                    y[rows] = np.arctan2(own[1], own[0])
                case _:
                    y[rows] = own
        return y

    def rates(self, y: Array, v: Array) -> Array:
        """Rates ẏ (nv,) of a velocity (numbers)."""
        B = np.column_stack([self.motion(y, column)[0] for column in np.eye(len(y))])
        return np.linalg.solve(B, np.asarray(v, dtype=float))

    def limits(self) -> tuple[Array, Array]:
        """Lower and upper ends of y (nv,); none for the base and for angles without bounds."""
        tree, limits = self.robot.tree, self.robot.limits
        lower, upper = np.full(self.robot.nv, -np.inf), np.full(self.robot.nv, np.inf)
        for i in self.joints:
            if tree.kinds[i] in _SAME:
                rows, start = list(self._rows(i)), int(tree.q_index[i])
                lower[rows] = limits.lower[start : start + len(rows)]
                upper[rows] = limits.upper[start : start + len(rows)]
        return lower, upper


def _quaternion(angles: AnyArray) -> AnyArray:
    """Quaternion (x, y, z, w) of yaw, pitch, roll; smooth for symbols."""
    (cz, sz), (cy, sy), (cx, sx) = [(ops.cos(0.5 * x), ops.sin(0.5 * x)) for x in angles]
    return ops.array(
        [
            sx * cy * cz - cx * sy * sz,
            cx * sy * cz + sx * cy * sz,
            cx * cy * sz - sx * sy * cz,
            cx * cy * cz + sx * sy * sz,
        ]
    )


def _free(y: AnyArray, dy: AnyArray, ddy: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Twist of a floating base in its own axes, and its rate: ω = E(θ) dθ/dt."""
    R = euler.to_matrix("zyx", y[3:])
    cy, sy, cx, sx = ops.cos(y[4]), ops.sin(y[4]), ops.cos(y[5]), ops.sin(y[5])
    E = ops.array([[-sy, 0.0, 1.0], [cy * sx, cx, 0.0], [cy * cx, -sx, 0.0]])
    yaw, pitch, roll = dy[3], dy[4], dy[5]
    turning = ops.array(
        [
            -cy * pitch * yaw,
            (cy * cx * roll - sy * sx * pitch) * yaw - sx * roll * pitch,
            -(sy * cx * pitch + cy * sx * roll) * yaw - cx * roll * pitch,
        ]
    )
    linear, angular = R.T @ dy[:3], E @ dy[3:]
    v = ops.concatenate([linear, angular])
    return v, ops.concatenate([R.T @ ddy[:3] - ops.cross(angular, linear), E @ ddy[3:] + turning])


def _planar(y: AnyArray, dy: AnyArray, ddy: AnyArray) -> tuple[AnyArray, AnyArray]:
    c, s = ops.cos(y[2]), ops.sin(y[2])
    R = ops.array([[c, -s], [s, c]])
    v, a = R.T @ dy[:2], R.T @ ddy[:2]
    turned = ops.array([dy[2] * v[1], -dy[2] * v[0]])
    return ops.concatenate([v, dy[2:]]), ops.concatenate([a + turned, ddy[2:]])
