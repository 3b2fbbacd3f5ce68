"""Bundles in files: arrays by name and facts, as `.npz` or `.parquet`, bit by bit.

Files are written whole or not at all, and the same data gives the same bytes. A file holds a format name with version,
such as `surefoot.trajectory/1`, arrays by name, and one JSON text with the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, ShapeError, SurefootError
from surefoot.motion.files.columns import read_npz, read_parquet, write_npz, write_parquet

TRAJECTORY_FORMAT = "surefoot.trajectory/1"
LOG_FORMAT = "surefoot.log/1"
_SUFFIXES = (".npz", ".parquet")


def entry_names(name: str, size: int | None) -> list[str]:
    """Names of the single series of a quantity in a flat table.

    Args:
        name: Of the quantity.
        size: None for data (n,), called `name`; k for data (n, k), called `name[0]`, `name[1]`, ….
    """
    return [name] if size is None else [f"{name}[{i}]" for i in range(size)]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Content of a file.

    Args:
        format: Name with version.
        arrays: (n,) or (n, k) by name.
        facts: Further data, for JSON.
    """

    format: str
    arrays: Mapping[str, Array]
    facts: Mapping[str, Any]


def is_trajectory_file(path: str | Path) -> bool:
    """Whether a file calls itself a trajectory of ours, of any version."""
    if Path(path).suffix == ".npz":
        text = str(read_npz(path, "format").get("format", ""))
    else:
        text = read_parquet(path).metadata.get("surefoot.format", "")
    return text.startswith(TRAJECTORY_FORMAT.partition("/")[0] + "/")


def write_bundle(path: str | Path, bundle: Bundle) -> None:
    """Write a bundle; the suffix `.npz` or `.parquet` chooses the kind of file."""
    try:
        facts = json.dumps(dict(bundle.facts), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ShapeError("metadata holds a value that JSON cannot represent", evidence={"reason": error}) from error
    if Path(path).suffix == ".npz":
        write_npz(path, {"format": bundle.format, "facts": facts, **bundle.arrays})
        return
    _require_suffix(path)
    sizes = {name: None if x.ndim == 1 else x.shape[1] for name, x in bundle.arrays.items()}
    columns: dict[str, Array] = {}
    for name, values in bundle.arrays.items():
        series = [values] if values.ndim == 1 else values.T
        columns |= dict(zip(entry_names(name, sizes[name]), series, strict=True))
    texts = {"surefoot.format": bundle.format, "surefoot.facts": facts, "surefoot.sizes": json.dumps(sizes)}
    write_parquet(path, columns, texts)


def read_bundle(path: str | Path, wanted: str) -> Bundle:
    """Read what `write_bundle` wrote.

    Args:
        path: The file.
        wanted: Format that it must have.

    Raises:
        FileFormatError: The file is missing, cut off, of another kind or newer version, or contradicts itself.
    """
    _require_suffix(path)
    if Path(path).suffix == ".npz":
        arrays: dict[str, Any] = read_npz(path)
        name, facts = str(arrays.pop("format", "")), str(arrays.pop("facts", ""))
        _check_format(path, name, wanted)
    else:
        table = read_parquet(path)
        name, facts = table.metadata.get("surefoot.format", ""), table.metadata.get("surefoot.facts", "")
        _check_format(path, name, wanted)
        arrays = _joined(path, table.columns, table.metadata.get("surefoot.sizes", ""), wanted)
    found = _json(path, facts, wanted)
    return Bundle(name, arrays, found)


def _joined(path: str | Path, columns: Mapping[str, Array], text: str, wanted: str) -> dict[str, Array]:
    """Arrays (n,) and (n, k) from the columns of a Parquet file."""
    n = len(next(iter(columns.values()))) if columns else 0
    out = {}
    try:
        for name, k in _json(path, text, wanted).items():
            if k is not None and (type(k) is not int or not 0 <= k <= len(columns)):
                raise TypeError(f"`{name}` has {k!r} columns")
            parts = [columns[entry] for entry in entry_names(name, k)]
            out[name] = parts[0] if k is None else np.column_stack(parts) if parts else np.zeros((n, 0))
    except (KeyError, TypeError) as error:
        raise contradiction(path, wanted, error) from error
    return out


def _json(path: str | Path, text: str, wanted: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise contradiction(path, wanted, error) from error
    if not isinstance(found, dict):
        raise contradiction(path, wanted, TypeError("the facts are not a table"))
    return found


def _check_format(path: str | Path, name: str, wanted: str) -> None:
    kind, _, version = wanted.partition("/")
    found = re.fullmatch(r"(surefoot\.\w+)/(\d{1,9})", name)
    if found is None or found[1] != kind:
        raise FileFormatError(
            f"is not a {kind} file",
            file=path,
            evidence={"expected": wanted, "found": name or "no format name"},
            next_step="check the path; states of other programs are read by `surefoot convert`",
        )
    if int(found[2]) > int(version):
        raise FileFormatError(
            f"was written by a newer surefoot ({name})",
            file=path,
            next_step=f"update surefoot; this one reads {wanted}",
        )


def _require_suffix(path: str | Path) -> None:
    if Path(path).suffix not in _SUFFIXES:
        raise FileFormatError(
            f"suffix `{Path(path).suffix}` is not known", file=path, next_step=f"use {' or '.join(_SUFFIXES)}"
        )


def contradiction(path: str | Path, wanted: str, error: Exception) -> FileFormatError:
    """The error about a file whose content does not fit its format."""
    reason = error.message if isinstance(error, SurefootError) else f"{type(error).__name__}: {error}"
    return FileFormatError(
        "does not match its format",
        file=path,
        evidence={"expected": wanted, "reason": reason},
        next_step="write the file again",
        kind=error.kind if isinstance(error, SurefootError) else "",
    )
