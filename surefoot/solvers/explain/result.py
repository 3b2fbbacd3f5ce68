"""What `explain` found, and how it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from surefoot.arrays import Array

_MOST_NAMES = 6


@dataclass(frozen=True)
class Relaxation:
    """How far a group gives way.

    Args:
        name: The group.
        amount: Largest violation of its rows [unit].
        unit: Of the amount.
        side: "+": upper ends rise; "−": lower ends fall; "±": both.
    """

    name: str
    amount: float
    unit: str
    side: str

    @property
    def text(self) -> str:
        """As "+4.2 Nm"."""
        return f"{self.side}{self.amount:.3g} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False)
class Member:
    """A group of the conflict.

    Args:
        name: The group.
        alone: Its least relaxation with which *all* groups hold; None if it does not help alone, may not give way,
            or rounding leaves it open.
        may_relax: Whether it may give way.
        witness: (n,) a point at which all other members hold; NaN where rounding leaves it open whether there is one.
        place: Where or when.
    """

    name: str
    alone: Relaxation | None
    may_relax: bool
    witness: Array = field(repr=False)
    place: str = ""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Whether groups can hold together, and if not, why, and what would help.

    Args:
        feasible: Whether some x keeps all rows to the tolerance.
        x: (n,) that point, or about the one whose scaled rows have the least squared violation.
        slack: For each group how far its nearest row is from its end at x [unit]; negative: violated.
        tolerances: For each group which violation counts as none [unit].
        conflict: Members of an irreducible conflicting set, in the order of their names: together they cannot hold, and
            without any one of them the others can.
        proof: Multipliers (rows,) of every member, positive at upper ends, negative at lower ones: Σ Aᵀ y = 0 and
            Σ_{y>0} y upper + Σ_{y<0} y lower < 0, so that no x keeps the rows.
        least: The relaxations of least weighted sum with which all groups hold; None if those conflict that may not
            give way. Empty if feasible.
        cost: Sum of weight times amount over `least`; inf if there is none.
        place: Where or when.
    """

    feasible: bool
    x: Array = field(repr=False)
    slack: dict[str, float]
    tolerances: dict[str, float] = field(repr=False)
    conflict: tuple[Member, ...] = ()
    proof: dict[str, Array] = field(default_factory=dict, repr=False)
    least: tuple[Relaxation, ...] | None = ()
    cost: float = 0.0
    place: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members of the conflict."""
        return tuple(member.name for member in self.conflict)

    @property
    def sentence(self) -> str:
        """For people: "hip torque limit and step length conflict in phase 3: +4.2 Nm or −1.6 cm"."""
        if self.feasible:
            return "all groups hold together"
        movable = [member.name for member in self.conflict if member.may_relax] or list(self.names)
        fixed = [name for name in self.names if name not in movable]
        verb = "conflict" if len(movable) > 1 else "cannot hold"
        place = f" {self.place}" if self.place else ""
        return f"{_listed(movable)} {verb}{place}: {self._remedies}" + (f" ({_listed(fixed)} fixed)" if fixed else "")

    @property
    def _remedies(self) -> str:
        helps = [member.alone for member in self.conflict if member.alone is not None]
        if not helps and self.least is None:
            return "what may give way is not enough"
        if not helps:
            return f"none helps alone; {_listed([f'{item.text} ({item.name})' for item in self.least or ()])} together"
        if len(helps) == sum(member.may_relax for member in self.conflict):
            return " or ".join(_cut([item.text for item in helps]))
        return " or ".join(_cut([f"{item.text} ({item.name})" for item in helps]))

    def __str__(self) -> str:
        return self.sentence


def _cut(items: Sequence[str]) -> list[str]:
    """At most a few."""
    more = len(items) - _MOST_NAMES
    return list(items) if more <= 1 else [*items[:_MOST_NAMES], f"{more} more"]


def _listed(items: Sequence[str]) -> str:
    shown = _cut(items)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
