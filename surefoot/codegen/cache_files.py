"""The files of the kernel cache: a guarded folder, entries with a digest, whole or not at all.

An entry holds machine code that will run with the rights of its user, so nothing is believed that somebody else could
have written. The folder and the entry are opened once and judged by what was opened (no second look-up by name): owned
by the effective user, writable by nobody else, the entry a regular file and no link. Layout of an entry, little endian:

    8s magic, u32 format, u32 length of description, u64 length of payload, 32s key, 32s digest; description; payload

The digest is the SHA-256 of everything else in the file; the description is JSON.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import stat
import struct
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from surefoot.errors import SurefootError

_MAGIC, _FORMAT = b"sfkernel", 1
_HEAD = struct.Struct("<8sIIQ32s")
_DIGEST = 32
_KEY = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[0-9a-f]{64}\.kernel")
_LEFTOVER = re.compile(r"\.[0-9a-f]{64}\.[0-9a-f]{16}\.tmp")
_LEFTOVER_AGE_S = 3600.0  # nobody writes one entry for that long


class CacheError(SurefootError):
    """The kernel cache cannot be used as asked."""


class UnsafeFolderError(CacheError):
    """Somebody else could put machine code into the folder of the cache."""


class DamagedEntryError(CacheError):
    """The bytes of an entry are not those that were stored under its key."""


class RefusedEntryError(CacheError):
    """An entry is a link, no regular file, or somebody else could have written it."""


class Slot(NamedTuple):
    """An entry as its folder lists it.

    Args:
        key: From its name.
        size: Size of the file [bytes].
        used: Time of the last use, in seconds since 1970.
    """

    key: str
    size: int
    used: float


class _Head(NamedTuple):
    raw: bytes
    description: int
    payload: int
    digest: bytes


@contextmanager
def open_folder(path: Path, *, create: bool = False) -> Iterator[int]:
    """Open the folder of the entries, if only the user can write there.

    Args:
        path: The folder; links on the way are followed, what they lead to is judged.
        create: Make the folder and the one above, for the user alone (0700), where they do not exist.

    Yields:
        A file descriptor of the folder; the other functions look up names in it.

    Raises:
        UnsafeFolderError: Another user owns the folder or may write there.
        OSError: The folder does not exist or cannot be opened.
    """
    if create:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _require_safe_folder(path, os.fstat(folder))
        yield folder
    finally:
        os.close(folder)


def _require_safe_folder(path: Path, found: os.stat_result) -> None:
    defect = _writable_by_another(found)
    if defect:
        mine = found.st_uid == os.geteuid()
        raise UnsafeFolderError(
            f"the kernel cache is refused: its folder is {defect}, who could put machine code there",
            evidence={"owner": found.st_uid, "you": os.geteuid(), "mode": f"{stat.S_IMODE(found.st_mode):04o}"},
            next_step=(
                f"if you trust its contents: `chmod go-w {path}`; else remove the folder"
                if mine
                else "set SUREFOOT_CACHE to a folder of your own"
            ),
            file=path,
        )


def _writable_by_another(found: os.stat_result) -> str:
    """Who else could have written a file or folder, or "". Access lists show in the bits of the group."""
    if found.st_uid != os.geteuid():
        return "owned by another user"
    return "writable by other users" if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else ""


def file_name(key: str) -> str:
    """Name of the entry of a key (64 hexadecimal digits, small letters)."""
    return f"{_key_bytes(key).hex()}.kernel"


def _key_bytes(key: str) -> bytes:
    if not _KEY.fullmatch(key):
        raise CacheError("a cache key is 64 hexadecimal digits", evidence={"key": key}, next_step="make it by `key()`")
    return bytes.fromhex(key)


@contextmanager
def _open_entry(folder: int, key: str) -> Iterator[tuple[BinaryIO, int]]:
    """The file of an entry and its size, if only the user can have written it."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # the last: a pipe must not make us wait
    try:
        descriptor = os.open(file_name(key), flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise RefusedEntryError("a link") from error
        raise
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        defect = _writable_by_another(found) if stat.S_ISREG(found.st_mode) else "no regular file"
        if defect:
            raise RefusedEntryError(defect)
        yield file, found.st_size


def read_payload(folder: int, key: str) -> bytes:
    """The payload of an entry, proven by its digest; marks the entry as used now.

    Args:
        folder: From `open_folder`.
        key: The key that the entry must have.

    Raises:
        FileNotFoundError: There is no such entry.
        RefusedEntryError: Somebody else could have written it.
        DamagedEntryError: It is not what was stored.
    """
    with _open_entry(folder, key) as (file, size):
        head = _read_head(file, size, key)
        description = file.read(head.description)
        payload = file.read(head.payload)
        if _digest(head.raw, description, payload) != head.digest:
            raise DamagedEntryError("its digest differs")
        with suppress(OSError):  # a folder that cannot be written is still good for reading
            os.utime(file.fileno())
    return payload


def read_description(folder: int, key: str) -> dict[str, Any]:
    """The description of an entry; its lengths are checked, its digest is not.

    Args:
        folder: From `open_folder`.
        key: The key that the entry must have.

    Raises:
        FileNotFoundError: There is no such entry.
        RefusedEntryError: Somebody else could have written it.
        DamagedEntryError: It is not what was stored.
    """
    with _open_entry(folder, key) as (file, size):
        text = file.read(_read_head(file, size, key).description)
    try:
        description = json.loads(text)
    except ValueError as error:
        raise DamagedEntryError("its description cannot be read") from error
    if not isinstance(description, dict):
        raise DamagedEntryError("its description is not a table")
    return description


def _read_head(file: BinaryIO, size: int, key: str) -> _Head:
    raw, digest = file.read(_HEAD.size), file.read(_DIGEST)
    if len(raw) + len(digest) != _HEAD.size + _DIGEST:
        raise DamagedEntryError("it is too short")
    magic, version, description, payload, stored = _HEAD.unpack(raw)
    if (magic, version, stored) != (_MAGIC, _FORMAT, _key_bytes(key)):
        raise DamagedEntryError("it is of another kind or key")
    if size != _HEAD.size + _DIGEST + description + payload:
        raise DamagedEntryError("it has another length")
    return _Head(raw, description, payload, digest)


def _digest(*parts: bytes) -> bytes:
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.digest()


def pack_entry(key: str, payload: bytes, description: Mapping[str, Any]) -> bytes:
    """The bytes of an entry.

    Args:
        key: Its key.
        payload: What is kept.
        description: What JSON can say about it.
    """
    text = json.dumps(dict(description)).encode()
    raw = _HEAD.pack(_MAGIC, _FORMAT, len(text), len(payload), _key_bytes(key))
    return b"".join((raw, _digest(raw, text, payload), text, payload))


def write_entry(folder: int, key: str, content: bytes) -> None:
    """Write an entry beside its place, then put it there in one step, for the user alone (0600).

    Not flushed to disk: what a crash of the machine leaves is found out by its digest.

    Args:
        folder: From `open_folder`.
        key: Its key.
        content: From `pack_entry`.

    Raises:
        OSError: It cannot be written; what was there before stays.
    """
    target, temporary = file_name(key), f".{key}.{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
        os.replace(temporary, target, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        remove(folder, temporary)
        raise


def slots(folder: int) -> list[Slot]:
    """The entries of a folder, the one not used for longest first."""
    found = []
    for name, status in _files(folder, _NAME):
        found.append((status.st_mtime_ns, Slot(name.partition(".")[0], status.st_size, status.st_mtime)))
    return [slot for _, slot in sorted(found)]


def remove_leftovers(folder: int) -> None:
    """Remove the unfinished files of processes that died while they wrote."""
    before = time.time() - _LEFTOVER_AGE_S
    for name, status in _files(folder, _LEFTOVER):
        if status.st_mtime < before:
            remove(folder, name)


def _files(folder: int, pattern: re.Pattern[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Names and states of files with such names; those that vanish meanwhile are omitted."""
    with os.scandir(folder) as listing:
        for item in listing:
            if not pattern.fullmatch(item.name):
                continue
            with suppress(FileNotFoundError):
                status = item.stat(follow_symlinks=False)
                if not stat.S_ISDIR(status.st_mode):
                    yield item.name, status


def remove(folder: int, name: str) -> bool:
    """Remove a file by its name; False where another process was faster."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True
