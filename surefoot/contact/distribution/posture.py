"""Posture optimisation: of all postures with the same contacts, one in which standing costs least torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.contact.distribution.methods import distribute
from surefoot.contact.distribution.stance import stance_of
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot

_STEP = 1e-5  # of difference quotients [rad]
_LONGEST = 0.1  # way of a step [rad]
_CLOSE = 1e-10  # how well contacts are kept [m] and [rad]
_UNCARRIED = 1e3  # price of load that no admissible wrench carries, over the weight


@dataclass(frozen=True, eq=False)
class RestPosture:
    """What was found.

    Args:
        q: (nq,).
        cost: Sum of the squares of torque over limit.
        first: The same in the first posture.
        largest: Largest torque over its limit.
        steps: How many were made.
    """

    q: Array
    cost: float
    first: float
    largest: float
    steps: int


def rest_posture(
    robot: Robot, q0: ArrayLike | None = None, contacts: Sequence[str] | None = None, pull: float = 1e-3,
    most_steps: int = 40,
) -> RestPosture:  # fmt: skip
    """Reduce Σ (τ / τ_max)² with contacts fixed and wrenches within exact friction cones (section 3.7).

    A local search: gradients by differences within the null space of the contacts, steps that shrink until the cost
    falls, contacts restored after each. The wrenches are the least ones within the cones, at every posture.

    Args:
        robot: With a floating base and torque limits.
        q0: (nq,) first posture, which settles where the contacts are; home if omitted.
        contacts: Names of the loaded surfaces; all within 2 cm of the lowest if omitted.
        pull: Price of moving away from the first posture [1/rad²].
        most_steps: Most steps.

    Raises:
        NotSupportedError: The base is fixed, or a joint has no drive with a torque limit.
    """
    first = np.array(robot.home if q0 is None else robot.checked_q(q0), dtype=float)
    limits = np.array([drive.torque_limit for drive in robot.drives])
    if robot.base != "floating" or len(limits) != robot.nv - 6 or not np.isfinite(limits).all():
        raise NotSupportedError(f"`{robot.name}` needs a floating base and a torque limit at every joint")
    names, order = stance_of(robot, first, contacts).names, robot.driven - 6
    search = _Search(robot, names, first)

    def shares(q: Array) -> tuple[Array, float]:
        stance = stance_of(robot, q, names)
        wrenches = distribute("cones", stance)
        rest = np.linalg.norm(stance.map @ wrenches.ravel() - stance.weight) / stance.weight[2]
        J = np.asarray(stance.jacobian)
        return (stance.gravity_torque - J.T @ wrenches.ravel())[order] / limits, float(rest)

    def cost(q: Array) -> float:
        (share, rest), away = shares(q), pin.difference(robot.model, first, q)[6:]
        return float(share @ share + pull * away @ away + _UNCARRIED * rest)

    q, steps, length = first, 0, _LONGEST
    here = begin = cost(q)
    while steps < most_steps and length > 1e-4:
        ways = search.free(q)
        gradient = np.array([cost(pin.integrate(robot.model, q, _STEP * way)) - here for way in ways.T]) / _STEP
        downhill = -ways @ gradient
        size = float(np.abs(downhill).max())
        while length > 1e-4 and size > 0.0:
            there = search.restored(pin.integrate(robot.model, q, length / size * downhill))
            if there is not None and (found := cost(there)) < here:
                q, here, length = there, found, min(_LONGEST, 2.0 * length)
                break
            length *= 0.5
        steps += 1
    share, _ = shares(q)
    return RestPosture(q, here, begin, float(np.abs(share).max()), steps)


class _Search:
    """Motions that keep the contacts of a posture, and the way back to them."""

    def __init__(self, robot: Robot, names: Sequence[str], first: Array) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._frames = [robot.frame_id(robot.contacts[name].frame) for name in names]
        self._held = self._places(first)

    def _places(self, q: Array) -> list[pin.SE3]:
        pin.framesForwardKinematics(self._robot.model, self._data, q)
        return [pin.SE3(self._data.oMf[frame]) for frame in self._frames]

    def _rows(self, q: Array) -> Array:
        model = self._robot.model
        return np.vstack([pin.computeFrameJacobian(model, self._data, q, frame) for frame in self._frames])

    def free(self, q: Array) -> Array:
        """(nv, r) orthonormal motions that keep the contacts."""
        _, sizes, rows = np.linalg.svd(self._rows(q))
        return np.asarray(rows[int((sizes > 1e-9 * sizes[0]).sum()) :].T)

    def restored(self, q: Array) -> Array | None:
        """The nearest posture with the contacts in their places and joints within limits; None if there is none."""
        limits = self._robot.limits
        for _ in range(12):
            q = np.asarray(q)
            q[7:] = np.clip(q[7:], limits.lower[7:], limits.upper[7:])
            pairs = zip(self._places(q), self._held, strict=True)
            error = np.concatenate([pin.log6(here.actInv(there)).vector for here, there in pairs])
            if np.abs(error).max() < _CLOSE:
                return q
            q = pin.integrate(self._robot.model, q, np.linalg.pinv(self._rows(q)) @ error)
        return None
