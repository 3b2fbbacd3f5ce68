"""Postures as they are given, and random ones inside the joint limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion.exchange import joint_kinds, require_unit_length
from surefoot.robot import Robot

_WHOLE_TURN = {"revolute", "continuous"}


def checked_postures(robot: Robot, q: ArrayLike) -> tuple[Array, bool]:
    """Postures (n, nq), and whether there was but one.

    Args:
        robot: The robot.
        q: (nq,) or (n, nq).

    Raises:
        ShapeError: The shape is wrong, or a number is not finite, or a part that must have unit length has not.
    """
    values = np.asarray(q, dtype=float)
    if values.ndim == 1:
        return np.ascontiguousarray(robot.checked_q(values))[None], True
    if values.ndim != 2 or values.shape[1] != robot.nq:
        needed = f"`{robot.name}` needs ({robot.nq},) or (n, {robot.nq})"
        raise ShapeError(f"q has shape {values.shape}, {needed}", next_step="give one posture per row")
    if not np.isfinite(values).all():
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        raise ShapeError("q is not finite", evidence={"rows": bad[:10].tolist()})
    require_unit_length(values, robot.joint_names, joint_kinds(robot))
    return np.ascontiguousarray(values), False


def is_bounded(robot: Robot, joint: int) -> bool:
    """Whether `random_postures` covers all that a joint can do; turns count as bounded, slides need limits.

    Args:
        robot: The robot.
        joint: Index in the tree.
    """
    tree = robot.tree
    leader = joint if tree.mimic_source[joint] < 0 else int(tree.mimic_source[joint])
    kind = tree.kinds[leader]
    if kind in _WHOLE_TURN or kind == "spherical":
        return True
    start = int(tree.q_index[leader])
    part = slice(start, start + (3 if kind == "free" else 2 if kind == "planar" else tree.nq_of(leader)))
    return bool(np.isfinite(robot.limits.lower[part]).all() and np.isfinite(robot.limits.upper[part]).all())


def random_postures(robot: Robot, n: int, rng: np.random.Generator) -> Array:
    """Postures (n, nq), uniform inside the limits.

    Turning joints without limits take any angle, spherical joints any attitude. The base of a floating or planar robot
    and other joints without limits stay as they are at home (`is_bounded` tells which).
    """
    if n < 0:
        raise NotSupportedError(f"{n} postures cannot be drawn")
    tree, limits = robot.tree, robot.limits
    q = np.tile(np.array(robot.home, dtype=float), (n, 1))
    for i, kind in enumerate(tree.kinds):
        size, start = tree.nq_of(i), int(tree.q_index[i])
        if not size or i == robot.base_joint or not is_bounded(robot, i):
            continue
        part = slice(start, start + size)
        q[:, part] = _drawn(kind, limits.lower[part], limits.upper[part], n, rng)
    return q


def _drawn(kind: str, lower: Array, upper: Array, n: int, rng: np.random.Generator) -> Array:
    """Coordinates (n, nq of the joint) of one joint."""
    if kind == "continuous":
        return _direction(n, rng)
    if kind == "spherical":
        x = rng.standard_normal((n, 4))
        return x / np.linalg.norm(x, axis=1, keepdims=True)
    if kind == "planar":
        return np.hstack([rng.uniform(lower[:2], upper[:2], (n, 2)), _direction(n, rng)])
    if kind == "free":
        x = rng.standard_normal((n, 4))
        return np.hstack([rng.uniform(lower[:3], upper[:3], (n, 3)), x / np.linalg.norm(x, axis=1, keepdims=True)])
    low = np.where(np.isfinite(lower), lower, -np.pi)
    high = np.where(np.isfinite(upper), upper, np.pi)
    return rng.uniform(np.minimum(low, high), np.maximum(low, high), (n, len(lower)))


def _direction(n: int, rng: np.random.Generator) -> Array:
    """Cosine and sine (n, 2) of any angle."""
    angle = rng.uniform(-np.pi, np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])
