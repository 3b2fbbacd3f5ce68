"""Margins of the wrenches of single contacts: do they push, inside the friction cone, inside the outline?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import Margin, contact_margins, zero_moment_point
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts.support import ROUND, in_frames, surfaces_at_touch, touch_frames
from surefoot.feasibility.touch import Touch

ITEMS_OF_CONTACTS = {"unilateral_force": "N", "friction": "N", "torsional_friction": "N m", "cop": "m"}
"""Items that are judged of every contact → their units."""
_LIGHT = 0.02  # share of the weight below which nothing is said of a centre of pressure


def margins_of_contacts(case: Case, touch: Touch, wrenches: Array) -> list[dict[str, Margin]]:
    """For every contact its margins by item, NaN where there is no wrench.

    Points and balls have a `cop` as well: they bear no moment, so that it lies where they touch, or at least below the
    ball, about whose centre forces may have been given.
    """
    frames, light, out = touch_frames(case, touch), _LIGHT * case.weight, []
    turned = in_frames(wrenches, touch.placements, frames)
    for k, (name, surface) in enumerate(zip(case.contact_names, surfaces_at_touch(case), strict=True)):
        found = contact_margins(surface, turned[:, k], touch.friction[:, k], light)
        if surface.kind in ROUND:
            # Distance of the centre of pressure from a point, up to the radius of the ball that touches there [m]
            value = np.linalg.norm(zero_moment_point(turned[:, k], least_load=light)[:, :2], axis=1)
            found["cop"] = Margin(
                "m", value, np.full_like(value, -np.inf), np.full_like(value, case.robot.contacts[name].radius)
            )
        out.append(_loaded(found, turned[:, k]))
    return out


def impossible_wrenches(case: Case, touch: Touch, wrenches: Array) -> NDArray[np.bool_]:
    """(n,): samples at which a wrench is beyond what its contact can exert, and what passes."""
    out = np.zeros(case.n, dtype=bool)
    for margins in margins_of_contacts(case, touch, wrenches):
        for item, margin in margins.items():
            beyond = np.maximum(margin.lower - margin.value, margin.value - margin.upper)
            with np.errstate(invalid="ignore"):
                out |= beyond > slack_of_contact(case, item)[0]
    return out


def slack_of_contact(case: Case, item: str) -> tuple[float, float]:
    """The largest violation that passes, and the scale of violations."""
    tol, weight = case.tolerances, case.weight
    reach = max((float(np.abs(c.corners).max()) for c in case.robot.contacts.values()), default=0.1) or 0.1
    return {
        "unilateral_force": (tol.unilateral * weight, weight),
        "friction": (tol.friction * weight, weight),
        "torsional_friction": (tol.friction * weight * reach, weight * reach),
        "cop": (tol.cop, reach),
    }[item]


def _loaded(margins: dict[str, Margin], wrench: Array) -> dict[str, Margin]:
    """Margins where there is a wrench; torsion where the other components are possible."""
    free = ~np.any(wrench, axis=1)
    out = {}
    for name, margin in margins.items():
        unknown = free | (margin.lower > margin.upper) if name == "torsional_friction" else free
        out[name] = margin._replace(value=np.where(unknown, np.nan, margin.value))
    return out
