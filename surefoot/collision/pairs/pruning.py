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

Proof that pairs of volumes keep a distance in all postures inside the limits, by branch and bound.

A box of joint angles is proven if the distance at its middle exceeds the threshold by more than the volumes can travel
from there to its sides ([col.travel]); other boxes are halved along the joint that moves the volumes most.

Reasons to leave pairs of volumes out, searched once and kept in surefoot's cache (`surefoot.codegen.cache`).

The search looks at thousands of postures; its result depends on numbers only, and a fresh process can read it.

How near pairs of volumes come inside the joint limits: random postures first, then downhill from the nearest.

What is found is an upper bound of the nearest approach: no proof that nothing is nearer. Same seed, same result.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, field

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.codegen import cache
from surefoot.collision.pairs.gradients import PairGradients
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes import (
    Reach,
    VolumeMotion,
    is_bounded,
    joint_travel,
    random_postures,
    source_text,
    tree_identity,
)
from surefoot.errors import ShapeError
from surefoot.robot import Robot

Indices = NDArray[np.int64]


def proven_apart(table: PairTable, threshold: float, budget: int) -> NDArray[np.bool_]:
    """Which pairs are proven never to come nearer than a threshold: (P,).

    Only pairs with one-axis joints between them, all with limits, can be proven; few joints are soon done, more than
    four almost never.

    Args:
        table: The pairs.
        threshold: [m].
        budget: Number of boxes that a pair may take.
    """
    robot = table.motion.robot
    tree, limits = robot.tree, robot.limits
    axes = np.array([i for i in range(tree.n) if tree.nq_of(i) == tree.nv_of(i) == 1], dtype=np.int64)
    in_q, in_v = tree.q_index[axes], tree.v_index[axes]
    lower, upper = np.zeros(robot.nv), np.full(robot.nv, np.inf)
    lower[in_v], upper[in_v] = limits.lower[in_q], limits.upper[in_q]
    rates = _rates(table, limits.lower, limits.upper)
    moving = rates > 0.0
    bounded = np.isfinite(lower) & np.isfinite(upper)
    provable = ~(moving & ~bounded).any(axis=1)
    pair = np.flatnonzero(provable)
    low, high = (np.where(moving & bounded, x, 0.0)[pair] for x in (lower, upper))
    out, used = provable.copy(), np.zeros(len(table), dtype=np.int64)
    while len(pair):
        Q = np.tile(np.array(robot.home), (len(pair), 1))
        Q[:, in_q] = (0.5 * (low + high))[:, in_v]
        spread = rates[pair] * 0.5 * (high - low)
        gap = table.some_distances(table.motion.points(Q), np.arange(len(pair)), pair)
        np.add.at(used, pair, 1)
        out[pair[gap <= threshold]] = False
        out[used > budget] = False
        keep = (gap - spread.sum(axis=1) <= threshold) & out[pair]
        pair, low, high = _halved(pair[keep], low[keep], high[keep], spread[keep])
    return out


def _rates(table: PairTable, lower: Array, upper: Array) -> Array:
    """(P, nv) by how much distances change at most for unit rates of the joints [m/rad] or [m/m]."""
    motion = table.motion
    reach, robot = Reach(motion), motion.robot
    linear, angular = joint_travel(robot, np.eye(robot.nv))
    ends = np.nan_to_num(np.vstack([lower, upper]), posinf=0.0, neginf=0.0)
    moved, arms = reach.of_pairs(table.first, table.second, reach.extents(ends, np.zeros((1, robot.tree.n))))
    return np.asarray(moved @ linear.T + arms @ angular.T)


def _halved(pair: Indices, low: Array, high: Array, spread: Array) -> tuple[Indices, Array, Array]:
    """Each box as two, cut across the joint with the largest spread."""
    rows, joint = np.arange(len(pair)), np.argmax(spread, axis=1)
    middle = 0.5 * (low + high)[rows, joint]
    first_high, second_low = high.copy(), low.copy()
    first_high[rows, joint], second_low[rows, joint] = middle, middle
    return np.concatenate([pair, pair]), np.vstack([low, second_low]), np.vstack([first_high, high])


def stored_reasons(
    motion: VolumeMotion, pairs: NDArray[np.int64], settings: tuple[float, ...], search: Callable[[], list[str]]
) -> list[str]:
    """The reason of every pair, from the cache where the same was searched before.

    Args:
        motion: The volumes.
        pairs: (P, 2) indices of volumes.
        settings: Numbers that decide about the search.
        search: Finds the reasons.
    """
    robot, limits = motion.robot, motion.robot.limits
    numbers = robot.home, limits.lower, limits.upper, motion.radii, motion.bodies, motion.kinds, *motion.numbers
    values = [np.asarray(x) for x in numbers]
    key = cache.key(
        "pairs of volumes", source_text(), repr(settings), str(robot.base_joint), *tree_identity(robot.tree),
        *values, pairs,
    )  # fmt: skip
    content = cache.load(key)
    if content is not None:
        return content.decode().split("\n")
    found = search()
    description = {"robot": robot.name, "algorithm": "pairs of volumes", "build": f"{len(found)}"}
    cache.store(key, "\n".join(found).encode(), description)
    return found


@dataclass(frozen=True)
class PruningSettings:
    """How pairs are searched for that need not be looked at.

    Args:
        samples: Number of random postures; 0 keeps everything that is not adjacent, ignored or in the SRDF.
        seed: Of the random postures.
        never_nearer: Pairs that always stayed farther apart than that are omitted [m].
        near_home: Pairs that are not farther apart than that at home are omitted [m]; −inf keeps them, and those that
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
            raise ShapeError("settings of the pruning must be numbers, and not negative", evidence={"settings": self})


@dataclass(frozen=True, eq=False)
class Pruning:
    """The pairs that are left, and why the others are not.

    Args:
        pairs: (P, 2) indices of volumes, ordered by links.
        reasons: Reason for every omitted pair of volumes, smaller index first.
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
        settings: How to search; the defaults if omitted.
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


_AT_ONCE = 256
_STEPS, _FIRST_STEP, _SHRINK = 40, 0.3, 0.9


@dataclass(frozen=True, eq=False)
class Approach:
    """The range of distances of P pairs that was met.

    Args:
        nearest: (P,) the smallest distance met [m].
        farthest: (P,) the largest one among home and the random postures that were looked at [m].
        posture: (P, nq) where the smallest was met.
    """

    nearest: Array
    farthest: Array
    posture: Array


def closest_approach(robot: Robot, table: PairTable, samples: int, rng: np.random.Generator, enough: float) -> Approach:
    """Search for the nearest approach of every pair.

    Args:
        robot: The robot.
        table: The pairs.
        samples: Number of random postures.
        rng: Source of randomness.
        enough: A pair that came nearer than that, and was once apart, is not looked at any more [m].
    """
    count = len(table)
    home = np.array(robot.home)[None]
    first = table.distances(table.motion.points(home))[0]
    found = Approach(first.copy(), first.copy(), np.tile(home, (count, 1)))
    open_pairs = np.arange(count)
    for start in range(0, samples, _AT_ONCE):
        if not len(open_pairs):
            break
        Q = random_postures(robot, min(_AT_ONCE, samples - start), rng)
        some = PairTable(table.motion, np.column_stack([table.first, table.second])[open_pairs])
        d = some.distances(table.motion.points(Q))
        # Keep what is nearer or farther than before, of distances d (n, pairs) at postures Q
        row = np.argmin(d, axis=0)
        low = d[row, np.arange(len(open_pairs))]
        better = low < found.nearest[open_pairs]
        found.nearest[open_pairs[better]], found.posture[open_pairs[better]] = low[better], Q[row[better]]
        found.farthest[open_pairs] = np.maximum(found.farthest[open_pairs], d.max(axis=0))
        open_pairs = open_pairs[(found.nearest[open_pairs] >= enough) | (found.farthest[open_pairs] <= 0.0)]
    _descend(robot, table, open_pairs[found.nearest[open_pairs] >= enough], found, enough)
    return found


def _descend(robot: Robot, table: PairTable, pairs: NDArray[np.int64], found: Approach, enough: float) -> None:
    """Follow the gradients of pairs from the postures where they were nearest, inside the limits."""
    gradients, tree = PairGradients(table), robot.tree
    axes = [i for i in range(tree.n) if tree.nv_of(i) == 1 and tree.nq_of(i) == 1]
    in_q, in_v = tree.q_index[axes], tree.v_index[axes]
    step = _FIRST_STEP
    Q = found.posture[pairs]
    for _ in range(_STEPS):
        if not len(pairs):
            return
        points = table.motion.points(Q)
        at = gradients.at(points, table.motion.twists(Q), np.arange(len(pairs)), pairs)
        better = at.distance < found.nearest[pairs]
        found.nearest[pairs[better]], found.posture[pairs[better]] = at.distance[better], Q[better]
        downhill = -at.gradient[:, in_v]
        scale = step / np.maximum(np.abs(downhill).max(axis=1, initial=0.0), 1e-9)
        Q[:, in_q] += scale[:, None] * downhill
        Q[:, in_q] = np.clip(Q[:, in_q], robot.limits.lower[in_q], robot.limits.upper[in_q])
        open_pairs = found.nearest[pairs] >= enough
        pairs, Q, step = pairs[open_pairs], Q[open_pairs], _SHRINK * step
