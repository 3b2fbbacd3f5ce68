"""Why no contact forces carry a motion at some time: which contacts and drives conflict, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.contact import outer_corners
from surefoot.errors import NotSupportedError
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import Efforts, Support, drive_limits, surfaces_at_touch
from surefoot.feasibility.touch import Touch
from surefoot.solvers import Explanation, Group, Relaxation, UnsolvedError, explain

PULL, FRICTION, TORQUE = "{} cannot pull", "friction of {}", "torque limit of {}"
"""Names of groups, by what they forbid."""
_PULL_WEIGHT = 100.0
"""What a newton of pull costs among others: ground that pulls is the last explanation, as it could hold anything."""
_JOINED = " + "
"""Between the contacts of a group that holds for several."""

_AT_ONE = {
    PULL: "the ground pulls on a corner of {} with {}",
    FRICTION: "the friction of {} exceeds its limit by {}",
    TORQUE: "the drive of {} exceeds its limit by {}",
}
_AT_ALL = {
    PULL: "the ground pulls on corners of {} with up to {}",
    FRICTION: "the friction of {} exceeds its limit by up to {}",
    TORQUE: "the drives of {} exceed their limits by up to {}",
}
_TOLERANCE = 1e-6
_LIKE = 1.005  # times the effort that is as good as the same
_MOST_CLAUSES, _MOST_NAMES = 3, 3
_ALIKE = 0.05  # relative difference of amounts that are as good as the same
_FAR = 3.0  # a drive that helps alone, but takes that much more than all together, is no help
_NUMBERS = ("three", "four", "five", "six", "seven", "eight")
_LIMBS = {"foot": "feet", "sole": "soles", "toe": "toes", "heel": "heels", "hand": "hands", "wheel": "wheels"}


class Event(NamedTuple):
    """A constraint that is exceeded.

    Args:
        kind: `PULL`, `FRICTION` or `TORQUE`.
        names: Its contacts or joints.
        amount: Largest excess [unit].
        unit: Of the amount.
    """

    kind: str
    names: tuple[str, ...]
    amount: float
    unit: str


class Needed(NamedTuple):
    """Constraints that would have to be exceeded.

    Args:
        events: If any one is enough that with the least amount first, else that with the largest.
        any_of: Whether any one of them is enough.
    """

    events: tuple[Event, ...]
    any_of: bool


def needed(found: Explanation) -> Needed:
    """The change that would remove the conflict."""
    alone = [member.alone for member in found.conflict if member.alone is not None]
    events = [event for event in map(_event, alone) if _cost(event) <= found.cost]
    if events:
        return Needed(tuple(sorted(events, key=lambda event: event.amount)), any_of=True)
    together = map(_event, found.least or ())
    return Needed(tuple(sorted(together, key=lambda event: -event.amount)), any_of=False)


def _cost(event: Event) -> float:
    """What an event costs, less what it may cost more than the least of all."""
    more = _FAR if event.kind == TORQUE else 1.0 + _ALIKE
    return event.amount * (_PULL_WEIGHT if event.kind == PULL else 1.0) / more


def _event(way: Relaxation) -> Event:
    """The event by which a group gives way."""
    for kind in _AT_ONE:
        before, after = kind.split("{}")
        if way.name.startswith(before) and way.name.endswith(after):
            names = tuple(way.name.removeprefix(before).removesuffix(after).split(_JOINED))
            return Event(kind, names, way.amount, way.unit)
    raise NotSupportedError(f"unknown group of constraints `{way.name}`")


def told(need: Needed, contacts: int) -> str:
    """Events as clauses, those of one kind and size as one, at most three.

    Args:
        need: At least one event.
        contacts: How many contacts there are: "all four feet" says so.
    """
    groups: list[list[Event]] = []
    for event in need.events:
        group = next((some for some in groups if _like(some[0], event)), None)
        if group is None:
            groups.append([event])
        else:
            group.append(event)
    clauses = [_clause(group, need.any_of, contacts) for group in groups]
    left = len(clauses) - _MOST_CLAUSES
    shown = clauses if left <= 0 else [*clauses[: _MOST_CLAUSES - 1], f"{left + 1} more limits are exceeded"]
    return (", or " if need.any_of else ", and ").join(shown)


def _like(one: Event, other: Event) -> bool:
    close = abs(one.amount - other.amount) <= _ALIKE * max(one.amount, other.amount)
    return one.kind == other.kind and one.unit == other.unit and close


def _clause(group: Sequence[Event], any_of: bool, contacts: int) -> str:
    """One clause for events that are alike."""
    kind, names = group[0].kind, [name for event in group for name in event.names]
    amount = f"{max(event.amount for event in group):.3g} {group[0].unit}"
    if len(names) == 1:
        return _AT_ONE[kind].format(names[0], amount)
    if any_of and len(group) > 1:
        return _AT_ONE[kind].format(_listed(names, " or "), amount)
    return _AT_ALL[kind].format(_all_of(names) if len(names) == contacts else _listed(names, " and "), amount)


def _all_of(names: Sequence[str]) -> str:
    """All contacts by number and kind: "both feet", "all four feet"."""
    noun = next((many for one, many in _LIMBS.items() if all(one in name.lower() for name in names)), "contacts")
    if len(names) == 2:
        return f"both {noun}"
    number = _NUMBERS[len(names) - 3] if len(names) - 3 < len(_NUMBERS) else str(len(names))
    return f"all {number} {noun}"


def _listed(names: Sequence[str], last: str) -> str:
    """Names, at most a few."""
    left = len(names) - _MOST_NAMES
    shown = list(names) if left <= 1 else [*names[:_MOST_NAMES], f"{left} more"]
    return f"{', '.join(shown[:-1])}{last}{shown[-1]}"


def explain_support(case: Case, touch: Touch, efforts: Efforts, t: float) -> Explanation | None:
    """The conflict at the sample nearest to a time; None where the motion needs no contacts or they carry it.

    The unknowns are forces at the corners that touch, in the axes of their contacts: no corner pulls, the force of
    each contact stays inside a friction pyramid, and together they exert what the motion asks for (which nobody can
    change). Contacts give way together, by the same amount, so that none of several like ones is singled out; those
    without which it is as easy do not. Drives are asked only where contacts carry the motion: then none may be
    overloaded. Torsion of single contacts is omitted.
    """
    support = efforts.support
    if support is None or case.robot.loops:
        return None
    k = int(np.argmin(np.abs(case.time - t)))
    corners = _corners(case, support, k)
    if not any(len(points) for points, _ in corners.values()):
        return None
    place, contacts = (
        f"at t = {case.time[k]:.3f} s",
        _Contacts(_motion(case, efforts, k, corners), _contacts(case, touch, k, corners)),
    )
    found = contacts.conflict(place, tuple(corners))
    if found.feasible:
        groups = [contacts.motion, *contacts.groups.values(), *_drives(case, efforts, k, corners)]
        found = explain(groups, tolerance=_TOLERANCE, place=place)
    elif found.least:
        found = contacts.smallest(found, tuple(corners))
    return found if found.conflict and found.least != () else None  # what is left is a matter of rounding


class _Contacts(NamedTuple):
    """What the motion asks for, and what contacts cannot do, by kind and contact."""

    motion: Group
    groups: Mapping[tuple[str, str], Group]

    def conflict(self, place: str, yielding: Sequence[str], kinds: Iterable[str] = (PULL, FRICTION)) -> Explanation:
        """The conflict if some contacts may give way, together, and in some ways only."""
        soft = [self._joined(kind, yielding) for kind in kinds]
        others = (one for (kind, name), one in self.groups.items() if kind not in kinds or name not in yielding)
        rigid = [replace(one, may_relax=False) for one in others]
        return explain([self.motion, *soft, *rigid], tolerance=_TOLERANCE, place=place)

    def smallest(self, found: Explanation, names: Sequence[str]) -> Explanation:
        """The conflict with as few contacts that give way as make it no harder for the others."""
        before, kept = {event.kind: event.amount for event in needed(found).events}, list(names)
        for name in names:
            fewer = [other for other in kept if other != name]
            trial = self.conflict(found.place, fewer, tuple(before)) if fewer else found
            if trial is found or not trial.conflict or not trial.least:
                continue
            if all(event.amount <= _LIKE * before[event.kind] for event in needed(trial).events):
                found, kept = trial, fewer
        return found

    def _joined(self, kind: str, names: Sequence[str]) -> Group:
        some = [self.groups[kind, name] for name in names]
        return replace(some[0], name=kind.format(_JOINED.join(names)), A=np.vstack([one.A for one in some]))


def why_not_carried(case: Case, touch: Touch, efforts: Efforts, t: float) -> str:
    """The conflict at the sample nearest to a time in plain words; "" where there is none, or rounding hides it."""
    try:
        found, support = explain_support(case, touch, efforts, t), efforts.support
    except UnsolvedError:
        return ""  # the finding remains, without a reason
    if found is None or support is None:
        return ""
    return plain_reason(found, int(support.carrying[np.argmin(np.abs(case.time - t))].sum()))


def plain_reason(found: Explanation, contacts: int) -> str:
    """The conflict in plain words: what would have to happen that cannot."""
    need = needed(found)
    if not need.events:
        return f"{found.place} no forces of these contacts carry this motion"
    return f"{found.place} the contacts carry this motion only if {told(need, contacts)}"


Corners = dict[str, tuple[Array, Array]]


def _corners(case: Case, support: Support, k: int) -> Corners:
    """For each contact that carries: corners that touch (m, 3) in world, and the axes (3, 3) of the contact."""
    out: Corners = {}
    start = 0
    for i, (name, surface) in enumerate(zip(case.contact_names, surfaces_at_touch(case), strict=True)):
        count = len(outer_corners(surface))
        rows = slice(start, start + count)
        start += count
        if support.carrying[k, i]:
            out[name] = (support.points[k, rows][support.pushes[k, rows]], support.frames[k, i, :3, :3])
    return out


def _columns(corners: Corners) -> dict[str, slice]:
    """Which unknowns belong to each contact."""
    sizes = [3 * len(points) for points, _ in corners.values()]
    ends = np.cumsum([0, *sizes])
    return {name: slice(int(a), int(b)) for name, a, b in zip(corners, ends[:-1], ends[1:], strict=True)}


def _motion(case: Case, efforts: Efforts, k: int, corners: Corners) -> Group:
    """All forces together are what the motion asks for, about the centre of mass."""
    com, net = efforts.demand.com[k], efforts.demand.net[k]
    blocks = [np.vstack([R, pin.skew(point - com) @ R]) for points, R in corners.values() for point in points]
    return Group("what the motion asks for", _with_pulls(np.hstack(blocks)), net, net, may_relax=False)


def _with_pulls(A: Array) -> Array:
    """(rows, 4 corners): rows about forces, with a column for the pull of each corner, of which they say nothing."""
    return np.hstack([A, np.zeros((len(A), A.shape[1] // 3))])


def _contacts(case: Case, touch: Touch, k: int, corners: Corners) -> dict[tuple[str, str], Group]:
    """Limits of each contact, by kind and contact.

    With normal forces z of the corners and their pulls p ≥ 0: z + p ≥ 0, p = 0, and ±x, ±y ≤ μ Σ (z + p), so that a
    corner that pulls is not said to lack friction as well.
    """
    columns = _columns(corners)
    forces = max(part.stop for part in columns.values())
    groups = {}
    for name, part in columns.items():
        mu = float(touch.friction[k, case.contact_names.index(name)])
        x, y, z = (np.arange(part.start + axis, part.stop, 3) for axis in range(3))
        pull, rows = forces + z // 3, np.arange(len(z))
        none, push, hold = (np.zeros((count, forces + forces // 3)) for count in (len(z), 2 * len(z), 4))
        none[rows, pull] = push[rows, z] = push[rows, pull] = push[rows + len(z), pull] = 1.0
        for row, (axis, sign) in enumerate(((x, 1.0), (x, -1.0), (y, 1.0), (y, -1.0))):
            hold[row, axis], hold[row, z], hold[row, pull] = sign, mu, mu
        groups[PULL, name] = Group(PULL.format(name), none, -np.inf, 0.0, unit="N", weight=_PULL_WEIGHT)
        groups[FRICTION, name] = Group(FRICTION.format(name), hold, 0.0, np.inf, unit="N")
        groups["", name] = Group(f"pulls of {name}", push, 0.0, np.inf, may_relax=False)
    return groups


def _drives(case: Case, efforts: Efforts, k: int, corners: Corners) -> list[Group]:
    """Torque of each drive that the contacts load: what the motion asks for less what the forces do."""
    robot, limits = case.robot, drive_limits(case)
    J = _jacobian(case, k, corners)
    groups = []
    for u, drive in enumerate(robot.drives):
        row = J[:, robot.driven[u]]
        if np.isfinite(limits[u]) and limits[u] > 0.0 and np.abs(row).max(initial=0.0) > 1e-9:
            need = efforts.needed[k, robot.driven[u]]
            groups.append(
                Group(
                    TORQUE.format(drive.joint), _with_pulls(-row[None]), -limits[u] - need, limits[u] - need, unit="N m"
                )
            )
    return groups


def _jacobian(case: Case, k: int, corners: Corners) -> Array:
    """(unknowns, nv): velocities of the corners along the axes of their contacts, per joint rate."""
    robot = case.robot
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, np.array(case.q[k]))
    pin.updateFramePlacements(model, data)
    rows = []
    for name, (points, R) in corners.items():
        frame = robot.frame_id(robot.contacts[name].frame)
        at = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        origin = data.oMf[frame].translation
        rows += [R.T @ (at[:3] - pin.skew(point - origin) @ at[3:]) for point in points]
    return np.vstack(rows)
