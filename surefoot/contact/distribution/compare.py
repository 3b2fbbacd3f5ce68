"""All distributions of one load, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.contact.distribution.methods import METHODS, distribute, internal_part
from surefoot.contact.distribution.stance import Stance, stance_of
from surefoot.contact.wrench_cone import wrench_cone
from surefoot.errors import NotSupportedError
from surefoot.kinematics import Configuration
from surefoot.robot import Robot


@dataclass(frozen=True)
class DistributionRow:
    """One method's answer.

    Args:
        method: Its name.
        trouble: Why it has none; None if it has.
        wrenches: (6,) by contact, on the robot, at the ankle's projection, in world axes [N], [N m].
        vertical: Vertical force by contact [N].
        ankle_moment: Largest horizontal moment at an ankle's projection [N m].
        torque: √Σ τ² of the joints at rest [N m].
        internal: Norm of the forces that cancel each other [N].
        missing: Norm of the load that is not carried [N], [N m].
        within: Whether all wrenches are inside the (exact, 16-sided) cones of their surfaces.
    """

    method: str
    trouble: str | None = None
    wrenches: dict[str, tuple[float, ...]] | None = None
    vertical: dict[str, float] | None = None
    ankle_moment: float | None = None
    torque: float | None = None
    internal: float | None = None
    missing: float | None = None
    within: bool | None = None


def compare_distributions(
    robot: Robot,
    q: ArrayLike | None = None,
    contacts: Sequence[str] | None = None,
    acceleration: ArrayLike = (0.0, 0.0, 0.0),
    dcm: ArrayLike | None = None,
) -> list[DistributionRow]:
    """Every method on a robot in a posture.

    Args:
        robot: The robot.
        q: (nq,) its posture; home if omitted.
        contacts: Names of the loaded surfaces; those on the ground if omitted.
        acceleration: (3,) of the CoM [m/s²].
        dcm: (2,) that `dcm` goes by, from the CoM [m]; where the force meets the ground if omitted.
    """
    posture = np.array(robot.home if q is None else robot.checked_q(q), dtype=float)
    stance = stance_of(robot, posture, contacts)
    load = np.array(stance.weight)
    load[:3] += stance.mass * np.asarray(acceleration, dtype=float)
    at = None if dcm is None else stance.com[:2] + np.asarray(dcm, dtype=float)
    rows = []
    for method in METHODS:
        try:
            found = distribute(method, stance, load, at if method == "dcm" else None)
        except NotSupportedError as error:
            rows.append(DistributionRow(method, error.message))
            continue
        rows.append(_row(robot, posture, stance, load, method, found))
    return rows


def _row(robot: Robot, q: Array, stance: Stance, load: Array, method: str, found: Array) -> DistributionRow:
    torque = stance.gravity_torque - stance.jacobian.T @ found.ravel() if stance.jacobian is not None else np.zeros(0)
    return DistributionRow(
        method,
        None,
        {name: tuple(map(float, w)) for name, w in zip(stance.names, found, strict=True)},
        {name: float(w[2]) for name, w in zip(stance.names, found, strict=True)},
        float(np.hypot(found[:, 3], found[:, 4]).max()),
        float(np.linalg.norm(torque)),
        float(np.linalg.norm(internal_part(stance, found)[:, :3])),
        float(np.linalg.norm(stance.map @ found.ravel() - load)),
        _within(robot, q, stance, found),
    )


def _within(robot: Robot, q: Array, stance: Stance, found: Array) -> bool:
    """Whether the wrenches, moved to the frames of their surfaces, are inside their cones."""
    body, ok = Configuration(robot, q), True
    for name, point, wrench in zip(stance.names, stance.points, found, strict=True):
        T, cone = body.contact_placement(name), wrench_cone(robot.contacts[name], sides=16)
        moment = wrench[3:] + np.cross(point - T[:3, 3], wrench[:3])
        local = np.r_[T[:3, :3].T @ wrench[:3], T[:3, :3].T @ moment]
        lengths = np.linalg.norm(cone.faces, axis=1)
        ok &= bool((cone.faces @ local >= -1e-6 * lengths * max(np.linalg.norm(local), 1.0)).all())
    return ok
