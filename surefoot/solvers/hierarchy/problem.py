"""A hierarchy of rows and simple bounds as one block of numbers, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Level:
    """Rows of one priority: lower ≤ A x ≤ upper, as nearly as the levels before allow.

    Args:
        A: (rows, n).
        lower: (rows,) or a number; −inf where there is no such bound. An equation has lower = upper.
        upper: The same above.
        weight: Of the squared violation of each row: (rows,) or a number, positive.
        damping: Directions in which the level's equations have a singular value below this are damped; 0: none are.
    """

    A: ArrayLike
    lower: ArrayLike
    upper: ArrayLike
    weight: ArrayLike = 1.0
    damping: float = 0.0


@dataclass(eq=False)
class StackedHierarchy:
    """All levels in one block. Entries of `lower` and `upper` beyond the rows are bounds on x that are kept exactly.

    Args:
        A: (rows, n) of all levels, scaled by the roots of their weights; C order.
        lower: (rows + n,) lower ends: of the rows, then of x.
        upper: (rows + n,) upper ends.
        starts: Where each level begins, and the number of rows.
        damping: Of each level.
    """

    A: Array
    lower: Array
    upper: Array
    starts: tuple[int, ...]
    damping: tuple[float, ...]

    @property
    def rows(self) -> int:
        """Number of rows of all levels."""
        return self.A.shape[0]

    @property
    def unknowns(self) -> int:
        """Number of unknowns."""
        return self.A.shape[1]


def stacked(
    levels: Sequence[Level], lower: ArrayLike | None, upper: ArrayLike | None
) -> tuple[StackedHierarchy, Array]:
    """The levels in one block, and the roots of the weights (rows,) by which rows were scaled.

    Args:
        levels: First priority first.
        lower: (n,) bounds on x that are kept exactly, or None.
        upper: The same above.

    Raises:
        ShapeError: Shapes do not fit, numbers are not finite, ends are crossed; with level and rows.
    """
    if not len(levels):
        raise ShapeError("a hierarchy needs at least one level", next_step="give a list of Level(A, lower, upper)")
    n = _unknowns(levels[0])
    parts = [_checked(level, k, n) for k, level in enumerate(levels)]
    matrices, lows, highs, roots = zip(*parts, strict=True)
    lows, highs = (*lows, _bound(lower, n, -np.inf, "lower")), (*highs, _bound(upper, n, np.inf, "upper"))
    problem = StackedHierarchy(
        np.concatenate(matrices),
        np.concatenate(lows),
        np.concatenate(highs),
        tuple(int(at) for at in np.cumsum([0, *(len(A) for A in matrices)])),
        tuple(_damping(level, k) for k, level in enumerate(levels)),
    )
    require_order(problem)
    return problem, np.concatenate(roots)


def require_order(problem: StackedHierarchy) -> None:
    """Refuse lower ends above upper ends, and lower ends of +inf, upper ends of −inf."""
    wrong = ~(problem.lower <= problem.upper) | (problem.lower == np.inf) | (problem.upper == -np.inf)
    if not wrong.any():
        return
    at = np.flatnonzero(wrong)
    bounds = at[at >= problem.rows] - problem.rows
    if len(bounds):
        raise ShapeError(
            "bounds on x exclude each other",
            evidence={
                "unknowns": bounds.tolist(),
                "lower": problem.lower[problem.rows + bounds].tolist(),
                "upper": problem.upper[problem.rows + bounds].tolist(),
            },
            next_step="bounds are kept exactly: give lower ≤ upper",
        )
    level = int(np.searchsorted(problem.starts, at[0], side="right")) - 1
    inside = at[at < problem.starts[level + 1]]
    raise ShapeError(
        f"lower and upper ends of level {level} exclude each other",
        evidence={"rows": (inside - problem.starts[level]).tolist()},
        next_step="give lower ≤ upper, −inf or inf where there is no end, and no NaN",
    )


def _unknowns(level: Level) -> int:
    shape = np.shape(level.A)
    if len(shape) != 2:
        raise ShapeError("A of level 0 must be a matrix", evidence={"shape": shape})
    return int(shape[1])


def _checked(level: Level, k: int, n: int) -> tuple[Array, Array, Array, Array]:
    """A, lower, upper of a level, scaled, and the roots of its weights."""
    A = np.asarray(level.A, dtype=float)
    if A.ndim != 2 or A.shape[1] != n:
        raise ShapeError(f"A of level {k} must be (rows, {n})", evidence={"shape": A.shape})
    if not np.isfinite(A).all():
        raise ShapeError(
            f"A of level {k} is not finite", evidence={"rows": np.flatnonzero(~np.isfinite(A).all(1)).tolist()}
        )
    weight = _per_row(level.weight, len(A), f"weight of level {k}")
    if not (np.isfinite(weight) & (weight > 0.0)).all():
        raise ShapeError(f"weights of level {k} must be positive", evidence={"weights": weight.tolist()})
    root = np.sqrt(weight)
    low, high = (
        _per_row(x, len(A), f"`{s}` of level {k}") for x, s in ((level.lower, "lower"), (level.upper, "upper"))
    )
    return A * root[:, None], low * root, high * root, root


def _damping(level: Level, k: int) -> float:
    if not (np.isfinite(level.damping) and level.damping >= 0.0):
        raise ShapeError(f"damping of level {k} must not be negative", evidence={"damping": level.damping})
    return float(level.damping)


def _per_row(values: ArrayLike, rows: int, what: str) -> Array:
    found = np.asarray(values, dtype=float)
    if found.shape not in ((), (rows,)):
        raise ShapeError(f"{what} must be a number or ({rows},)", evidence={"shape": found.shape})
    return np.broadcast_to(found, (rows,))


def _bound(values: ArrayLike | None, n: int, default: float, what: str) -> Array:
    return np.full(n, default) if values is None else _per_row(values, n, f"{what} bound on x")
