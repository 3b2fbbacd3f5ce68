"""Contact wrenches: is each one possible, and does the motion as a whole ask for something possible?

Given wrenches are judged contact by contact. What the motion asks for is judged, given or not, as a whole: where all
contacts lie in one plane, their net force must push, must lie in the friction cone, and its zero-moment point in the
support polygon; and in any case there must be some admissible set of contact wrenches. So a motion that leans too far
shows up as `zmp` and one that pushes sideways as `friction`, and `admissible` follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot.contact import Margin
from surefoot.feasibility.efforts_support import ROUND
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.spikes import look_at_sample
from surefoot.feasibility.wrenches_contacts import ITEMS_OF_CONTACTS, margins_of_contacts, slack_of_contact
from surefoot.feasibility.wrenches_plane import GroundPlaneDemand, plane_demand
from surefoot.kinematics import contact_frame

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["check_wrenches"]

_WHOLE = "all contacts"
_NEXT = {
    "unilateral_force": "accelerate less downwards, or let the contact go",
    "friction": "accelerate less sideways, or find ground with more friction",
    "torsional_friction": "turn less quickly, or on more than one foot",
    "cop": "load the contact nearer to its middle; one that touches in a point bears no moment",
    "zmp": "keep the centre of mass nearer to the middle of the support, or accelerate less",
    "admissible": "see which contacts are there at that time; a contact may be missing",
}


def check_wrenches(case: Case) -> list[Series]:
    """`unilateral_force`, `friction`, `torsional_friction`, `cop`, `zmp` and `admissible`."""
    if case.efforts.support is None and not case.efforts.wrenches_given:
        return [
            skipped(item, "the base is held without contacts") for item in (*ITEMS_OF_CONTACTS, "zmp", "admissible")
        ]
    if case.contact_names:
        return [*_each_contact(case), *_whole_motion(case)]
    none = [skipped(item, "the robot has no contact surfaces") for item in (*ITEMS_OF_CONTACTS, "zmp")]
    weightless = not np.any(case.world.gravity)
    return [*none, _admissible(case) if weightless else skipped("admissible", "the robot has no contact surfaces")]


# -- each contact ------------------------------------------------------------------------------------------------------


def _each_contact(case: Case) -> list[Series]:
    """Wrenches of the contacts one by one; of those that were found admissible only what the whole does not tell."""
    margins = margins_of_contacts(case, case.efforts.wrenches)
    items = ITEMS_OF_CONTACTS if case.efforts.wrenches_given else ("torsional_friction", "cop")
    for k in [] if case.efforts.wrenches_given else range(len(margins)):
        if _is_round(case, k):
            del margins[k]["cop"]  # it is at the point, by construction
    return [_contact_series(case, item, [found.get(item) for found in margins]) for item in items]


def _contact_series(case: Case, item: str, margins: list[Margin | None]) -> Series:
    """The margins of all contacts that have this item."""
    there = [(k, margin) for k, margin in enumerate(margins) if margin is not None]
    if not there:
        return skipped(item, "no contact surface has it")
    rows = [k for k, _ in there]
    value, lower, upper = (
        np.stack([getattr(margin, x) for _, margin in there], axis=1) for x in ("value", "lower", "upper")
    )
    slack, scale = slack_of_contact(case, item)
    given = case.efforts.wrenches_given
    return Series(
        item, ITEMS_OF_CONTACTS[item], case.time, tuple(case.contact_names[k] for k in rows), value, lower, upper,
        slack, scale, tuple(_body(case, k) for k in rows),
        note="wrenches as given" if given else "of the least wrenches that carry",
        texts=tuple(_of_point(case, k) if item == "cop" else "" for k in rows), next_step=_NEXT[item],
        spike_step=look_at_sample("wrench") if given else "",
    )  # fmt: skip


def _of_point(case: Case, contact: int) -> str:
    """What to say of a centre of pressure that is beside a contact that is a point; "" for other contacts."""
    if not _is_round(case, contact):
        return ""
    name = case.contact_names[contact]
    return f"{name} touches in a point and bears a moment: its centre of pressure is {{value}} beside it, at {{time}}"


def _is_round(case: Case, contact: int) -> bool:
    return case.robot.contacts[case.contact_names[contact]].kind in ROUND


def _body(case: Case, contact: int) -> frozenset[int]:
    return frozenset({contact_frame(case.robot, case.contact_names[contact]).body})


# -- the motion as a whole ---------------------------------------------------------------------------------------------


def _whole_motion(case: Case) -> list[Series]:
    if case.efforts.support is None:
        return [skipped(item, "the base is held without contacts") for item in ("zmp", "admissible")]
    if len(case.robot.base_rows) != 6:
        return [skipped("zmp", "the base moves in a plane; see `admissible`"), _admissible(case)]
    plane = plane_demand(case, case.efforts.support)
    return [*_net_force(case, plane), _zmp(case, plane), _admissible(case)]


def _net_force(case: Case, plane: GroundPlaneDemand) -> list[Series]:
    """Normal and tangential force that all contacts together have to exert."""
    weight, tol = case.weight, case.tolerances
    if np.isnan(plane.normal_force).all():
        note = "contacts in several planes: see `admissible`" if plane.several else "nothing touches"
        return [skipped(item, note) for item in ("unilateral_force", "friction")]
    note = _source(case) + ("; not where contacts lie in several planes" if plane.several else "")
    limit = np.maximum(plane.friction * plane.normal_force, 0.0)
    return [
        Series(
            "unilateral_force", "N", case.time, (_WHOLE,), plane.normal_force[:, None], 0.0, np.inf,
            tol.unilateral * weight, weight, note=note, next_step=_NEXT["unilateral_force"],
        ),
        Series(
            "friction", "N", case.time, (_WHOLE,), plane.tangential_force[:, None], -np.inf, limit[:, None],
            tol.friction * weight, weight, note=note, next_step=_NEXT["friction"],
        ),
    ]  # fmt: skip


def _zmp(case: Case, plane: GroundPlaneDemand) -> Series:
    if np.isnan(plane.inside).all():
        return skipped("zmp", "contacts in several planes: see `admissible`" if plane.several else "nothing touches")
    note = "distance inside the support polygon; " + _source(case)
    return Series(
        "zmp", "m", case.time, (_WHOLE,), plane.inside[:, None], 0.0, np.inf, case.tolerances.zmp, 0.1,
        note=note + ("; not where contacts lie in several planes" if plane.several else ""), next_step=_NEXT["zmp"],
    )  # fmt: skip


def _admissible(case: Case) -> Series:
    """The least force that is missing; while nothing touches, all that free fall does not explain."""
    limit = case.tolerances.admissible * case.weight
    return Series(
        "admissible", "N", case.time, (_WHOLE,), case.efforts.violation[:, None], -np.inf, limit, 0.0, case.weight,
        note=f"least missing force, with friction pyramids around the cones; {_source(case)}",
        texts=("contact wrenches that carry the motion do not exist: {value} are missing at {time}",),
        next_step=_NEXT["admissible"],
    )  # fmt: skip


def _source(case: Case) -> str:
    if case.trajectory.a is not None:
        return "what the accelerations ask for"
    return f"what the accelerations ask for, as means over {1e3 * case.tolerances.window:.3g} ms"
