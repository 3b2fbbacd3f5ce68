"""Pickles are read without executing anything in them; whatever is not an array, a number or a container is named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import sys
import tracemalloc
import types
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot.errors import FileFormatError
from surefoot.motion.files import pickles, read_pickle

_DATA = {
    "walk": {
        "dof": np.arange(12, dtype=np.float32).reshape(4, 3),
        "root_rot": np.asfortranarray(np.arange(16.0).reshape(4, 4)),
        "big": np.arange(3, dtype=">f8"),
        "names": np.array(["a", "knee"]),
        "fps": 30,
        "scale": np.float64(0.5),
        "list": [1, 2.5, "x", None],
    }
}


def _same(found: Any) -> None:
    for key, value in _DATA["walk"].items():
        assert np.array_equal(np.asarray(found["walk"][key]), np.asarray(value)), key


@pytest.mark.parametrize("protocol", range(6))
def test_arrays_of_all_protocols(protocol: int, tmp_path: Path) -> None:
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(_DATA, protocol=protocol))
    _same(read_pickle(tmp_path / "a.pkl"))


@pytest.mark.parametrize("packed", [zlib.compress, gzip.compress, bz2.compress, lzma.compress])
def test_packed_pickles(packed: Any, tmp_path: Path) -> None:
    (tmp_path / "a.pkl").write_bytes(packed(pickle.dumps(_DATA)))
    _same(read_pickle(tmp_path / "a.pkl"))
    (tmp_path / "a.pkl").write_bytes(packed(pickle.dumps(_DATA))[:40])
    with pytest.raises(FileFormatError, match="cannot be read as a pickle"):
        read_pickle(tmp_path / "a.pkl")


class NumpyArrayWrapper:
    """As `joblib` describes an array whose bytes follow."""

    __module__ = "joblib.numpy_pickle"

    def __init__(self, array: np.ndarray) -> None:
        self.subclass, self.shape, self.dtype = np.ndarray, array.shape, array.dtype
        self.order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        self.allow_mmap, self.numpy_array_alignment_bytes = True, 16


class _Joblib(pickle._Pickler):
    """Writes arrays as `joblib.dump` does: a description, padding, the bytes."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=4)
        self.stream = stream

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if type(obj) is not np.ndarray:
            return super().save(obj, save_persistent_id)  # type: ignore[misc]
        wrapper = NumpyArrayWrapper(obj)
        super().save(wrapper)  # type: ignore[misc]
        self.framer.commit_frame(force=True)  # type: ignore[attr-defined]
        padding = 16 - (self.stream.tell() + 1) % 16
        self.stream.write(bytes([padding]) + b"\xff" * padding + obj.tobytes(wrapper.order))
        return None


def test_files_of_joblib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("joblib.numpy_pickle")
    module.NumpyArrayWrapper = NumpyArrayWrapper  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "joblib", types.ModuleType("joblib"))
    monkeypatch.setitem(sys.modules, "joblib.numpy_pickle", module)
    stream = io.BytesIO()
    _Joblib(stream).dump(_DATA)
    (tmp_path / "a.pkl").write_bytes(stream.getvalue())
    _same(read_pickle(tmp_path / "a.pkl"))
    (tmp_path / "a.pkl").write_bytes(zlib.compress(stream.getvalue()))
    _same(read_pickle(tmp_path / "a.pkl"))


class _Call:
    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


def _touch(path: str) -> None:
    Path(path).touch()


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_code_is_named_and_not_run(protocol: int, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for what, name in (
        (_Call(os.system, f"touch {mark}"), "system"),
        (_Call(_touch, str(mark)), "_touch"),
        (_Call(eval, "1"), "eval"),
        ({"a": np.array([_Call(_touch, str(mark))], dtype=object)}, "_touch"),
        (_Call(getattr, dict, "fromkeys"), "getattr"),
        (1j, "complex"),
    ):
        (tmp_path / "a.pkl").write_bytes(pickle.dumps(what, protocol=protocol))
        with pytest.raises(FileFormatError, match=name) as info:
            read_pickle(tmp_path / "a.pkl")
        assert "numpy.savez" in info.value.next_step
        assert not mark.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x80\x04.",
        b"\x80\x04r\xff\xff\xff\xff.",  # a memo of four billion entries
        b"\x80\x04B\xff\xff\xff\x7f.",  # two gigabytes of which none is there
        b"cnumpy\ndtype\n}b.",  # a state for a type itself
        b"c_codecs\nencode\n(N}tb.",  # and for a function
        b"\x80\x04\x8c\x05numpy\x8c\x05dtype\x93\x8c\x01O\x85R.",
        b"(" * 100_000,
        *(b"\x80\x05\x96" + size.to_bytes(8, "little") + b"." for size in (8 << 30, (1 << 63) - 1, (1 << 64) - 1)),
        *(b"\x80\x04" + code + (8 << 30).to_bytes(8, "little") + b"." for code in (b"\x8d", b"\x8e", b"\x95")),
        b"\x80\x04\x8b\xff\xff\xff\x7f.",  # a whole number of two gigabytes
        b"(cnumpy\nndarray\no.",
        b"(icollections\nOrderedDict\n.",
        b"\x80\x04cnumpy\nndarray\n)}\x92.",
    ],
)
def test_hostile_pickles_are_refused_at_once(content: bytes, tmp_path: Path) -> None:
    """Before memory is allocated for what they promise."""
    (tmp_path / "a.pkl").write_bytes(content)
    tracemalloc.start()
    with pytest.raises(FileFormatError):
        read_pickle(tmp_path / "a.pkl")
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


def test_bytes_that_may_change(tmp_path: Path) -> None:
    content = {"a": bytearray(range(9)), "b": bytearray(100_000)}  # within a frame, and between frames
    (tmp_path / "a.pkl").write_bytes(pickle.dumps([np.frombuffer(one, dtype=np.uint8) for one in content.values()], 5))
    assert [x.tolist() for x in read_pickle(tmp_path / "a.pkl")] == [list(one) for one in content.values()]


@pytest.mark.parametrize("call", [b"c_codecs\nencode\n", b"cbuiltins\ntuple\n"])
def test_one_long_text_named_many_times(call: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 2 MB that would become 100 GB."""
    monkeypatch.setattr(pickles, "_COPIED", 1 << 24)
    text = b"X" + (1 << 20).to_bytes(4, "little") + b"a" * (1 << 20) + b"q\x00"
    arguments = b"h\x00X\x06\x00\x00\x00latin1\x86" if b"encode" in call else b"h\x00\x85"
    (tmp_path / "a.pkl").write_bytes(b"\x80\x02" + text + call + b"q\x01" + (b"h\x01" + arguments + b"R0") * 100_000)
    with pytest.raises(FileFormatError, match="would unpack to more"):
        read_pickle(tmp_path / "a.pkl")


def test_lists_that_name_each_other_and_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickles, "_ANYWAY", 1 << 20)
    nested: list[Any] = []
    for _ in range(5):
        nested = [nested] * 30
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(nested))
    with pytest.raises(FileFormatError, match="entries"):
        read_pickle(tmp_path / "a.pkl")
    nested.append(nested)
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(nested))
    with pytest.raises(FileFormatError, match="nests"):
        read_pickle(tmp_path / "a.pkl")
    (tmp_path / "a.pkl").write_bytes(zlib.compress(pickle.dumps(np.zeros(1 << 20)), 9))
    with pytest.raises(FileFormatError, match="unpack"):
        read_pickle(tmp_path / "a.pkl")
