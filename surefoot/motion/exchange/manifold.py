"""The manifold of configurations, known from the joint kinds alone."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion.exchange.joints import FORMATS, unit_length
from surefoot.robot import Robot

_UNIT_TOLERANCE = 1e-6
_FOLLOWER = "follower"  # a joint that copies another and has no coordinate of its own
_JOINTS = {
    "revolute": pin.JointModelRX, "prismatic": pin.JointModelPX, "helical": lambda: pin.JointModelHX(0.0),
    "continuous": pin.JointModelRUBX, "spherical": pin.JointModelSpherical, "planar": pin.JointModelPlanar,
    "translation": pin.JointModelTranslation, "free": pin.JointModelFreeFlyer,
}  # fmt: skip


def joint_kinds(robot: Robot) -> tuple[str, ...]:
    """The kind of every joint of a robot, `_FOLLOWER` for one that has no coordinate."""
    tree = robot.tree
    return tuple(kind if tree.nq_of(i) else _FOLLOWER for i, kind in enumerate(tree.kinds))


@functools.lru_cache(maxsize=64)
def manifold(kinds: tuple[str, ...]) -> pin.Model:
    """A model with these joints and no geometry: q and v are laid out, integrated and subtracted as the robot's.

    Args:
        kinds: Joint kinds in the order of q, as `joint_kinds` gives them.
    """
    unknown = sorted(set(kinds) - set(_JOINTS) - {_FOLLOWER})
    if unknown:
        raise ShapeError(f"unknown joint kinds {unknown}", evidence={"known": sorted(_JOINTS)})
    model = pin.Model()
    for i, kind in enumerate(kinds):
        if kind != _FOLLOWER:
            model.addJoint(0, _JOINTS[kind](), pin.SE3.Identity(), f"joint_{i}")
    return model


def configuration_between(
    model: pin.Model, q: tuple[Array, Array], v: tuple[Array, Array] | None, duration: float, s: float
) -> Array:
    """The configuration (nq,) at share s of a segment; its ends are met exactly.

    Without velocities the geodesic q₀ ⊕ s (q₁ ⊖ q₀). With them the cubic Bézier curve on the Lie group with the control
    points q₀, q₀ ⊕ v₀ h/3, q₁ ⊕ (−v₁ h/3), q₁, which has the velocities v₀ and v₁ at its ends:

        q(s) = q₀ ⊕ B₁(s) d₁ ⊕ B₂(s) d₂ ⊕ B₃(s) d₃,  B_i = Σ_{j ≥ i} C(3, j) (1 − s)^(3−j) s^j     [motion.hermite]
        Kim, Kim & Shin 1995, cumulative basis (d_i: steps between the control points)

    Args:
        model: The robot's model, or any with the same joints (`manifold`).
        q: q₀ and q₁, (nq,).
        v: v₀ and v₁, (nv,), or None.
        duration: h [s].
        s: 0…1.
    """
    start, end = np.array(q[0]), np.array(q[1])
    if s in (0.0, 1.0):
        return start if s == 0.0 else end
    if v is None:
        return np.array(pin.interpolate(model, start, end, s))
    first, last = v[0] * (duration / 3.0), v[1] * (duration / 3.0)
    middle = pin.difference(model, pin.integrate(model, start, first), pin.integrate(model, end, -last))
    rest = 1.0 - s
    weights = (1.0 - rest**3, s * s * (3.0 - 2.0 * s), s**3)
    for step, weight in zip((first, middle, last), weights, strict=True):
        start = pin.integrate(model, start, weight * step)
    return np.array(start)


def velocities(model: pin.Model, time: Array, q: Array) -> Array:
    """(n, nv): rates of configurations on their manifold, by central differences; one-sided at the ends.

    Args:
        model: The robot's model, or any with the same joints (`manifold`).
        time: (n,) increasing [s].
        q: (n, nq).

    Raises:
        ShapeError: A number is so large that its rate overflows.
    """
    if len(time) < 2:
        return np.zeros((len(time), model.nv))
    steps = np.array([pin.difference(model, a, b) for a, b in pairwise(np.asarray(q))]).reshape(-1, model.nv)
    with np.errstate(over="ignore", invalid="ignore"):
        way = np.vstack([np.zeros(model.nv), np.cumsum(steps, axis=0)])
        rates = np.asarray(np.gradient(way, time, axis=0))
    if not np.isfinite(rates).all():
        row, column = np.unravel_index(np.argmax(np.abs(q)), np.shape(q))
        raise ShapeError(
            f"`q` is {q[row, column]:g} at t = {time[row]:g} s, which is not a motion",
            evidence={"row": int(row), "entry": int(column)},
            next_step="remove this row, or correct its numbers",
        )
    return rates


def require_unit_length(q: Array, joints: Sequence[str], kinds: tuple[str, ...]) -> None:
    """Refuse quaternions and (cos, sin) pairs that are not of unit length to 1e-6.

    Args:
        q: (n, nq) finite.
        joints: Names of the joints, for the message.
        kinds: Their kinds, as `joint_kinds` gives them.

    Raises:
        ShapeError: With the joint and the first row that is wrong.
    """
    for i, part in _unit_parts(kinds):
        length = np.linalg.norm(q[:, part], axis=1)
        wrong = np.flatnonzero(np.abs(length - 1.0) > _UNIT_TOLERANCE)
        if len(wrong):
            unit_length(q, part, joints[i])
            raise ShapeError(
                f"q of joint `{joints[i]}` is not of unit length to {_UNIT_TOLERANCE:g}",
                evidence={"row": int(wrong[0]), "length": float(length[wrong[0]])},
                next_step="normalise it",
                kind="quaternion",
            )


@functools.lru_cache(maxsize=64)
def _unit_parts(kinds: tuple[str, ...]) -> tuple[tuple[int, slice], ...]:
    """Joint index and entries of q of every part that is a unit vector."""
    moving = [i for i, kind in enumerate(kinds) if kind != _FOLLOWER]
    starts = [int(joint.idx_q) for joint in list(manifold(kinds).joints)[1:]]
    units = [(i, start, FORMATS["pinocchio"][kinds[i]].unit) for i, start in zip(moving, starts, strict=True)]
    return tuple((i, slice(at + unit.start, at + unit.stop)) for i, at, unit in units if unit is not None)
