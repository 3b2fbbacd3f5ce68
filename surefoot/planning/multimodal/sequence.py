"""Stance sequences as files: planned once, then given to any planner of motions, or run again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array, finite_array, whole_numbers
from surefoot.errors import FileFormatError, SurefootError
from surefoot.files import read_json, write_text
from surefoot.planning.footholds import FAR, Footholds

_FORMAT = "surefoot.stances/1"


@dataclass(frozen=True, eq=False)
class StanceSequence:
    """Footholds and the order in which feet take them.

        plan.sequence().save("flat.json")
        planner.follow(StanceSequence.load("flat.json"), seed=0)

    Args:
        robot: Name of the robot.
        legs: Names of its contacts, in the order of the columns below.
        start: (6 + 3 L,) state in which it begins.
        footholds: n places.
        stances: (m + 1, L) for every stance and leg the index of its foothold, −1 for a hand in the air; one moves from
            row to row.
        bases: m arrays (k, 6), k ≥ 1: base poses in which the foot of a move can leave and land.
    """

    robot: str
    legs: tuple[str, ...]
    start: Array
    footholds: Footholds
    stances: NDArray[np.int64]
    bases: tuple[Array, ...]

    def __post_init__(self) -> None:
        moved = (np.diff(self.stances, axis=0) != 0).sum(axis=1)
        fits = self.stances.shape == (len(self.bases) + 1, len(self.legs)) and len(self.start) == 6 + 3 * len(self.legs)
        if not fits or (moved != 1).any() or self.stances.min() < -1 or self.stances.max() >= len(self.footholds):
            raise FileFormatError("the stances do not follow from each other by moves of one foot")

    def __len__(self) -> int:
        return len(self.bases)

    def head(self, moves: int) -> StanceSequence:
        """The first moves.

        Args:
            moves: How many.
        """
        return StanceSequence(
            self.robot, self.legs, self.start, self.footholds, self.stances[: moves + 1], self.bases[:moves]
        )

    def save(self, path: str | Path) -> None:
        """Write a JSON file, whole or not at all."""
        places = self.footholds
        data = {
            "schema": _FORMAT,
            "robot": self.robot,
            "legs": list(self.legs),
            "start": self.start.tolist(),
            "footholds": [
                {"point": point.tolist(), "normal": normal.tolist(), "friction": float(mu), "piece": int(piece)}
                for point, normal, mu, piece in zip(
                    places.points, places.normals, places.friction, places.pieces, strict=True
                )
            ],
            "stances": self.stances.tolist(),
            "bases": [rows.tolist() for rows in self.bases],
        }
        write_text(path, json.dumps(data, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> StanceSequence:
        """Read a file that `save` wrote.

        Raises:
            FileFormatError: It is not such a file, or its numbers contradict each other.
        """
        try:
            return _of(read_json(path))
        except SurefootError:
            raise
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise FileFormatError(
                f"`{path}` does not hold a stance sequence", evidence={"reason": str(error)}
            ) from error


def _of(data: dict[str, Any]) -> StanceSequence:
    if data["schema"] != _FORMAT:
        raise FileFormatError(f"expected a file of the kind {_FORMAT}, got {data['schema']!r}")
    rows, legs = data["footholds"], tuple(str(name) for name in data["legs"])
    footholds = Footholds(
        finite_array([row["point"] for row in rows], (None, 3), "footholds", FAR),
        finite_array([row["normal"] for row in rows], (len(rows), 3), "normals", FAR),
        finite_array([row["friction"] for row in rows], (len(rows),), "friction", FAR),
        whole_numbers([row["piece"] for row in rows], (len(rows),), "pieces"),
    )
    stances = whole_numbers(data["stances"], (None, len(legs)), "stances")
    bases = tuple(finite_array(x, (None, 6), "base poses", FAR) for x in data["bases"])
    start = finite_array(data["start"], (6 + 3 * len(legs),), "start", FAR)
    return StanceSequence(str(data["robot"]), legs, start, footholds, stances, bases)
