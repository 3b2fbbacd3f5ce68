"""How other programs write the joints: one table, layout × joint kind.

An entry converts the numbers of one joint for a whole time series, (n, ·), from and to Pinocchio's. The programs write

- free: Pinocchio xyz, xyzw, twist in body axes; MuJoCo xyz, wxyz, linear velocity in world and angular in body axes;
  Drake wxyz, xyz, angular then linear velocity, both in world; ROS and csv xyz, xyzw, twist in body axes.
- spherical: Pinocchio xyzw, ω in child axes; MuJoCo wxyz, ω in child axes; Drake roll pitch yaw, ω in parent axes.
- planar: Pinocchio x, y, cos θ, sin θ, velocity in body axes; MuJoCo (slide, slide, hinge) and Drake x, y, θ, velocity
  in parent axes; csv x, y, θ, velocity in body axes.
- continuous: Pinocchio cos, sin; the others an angle.
- helical: the angle (in MuJoCo a hinge that is tied to a slide).

Revolute, prismatic and translation joints are the same everywhere. ROS writes every joint with more than one axis as
pose (xyz, xyzw) and twist in child axes (geometry_msgs/Transform and Twist; nav_msgs/Odometry for the base).
Drake: QuaternionFloatingJoint, BallRpyJoint (R = Rz(yaw) Ry(pitch) Rx(roll)), PlanarJoint, ScrewJoint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.spatial import quaternion

Label = tuple[str, str]
_FLAT_TOLERANCE = 1e-6
_UNIT_TOLERANCE = 1e-3
_EXACT = 1e-12
_TO_WXYZ, _FROM_WXYZ = quaternion.to_wxyz(np.arange(4)), quaternion.from_wxyz(np.arange(4))


def _same(numbers: Array) -> Array:
    """Positions as they are."""
    return numbers


def _same_velocity(_: Array, v: Array) -> Array:
    """Velocities as they are."""
    return v


@dataclass(frozen=True)
class JointFormat:
    """One joint kind in one layout. Arrays are (n, entries); q and v are Pinocchio's.

    Args:
        position: Name and unit of each position entry; the name is "" where the joint's name suffices.
        velocity: Name and unit of each velocity entry.
        to_position: q → positions.
        from_position: Positions → q.
        to_velocity: (q, v) → velocities.
        from_velocity: (q, velocities) → v.
        unit: The position entries that form a vector of unit length, if any.
    """

    position: tuple[Label, ...]
    velocity: tuple[Label, ...]
    to_position: Callable[[Array], Array] = _same
    from_position: Callable[[Array], Array] = _same
    to_velocity: Callable[[Array, Array], Array] = _same_velocity
    from_velocity: Callable[[Array, Array], Array] = _same_velocity
    unit: slice | None = None


def rotate(q: Array, vectors: Array) -> Array:
    """R(q) u, row by row: unit quaternions xyzw (n, 4), vectors (n, 3)."""
    return quaternion.rotate(q.T, vectors.T).T


def rotate_back(q: Array, vectors: Array) -> Array:
    """R(q)ᵀ u, row by row."""
    return rotate(quaternion.conjugate(q), vectors)


def in_placement(T: Array, poses: Array) -> Array:
    """T · pose, row by row: T (4, 4), poses (n, 7) as xyz, xyzw."""
    turn = quaternion.from_matrix(T[:3, :3])
    left = np.stack([quaternion.product(turn, unit) for unit in np.eye(4)])
    return np.hstack([poses[:, :3] @ T[:3, :3].T + T[:3, 3], poses[:, 3:] @ left])


def unit_length(positions: Array, part: slice | None, what: str) -> Array:
    """The positions with the unit part normalised, or an error where its length is off by more than 1e-3.

    Args:
        positions: (n, entries).
        part: The entries that form a unit vector; None for no such entries.
        what: The joint, for the message.
    """
    if part is None:
        return positions
    length = np.linalg.norm(positions[:, part], axis=1)
    wrong = np.flatnonzero(~(np.abs(length - 1.0) <= _UNIT_TOLERANCE))
    if len(wrong):
        kind = "quaternion" if part.stop - part.start == 4 else "(cos, sin) pair"
        k = int(wrong[0])
        raise ShapeError(
            f"{kind} of joint `{what}` has length {length[k]:.6g}, not 1",
            evidence={"row": k, "entries": positions[k, part].tolist(), "rows like this": len(wrong)},
            next_step="check the layout: the entries may be in another order",
            kind="quaternion",
        )
    if (np.abs(length - 1.0) <= _EXACT).all():
        return positions
    out = positions.copy()
    out[:, part] /= length[:, None]
    return out


def _to_angle(q: Array) -> Array:
    return np.arctan2(q[:, 1:2], q[:, 0:1])


def _from_angle(angle: Array) -> Array:
    return np.hstack([np.cos(angle), np.sin(angle)])


def _planar_to_parent(q: Array, v: Array) -> Array:
    c, s = q[:, 2], q[:, 3]
    return np.column_stack([c * v[:, 0] - s * v[:, 1], s * v[:, 0] + c * v[:, 1], v[:, 2]])


def _to_wxyz(q: Array) -> Array:
    return q[:, _TO_WXYZ]


def _from_wxyz(q: Array) -> Array:
    return q[:, _FROM_WXYZ]


def _roll_pitch_yaw(q: Array) -> Array:
    """Angles of R = Rz(yaw) Ry(pitch) Rx(roll), (n, 3); pitch in [−π/2, π/2].

    Yaw first, the other two from R with yaw undone, so that the angles give R again also at pitch = ±π/2.
    Buschmann 2014, (2.44).
    """
    R = quaternion.to_matrix(q.T)
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.column_stack([roll, pitch, yaw])


def _from_roll_pitch_yaw(angles: Array) -> Array:
    """Quaternions xyzw (n, 4): the half-angle product of the three turns."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(0.5 * angles.T), np.sin(0.5 * angles.T)
    return np.column_stack(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )


def _planar_pose(q: Array) -> Array:
    """(x, y, cos θ, sin θ) as pose (xyz, xyzw)."""
    half = 0.5 * np.arctan2(q[:, 3], q[:, 2])
    zero = np.zeros(len(q))
    return np.column_stack([q[:, 0], q[:, 1], zero, zero, zero, np.sin(half), np.cos(half)])


def _from_planar_pose(p: Array) -> Array:
    _require_small(p[:, [2, 3, 4]], "the pose of a planar joint leaves its plane (z, qx, qy)")
    z, w = p[:, 5], p[:, 6]
    length = z * z + w * w
    return np.column_stack([p[:, 0], p[:, 1], (w * w - z * z) / length, 2.0 * z * w / length])


def _planar_twist(_: Array, v: Array) -> Array:
    out = np.zeros((len(v), 6))
    out[:, [0, 1, 5]] = v
    return out


def _from_planar_twist(_: Array, v: Array) -> Array:
    _require_small(v[:, [2, 3, 4]], "the twist of a planar joint leaves its plane (vz, wx, wy)")
    return v[:, [0, 1, 5]]


def _from_spherical_pose(p: Array) -> Array:
    _require_small(p[:, :3], "the pose of a spherical joint has a position")
    return p[:, 3:]


def _from_spherical_twist(_: Array, v: Array) -> Array:
    _require_small(v[:, :3], "the twist of a spherical joint has a linear part")
    return v[:, 3:]


def _from_translation_pose(p: Array) -> Array:
    _require_small(p[:, 3:6], "the pose of a translation joint has a rotation")
    return p[:, :3]


def _from_translation_twist(_: Array, v: Array) -> Array:
    _require_small(v[:, 3:], "the twist of a translation joint has an angular part")
    return v[:, :3]


def _require_small(values: Array, message: str) -> None:
    wrong = np.flatnonzero((np.abs(values) > _FLAT_TOLERANCE).any(axis=1))
    if len(wrong):
        raise ShapeError(message, evidence={"row": int(wrong[0]), "entries": values[wrong[0]].tolist()})


def _labels(names: str, unit: str) -> tuple[Label, ...]:
    return tuple((name, unit) for name in names.split())


_XYZ, _QUAT, _WXYZ = _labels("x y z", "m"), _labels("qx qy qz qw", "1"), _labels("qw qx qy qz", "1")
_LINEAR, _ANGULAR = _labels("vx vy vz", "m/s"), _labels("wx wy wz", "rad/s")
_PLANE, _PLANE_RATE = (*_labels("x y", "m"), ("yaw", "rad")), (*_labels("vx vy", "m/s"), ("wz", "rad/s"))
_TURN = JointFormat((("", "rad"),), (("v", "rad/s"),))
_SLIDE = JointFormat((("", "m"),), (("v", "m/s"),))
_ANGLE = replace(_TURN, to_position=_to_angle, from_position=_from_angle)
_FREE = JointFormat((*_XYZ, *_QUAT), (*_LINEAR, *_ANGULAR), unit=slice(3, 7))
_BALL = JointFormat(_QUAT, _ANGULAR, unit=slice(0, 4))
_IN_PLANE = JointFormat(
    _PLANE, _PLANE_RATE, lambda q: np.hstack([q[:, :2], _to_angle(q[:, 2:])]),
    lambda p: np.hstack([p[:, :2], _from_angle(p[:, 2:])]),
)  # fmt: skip
_IN_PLANE_PARENT = replace(
    _IN_PLANE, to_velocity=_planar_to_parent,
    from_velocity=lambda q, v: _planar_to_parent(q * [1.0, 1.0, 1.0, -1.0], v),
)  # fmt: skip
_PINOCCHIO = {
    "revolute": _TURN,
    "helical": _TURN,
    "prismatic": _SLIDE,
    "translation": JointFormat(_XYZ, _LINEAR),
    "continuous": JointFormat(_labels("cos sin", "1"), _TURN.velocity, unit=slice(0, 2)),
    "spherical": _BALL,
    "planar": JointFormat((*_PLANE[:2], *_labels("cos sin", "1")), _PLANE_RATE, unit=slice(2, 4)),
    "free": _FREE,
}

FORMATS: dict[str, dict[str, JointFormat]] = {
    "pinocchio": _PINOCCHIO,
    "mujoco": {
        **_PINOCCHIO,
        "continuous": _ANGLE,
        "spherical": replace(_BALL, position=_WXYZ, to_position=_to_wxyz, from_position=_from_wxyz),
        "planar": _IN_PLANE_PARENT,
        "free": JointFormat(
            (*_XYZ, *_WXYZ), _FREE.velocity,
            lambda q: np.hstack([q[:, :3], _to_wxyz(q[:, 3:])]),
            lambda p: np.hstack([p[:, :3], _from_wxyz(p[:, 3:])]),
            lambda q, v: np.hstack([rotate(q[:, 3:], v[:, :3]), v[:, 3:]]),
            lambda q, v: np.hstack([rotate_back(q[:, 3:], v[:, :3]), v[:, 3:]]),
            slice(3, 7),
        ),
    },
    "drake": {
        **_PINOCCHIO,
        "continuous": _ANGLE,
        "spherical": JointFormat(
            _labels("roll pitch yaw", "rad"), _ANGULAR, _roll_pitch_yaw, _from_roll_pitch_yaw, rotate, rotate_back
        ),
        "planar": _IN_PLANE_PARENT,
        "free": JointFormat(
            (*_WXYZ, *_XYZ), (*_ANGULAR, *_LINEAR),
            lambda q: np.hstack([_to_wxyz(q[:, 3:]), q[:, :3]]),
            lambda p: np.hstack([p[:, 4:], _from_wxyz(p[:, :4])]),
            lambda q, v: np.hstack([rotate(q[:, 3:], v[:, 3:]), rotate(q[:, 3:], v[:, :3])]),
            lambda q, v: np.hstack([rotate_back(q[:, 3:], v[:, 3:]), rotate_back(q[:, 3:], v[:, :3])]),
            slice(0, 4),
        ),
    },
    "ros": {
        **_PINOCCHIO,
        "continuous": _ANGLE,
        "spherical": replace(
            _FREE, to_position=lambda q: np.hstack([np.zeros((len(q), 3)), q]), from_position=_from_spherical_pose,
            to_velocity=lambda _, v: np.hstack([np.zeros((len(v), 3)), v]), from_velocity=_from_spherical_twist,
        ),
        "planar": replace(
            _FREE, to_position=_planar_pose, from_position=_from_planar_pose,
            to_velocity=_planar_twist, from_velocity=_from_planar_twist,
        ),
        "translation": replace(
            _FREE, to_position=lambda q: np.hstack([q, np.tile(quaternion.identity(), (len(q), 1))]),
            from_position=_from_translation_pose,
            to_velocity=lambda _, v: np.hstack([v, np.zeros((len(v), 3))]), from_velocity=_from_translation_twist,
        ),
    },
    "csv": {**_PINOCCHIO, "continuous": _ANGLE, "planar": _IN_PLANE},
}  # fmt: skip
"""Layout → joint kind → format."""
