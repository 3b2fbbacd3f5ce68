"""The kernel cache: machine code on disk, kept under a hash of all that it depends on.

    name = key(source_version(), cpu_features(), tree.placements, "rnea")
    code = load(name)
    if code is None:
        code = build()
        store(name, code, {"robot": "g1", "algorithm": "rnea", "build": "float64 x 8"})

An entry is loaded only if it is what was stored and if nobody else could have written it (`cache_files`). A damaged one
is removed and counts as absent, and so does one that another user could have written, with a warning. A folder that
others can write is an error; a folder that cannot be written is a warning, and the work goes on without a cache.
Any number of processes may use one folder at the same time.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import math
import os
import platform
import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from surefoot.codegen.cache_files import (
    CacheError,
    DamagedEntryError,
    RefusedEntryError,
    UnsafeFolderError,
    file_name,
    open_folder,
    pack_entry,
    read_description,
    read_payload,
    remove,
    remove_leftovers,
    slots,
    write_entry,
)

__all__ = [
    "CacheError",
    "CacheWarning",
    "Entry",
    "UnsafeFolderError",
    "bound",
    "cache_folder",
    "clear",
    "cpu_features",
    "entries",
    "kernel_folder",
    "key",
    "load",
    "package_version",
    "read_size",
    "size_limit",
    "source_version",
    "store",
]

_DEFAULT_LIMIT = 1 << 30
_PACKAGE = Path(__file__).parents[1]
# What decides about the machine code of an algorithm: whole rooms, and single files of other rooms.
_SOURCES = (
    "ops*.py", "ops/**/*.py", "spatial/**/*.py", "kinematics/**/*.py", "dynamics/**/*.py", "codegen/**/*.py",
    "compiler/**/*.py",
    "geometry/s*.py",
)  # fmt: skip
_SOURCE_FILES = ("robot/model/tree.py", "robot/model/contacts.py")
# What LLVM looks at to name a CPU: the first five on x86, the others on ARM.
_CPU_FACTS = (
    "vendor_id", "cpu family", "model", "stepping", "flags",
    "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "Features",
)  # fmt: skip
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?)(?:I?B)?", re.ASCII)
_UNSEEN = 1.0 / 32.0  # share of the limit that a process writes between two looks at the whole folder
_warned: set[tuple[str, Path]] = set()
_known_sizes: dict[Path, tuple[float, int]] = {}  # by folder: bytes of all entries, and of them since the last look


class CacheWarning(UserWarning):
    """The kernel cache is not used, and the user should know why; given once per folder."""


@dataclass(frozen=True)
class Entry:
    """One kernel on disk.

    Args:
        key: Its key, 64 hexadecimal digits.
        size: Size of the file [bytes].
        used: Time of the last use, in seconds since 1970.
        description: As given to `store`, and `created`, in seconds since 1970.
        defect: Why it will not be loaded, or "". Digests are checked by `load` only.
    """

    key: str
    size: int
    used: float
    description: Mapping[str, Any]
    defect: str = ""


def cache_folder() -> Path:
    """Where surefoot keeps what it can make again.

    $SUREFOOT_CACHE, else $XDG_CACHE_HOME/surefoot, else ~/.cache/surefoot.
    """
    own = os.environ.get("SUREFOOT_CACHE")
    return Path(own) if own else _users_cache() / "surefoot"


def _users_cache() -> Path:
    standard = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(standard) if standard else Path.home() / ".cache"
    except RuntimeError as error:
        raise CacheError("you have no home folder", next_step="set SUREFOOT_CACHE to a folder of your own") from error


def kernel_folder() -> Path:
    """Where the entries are, under `cache_folder`."""
    return cache_folder() / "kernels"


def key(*parts: str | bytes | NDArray[Any]) -> str:
    """SHA-256 over the parts, each with its kind and length, so that different parts give different keys.

    Args:
        *parts: Texts, bytes and arrays of numbers or texts; of an array kind, byte order and shape count too.

    Returns:
        64 hexadecimal digits.

    Raises:
        CacheError: An array holds objects.
    """
    total = hashlib.sha256()
    for part in parts:
        kind, content = _tagged(part)
        total.update(f"{kind}:{len(content)}:".encode())
        total.update(content)
    return total.hexdigest()


def _tagged(part: str | bytes | NDArray[Any]) -> tuple[str, bytes]:
    if isinstance(part, str):
        return "text", part.encode()
    if isinstance(part, bytes):
        return "bytes", part
    if part.dtype.kind not in "biufcSU":
        raise CacheError("an array in a cache key must hold numbers or texts", evidence={"dtype": part.dtype})
    return f"{part.dtype.str}{part.shape}", part.tobytes()


@functools.cache
def source_version() -> str:
    """Hash of the source text that decides about the machine code; read once for each process."""
    found = {path for pattern in _SOURCES for path in _PACKAGE.glob(pattern)}
    files = sorted(found | {_PACKAGE / name for name in _SOURCE_FILES})
    return key(*(part for path in files for part in (str(path.relative_to(_PACKAGE)), path.read_bytes())))


@functools.cache
def package_version() -> str:
    """Hash of the whole source text; read once for each process."""
    return key(*(path.read_bytes() for path in sorted(_PACKAGE.rglob("*.py"))))


@functools.cache
def cpu_features() -> str:
    """Model and features of this CPU, as one line.

    From /proc/cpuinfo where there is one, which saves importing LLVM; else LLVM is asked.
    """
    facts = _first_processor(Path("/proc/cpuinfo"))
    if "flags" not in facts and "Features" not in facts:
        llvm = importlib.import_module("llvmlite.binding")
        facts = {"cpu": llvm.get_host_cpu_name(), "flags": llvm.get_host_cpu_features().flatten()}
    facts["SUREFOOT_CPU"] = os.environ.get("SUREFOOT_CPU", "")
    return "; ".join([f"machine={platform.machine()}", *(f"{name}={value}" for name, value in facts.items())])


def _first_processor(path: Path) -> dict[str, str]:
    """The facts of the first processor of a cpuinfo file; the lines end early, for they are slow to make."""
    facts = {}
    try:
        with path.open(encoding="ascii", errors="replace") as file:
            for line in iter(file.readline, ""):
                name, _, value = (text.strip() for text in line.partition(":"))
                if not name:
                    break
                if name in _CPU_FACTS:
                    facts[name] = " ".join(sorted(value.split()))
    except OSError:
        return {}
    return facts


def load(key: str) -> bytes | None:
    """The payload that was stored under a key, or None.

    Args:
        key: From `key`.

    Returns:
        The very bytes that were stored; None if there are none, if they are damaged (the entry is removed), or, with
        a warning, if they cannot be read or somebody else could have written them.

    Raises:
        UnsafeFolderError: Somebody else could put files into the folder.
    """
    name, path = file_name(key), kernel_folder()
    try:
        with open_folder(path) as folder:
            try:
                return read_payload(folder, key)
            except DamagedEntryError:
                remove(folder, name)
    except FileNotFoundError:
        return None
    except RefusedEntryError as error:
        _warn_once("refused", path, f"{path / name} is not used and is built anew: it is {error.message}")
    except OSError as error:
        _warn_once("read", path, f"compiled kernels cannot be read from {path}: {error.strerror or error}")
    return None


def store(key: str, payload: bytes, description: Mapping[str, Any]) -> None:
    """Keep a payload under a key, then remove the entries not used for longest until the cache is within its limit.

    Where the folder cannot be written or the disk is full, this warns and does nothing.

    Args:
        key: From `key`.
        payload: What to keep.
        description: What `surefoot cache` shows: robot, algorithm, build, and other small JSON data.

    Raises:
        UnsafeFolderError: Somebody else could put files into the folder.
        CacheError: $SUREFOOT_CACHE_LIMIT is not a size.
    """
    content = pack_entry(key, payload, {**description, "created": int(time.time())})
    path, limit = kernel_folder(), size_limit()
    if len(content) > limit:
        if limit:  # a limit of 0 switches the cache off
            _warn_once("limit", path, f"a kernel of {len(content)} bytes is over the limit of the cache ({limit})")
        return
    try:
        with open_folder(path, create=True) as folder:
            write_entry(folder, key, content)
            _bound_now_and_then(folder, path, len(content), limit)
    except OSError as error:
        reason = error.strerror or error
        _warn_once("write", path, f"compiled kernels cannot be kept in {path}: {reason}; they are built each time")


def _warn_once(kind: str, path: Path, message: str) -> None:
    if (kind, path) not in _warned:
        _warned.add((kind, path))
        warnings.warn(message, CacheWarning, stacklevel=3)


def entries() -> list[Entry]:
    """The kernels on disk, the one not used for longest first."""
    try:
        with open_folder(kernel_folder()) as folder:
            found = [_entry(folder, *slot) for slot in slots(folder)]
    except FileNotFoundError:
        return []
    return [entry for entry in found if entry]


def _entry(folder: int, key: str, size: int, used: float) -> Entry | None:
    try:
        return Entry(key, size, used, read_description(folder, key))
    except FileNotFoundError:
        return None  # removed by another process meanwhile
    except (DamagedEntryError, RefusedEntryError) as error:
        return Entry(key, size, used, {}, error.message)
    except OSError as error:
        return Entry(key, size, used, {}, error.strerror or str(error))


def clear(older_than_days: float | None = None) -> int:
    """Remove kernels.

    Args:
        older_than_days: Remove only what was not used for so many days; None removes all.

    Returns:
        How many were removed.

    Raises:
        CacheError: The number of days is negative or not a number.
        OSError: They cannot be removed.
    """
    before = math.inf if older_than_days is None else time.time() - _seconds(older_than_days)
    try:
        with open_folder(kernel_folder()) as folder:
            remove_leftovers(folder)
            return sum(remove(folder, file_name(slot.key)) for slot in slots(folder) if slot.used <= before)
    except FileNotFoundError:
        return 0


def _seconds(days: float) -> float:
    if math.isnan(days) or days < 0.0:
        raise CacheError("an age must be a number of days, 0 or more", evidence={"days": days})
    return 86400.0 * days


def bound(limit: int) -> int:
    """Remove the kernels not used for longest until the rest is within a limit.

    Args:
        limit: Size of all entries together [bytes].

    Returns:
        How many were removed.

    Raises:
        CacheError: The limit is negative.
        OSError: They cannot be removed.
    """
    if limit < 0:
        raise CacheError("a size must be 0 or more", evidence={"bytes": limit})
    try:
        with open_folder(kernel_folder()) as folder:
            return _bound(folder, limit)
    except FileNotFoundError:
        return 0


def _bound_now_and_then(folder: int, path: Path, added: int, limit: int) -> None:
    """Look through the folder if it may be over the limit by what this process knows, and every so many bytes.

    With thousands of entries, a look takes longer than to write one. Other processes write too, which a look now and
    then sees.
    """
    size, since = _known_sizes.get(path, (math.inf, 0))
    if size + added > limit or since + added > limit * _UNSEEN:
        _bound(folder, limit)
        size, since, added = sum(slot.size for slot in slots(folder)), 0, 0
    _known_sizes[path] = size + added, since + added


def _bound(folder: int, limit: int) -> int:
    remove_leftovers(folder)
    oldest_first = slots(folder)
    excess, removed = sum(slot.size for slot in oldest_first) - limit, 0
    for slot in oldest_first:
        if excess <= 0:
            break
        removed += remove(folder, file_name(slot.key))
        excess -= slot.size
    return removed


def size_limit() -> int:
    """The limit of the cache [bytes]: $SUREFOOT_CACHE_LIMIT, e.g. `500M` (0: keep nothing), else 1 GiB."""
    text = os.environ.get("SUREFOOT_CACHE_LIMIT")
    if not text:
        return _DEFAULT_LIMIT
    try:
        return read_size(text)
    except CacheError as error:
        error.next_step = f"change SUREFOOT_CACHE_LIMIT: {error.next_step}"
        raise


def read_size(text: str) -> int:
    """Bytes from a text such as `1000`, `64K`, `1.5 GiB`; K, M, G and T are powers of 1024."""
    match = _SIZE.fullmatch(text.strip().upper())
    if not match:
        raise CacheError(f"`{text}` is not a size", next_step="give bytes, or a number with K, M, G or T, such as 500M")
    return int(Decimal(match[1]) * (1 << _UNITS[match[2]]))
