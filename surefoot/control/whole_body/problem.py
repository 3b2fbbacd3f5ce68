"""`NamedProblem`: a whole-body problem outside of the loop, to be stored, solved again and explained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from surefoot.errors import FileFormatError
from surefoot.files import atomic_write, parse_json
from surefoot.motion.files import read_npz
from surefoot.solvers.hierarchy import HierarchySolution, HierarchySolver, StackedHierarchy, Tolerances

__all__ = ["Conflict", "NamedProblem"]

_SMALL = 1e-6  # violations that are rounding, in units of the scaled rows
_NATURE = ("dynamics ", "loop ")  # equations of motion are nobody's wish
_SHARE = 0.05  # of the largest pull, below which a row is not named


@dataclass(frozen=True)
class Conflict:
    """Something that does not get what it asks for.

    Args:
        name: Of the task, limit or contact.
        level: Its level.
        missed: Length of what is missed, in units of its rows.
        against: What holds it back, the strongest first: names with their shares of the pull.
    """

    name: str
    level: int
    missed: float
    against: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """A sentence."""
        others = ", ".join(f"{name} ({share:.0%})" for name, share in self.against)
        against = f"; against it: {others}" if others else ""
        return f"{self.name} (level {self.level}) misses {self.missed:.3g}{against}"


@dataclass(frozen=True, eq=False)
class NamedProblem:
    """A problem of `WholeBody`, with the names of its rows.

        problem = NamedProblem.of(body);  problem.save("tick.npz")
        for conflict in NamedProblem.load("tick.npz").explain(): print(conflict)

    Args:
        stacked: The hierarchy.
        names: Of the rows.
        unknowns: Names of the unknowns.
    """

    stacked: StackedHierarchy
    names: tuple[str, ...]
    unknowns: tuple[str, ...]

    def save(self, file: str | Path) -> None:
        """Store it.

        Args:
            file: `.npz`.
        """
        p = self.stacked
        names = json.dumps({"names": self.names, "unknowns": self.unknowns, "starts": p.starts, "damping": p.damping})
        with atomic_write(Path(file)) as part, part.open("wb") as out:
            np.savez_compressed(out, A=p.A, lower=p.lower, upper=p.upper, names=np.array(names))

    @classmethod
    def load(cls, file: str | Path) -> NamedProblem:
        """Read what `save` wrote.

        Args:
            file: `.npz`.

        Raises:
            FileFormatError: It is something else.
        """
        data = read_npz(file)
        try:
            words = parse_json(str(data["names"]), file)
            A, lower, upper = (np.ascontiguousarray(data[key], dtype=float) for key in ("A", "lower", "upper"))
            stacked = StackedHierarchy(A, lower, upper, tuple(words["starts"]), tuple(words["damping"]))
            fits = A.shape == (len(words["names"]), len(words["unknowns"])) and len(lower) == len(upper) == sum(A.shape)
        except (ValueError, KeyError, TypeError) as error:
            raise FileFormatError("is not a whole-body problem", file=Path(file)) from error
        if not fits:
            raise FileFormatError("has rows and names that do not fit", file=Path(file))
        return cls(stacked, tuple(words["names"]), tuple(words["unknowns"]))

    @cached_property
    def solution(self) -> HierarchySolution:
        """The solution, found from nothing: it depends on the problem alone.

        Raises:
            ActiveSetError: There is none; see its `outcome`.
        """
        HierarchySolver.check_stacked(self.stacked)
        found = HierarchySolver().solve_stacked(self.stacked)
        return HierarchySolution(self.stacked, found, np.ones(self.stacked.rows), Tolerances())

    def explain(self) -> list[Conflict]:
        """What does not get what it asks for, and what holds it back; first priority first.

        A level that misses something pulls at all before it: A_kᵀ w_k = −Σ A_jᵀ μ_j − ν. The shares are those of the
        forces |A_jᵀ μ_j| of other rows of the same level that want something else, of limits and tasks of the levels
        before, and of bounds; equations of motion do not count. Wished wrenches, on the last level, are not listed.
        """
        conflicts, starts = [], self.stacked.starts
        for level, missed in enumerate(self.solution.violations[:-1]):
            broken = np.flatnonzero(np.abs(missed) > _SMALL)
            for name in dict.fromkeys(self.names[starts[level] + k] for k in broken):
                rows = [int(k) for k in broken if self.names[starts[level] + k] == name]
                size = float(np.linalg.norm(missed[rows]))
                conflicts.append(Conflict(name, level, size, self._against(level, name)))
        return conflicts

    def _against(self, level: int, name: str) -> tuple[tuple[str, float], ...]:
        rows, bounds = self.solution.multipliers[level]
        lengths = np.linalg.norm(self.stacked.A, axis=1)
        pulls: dict[str, float] = {}
        for k in np.flatnonzero(rows):
            if self.names[k] != name and not self.names[k].startswith(_NATURE):
                pulls[self.names[k]] = pulls.get(self.names[k], 0.0) + abs(float(rows[k])) * float(lengths[k])
        for k in np.flatnonzero(bounds):
            pulls[self.unknowns[k]] = pulls.get(self.unknowns[k], 0.0) + abs(float(bounds[k]))
        total = sum(pulls.values())
        shares = sorted(((key, pull / total) for key, pull in pulls.items()), key=lambda item: -item[1])
        return tuple((key, share) for key, share in shares if share >= _SHARE)
