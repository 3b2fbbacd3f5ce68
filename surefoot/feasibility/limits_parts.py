"""Names, bodies and units of entries of v, as parts of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["bodies_at", "joint_rows", "names_at", "unit_at", "units_at"]

Rows = NDArray[np.int64]
_SLIDING = ("prismatic", "translation")
_SLIDING_AXES = {"free": 3, "planar": 2}  # that come first, before those that turn


def names_at(case: Case, rows: Rows) -> tuple[str, ...]:
    """Names of entries of v."""
    return tuple(case.velocity_names[row] for row in rows)


def bodies_at(case: Case, rows: Rows) -> tuple[frozenset[int], ...]:
    """Bodies that move with entries of v."""
    return tuple(case.velocity_bodies[row] for row in rows)


def joint_rows(case: Case) -> Rows:
    """Entries of v that do not belong to the base."""
    return np.setdiff1d(np.arange(case.robot.nv), case.robot.base_rows)


def unit_at(case: Case, rows: Rows, turning: str, sliding: str) -> str:
    """The unit of entries of v; both where joints of both kinds are among them.

    Args:
        case: The case.
        rows: The entries.
        turning: Unit of joints that turn.
        sliding: Unit of joints that slide.
    """
    tree = case.robot.tree
    slides: set[bool] = set()
    for i, kind in enumerate(tree.kinds):
        start = int(tree.v_index[i])
        if ((rows >= start) & (rows < start + tree.nv_of(i))).any():
            slides.add(kind in _SLIDING)
    return " | ".join(unit for unit, there in ((turning, False in slides), (sliding, True in slides)) if there)


def units_at(case: Case, rows: Rows, turning: str, sliding: str) -> tuple[str, ...]:
    """The unit of each entry of v, also of those of joints that slide and turn.

    Args:
        case: The case.
        rows: The entries.
        turning: Unit of axes that turn.
        sliding: Unit of axes that slide.
    """
    tree, units = case.robot.tree, [turning] * case.robot.nv
    for i, kind in enumerate(tree.kinds):
        start, size = int(tree.v_index[i]), tree.nv_of(i)
        count = size if kind in _SLIDING else min(size, _SLIDING_AXES.get(kind, 0))
        units[start : start + count] = [sliding] * count
    return tuple(units[row] for row in rows)
