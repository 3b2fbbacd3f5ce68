"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from surefoot.errors import FileFormatError

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Write a file beside its place, then put it there in one step.

        with atomic_write("run.npz") as temporary:
            temporary.write_bytes(content)

    Leaving the block without an error flushes the bytes to disk and renames; with an error the temporary file is
    removed and what was at `path` stays as it was. A link is followed; the file it names is replaced, and the new one
    has its permissions.

    Args:
        path: Where the file shall be.

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
            next_step="check that there is room and that you may write there",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _require_replaceable(target: Path) -> None:
    if not target.parent.is_dir():
        raise FileFormatError(
            f"cannot be written: there is no folder `{target.parent}`", file=target, next_step="create the folder first"
        )
    if target.exists() and not target.is_file():
        raise FileFormatError("cannot be written: it exists and is no regular file", file=target)


def _flush(path: Path) -> None:
    """Make the operating system put the bytes (of a folder: the names) on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
