"""Roadmaps of stances as files: what one query found is used by the next one, in the same world."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array, finite_array, whole_numbers
from surefoot.errors import FileFormatError, NotSupportedError
from surefoot.files import atomic_write
from surefoot.motion.files import read_npz
from surefoot.planning.footholds import FAR, Footholds
from surefoot.planning.space import StanceModel
from surefoot.planning.stances import Key, Move, StanceGraph

_FORMAT = "surefoot.roadmap/1"
_SAME = 1e-6  # footholds nearer than this are one [m]
_FOOTHOLDS, _MOVES = ("points", "normals", "friction", "pieces"), ("before", "after", "bases")


@dataclass(frozen=True, eq=False)
class StanceRoadmap:
    """Footholds, and moves of one foot between stances on them; a move can be made both ways.

        plan.roadmap().save("flat.npz")
        planner.plan(q, other_goal, roadmap=StanceRoadmap.load("flat.npz"))

    Args:
        place: Digest of legs, world and margins, for which the moves hold.
        footholds: n places.
        before: (m, L) stances before the moves: for every leg the index of its foothold, −1 for a hand in the air.
        after: (m, L) stances after them.
        bases: (m, 6) base pose in which the foot of a move can leave and land.
    """

    place: str
    footholds: Footholds
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    bases: Array

    def __post_init__(self) -> None:
        both = np.concatenate([self.before, self.after])
        fits = self.before.shape == self.after.shape and len(self.before) == len(self.bases)
        if not fits or ((self.before != self.after).sum(axis=1) != 1).any():
            raise FileFormatError("the moves of a roadmap do not relocate one foot each")
        if len(both) and (both.min() < -1 or both.max() >= len(self.footholds)):
            raise FileFormatError("a stance of the roadmap is on a foothold that it does not have")

    def __len__(self) -> int:
        return len(self.bases)

    @classmethod
    def of(cls, graph: StanceGraph, goal: Key) -> StanceRoadmap:
        """Moves between the stances of a graph that were explored, and to the goal.

        Args:
            graph: The graph.
            goal: The stance where the plan ends.
        """
        kept = {*graph.moves, goal}
        moves = [x for out in graph.moves.values() for key, x in out.items() if key in kept and len(x.bases)]
        shape = (len(moves), len(graph.model.chart.names))
        before, after = (
            np.array([getattr(x, name) for x in moves], dtype=np.int64).reshape(shape) for name in ("before", "after")
        )
        used = np.setdiff1d(np.concatenate([before, after]), [-1])
        number = np.full(len(graph.footholds) + 1, -1)
        number[used] = np.arange(len(used))
        bases = np.array([move.bases[0] for move in moves]).reshape(-1, 6)
        return cls(place_of(graph.model), graph.footholds.take(used), number[before], number[after], bases)

    def moves(self) -> dict[Key, dict[Key, Move]]:
        """Stance → stance after → move, both ways."""
        out: dict[Key, dict[Key, Move]] = {}
        legs = (self.before != self.after).argmax(axis=1).tolist()
        for leg, row, other, base in zip(legs, self.before.tolist(), self.after.tolist(), self.bases, strict=True):
            for a, b in ((tuple(row), tuple(other)), (tuple(other), tuple(row))):
                out.setdefault(a, {}).setdefault(b, Move(leg, a, b, base[None], 1))
        return out

    def joined(
        self, model: StanceModel, fresh: Footholds, exact: NDArray[np.int64], pitch: float
    ) -> tuple[Footholds, NDArray[np.int64]]:
        """These footholds with others, and (n,) the indices of the others; of those near known ones, of the known ones.

        Args:
            model: The robot in its world.
            fresh: n other footholds.
            exact: Indices of those that must be where they are: of start and goal.
            pitch: Distance of footholds [m]: others are omitted if they are nearer than half of it to known ones.

        Raises:
            NotSupportedError: The roadmap was made for other legs, another world or other margins.
        """
        if self.place != place_of(model):
            raise NotSupportedError(
                "the roadmap was made for another robot, another world or other margins",
                next_step="plan without it, and save the roadmap of that plan",
            )
        away = np.linalg.norm(fresh.points[:, None] - self.footholds.points, axis=2)
        is_new = away.min(axis=1) > np.where(np.isin(np.arange(len(fresh)), exact), _SAME, 0.5 * pitch)
        numbers = np.where(is_new, len(self.footholds) + np.cumsum(is_new) - 1, away.argmin(axis=1))
        return Footholds.joined([self.footholds, fresh.take(is_new)]), numbers

    def save(self, path: str | Path) -> None:
        """Write an `.npz` file, whole or not at all."""
        places = {name: getattr(self.footholds, name) for name in _FOOTHOLDS}
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            np.savez_compressed(
                file, schema=_FORMAT, place=self.place, before=self.before, after=self.after, bases=self.bases, **places
            )

    @classmethod
    def load(cls, path: str | Path) -> StanceRoadmap:
        """Read a file that `save` wrote.

        Raises:
            FileFormatError: It is not such a file, or its numbers contradict each other.
        """
        data = read_npz(path)
        if missing := [name for name in ("schema", "place", *_FOOTHOLDS, *_MOVES) if name not in data]:
            raise FileFormatError("does not hold a roadmap", file=path, evidence={"missing": missing})
        if str(data["schema"]) != _FORMAT:
            raise FileFormatError(f"expected a file of the kind {_FORMAT}, got {str(data['schema'])[:80]!r}", file=path)
        points = finite_array(data["points"], (None, 3), "footholds", FAR)
        footholds = Footholds(
            points,
            finite_array(data["normals"], points.shape, "normals", FAR),
            finite_array(data["friction"], (len(points),), "friction", FAR),
            whole_numbers(data["pieces"], (len(points),), "pieces"),
        )
        before, after = (whole_numbers(data[name], (None, None), "stances") for name in ("before", "after"))
        bases = finite_array(data["bases"], (None, 6), "base poses", FAR)
        return cls(str(data["place"]), footholds, before, after, bases)


def place_of(model: StanceModel) -> str:
    """Digest of what moves depend on: limbs, world, margins.

    Args:
        model: The robot in its world.
    """
    limbs = [limb.numbers for limb in model.chart.limbs]
    return hashlib.sha256(pickle.dumps((model.chart.names, limbs, model.world, model.margins))).hexdigest()
