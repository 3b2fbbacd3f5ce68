"""Which pairs of a robot's volumes are worth looking at.

Left out, in this order, each with its reason:
- `adjacent`: on one body, or on two that hang on each other (bodies without volumes in between do not count);
- `ignored`: named by the caller; `srdf`: named by an SRDF file;
- `always`: they overlap at home and in all random postures: a shape of the joint, not of the posture;
- `home`: they overlap at home, where the robot is known to be well: volumes that are thicker than the links. Look at
  them (`Pruning.reasons`): thinner volumes, or more of them, bring them back;
- `never`: they stayed apart in all random postures, and so they did downhill from the nearest. This is statistics, not
  proof: how many postures, which seed and how far apart is in `PruningSettings`;
- `proven`: of those, the ones for which `proven_apart` found a proof, where it was asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefoot.collision.closest_approach import closest_approach
from surefoot.collision.pair_table import PairTable
from surefoot.collision.postures import is_bounded
from surefoot.collision.proven_apart import proven_apart
from surefoot.collision.pruning_store import stored_reasons
from surefoot.collision.volume_motion import VolumeMotion
from surefoot.errors import ShapeError

__all__ = ["Pruning", "PruningSettings", "prune"]

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class PruningSettings:
    """How pairs are searched for that need not be looked at.

    Args:
        samples: Number of random postures; 0 keeps everything that is not adjacent, ignored or in the SRDF.
        seed: Of the random postures.
        never_nearer: Pairs that always stayed farther apart than that are left out [m].
        near_home: Pairs that are not farther apart than that at home are left out [m]; −inf keeps them, and those that
            always overlap.
        proof_boxes: Try to prove what was never met, with so many boxes for each pair; 0 for no proofs.
        only_proven: Keep what could not be proven.
    """

    samples: int = 2048
    seed: int = 0
    never_nearer: float = 0.03
    near_home: float = 0.0
    proof_boxes: int = 0
    only_proven: bool = False

    def __post_init__(self) -> None:
        if min(self.samples, self.proof_boxes) < 0 or np.isnan([self.never_nearer, self.near_home]).any():
            raise ShapeError("settings of the pruning are negative, or no numbers", evidence={"settings": self})


@dataclass(frozen=True, eq=False)
class Pruning:
    """The pairs that are left, and why the others are not.

    Args:
        pairs: (P, 2) indices of volumes, ordered by links.
        reasons: Reason for every pair of volumes that was left out, smaller index first.
    """

    pairs: Indices
    reasons: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """Number of pairs by reason, and those that are left as `kept`."""
        out = {"kept": len(self.pairs)}
        for reason in self.reasons.values():
            out[reason] = out.get(reason, 0) + 1
        return out


def prune(
    motion: VolumeMotion,
    ignored: Collection[frozenset[str]] = (),
    in_srdf: Collection[frozenset[str]] = (),
    settings: PruningSettings | None = None,
) -> Pruning:
    """Sort out pairs of volumes.

    Args:
        motion: The volumes.
        ignored: Pairs of links not to look at.
        in_srdf: The same, from an SRDF file.
        settings: How to search; the defaults if left out.
    """
    settings = settings or PruningSettings()
    links = [item.link for item in motion.volumes]
    close = _adjacent_bodies(motion)
    reasons: dict[tuple[int, int], str] = {}
    left = []
    for i, j in _all_pairs(links):
        names = frozenset((links[i], links[j]))
        listed = "ignored" if names in ignored else "srdf" if names in in_srdf else ""
        a, b = sorted((int(motion.bodies[i]), int(motion.bodies[j])))
        reason = "adjacent" if a == b or (a, b) in close else listed
        if reason:
            reasons[min(i, j), max(i, j)] = reason
        else:
            left.append((i, j))
    pairs = np.array(left, dtype=np.int64).reshape(-1, 2)
    found = _reasons(motion, pairs, settings)
    for (i, j), reason in zip(pairs, found, strict=True):
        if reason:
            reasons[min(int(i), int(j)), max(int(i), int(j))] = reason
    return Pruning(pairs[[not reason for reason in found]], reasons)


def _all_pairs(links: list[str]) -> Iterable[tuple[int, int]]:
    """Pairs of volumes, those of the same two links one after the other."""
    by_link: dict[str, list[int]] = {}
    for k, link in enumerate(links):
        by_link.setdefault(link, []).append(k)
    names = list(by_link)
    for x, name in enumerate(names):
        own = by_link[name]
        yield from ((own[i], own[j]) for i in range(len(own)) for j in range(i + 1, len(own)))
        for other in names[x + 1 :]:
            yield from ((i, j) for i in own for j in by_link[other])


def _adjacent_bodies(motion: VolumeMotion) -> set[tuple[int, int]]:
    """Bodies with volumes, each with the next one inwards that has volumes; −1 is the world."""
    with_volumes, parents = {int(body) for body in motion.bodies}, motion.robot.tree.parents
    out = set()
    for body in with_volumes - {-1}:
        above = int(parents[body])
        while above >= 0 and above not in with_volumes:
            above = int(parents[above])
        out.add((above, body))
    return out


def _reasons(motion: VolumeMotion, pairs: Indices, settings: PruningSettings) -> list[str]:
    """The reason of every pair, "" to keep it."""
    if not len(pairs) or not settings.samples:
        return [""] * len(pairs)
    return stored_reasons(motion, pairs, astuple(settings), lambda: _statistics(motion, pairs, settings))


def _statistics(motion: VolumeMotion, pairs: Indices, settings: PruningSettings) -> list[str]:
    """The reason of every pair, "" to keep it, from random postures."""
    robot, table = motion.robot, PairTable(motion, pairs)
    rng = np.random.default_rng(settings.seed)
    at_home = table.distances(motion.points(np.array(robot.home)[None]))[0]
    met = closest_approach(robot, table, settings.samples, rng, settings.never_nearer)
    apart = (met.nearest > settings.never_nearer) & ~_moved_without_limits(motion, table)
    proven = np.zeros(len(pairs), dtype=bool)
    if settings.proof_boxes > 0:
        some = PairTable(motion, pairs[apart])
        proven[apart] = proven_apart(some, settings.never_nearer, settings.proof_boxes)
    tests = (
        ("always", (at_home <= min(0.0, settings.near_home)) & (met.farthest <= 0.0)),
        ("home", at_home <= settings.near_home),
        ("proven", proven),
        ("never", apart & (not settings.only_proven)),
    )
    return [next((reason for reason, holds in tests if holds[k]), "") for k in range(len(pairs))]


def _moved_without_limits(motion: VolumeMotion, table: PairTable) -> NDArray[np.bool_]:
    """(P,) whether a joint that random postures cannot cover moves the two volumes against each other."""
    robot = motion.robot
    free = np.array([i != robot.base_joint and not is_bounded(robot, i) for i in range(robot.tree.n)], dtype=bool)
    between = motion.carried[table.first] != motion.carried[table.second]
    return np.asarray((between & free).any(axis=1))
