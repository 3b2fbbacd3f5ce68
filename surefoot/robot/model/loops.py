"""What ties a tree to itself: closed chains and couplings of joint positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.robot.model.links import placement


@dataclass(frozen=True, eq=False)
class Loop:
    """Two frames whose relative motion is tied in some directions.

    Args:
        name: Unique among the loops.
        frame_a: First frame (link) name.
        frame_b: Second frame (link) name; "universe" for the world.
        placement_a: T of the tied frame in `frame_a`, (4, 4).
        placement_b: T of the tied frame in `frame_b`, (4, 4).
        directions: Which of (x, y, z, rx, ry, rz) of the tied frame on a are held.
    """

    name: str
    frame_a: str
    frame_b: str
    placement_a: Array = field(default_factory=placement)
    placement_b: Array = field(default_factory=placement)
    directions: tuple[bool, bool, bool, bool, bool, bool] = (True, True, True, True, True, True)

    @property
    def size(self) -> int:
        """Number of tied directions."""
        return sum(self.directions)


@dataclass(frozen=True)
class Coupling:
    """q_joint = offset + ratio · q_source, for one-axis joints.

    Args:
        joint: The joint that follows.
        source: The joint that leads.
        ratio: n in q_i = c + n q_j.
        offset: c in q_i = c + n q_j [rad] or [m].
    """

    joint: str
    source: str
    ratio: float = 1.0
    offset: float = 0.0


def resolve_couplings(couplings: Sequence[Coupling]) -> tuple[Coupling, ...]:
    """Couplings whose source leads freely: a chain a → b → c becomes a → c.

    Raises:
        ModelError: A joint follows itself, or two sources.
    """
    by_joint = {item.joint: item for item in couplings}
    if len(by_joint) < len(couplings):
        raise ModelError("a joint follows two others", evidence={"couplings": [c.joint for c in couplings]})
    out = []
    for item in couplings:
        ratio, offset, source, seen = item.ratio, item.offset, item.source, {item.joint}
        while source in by_joint:
            if source in seen:
                raise ModelError(f"joint `{item.joint}` follows itself", evidence={"chain": sorted(seen)})
            seen.add(source)
            upper = by_joint[source]
            ratio, offset, source = ratio * upper.ratio, offset + ratio * upper.offset, upper.source
        if source in seen:
            raise ModelError(f"joint `{item.joint}` follows itself", evidence={"chain": sorted(seen)})
        out.append(Coupling(item.joint, source, ratio, offset))
    return tuple(out)


def led_by_first(couplings: Sequence[Coupling], order: Sequence[str]) -> tuple[Coupling, ...]:
    """The same ties, each group led by its joint that comes first in the tree.

    A follower before its source takes the lead: from q_f = c + n q_s follows q_s = (q_f − c)/n.

    Args:
        couplings: Ties whose source leads freely (`resolve_couplings`).
        order: Joint names in the order of the tree.

    Raises:
        ModelError: A joint that must take the lead does not move with its source (n = 0).
    """
    out: list[Coupling] = []
    for source in dict.fromkeys(item.source for item in couplings):
        group = [Coupling(source, source), *(item for item in couplings if item.source == source)]
        first = min(group, key=lambda item: order.index(item.joint))
        if first.ratio == 0.0:
            raise ModelError(
                f"joint `{first.joint}` follows `{source}` with ratio 0 and comes before it in the tree",
                next_step='load with mimic="coupling"',
            )
        for item in group:
            if item.joint != first.joint:
                ratio = item.ratio / first.ratio
                out.append(Coupling(item.joint, first.joint, ratio, item.offset - ratio * first.offset))
    return tuple(out)
