"""How contacts share a load so that no drive is overloaded, where they can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import PlacedCones, admissible_with_torques
from surefoot.feasibility.efforts_demand import Demand, size_of
from surefoot.feasibility.efforts_jacobians import touch_jacobians
from surefoot.feasibility.efforts_joints import coupled, drive_limits, friction_forces
from surefoot.feasibility.efforts_support import Support, in_frames

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["shared_load"]

_CHEAP = 100.0  # a torque beyond its limit counts that much less than a force that is missing at the base


def shared_load(case: Case, demand: Demand, support: Support, rows: NDArray[np.int64]) -> tuple[Array, Array]:
    """Contact wrenches (m, c, 6) in the contact frames that overload the drives least; and (m,) what is missing [N].

    Several feet can push against each other at will: of all these inner forces those are taken that keep torques within
    their limits, or exceed them least (`contact.admissible_with_torques`).

    Args:
        case: The case.
        demand: What it needs.
        support: What may push.
        rows: (m,) samples.
    """
    cones = _at(support, rows)
    J = touch_jacobians(case, support.frames, rows)
    C, base = coupled(case), case.robot.base_rows
    needed = (demand.forces + friction_forces(case))[rows] @ C.T
    bounds = np.full(case.robot.nv, np.inf)
    bounds[base], bounds[case.robot.driven] = 0.0, drive_limits(case)
    bounds[~np.any(J, axis=(0, 1, 2)) & (bounds > 0.0)] = np.inf  # joints that no contact loads
    found = admissible_with_torques(cones, J @ C.T, needed, -bounds, bounds, _lengths(case))
    missing = np.linalg.norm((found.missing / _lengths(case))[:, base], axis=1)
    wrenches = in_frames(cones.wrenches(found.shares), support.frames[rows], case.touch.placements[rows])
    return wrenches, missing


def _at(support: Support, rows: NDArray[np.int64]) -> PlacedCones:
    """The cones at some samples."""
    cones = support.cones
    spans = cones.spans if len(cones.spans) == 1 else cones.spans[rows]
    return replace(cones, spans=spans, generators=cones.generators[rows], use=cones.use[rows])


def _lengths(case: Case) -> Array:
    """(nv,) what rows are divided by, so that they count as forces at the base."""
    size = size_of(case)
    out = np.full(case.robot.nv, _CHEAP * size)
    base = case.robot.base_rows
    out[base] = np.r_[np.ones(3), np.full(3, size)] if len(base) == 6 else [1.0, 1.0, size]
    return out
