"""Pickles of retargeted motions: one motion, or several by name, with arrays, lists of numbers, or both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import FileFormatError
from surefoot.motion.files import read_pickle
from surefoot.motion.reading.names import some_names
from surefoot.words import counted


def pickled_arrays(path: Path, motion: str | None) -> dict[str, Any]:
    """The arrays of a pickle by name; one alone as `arr_0`.

    Lists of numbers, or of rows of one length, become arrays; entries (n, k, 1) become (n, k).

    Args:
        path: The file.
        motion: Which motion of a file with several.

    Raises:
        FileFormatError: As `read_pickle`; or the file has several motions, or no arrays by name.
    """
    found = read_pickle(path)
    while isinstance(found, Mapping) and found and all(isinstance(x, Mapping) for x in found.values()):
        found = found[_motion_name(list(found), motion)]
    if isinstance(found, np.ndarray):
        return {"arr_0": found}
    if not isinstance(found, Mapping):
        raise FileFormatError(f"holds a {type(found).__name__}, expected arrays by name")
    given = {key: _array_of(x) if isinstance(x, list) else x for key, x in found.items()}
    flat = {key: x[..., 0] for key, x in given.items() if np.ndim(x) == 3 and np.shape(x)[2] == 1}  # (n, k, 1)
    return {key: x for key, x in given.items() if isinstance(x, np.ndarray | int | float)} | flat


def _array_of(values: list[Any]) -> Any:
    """The array of numbers or texts, or of rows of one length, that a list is; None if it is none."""
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):  # rows of several lengths
        return None
    return array if array.dtype.kind in "biufU" else None


def _motion_name(names: Sequence[str], motion: str | None) -> str:
    """The motion that is asked for, or the only one."""
    if motion is None and len(names) == 1:
        return names[0]
    if motion in names:
        return str(motion)
    raise FileFormatError(
        f"holds {counted(len(names), 'motion')}" + ("" if motion is None else f", none of them `{motion}`"),
        evidence={"motions": some_names(names)},
        next_step=f"give --motion {names[0]}, or another of them",
    )
