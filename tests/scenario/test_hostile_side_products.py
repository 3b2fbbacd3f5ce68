"""Files that runs write and later runs read again, from a stranger: bounded cost, and only named errors."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from surefoot.control.whole_body import NamedProblem
from surefoot.errors import FileFormatError, SurefootError
from surefoot.ocp import load_solution
from surefoot.planning.multimodal import StanceRoadmap, StanceSequence
from surefoot.report.run_folder import read_run
from surefoot.scenario.sweeps.matrix import _resume
from surefoot.scenario.sweeps.push_map import _known


class Sign:
    """Pickled, it would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def _bomb() -> bytes:
    """Zeros: 1 GB in 1 MB."""
    stream, head = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (1 << 27,)})
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("schema", "w", "A"):
            with archive.open(f"{name}.npy", "w") as member:
                member.write(head.getvalue())
                for _ in range(16):
                    member.write(bytes(1 << 23))
    return stream.getvalue()


ARCHIVES = {
    "empty": b"",
    "text": b"PK\x03\x04 not really",
    "bomb": _bomb(),
    "no arrays": b"PK\x05\x06" + bytes(18),
}
TEXTS = {
    "deep": b"[" * 100_000,
    "deep object": b'{"a":' * 100_000,
    "long number": b'{"rows": ' + b"9" * 5000 + b"}",
    "list": b"[]",
    "not UTF-8": b'{"a": "\xff"}',
    "infinite": json.dumps({"schema": "surefoot.stances/1", "footholds": [{"piece": 1e999}], "legs": []}).encode(),
    "other rows": b'{"overrides": [], "rows": [{"a": 1}], "robot": 3, "ideal": 0}',
    "no rows": b'{"overrides": [], "rows": 7}',
}


@pytest.mark.parametrize("damage", ARCHIVES)
@pytest.mark.parametrize("read", [StanceRoadmap.load, load_solution, NamedProblem.load])
def test_archives(read: Callable, damage: str, tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(ARCHIVES[damage])
    with pytest.raises(FileFormatError):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("read", [StanceRoadmap.load, load_solution, NamedProblem.load])
def test_objects_in_archives_are_not_made(read: Callable, tmp_path: Path) -> None:
    sign = tmp_path / "made"
    names = ("schema", "place", "points", "normals", "friction", "pieces", "before", "after", "bases", "heading", "w")
    wrong = np.frombuffer(pickle.dumps(np.array([Sign(sign)], dtype=object)), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", **dict.fromkeys((*names, "names", "A"), np.array([Sign(sign)], dtype=object)))
    np.savez(tmp_path / "b.npz", **dict.fromkeys((*names, "names", "A"), wrong))
    for name in ("a.npz", "b.npz"):
        with pytest.raises(FileFormatError):
            read(tmp_path / name)
    assert not sign.exists()


@pytest.mark.parametrize("damage", TEXTS)
def test_texts(damage: str, tmp_path: Path) -> None:
    for name in ("a.json", "matrix.json", "scenario.toml", "metrics.json"):
        (tmp_path / name).write_bytes(TEXTS[damage])
    for read in (StanceSequence.load, lambda file: _known(file, "g1", False)):
        with pytest.raises(FileFormatError):
            read(tmp_path / "a.json")
    for read in (lambda folder: _resume(folder, []), read_run):
        with pytest.raises(SurefootError):
            read(tmp_path)
