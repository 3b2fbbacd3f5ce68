"""Numpy archives with the same bytes for the same arrays, and a reader that trusts nothing in them."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from surefoot.errors import FileFormatError
from surefoot.files import MAX_DATA_BYTES, atomic_write, existing_file

__all__ = ["read_npz", "write_npz"]

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def write_npz(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, whole or not at all. Nothing of the time or the machine gets into the file.

    Args:
        path: Where.
        arrays: Numbers or texts; no objects.
    """
    with atomic_write(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for name, value in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            entry.create_system, entry.external_attr = _UNIX, 0o644 << 16
            content = io.BytesIO()
            npy.write_array(content, np.array(value, order="C"), version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getbuffer())


def read_npz(path: str | Path) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name.

    Raises:
        FileFormatError: There is no such file, it is no archive, is cut off or damaged, or holds pickled objects.
    """
    file = existing_file(path)
    try:
        with zipfile.ZipFile(file) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MAX_DATA_BYTES:
                raise FileFormatError(f"holds more than {MAX_DATA_BYTES >> 30} GiB", file=path)
            return {n.removesuffix(".npy"): _array(archive.read(n), n, path) for n in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise FileFormatError(
            "cannot be read as a numpy archive (.npz); it is cut off, damaged or something else",
            file=path,
            evidence={"reader": error},
            next_step="write or copy the file again",
        ) from error


def _array(content: bytes, name: str, path: str | Path) -> NDArray[Any]:
    """One array; the size that its header claims is compared with what is there before memory is taken."""
    stream = io.BytesIO(content)
    try:
        version = npy.read_magic(stream)
        header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if header is None:
            raise ValueError(f"version {version} of the array format is not known")
        shape, _, dtype = header(stream)
        if dtype.hasobject:
            raise ValueError("it holds pickled objects, which are not read")
        if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
            raise ValueError(f"shape {shape} of {dtype} does not fit the {len(content)} bytes that are there")
        stream.seek(0)
        return np.asarray(npy.read_array(stream, allow_pickle=False))
    except (ValueError, TypeError, EOFError, OverflowError) as error:
        raise FileFormatError(
            f"array `{name}` cannot be read", file=path, evidence={"reader": error}, next_step="write the file again"
        ) from error
