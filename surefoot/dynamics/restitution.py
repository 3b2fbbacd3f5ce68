"""How elastic each row of an impact is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.checked_arguments import checked_numbers
from surefoot.dynamics.constraints import Constraints
from surefoot.errors import ModelError, ShapeError, one_of

__all__ = ["Restitution", "restitution_of_rows"]

Restitution = ArrayLike | Mapping[str, float]


def restitution_of_rows(constraints: Constraints, given: Restitution) -> Array:
    """Coefficients of restitution (m,), one per row, in 0…1.

    Args:
        constraints: What holds after the impact.
        given: One number for all rows; (m,) numbers; or numbers by name of a constraint ("foot") or of a row
            ("foot.z"), where a row goes before its constraint and what is not named is 0.

    Raises:
        UnknownNameError: No constraint or row of that name.
        ShapeError: Neither one number nor as many as rows.
        ModelError: A coefficient outside 0…1.
    """
    rows = constraints.rows
    values = _by_name(constraints, given) if isinstance(given, Mapping) else given
    numbers = checked_numbers("restitution", values, "give one number, one for each row, or numbers by name")
    if numbers.shape not in ((), (len(rows),)):
        raise ShapeError(f"restitution has shape {numbers.shape}; there are {len(rows)} rows")
    out = np.array(np.broadcast_to(numbers, len(rows)), dtype=float)
    wrong = ~((out >= 0.0) & (out <= 1.0))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ModelError(
            f"restitution of `{rows[k]}` is {out[k]:g}", next_step="give a number from 0 (plastic) to 1 (elastic)"
        )
    return out


def _by_name(constraints: Constraints, given: Mapping[str, float]) -> list[float]:
    known = {part.name for part in constraints.parts} | set(constraints.rows)
    for name in given:
        if name not in known:
            raise one_of("constraint or row", name, known)
    owners = [(part.name, row) for part in constraints.parts for row in part.rows]
    return [given.get(row, given.get(name, 0.0)) for name, row in owners]
