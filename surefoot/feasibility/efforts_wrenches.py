"""Contact wrenches of a motion: given, or the least that can carry it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.contact import admissible_wrenches
from surefoot.errors import one_of
from surefoot.feasibility.efforts_demand import Demand, size_of
from surefoot.feasibility.efforts_support import Support, in_frames
from surefoot.kinematics import contact_frame

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["Carried", "carried", "given_wrenches", "on_bodies"]


class Carried(NamedTuple):
    """How contacts carry a motion.

    Args:
        wrenches: (n, c, 6) in the contact frames.
        violation: (n,) what is missing [N]; exactly 0 where nothing is.
    """

    wrenches: Array
    violation: Array


def given_wrenches(case: Case) -> Array:
    """(n, c, 6) in the contact frames, as they came with the motion; zero for contacts that it says nothing of.

    Raises:
        UnknownNameError: A wrench of a contact that the robot does not have.
    """
    given = case.trajectory.wrenches
    for name in given:
        if name not in case.robot.contacts:
            raise one_of("contact", name, case.robot.contacts)
    nothing = np.zeros((case.n, 6))
    columns = [given.get(name, nothing) for name in case.contact_names]
    return np.stack(columns, axis=1) if columns else np.zeros((case.n, 0, 6))


def on_bodies(case: Case, wrenches: Array) -> Array:
    """(n, bodies, 6): contact wrenches as wrenches on the bodies, about their origins, in their axes.

    Args:
        case: The case.
        wrenches: (n, c, 6) in the contact frames.
    """
    out = np.zeros((len(wrenches), case.robot.tree.n, 6))
    for k, name in enumerate(case.contact_names):
        frame = contact_frame(case.robot, name)
        if frame.body >= 0:
            force = wrenches[:, k, :3] @ frame.R.T
            out[:, frame.body, :3] += force
            out[:, frame.body, 3:] += wrenches[:, k, 3:] @ frame.R.T + np.cross(frame.p, force)
    return out


def carried(case: Case, demand: Demand, support: Support) -> Carried:
    """The least wrenches in the cones of the contacts that carry a motion, or those that miss least.

    A missing moment counts as a force at the distance of the robot's mass from its centre (`size_of`).

    Args:
        case: The case.
        demand: What it needs.
        support: What may push.
    """
    rails = np.broadcast_to(_rails(case), (case.n, *_rails(case).shape))
    generators = np.concatenate([support.cones.generators, rails], axis=2)
    use = np.hstack([support.cones.use, np.ones((case.n, rails.shape[2]), dtype=bool)])
    found = admissible_wrenches(generators, demand.net, use, size_of(case))
    wrenches = support.cones.wrenches(found.shares[:, : support.cones.use.shape[1]])
    return Carried(
        in_frames(wrenches, support.frames, case.touch.placements), np.where(found.attained, 0.0, found.violation)
    )


def _rails(case: Case) -> Array:
    """(6, r): wrenches that keep a planar base in its plane, in both senses; none for a free one."""
    if len(case.robot.base_rows) != 3 or case.robot.base_joint is None:
        return np.zeros((6, 0))
    R = case.robot.tree.placements[case.robot.base_joint, :3, :3]
    held = np.zeros((6, 3))
    held[:3, 0], held[3:, 1], held[3:, 2] = R[:, 2], R[:, 0], R[:, 1]
    return 1e3 * np.hstack([held, -held])  # large, so that they are cheap
