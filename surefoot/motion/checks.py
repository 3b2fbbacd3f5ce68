"""Arrays that come from outside, made into read-only floats of a known shape, or refused with a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import ShapeError

__all__ = ["Array", "finite_array", "increasing_times", "number", "only_keys", "placement_matrix"]

Array = NDArray[np.float64]
_EYE = np.eye(3)


def finite_array(value: ArrayLike, shape: Sequence[int | None], what: str) -> Array:
    """A read-only float copy of `value`.

    Args:
        value: The numbers.
        shape: Expected shape; None where any length will do.
        what: Its name in the message.

    Raises:
        ShapeError: The shape is another one, the entries are no numbers or not finite.
    """
    try:
        raw = np.asarray(value)
        if raw.dtype.kind not in "fiu":
            raise TypeError(f"entries are of type {raw.dtype}")
        out = np.array(raw, dtype=float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{what} is not an array of numbers", evidence={"reason": error}) from error
    fits = out.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, out.shape, strict=True)
    )
    if not fits:
        wanted = "(" + ", ".join("n" if k is None else str(k) for k in shape) + ("," if len(shape) == 1 else "") + ")"
        raise ShapeError(f"{what} has shape {out.shape}, expected {wanted}")
    if not np.isfinite(out).all():
        first = [int(k) for k in np.argwhere(~np.isfinite(out))[0]] if out.ndim else []
        raise ShapeError(f"{what} is not finite", evidence={"first entry": first})
    out.setflags(write=False)
    return out


def increasing_times(value: ArrayLike, what: str = "time") -> Array:
    """Read-only times (n,) [s], n ≥ 1, each later than the one before."""
    out = finite_array(value, (None,), what)
    if not len(out):
        raise ShapeError(f"{what} is empty", next_step="give at least one sample")
    wrong = np.flatnonzero(np.diff(out) <= 0.0)
    if len(wrong):
        k = int(wrong[0])
        raise ShapeError(f"{what} does not increase", evidence={f"samples {k} and {k + 1}": out[k : k + 2].tolist()})
    return out


def placement_matrix(value: ArrayLike, what: str) -> Array:
    """A read-only placement T (4, 4): a rotation and a position [m]."""
    T = finite_array(value, (4, 4), what)
    R = T[:3, :3]
    rigid = bool(np.abs(R @ R.T - _EYE).max() <= 1e-6) and _handedness(R) > 0.0
    if not rigid or T[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ShapeError(
            f"{what} is no placement: rotation (3, 3), position (3, 1) and last row 0 0 0 1", evidence={"T": T}
        )
    return T


def _handedness(R: Array) -> float:
    """Determinant (3, 3) in plain numbers: numpy's takes ten times as long for so few."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    return float(a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g))


def number(value: object, what: str, *, positive: bool = False) -> float:
    """A finite float ≥ 0, or > 0 where `positive`.

    Args:
        value: The number.
        what: Its name in the message.
        positive: Refuse zero.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise ShapeError(f"{what} is {value!r}, expected a number")
    out = float(value)
    if not np.isfinite(out) or out < 0.0 or (positive and out == 0.0):
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
