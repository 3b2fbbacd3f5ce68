"""Names, bodies and units of entries of v, as parts of a series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["bodies_at", "joint_rows", "names_at", "unit_at"]

Rows = NDArray[np.int64]
_SLIDING = ("prismatic", "translation")


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
