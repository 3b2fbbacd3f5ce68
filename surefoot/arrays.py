"""`Array`, the type of arrays of numbers; checks of arrays and numbers that come from outside; rows between rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import ShapeError

__all__ = [
    "Array",
    "Place",
    "bracket",
    "finite_array",
    "increasing_times",
    "linear",
    "linear_at",
    "number",
    "only_keys",
    "place_of",
    "placement_matrix",
    "whole_numbers",
]

Array = NDArray[np.float64]
"""Double-precision numbers. Arrays that may hold symbols are of the type `surefoot.ops.Array`."""

_FEW = 256  # entries
_MOST_WHOLE = 2.0**53
_LAST_TIME = 1e12  # [s]; differences and counts of steps stay finite
_NUMBER = (float, int, np.integer, np.floating)


def finite_array(value: ArrayLike, shape: Sequence[int | None], what: str, most: float = inf) -> Array:
    """A read-only float copy of `value`.

    Args:
        value: The numbers.
        shape: Expected shape; None where any length will do.
        what: Its name in the message.
        most: Largest size of an entry, for numbers from files that are multiplied or counted off later.

    Raises:
        ShapeError: The shape is another one, the entries are not numbers, not finite or too large.
    """
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "fiu":
            raise TypeError(f"entries are of type {raw.dtype}")
        out = np.array(raw, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} is not an array of numbers", evidence={"reason": error}) from error
    if out.shape != shape and not _fits(out.shape, shape):
        wanted = "(" + ", ".join("n" if k is None else str(k) for k in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ShapeError(f"{what} has shape {out.shape}, expected {wanted}")
    quickly = out.size <= _FEW and isfinite(np.vdot(out, out))  # which overflows, and wakes threads for large arrays
    if not quickly and not np.isfinite(out).all():
        first = [int(k) for k in np.argwhere(~np.isfinite(out))[0]] if out.ndim else []
        raise ShapeError(f"{what} is not finite", evidence={"first entry": first})
    if most < inf and (np.abs(out) > most).any():
        raise ShapeError(f"{what} has entries beyond ±{most:g}")
    out.setflags(write=False)
    return out


def _fits(got: Sequence[int], wanted: Sequence[int | None]) -> bool:
    if wanted == (None,):
        return len(got) == 1
    return len(got) == len(wanted) and all(want in (None, size) for want, size in zip(wanted, got, strict=True))


def whole_numbers(value: ArrayLike, shape: Sequence[int | None], what: str) -> NDArray[np.int64]:
    """Whole numbers; see `finite_array`.

    Raises:
        ShapeError: As there, or some are not whole or too large to be.
    """
    out = finite_array(value, shape, what)
    if (np.abs(out) > _MOST_WHOLE).any() or (out != np.floor(out)).any():
        raise ShapeError(f"{what} are not whole numbers")
    return out.astype(np.int64)


def increasing_times(value: ArrayLike, what: str = "time") -> Array:
    """Read-only times (n,) [s], n ≥ 1, each later than the one before."""
    out = finite_array(value, (None,), what)
    if not len(out):
        raise ShapeError(f"{what} is empty", next_step="give at least one sample")
    if (far := float(np.abs(out).max())) > _LAST_TIME:
        raise ShapeError(
            f"{what} is beyond {_LAST_TIME:g} s", evidence={"found": far}, next_step="give times in seconds"
        )
    wrong = np.flatnonzero(np.diff(out) <= 0.0)
    if len(wrong):
        k = int(wrong[0])
        raise ShapeError(
            f"{what} does not increase",
            evidence={f"samples {k} and {k + 1}": out[k : k + 2].tolist()},
            next_step="give the times in order, each later than the one before",
        )
    return out


def placement_matrix(value: ArrayLike, what: str) -> Array:
    """A read-only placement T (4, 4): a rotation and a position [m]."""
    T = finite_array(value, (4, 4), what)
    x, y, z, last = T.tolist()
    if not _is_rotation(x, y, z) or last != [0.0, 0.0, 0.0, 1.0]:
        raise ShapeError(
            f"{what} is not a placement: rotation (3, 3), position (3, 1), last row 0 0 0 1", evidence={"T": T}
        )
    return T


def _is_rotation(x: list[float], y: list[float], z: list[float]) -> bool:
    """Whether rows are orthonormal to 1e-6 and right-handed; in plain numbers: numpy takes ten times as long."""
    (a, b, c, *_), (d, e, f, *_), (g, h, i, *_) = x, y, z
    return (
        abs(a * a + b * b + c * c - 1.0) <= 1e-6
        and abs(d * d + e * e + f * f - 1.0) <= 1e-6
        and abs(g * g + h * h + i * i - 1.0) <= 1e-6
        and abs(a * d + b * e + c * f) <= 1e-6
        and abs(a * g + b * h + c * i) <= 1e-6
        and abs(d * g + e * h + f * i) <= 1e-6
        and a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0
    )


def number(value: object, what: str, *, positive: bool = False) -> float:
    """A finite float ≥ 0, or > 0 where `positive`.

    Args:
        value: The number.
        what: Its name in the message.
        positive: Refuse zero.
    """
    if isinstance(value, bool) or not isinstance(value, _NUMBER):
        raise ShapeError(f"{what} is {value!r}, expected a number")
    try:
        out = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        out = inf
    if not isfinite(out) or out < 0.0 or (positive and out == 0.0):
        raise ShapeError(f"{what} is {out}, expected a finite number {'> 0' if positive else '≥ 0'}")
    return out


def only_keys(data: Mapping[str, object], known: Sequence[str], what: str, required: Sequence[str] = ()) -> None:
    """Refuse keys that are unknown or missing."""
    if not isinstance(data, Mapping):
        raise ShapeError(f"{what} is {type(data).__name__}, expected keys and values")
    unknown, missing = sorted(set(data) - set(known)), sorted(set(required) - set(data))
    if unknown or missing:
        wrong = {"unknown": unknown, "missing": missing}
        raise ShapeError(
            f"{what} has wrong keys",
            evidence={name: names for name, names in wrong.items() if names},
            next_step=f"the keys are {', '.join(known)}",
        )


Place = tuple[int, int, float]
"""Rows before and after a time, and its share s of the way between them, 0…1."""


def bracket(time: Array, t: Array) -> tuple[np.ndarray, Array]:
    """Segment index k and share s with t = time[k] + s (time[k+1] − time[k]), s in 0…1.

    Args:
        time: (n,) increasing [s].
        t: (m,) inside of it [s].
    """
    if len(time) == 1:
        return np.zeros(len(t), dtype=int), np.zeros(len(t))
    k = np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2)
    return k, (t - time[k]) / (time[k + 1] - time[k])


def linear(values: Array, k: np.ndarray, s: Array) -> Array:
    """Rows between rows: (1 − s) values[k] + s values[k + 1]; exact at s = 0 and s = 1."""
    if len(values) == 1:
        return values[k]
    share = s.reshape(-1, *([1] * (values.ndim - 1)))
    return np.where(share == 1.0, values[k + 1], (1.0 - share) * values[k] + share * values[k + 1])


def place_of(time: Array, t: float) -> Place:
    """Where one time lies among the samples, as `bracket` has it for many.

    Args:
        time: (n,) increasing [s].
        t: Inside of it [s].
    """
    if len(time) == 1:
        return 0, 0, 0.0
    k = min(max(int(time.searchsorted(t, side="right")) - 1, 0), len(time) - 2)
    return k, k + 1, float((t - time[k]) / (time[k + 1] - time[k]))


def linear_at(values: Array, place: Place) -> Array:
    """One row between rows, read-only; exact at the samples."""
    before, after, s = place
    if s in (0.0, 1.0):
        return values[before if s == 0.0 else after]
    out: Array = (1.0 - s) * values[before] + s * values[after]
    out.setflags(write=False)
    return out
