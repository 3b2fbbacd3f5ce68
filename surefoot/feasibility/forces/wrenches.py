"""Contact wrenches: is each one possible, and does the motion as a whole ask for something possible?

Given wrenches are judged contact by contact. What the motion asks for is judged, given or not, as a whole: where all
contacts lie in one plane, their net force must push, must lie in the friction cone, and its zero-moment point in the
support polygon; and in any case there must be some admissible set of contact wrenches. So a motion that leans too far
is reported as `zmp`, one that pushes sideways as `friction`, and `admissible` follows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import Margin, zero_moment_point
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import (
    ITEMS_OF_CONTACTS,
    ROUND,
    Efforts,
    Support,
    margins_of_contacts,
    slack_of_contact,
)
from surefoot.feasibility.series import Series, look_at_sample, skipped
from surefoot.feasibility.touch import Touch
from surefoot.geometry import convex_hulls, distance_inside
from surefoot.kinematics import contact_frame

_WHOLE = "all contacts"
_EXCEPT = "; not judged where contacts lie in several planes"
_NEXT = {
    "unilateral_force": "accelerate less downwards, or release the contact",
    "friction": "accelerate less sideways, or use ground with more friction",
    "torsional_friction": "turn more slowly, or on more than one foot",
    "cop": "load the contact nearer to its middle; a point contact bears no moment",
    "zmp": "keep the centre of mass nearer to the middle of the support, or accelerate less",
    "admissible": "check the contacts at that time; one may be missing",
}

_TEXTS = {
    "unilateral_force": "{} pulls on the ground: its normal force is {value} at {time}",
    "friction": "the tangential force of {} is {value} at {time}, friction allows {limit}",
    "torsional_friction": "the moment of {} about its normal is {value} at {time}, friction allows {limit}",
    "cop": "the centre of pressure of {} is {excess} outside its outline at {time}",
}


def check_wrenches(case: Case, touch: Touch, efforts: Efforts) -> list[Series]:
    """`unilateral_force`, `friction`, `torsional_friction`, `cop`, `zmp` and `admissible`."""
    if efforts.support is None and not efforts.wrenches_given:
        return [skipped(item, "the base needs no contacts") for item in (*ITEMS_OF_CONTACTS, "zmp", "admissible")]
    if case.contact_names:
        return [*_each_contact(case, touch, efforts), *_whole_motion(case, touch, efforts)]
    none = [skipped(item, "the robot has no contact surfaces") for item in (*ITEMS_OF_CONTACTS, "zmp")]
    if np.any(case.world.gravity):
        return [*none, skipped("admissible", "the robot has no contact surfaces")]
    return [*none, _admissible(case, efforts)]


# -- each contact ------------------------------------------------------------------------------------------------------


def _each_contact(case: Case, touch: Touch, efforts: Efforts) -> list[Series]:
    """Wrenches of the contacts one by one; of those that were found admissible only what the whole does not tell."""
    margins = margins_of_contacts(case, touch, efforts.wrenches)
    items = ITEMS_OF_CONTACTS if efforts.wrenches_given else ("torsional_friction", "cop")
    for k in [] if efforts.wrenches_given else range(len(margins)):
        if _is_round(case, k):
            del margins[k]["cop"]  # it is at the point, by construction
    return [_contact_series(case, efforts, item, [found.get(item) for found in margins]) for item in items]


def _contact_series(case: Case, efforts: Efforts, item: str, margins: list[Margin | None]) -> Series:
    """The margins of all contacts that have this item."""
    there = [(k, margin) for k, margin in enumerate(margins) if margin is not None]
    if not there:
        return skipped(item, "not defined for these contact surfaces")
    rows = [k for k, _ in there]
    value, lower, upper = (
        np.stack([getattr(margin, x) for _, margin in there], axis=1) for x in ("value", "lower", "upper")
    )
    slack, scale = slack_of_contact(case, item)
    given = efforts.wrenches_given
    return Series(
        item, ITEMS_OF_CONTACTS[item], case.time, tuple(case.contact_names[k] for k in rows), value, lower, upper,
        slack, scale, tuple(_body(case, k) for k in rows),
        note="given wrenches" if given else "of the least wrenches that carry the motion",
        texts=tuple(_text(case, item, k) for k in rows), next_step=_NEXT[item],
        spike_step=look_at_sample("wrench") if given else "",
    )  # fmt: skip


def _text(case: Case, item: str, contact: int) -> str:
    """The message of a finding of one contact."""
    name = case.contact_names[contact]
    if item != "cop" or not _is_round(case, contact):
        return _TEXTS[item].replace("{}", f"`{name}`")
    return f"`{name}` is a point contact but bears a moment: its centre of pressure is {{value}} away at {{time}}"


def _is_round(case: Case, contact: int) -> bool:
    return case.robot.contacts[case.contact_names[contact]].kind in ROUND


def _body(case: Case, contact: int) -> frozenset[int]:
    return frozenset({contact_frame(case.robot, case.contact_names[contact]).body})


# -- the motion as a whole ---------------------------------------------------------------------------------------------


def _whole_motion(case: Case, touch: Touch, efforts: Efforts) -> list[Series]:
    if efforts.support is None:
        return [skipped(item, "the base needs no contacts") for item in ("zmp", "admissible")]
    if len(case.robot.base_rows) != 6:
        return [skipped("zmp", "the base moves in a plane; see `admissible`"), _admissible(case, efforts)]
    plane = _plane_demand(case, touch, efforts, efforts.support)
    return [*_net_force(case, plane), _zmp(case, plane), _admissible(case, efforts)]


def _net_force(case: Case, plane: _GroundPlaneDemand) -> list[Series]:
    """Normal and tangential force that all contacts together have to exert."""
    weight, tol = case.weight, case.tolerances
    if np.isnan(plane.normal_force).all():
        note = "contacts lie in several planes: see `admissible`" if plane.several else "nothing touches"
        return [skipped(item, note) for item in ("unilateral_force", "friction")]
    note = _source(case) + (_EXCEPT if plane.several else "")
    limit = np.maximum(plane.friction * plane.normal_force, 0.0)
    return [
        Series(
            "unilateral_force", "N", case.time, (_WHOLE,), plane.normal_force[:, None], 0.0, np.inf,
            tol.unilateral * weight, weight, note=note, next_step=_NEXT["unilateral_force"],
            texts=("the contacts would have to pull on the ground: the net normal force is {value} at {time}",),
        ),
        Series(
            "friction", "N", case.time, (_WHOLE,), plane.tangential_force[:, None], -np.inf, limit[:, None],
            tol.friction * weight, weight, note=note, next_step=_NEXT["friction"],
            texts=("the net tangential force is {value} at {time}, friction allows {limit}",),
        ),
    ]  # fmt: skip


def _zmp(case: Case, plane: _GroundPlaneDemand) -> Series:
    if np.isnan(plane.inside).all():
        return skipped(
            "zmp", "contacts lie in several planes: see `admissible`" if plane.several else "nothing touches"
        )
    note = "distance inside the support polygon; " + _source(case)
    return Series(
        "zmp", "m", case.time, (_WHOLE,), plane.inside[:, None], 0.0, np.inf, case.tolerances.zmp, 0.1,
        note=note + (_EXCEPT if plane.several else ""), next_step=_NEXT["zmp"],
        texts=("the zero moment point is {excess} outside the support polygon at {time}",),
    )  # fmt: skip


def _admissible(case: Case, efforts: Efforts) -> Series:
    """The least force that is missing; while nothing touches, all that free fall does not explain."""
    limit = case.tolerances.admissible * case.weight
    return Series(
        "admissible", "N", case.time, (_WHOLE,), efforts.violation[:, None], -np.inf, limit, 0.0, case.weight,
        note=f"least missing force, with friction pyramids around the cones; {_source(case)}",
        texts=("no contact wrenches carry the motion: {value} are missing at {time}",),
        next_step=_NEXT["admissible"],
    )  # fmt: skip


def _source(case: Case) -> str:
    if case.trajectory.a is not None:
        return "by the accelerations"
    return f"by accelerations averaged over {1e3 * case.tolerances.window:.3g} ms"


_FLAT = 0.01  # [m]: corners that are farther from a common plane lie in several
_PARALLEL = 0.035  # [rad]: so do surfaces that are tilted more against each other
_STILL = 1e-4  # [m]: corners that move less stand still
_LIGHT = 0.05  # share of the weight below which there is no zero-moment point to speak of


class _GroundPlaneDemand(NamedTuple):
    """What all contacts together have to exert, where they lie in one plane; NaN elsewhere.

    Args:
        normal_force: (n,) [N].
        tangential_force: (n,) [N].
        friction: (n,) the largest coefficient of the contacts that touch.
        inside: (n,) distance of the zero-moment point inside the support polygon [m], negative outside.
        several: Whether contacts lie in several planes at some time.
    """

    normal_force: Array
    tangential_force: Array
    friction: Array
    inside: Array
    several: bool


def _plane_demand(case: Case, touch: Touch, efforts: Efforts, support: Support) -> _GroundPlaneDemand:
    """Net force and zero-moment point of a motion, against the contacts that carry it."""
    normals, level = _planes(case, touch, support)
    touching = support.pushes.any(axis=1)
    judged = touching & level
    force = efforts.demand.net[:, :3]
    load = np.einsum("ni,ni->n", force, normals)
    across = np.linalg.norm(force - load[:, None] * normals, axis=1)
    friction = np.where(support.carrying, touch.friction, -np.inf).max(axis=1, initial=-np.inf)
    return _GroundPlaneDemand(
        np.where(judged, load, np.nan),
        np.where(judged, across, np.nan),
        np.where(judged, friction, np.nan),
        np.where(judged, _inside(case, efforts, support, normals), np.nan),
        bool((touching & ~level).any()),
    )


def _planes(case: Case, touch: Touch, support: Support) -> tuple[Array, NDArray[np.bool_]]:
    """Mean normals (n, 3) of the ground under contacts that carry, and (n,) whether all lie in one plane."""
    normals = np.where(support.carrying[:, :, None], touch.normals, 0.0)
    mean = normals.sum(axis=1)
    size = np.linalg.norm(mean, axis=1, keepdims=True)
    mean = np.where(size > 1e-9, mean / np.maximum(size, 1e-9), [0.0, 0.0, 1.0])
    tilted = np.linalg.norm(touch.normals - mean[:, None], axis=2) > _PARALLEL
    heights = np.einsum("npi,ni->np", support.points, mean)
    low = np.where(support.pushes, heights, np.inf).min(axis=1, initial=np.inf)
    high = np.where(support.pushes, heights, -np.inf).max(axis=1, initial=-np.inf)
    return mean, np.asarray(~(tilted & support.carrying).any(axis=1) & ~(high - low > _FLAT))


def _inside(case: Case, efforts: Efforts, support: Support, normals: Array) -> Array:
    """(n,): distance of the zero-moment point inside the hull of the corners that touch."""
    demand = efforts.demand
    weights = support.pushes / np.maximum(support.pushes.sum(axis=1, keepdims=True), 1)
    middle = np.einsum("np,npi->ni", weights, support.points)
    zmp = zero_moment_point(demand.net, demand.com, middle, normals, _LIGHT * case.weight)
    # (n, 2, 3): two directions across each normal, right-handed with it
    other = np.where(np.abs(normals[:, [0]]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    y = np.cross(normals, other)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    axes = np.stack([np.cross(y, normals), y], axis=1)
    corners = np.einsum("nai,npi->npa", axes, support.points - middle[:, None])
    # (n, c, 2): hulls of the corners that touch, one for all samples between which they do not move
    places = np.where(support.pushes[:, :, None], np.round(corners / _STILL), np.inf)
    moved = np.concatenate([[True], (places[1:] != places[:-1]).any(axis=(1, 2))])
    hulls = convex_hulls(corners[moved], support.pushes[moved])[np.cumsum(moved) - 1]
    return np.asarray(distance_inside(np.einsum("nai,ni->na", axes, zmp - middle), hulls))
