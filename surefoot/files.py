"""Files that are written whole or not at all, and read only up to a size."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from surefoot.errors import FileFormatError

__all__ = [
    "MAX_DATA_BYTES",
    "atomic_write",
    "existing_file",
    "is_file",
    "parse_json",
    "read_bytes",
    "read_json",
    "write_text",
]

_MAX_TEXT_BYTES = 16 << 20
"""Largest size of a file that describes something: a robot, a scenario, a model."""

MAX_DATA_BYTES = 4 << 30
"""Largest size of a file of recorded numbers."""


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place, then put it there in one step.

        with atomic_write("run.npz") as temporary:
            temporary.write_bytes(content)

    Leaving the block without an error flushes the bytes to disk and renames; with an error the temporary file is
    removed and what was at `path` stays as it was. A link is followed; the file it names is replaced, and the new one
    has its permissions.

    Yields:
        The temporary file, in the same folder, empty.

    Raises:
        FileFormatError: The folder does not exist or the file cannot be written there.
    """
    target = Path(os.path.realpath(path))
    _require_replaceable(target)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else 0o600))
        yield temporary
        _flush(temporary)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
        _flush(target.parent)
    except OSError as error:
        raise FileFormatError(
            f"cannot be written: {error.strerror or error}",
            file=path,
            next_step="check the free space and the permissions",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all; raises as `atomic_write` does."""
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def is_file(path: str | Path) -> bool:
    """Whether a path names a file; not one that no file system takes (too long, with a zero byte)."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def existing_file(path: str | Path, limit: int = MAX_DATA_BYTES) -> Path:
    """The path of a file that exists and is not too large.

    Args:
        path: The file.
        limit: Largest size in bytes.

    Raises:
        FileFormatError: There is no such file, or it is too large.
    """
    file = Path(path)
    if not is_file(file):
        what = "this is a folder, not a file" if os.path.isdir(file) else "there is no such file"
        raise FileFormatError(what, file=path, next_step="check the path")
    if (size := file.stat().st_size) > limit:
        raise _too_large(path, size, limit)
    return file


def read_bytes(path: str | Path, limit: int = _MAX_TEXT_BYTES, advice: str = "") -> bytes:
    """The bytes of a file that is not too large.

    Args:
        path: The file.
        limit: Largest size in bytes; no more is read, whatever the size was when the reading began.
        advice: What to do if it is larger.

    Raises:
        FileFormatError: There is no such file, it cannot be read, or it is too large.
    """
    try:
        with existing_file(path, limit).open("rb") as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise _too_large(path, len(data), limit)
    except FileFormatError as error:
        error.next_step = error.next_step or advice
        raise
    except OSError as error:
        raise FileFormatError("the file cannot be read", file=path, evidence={"reason": error.strerror}) from error
    return data


def read_json(path: str | Path) -> dict[str, Any]:
    """The object in a JSON file; raises as `read_bytes` and `parse_json` do."""
    return parse_json(read_bytes(path), path)


def parse_json(text: str | bytes, file: str | Path) -> dict[str, Any]:
    """The object in a JSON text.

    Args:
        text: The text.
        file: The file, for messages.

    Raises:
        FileFormatError: It is not JSON, is nested too deeply, or is not an object.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError("cannot be read as JSON", file=file, evidence={"reader": error}) from error
    if not isinstance(found, dict):
        raise FileFormatError("is not a JSON object", file=file)
    return found


def _too_large(path: str | Path, size: int, limit: int) -> FileFormatError:
    most = f"{limit >> 30} GiB" if limit >= 1 << 30 else f"{limit >> 20} MiB"
    return FileFormatError(f"the file is larger than {most}", file=path, evidence={"size": f"{size / 2**20:.1f} MiB"})


def _require_replaceable(target: Path) -> None:
    if not target.parent.is_dir():
        raise FileFormatError(
            f"cannot be written: there is no folder `{target.parent}`", file=target, next_step="create the folder first"
        )
    if target.exists() and not target.is_file():
        raise FileFormatError("cannot be written: it exists and is not a regular file", file=target)


def _flush(path: Path) -> None:
    """Make the operating system put the bytes (of a folder: the names) on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
