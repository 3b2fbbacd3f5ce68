"""`Path`: a curve of configurations with its derivatives on their manifold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.errors import ShapeError
from surefoot.motion.exchange import joint_kinds, manifold
from surefoot.motion.timing.curve import Curve, rounded_curve, spline_curve
from surefoot.robot import Robot

Lift = Callable[[Array], Array]
"""Coordinates (n, m) → configurations (n, nq)."""
_STEP = 3e-4  # of the differences that give the derivatives of a chart, as a share of a radian or metre
_FARTHEST = 1.9 * np.pi  # rotation vectors are singular at 2 π


class PathPoints(NamedTuple):
    """Points of a path.

    Args:
        s: (n,) places on it.
        q: (n, nq) configurations.
        first: (n, nv) dq/ds in the tangent space: v = first ds/dt.
        second: (n, nv) its derivative: a = first d²s/dt² + second (ds/dt)².
    """

    s: Array
    q: Array
    first: Array
    second: Array


@dataclass(frozen=True, eq=False)
class Path:
    """A curve in coordinates of a chart, lifted to configurations: q(s) = lift(x(s)).

    Args:
        robot: The robot.
        curve: x(s), with coordinates of about a radian or a metre.
        lift: Smooth function from coordinates (n, m) to configurations (n, nq), such as the chart of a stance.
    """

    robot: Robot
    curve: Curve
    lift: Lift

    @property
    def start(self) -> float:
        """First value of s."""
        return float(self.curve.breaks[0])

    @property
    def end(self) -> float:
        """Last value of s."""
        return float(self.curve.breaks[-1])

    def configurations(self, s: ArrayLike) -> Array:
        """(n, nq) at places s (n,)."""
        return np.asarray(self.lift(self.curve.at(np.asarray(s, dtype=float))[0]))

    def at(self, s: ArrayLike, before: bool = False) -> PathPoints:
        """Configurations and derivatives, by central differences of `lift` along the parabola that touches the curve.

        Args:
            s: (n,) places.
            before: At a break of the curve, whether the piece before it counts, or the one after it.
        """
        places = np.asarray(s, dtype=float)
        x, slope, bend = self.curve.at(places, before)
        h = _STEP / np.maximum(np.abs(slope).max(axis=1, keepdims=True), np.abs(bend).max(axis=1, keepdims=True) * 0.1)
        q = np.asarray(self.lift(x))
        ahead, behind = (np.asarray(self.lift(x + k * h * slope + 0.5 * h * h * bend)) for k in (1.0, -1.0))
        model = manifold(joint_kinds(self.robot))
        forward = np.array([pin.difference(model, a, b) for a, b in zip(q, ahead, strict=True)])
        backward = np.array([pin.difference(model, a, b) for a, b in zip(q, behind, strict=True)])
        return PathPoints(places, q, (forward - backward) / (2.0 * h), (forward + backward) / (h * h))


def path_through(
    robot: Robot, configurations: ArrayLike, deviation: float | None = None, weights: ArrayLike = 1.0
) -> Path:
    """A path through configurations, on their manifold: floating bases and unlimited hinges included.

    Coordinates are joint positions, positions of the base in world and rotation vectors from the middle configuration.

    Args:
        robot: The robot.
        configurations: (k, nq), k ≥ 2; neighbours differ.
        deviation: None for a smooth spline through all of them; else straight lines in coordinates, with corners that
            are rounded by at most so much [rad], [m].
        weights: (nv,) of the coordinates in the length of the path.

    Raises:
        ShapeError: Orientations are farther apart than a chart of rotation vectors reaches.
    """
    rows = finite_array(configurations, (None, robot.nq), "configurations of the path")
    chart = _Chart(robot, rows)
    x = chart.coordinates(rows)
    curve = spline_curve(x, weights) if deviation is None else rounded_curve(x, deviation, weights)
    return Path(robot, curve, chart.lift)


class _Chart:
    """Coordinates (nv,) of configurations; rotations are counted from those of the middle configuration."""

    def __init__(self, robot: Robot, rows: Array) -> None:
        model = manifold(joint_kinds(robot))
        middle = rows[len(rows) // 2]
        self.plain: list[tuple[int, int]] = []  # entries of q and x that are equal
        self.angles: list[tuple[int, int]] = []  # (cos, sin) in q, angle in x
        self.turns: list[tuple[int, int, Array]] = []  # quaternion in q, rotation vector in x, quaternion of the middle
        self.nq = model.nq
        for joint in list(model.joints)[1:]:
            i, k = int(joint.idx_q), int(joint.idx_v)
            shape = (int(joint.nq), int(joint.nv))
            straight = {(7, 6): 3, (4, 3): 2 if "Planar" in joint.shortname() else 0, (2, 1): 0}.get(shape, shape[0])
            self.plain += [(i + j, k + j) for j in range(straight)]
            if shape[0] - straight == 2:
                self.angles.append((i + straight, k + straight))
            elif shape[0] - straight == 4:
                at = i + straight
                self.turns.append((at, k + straight, middle[at : at + 4]))

    def coordinates(self, q: Array) -> Array:
        """(n, nv): turns by less than half a revolution from row to row."""
        x = np.zeros((len(q), self.nq - len(self.angles) - len(self.turns)))
        for i, k in self.plain:
            x[:, k] = q[:, i]
        for i, k in self.angles:
            x[:, k] = np.unwrap(np.arctan2(q[:, i + 1], q[:, i]))
        for i, k, middle in self.turns:
            x[:, k : k + 3] = _unwrapped(
                _rotation_vectors(_product(middle * np.array([-1.0, -1.0, -1.0, 1.0]), q[:, i : i + 4]))
            )
        return x

    def lift(self, x: Array) -> Array:
        """(n, nq) of coordinates (n, nv)."""
        q = np.zeros((len(x), self.nq))
        for i, k in self.plain:
            q[:, i] = x[:, k]
        for i, k in self.angles:
            q[:, i], q[:, i + 1] = np.cos(x[:, k]), np.sin(x[:, k])
        for i, k, middle in self.turns:
            half = 0.5 * x[:, k : k + 3]
            angle = np.linalg.norm(half, axis=1, keepdims=True)
            q[:, i : i + 4] = _product(middle, np.hstack([np.sinc(angle / np.pi) * half, np.cos(angle)]))
        return q


def _product(a: Array, b: Array) -> Array:
    """Quaternions (xyzw) a (4,) times b (n, 4)."""
    x, y, z, w = a
    left = np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])
    return np.asarray(b @ left.T)


def _rotation_vectors(quaternions: Array) -> Array:
    """(n, 3), shorter than π."""
    q = quaternions * np.where(quaternions[:, 3:] < 0.0, -1.0, 1.0)
    size = np.linalg.norm(q[:, :3], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[:, 3:])
    return np.asarray(q[:, :3] * np.where(size > 1e-12, angle / np.maximum(size, 1e-300), 2.0))


def _unwrapped(r: Array) -> Array:
    """The same rotations with vectors that follow each other closely, outwards from the middle row."""
    out, middle = np.array(r), len(r) // 2
    for rows in (range(middle + 1, len(r)), range(middle - 1, -1, -1)):
        for k in rows:
            near = out[k - 1] if k > middle else out[k + 1]
            size = np.linalg.norm(r[k])
            axis = r[k] / size if size > 1e-9 else near / max(float(np.linalg.norm(near)), 1e-300)
            out[k] = r[k] + 2.0 * np.pi * np.round((near - r[k]) @ axis / (2.0 * np.pi)) * axis
    farthest = float(np.linalg.norm(out, axis=1).max())
    if farthest > _FARTHEST:
        raise ShapeError(
            "orientations of the path are too far apart for one chart",
            evidence={"angle from the middle [rad]": farthest, "largest": _FARTHEST},
            next_step="divide the path",
        )
    return out
