"""Pickles of numbers, read without executing anything in them.

A pickle is a program that may call whatever it names. Here it may name arrays, their types and plain containers, and
none of these is the real one of numpy: stand-ins record what an array is made of, and it is built from its bytes
afterwards. Every other name is refused. Files of `joblib`, which put the bytes of an array behind the pickled
description of it, are read the same way.
"""

from __future__ import annotations

import bz2
import io
import lzma
import math
import pickle
import struct
import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import FileFormatError
from surefoot.files import MAX_DATA_BYTES, existing_file

_PACKED = {b"\x78": "zlib", b"\x1f\x8b": "gzip", b"BZ": "bz2", b"\xfd7zXZ": "xz", b"\x5d\x00": "lzma"}
_UNPACKED = 100  # bytes for each byte of a packed file, or
_ANYWAY = 256 << 20
_KINDS = "biufSU"  # of arrays: numbers and texts
_DEEPEST = 6  # containers inside each other
_MOST = 1_000_000  # entries of all of them
_COPIED = 1 << 30  # bytes and entries that arguments of all calls have; one may be named again and again


class _Type:
    """Stands for `numpy.dtype`."""

    def __init__(self, text: object, *_: object) -> None:
        self.text, self.order = str(text), "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = str(state[1])

    def real(self) -> np.dtype[Any]:
        """The type itself; refused unless it is one of numbers or texts."""
        text = self.text.lstrip("<>=|")
        if not text[:1].isalpha() or not (text[1:].isdigit() or not text[1:]):
            raise _refused(f"arrays of type `{self.text}`")
        out = np.dtype(("" if self.order == "|" else self.order) + text)
        if out.kind not in _KINDS or out.itemsize > 1 << 20:
            raise _refused(f"arrays of type `{self.text}`")
        return out


class _Values:
    """Stands for an array: its type, shape and bytes."""

    def __init__(self, *_: object) -> None:
        self.array: NDArray[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, content = state
        self.array = _array(content, kind, shape, "F" if by_columns else "C")


class _Scalar(_Values):
    """Stands for a NumPy scalar."""

    def __init__(self, kind: Any, content: Any = b"") -> None:
        self.array = _array(content, kind, (), "C")


class _Buffer(_Values):
    """Stands for an array as pickles of protocol 5 store it."""

    def __init__(self, content: Any, kind: Any, shape: Any, order: Any) -> None:
        self.array = _array(content, kind, shape, order)


class _Reader(pickle._Unpickler):
    """An unpickler that knows a few names. In Python: its memo cannot be made to allocate memory ahead of the data."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__(stream, encoding="latin1")
        self._copied = 0

        class Wrapped(_Values):
            """Stands for an array whose bytes follow in the stream."""

            def __setstate__(self, state: Any) -> None:
                if state.get("numpy_array_alignment_bytes") is not None:
                    stream.read(stream.read(1)[0])
                shape, kind = _shape(state["shape"]), state["dtype"]
                size = math.prod(shape) * kind.real().itemsize
                self.array = _array(stream.read(min(size, MAX_DATA_BYTES)), kind, shape, state["order"])

        arrays = ("numpy.core.multiarray", "numpy._core.multiarray")
        self._known: dict[tuple[str, str], Any] = {
            ("numpy", "dtype"): _Type,
            ("numpy", "ndarray"): _Values,
            **{(module, "_reconstruct"): _Values for module in arrays},
            **{(module, "scalar"): _Scalar for module in arrays},
            **{(module, "_frombuffer"): _Buffer for module in ("numpy.core.numeric", "numpy._core.numeric")},
            ("joblib.numpy_pickle", "NumpyArrayWrapper"): Wrapped,
            ("_codecs", "encode"): _encode,
            ("collections", "OrderedDict"): OrderedDict,
            **{(m, kind.__name__): kind for m in ("builtins", "__builtin__") for kind in (dict, list, set, tuple)},
        }

    def load_build(self) -> None:
        """Give an object its state; only those that stand for arrays and types have one."""
        if not isinstance(self.stack[-2], _Type | _Values):  # type: ignore[attr-defined]
            raise _refused("an object with a state")
        self._count(self.stack[-1])  # type: ignore[attr-defined]
        super().load_build()  # type: ignore[misc]

    def load_reduce(self) -> None:
        """Call what the stack names; its arguments are counted, since a short file may name a long one many times."""
        self._count(self.stack[-1])  # type: ignore[attr-defined]
        super().load_reduce()  # type: ignore[misc]

    def load_newobj(self) -> None:
        """Make an object, as `load_reduce`."""
        self._count(self.stack[-1])  # type: ignore[attr-defined]
        super().load_newobj()  # type: ignore[misc]

    def load_bytearray8(self) -> None:
        """Bytes that may change; Python's own method allocates the size that the file claims before it reads."""
        (size,) = struct.unpack("<Q", self.read(8))  # type: ignore[attr-defined]
        content = self.read(min(size, MAX_DATA_BYTES))  # type: ignore[attr-defined]
        if len(content) < size:
            raise pickle.UnpicklingError(f"{size} bytes were promised, {len(content)} are left")
        self.append(bytearray(content))  # type: ignore[attr-defined]

    def load_other(self) -> None:
        """Objects made in ways that files of arrays do not use."""
        raise _refused("an object")

    def _count(self, given: Any) -> None:
        entries = given if isinstance(given, tuple) else ()
        self._copied += len(entries) + sum(len(x) for x in entries if isinstance(x, Sized))
        if self._copied > _COPIED:
            raise FileFormatError(
                f"would unpack to more than {_COPIED >> 20} MiB", next_step="check where the file comes from"
            )

    dispatch: ClassVar[dict[int, Any]] = {
        **pickle._Unpickler.dispatch,
        **dict.fromkeys((code[0] for code in (pickle.INST, pickle.OBJ, pickle.NEWOBJ_EX)), load_other),
        pickle.BUILD[0]: load_build,
        pickle.REDUCE[0]: load_reduce,
        pickle.NEWOBJ[0]: load_newobj,
        pickle.BYTEARRAY8[0]: load_bytearray8,
    }

    def find_class(self, module: str, name: str) -> Any:
        """The object for a class name in the file."""
        if (module, name) not in self._known:
            raise _refused(f"`{module}.{name}`")
        return self._known[module, name]


def read_pickle(path: str | Path) -> Any:
    """Read a pickle of arrays, numbers, texts and containers; nothing in the file is executed.

    Args:
        path: A file of `pickle.dump` or `joblib.dump`, packed or not.

    Raises:
        FileFormatError: There is no such file, it is damaged, would unpack to far more than its size, or holds
            anything else, which is named.
    """
    file = existing_file(path)
    try:
        return _plain(_Reader(io.BytesIO(_unpacked(file.read_bytes()))).load())
    except FileFormatError as error:
        raise error.with_place(file) from None
    except Exception as error:  # a pickle is a program, which fails in many ways
        raise FileFormatError(
            "cannot be read as a pickle; it is truncated, damaged or of another format",
            file=file,
            evidence={"reader": f"{type(error).__name__}: {error}"},
            next_step="write the file again, or store its arrays with numpy.savez",
        ) from error


def _refused(what: str) -> FileFormatError:
    return FileFormatError(
        f"holds {what}; of pickles, only arrays of numbers, plain numbers, texts and containers are read, because"
        " others may run code when loaded",
        next_step="store the arrays with numpy.savez",
    )


def _unpacked(data: bytes) -> bytes:
    """The pickle itself, of a packed one too."""
    kind = next((kind for start, kind in _PACKED.items() if data.startswith(start)), "")
    most = min(MAX_DATA_BYTES, max(_ANYWAY, _UNPACKED * len(data)))
    if not kind:
        return data
    unpack: Any = {
        "zlib": zlib.decompressobj,
        "gzip": lambda: zlib.decompressobj(31),
        "bz2": bz2.BZ2Decompressor,
    }.get(kind, lzma.LZMADecompressor)()
    out = unpack.decompress(data, most + 1)
    if len(out) > most:
        raise FileFormatError(
            f"would unpack to more than {most / 2**20:.0f} MiB", next_step="check where the file comes from"
        )
    return bytes(out)


def _encode(text: str, encoding: str) -> bytes:
    """Bytes as old protocols store them: as text of the same numbers."""
    if encoding != "latin1":
        raise _refused(f"text of encoding `{encoding}`")
    return text.encode("latin1")


def _shape(shape: Any) -> tuple[int, ...]:
    """A shape as plain numbers; its entries may be NumPy scalars."""
    return tuple(int(n.array) if isinstance(n, _Values) and n.array is not None else int(n) for n in shape)


def _array(content: Any, kind: Any, shape: Any, order: Any) -> NDArray[Any]:
    """An array of its bytes."""
    if not isinstance(kind, _Type):
        raise _refused("arrays without a type")
    raw = content.encode("latin1") if isinstance(content, str) else content
    if not isinstance(raw, bytes | bytearray):
        raise _refused("arrays of objects")
    return np.frombuffer(bytes(raw), dtype=kind.real()).reshape(_shape(shape), order="F" if order == "F" else "C")


def _plain(value: Any, depth: int = 0, left: list[int] | None = None) -> Any:
    """The same with real arrays; an entry is counted as often as it is named."""
    left = [_MOST] if left is None else left
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        raise FileFormatError(f"nests more than {_DEEPEST} containers or has more than {_MOST} entries")
    if isinstance(value, _Values):
        return value.array
    if isinstance(value, Mapping):
        return {str(_plain(k, depth + 1, left)): _plain(x, depth + 1, left) for k, x in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(x, depth + 1, left) for x in value]
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    raise _refused(f"a {type(value).__name__.strip('_').lower()}")
