"""Conflicts of contacts and drives in plain words: like ones together, at most three clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from surefoot.errors import NotSupportedError
from surefoot.solvers import Explanation, Relaxation

__all__ = ["FRICTION", "JOINED", "PULL", "PULL_WEIGHT", "TORQUE", "Event", "Needed", "needed", "told"]

PULL, FRICTION, TORQUE = "{} cannot pull", "friction of {}", "torque limit of {}"
"""Names of groups, by what they forbid."""
PULL_WEIGHT = 100.0
"""What a newton of pull costs among others: ground that pulls is the last explanation, as it could hold anything."""
JOINED = " + "
"""Between the contacts of a group that holds for several."""

_AT_ONE = {
    PULL: "the ground pulls at a corner of {} with {}",
    FRICTION: "friction holds {} with {} more than it can",
    TORQUE: "the drive of {} gives {} more than it can",
}
_AT_ALL = {
    PULL: "the ground pulls at corners of {} with up to {}",
    FRICTION: "friction holds {} with up to {} more than it can",
    TORQUE: "the drives of {} give up to {} more than they can",
}
_MOST_CLAUSES, _MOST_NAMES = 3, 3
_LIKE = 0.05  # relative difference of amounts that are as good as the same
_FAR = 3.0  # a drive that helps alone, but takes that much more than all together, is no help
_NUMBERS = ("three", "four", "five", "six", "seven", "eight")
_LIMBS = {"foot": "feet", "sole": "soles", "toe": "toes", "heel": "heels", "hand": "hands", "wheel": "wheels"}


class Event(NamedTuple):
    """What happens if a constraint gives way.

    Args:
        kind: `PULL`, `FRICTION` or `TORQUE`.
        names: Contacts or joints that it happens at, all of them.
        amount: By how much at most [unit].
        unit: Of the amount.
    """

    kind: str
    names: tuple[str, ...]
    amount: float
    unit: str


class Needed(NamedTuple):
    """What would have to happen.

    Args:
        events: If any one is enough that with the least amount first, else that with the largest.
        any_of: Whether any one of them is enough.
    """

    events: tuple[Event, ...]
    any_of: bool


def needed(found: Explanation) -> Needed:
    """What would have to happen so that there is no conflict.

    Args:
        found: A conflict.
    """
    alone = [member.alone for member in found.conflict if member.alone is not None]
    events = [event for event in map(_event, alone) if _cost(event) <= found.cost]
    if events:
        return Needed(tuple(sorted(events, key=lambda event: event.amount)), any_of=True)
    together = map(_event, found.least or ())
    return Needed(tuple(sorted(together, key=lambda event: -event.amount)), any_of=False)


def _cost(event: Event) -> float:
    """What an event costs, less what it may cost more than the least of all."""
    more = _FAR if event.kind == TORQUE else 1.0 + _LIKE
    return event.amount * (PULL_WEIGHT if event.kind == PULL else 1.0) / more


def _event(way: Relaxation) -> Event:
    """What it means that a group gives way."""
    for kind in _AT_ONE:
        before, after = kind.split("{}")
        if way.name.startswith(before) and way.name.endswith(after):
            names = tuple(way.name.removeprefix(before).removesuffix(after).split(JOINED))
            return Event(kind, names, way.amount, way.unit)
    raise NotSupportedError(f"nobody knows what it means that `{way.name}` gives way")


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
    shown = clauses if left <= 0 else [*clauses[: _MOST_CLAUSES - 1], f"{left + 1} other such things happen"]
    return (", or " if need.any_of else ", and ").join(shown)


def _like(one: Event, other: Event) -> bool:
    close = abs(one.amount - other.amount) <= _LIKE * max(one.amount, other.amount)
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
