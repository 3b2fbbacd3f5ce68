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
from surefoot.errors import FileFormatError, ShapeError, SurefootError
from surefoot.ocp import load_solution
from surefoot.planning.multimodal import StanceRoadmap, StanceSequence
from surefoot.report.run_folder import read_run, robot_of_run
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


@pytest.mark.parametrize(("key", "value"), [("bases", [[[0.0, 0.0, 1e100, 0.0, 0.0, 0.0]]]), ("start", [1e300] * 24)])
def test_places_of_stances_are_of_moderate_size(key: str, value: list, tmp_path: Path) -> None:
    """They are multiplied and counted off later: numbers of NumPy overflowed there with a warning."""
    place = {"point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0], "friction": 0.5, "piece": 0}
    stances = [list(range(6)), [6, *range(1, 6)]]
    data = {
        "schema": "surefoot.stances/1", "robot": "hexapod", "legs": list("abcdef"), "start": [0.0] * 24,
        "footholds": [place] * 7, "stances": stances, "bases": [[[0.0] * 6]],
    }  # fmt: skip
    file = tmp_path / "a.json"
    file.write_text(json.dumps(data))
    assert len(StanceSequence.load(file)) == 1
    file.write_text(json.dumps(data | {key: value}))
    with pytest.raises(ShapeError, match="beyond"):
        StanceSequence.load(file)


def test_positions_of_locked_joints_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text('[robot]\nname = "four-bar"\n[robot.lock]\nhinge = [0.0, 1.0]\n')
    with pytest.raises(FileFormatError, match="table of positions"):
        robot_of_run(tmp_path)
