"""Files: bit-exact round trips, equal bytes for equal data, and clear refusals."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from surefoot.errors import FileFormatError, NotSupportedError, ShapeError
from surefoot.motion import Column, Log, Trajectory
from surefoot.motion.files.columns import read_npz, write_npz
from surefoot.motion.storage import export_csv
from tests.motion.examples import walker
from tests.motion.test_log import written
from tests.motion.test_trajectory import a_trajectory

SUFFIXES = [".npz", ".parquet"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_trajectories_come_back_bit_by_bit_and_bytes_are_equal(tmp_path, suffix):
    motion = a_trajectory(
        references={"com": np.zeros((8, 3)), "none": np.zeros((8, 0)), "odd/name[0]": np.full((8, 1), -0.0)}
    )
    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    motion.save(one)
    back = Trajectory.load(one)
    back.save(two)
    assert one.read_bytes() == two.read_bytes()
    for name in ("time", "q", "v", "a", "tau"):
        assert getattr(back, name).tobytes() == getattr(motion, name).tobytes()
    for name in ("wrenches", "references"):
        assert {k: x.tobytes() for k, x in getattr(back, name).items()} == {
            k: x.tobytes() for k, x in getattr(motion, name).items()
        }
    assert back.references["none"].shape == (8, 0)
    assert back.schedule.to_dict() == motion.schedule.to_dict()
    assert (back.robot, back.joints) == (motion.robot, motion.joints)
    bare = Trajectory(motion.robot, motion.joints, motion.kinds, motion.time, motion.q)
    bare.save(one)
    assert Trajectory.load(one).v is None


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_logs_come_back_bit_by_bit(tmp_path, suffix):
    for log in (written(), written(n=0), Log.of(Column("time", "s", [0.0]), metadata={"a": [1, "ü"]})):
        log.save(tmp_path / f"log{suffix}")
        back = Log.load(tmp_path / f"log{suffix}")
        assert list(back.columns) == list(log.columns)
        assert [(c.name, c.unit, c.data.shape, c.data.tobytes()) for c in back] == [
            (c.name, c.unit, c.data.shape, c.data.tobytes()) for c in log
        ]
        assert (back.partial, dict(back.metadata)) == (log.partial, dict(log.metadata))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_refused(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    a_trajectory().save(path)
    whole = path.read_bytes()
    for cut in (0, 1, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError):
            Trajectory.load(path)
    path.write_bytes(b"not a file of ours" * 100)
    with pytest.raises(FileFormatError, match="truncated, damaged"):
        Trajectory.load(path)
    with pytest.raises(FileFormatError, match="no such file"):
        Trajectory.load(tmp_path / f"no{suffix}")


def test_flipped_bits_are_noticed_or_harmless(tmp_path):
    path = tmp_path / "t.npz"
    motion = a_trajectory()
    motion.save(path)
    whole = bytearray(path.read_bytes())
    for k in np.random.default_rng(0).integers(0, len(whole), 150):
        bent = bytearray(whole)
        bent[k] ^= 0x10
        path.write_bytes(bent)
        try:
            back = Trajectory.load(path)
        except FileFormatError:
            continue
        assert back.q.tobytes() == motion.q.tobytes()  # a bit of the zip directory that says nothing


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_foreign_and_newer_files_are_refused(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"t{suffix}"
    written().save(path)
    with pytest.raises(FileFormatError, match=r"is not a surefoot\.trajectory file") as caught:
        Trajectory.load(path)
    assert caught.value.evidence["found"] == "surefoot.log/1"
    monkeypatch.setattr("surefoot.motion.trajectory.TRAJECTORY_FORMAT", "surefoot.trajectory/2")
    a_trajectory().save(path)
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="newer surefoot"):
        Trajectory.load(path)


def test_contents_that_contradict_the_format_are_refused(tmp_path):
    path = tmp_path / "t.npz"
    a_trajectory().save(path)
    good = read_npz(path)
    nan = np.array(good["q"])
    nan[1, 2] = np.nan
    long = np.array(good["q"])
    long[3, 3:7] *= 2.0
    for change in [
        {"q": nan},
        {"q": long},
        {"q": good["q"][:-1]},
        {"q": good["q"].astype("U8")},
        {"time": good["time"][::-1]},
        {"extra": good["time"]},
        {"facts": np.array("{")},
        {"facts": np.array("[]")},
        {"facts": np.array(json.dumps({"robot": "x", "joints": []}))},
        {"facts": np.array(json.dumps({"robot": "x", "joints": [], "schedule": {"phases": [{"start": 0}]}}))},
        {"time": None},
    ]:
        write_npz(path, {k: x for k, x in {**good, **change}.items() if x is not None})
        with pytest.raises(FileFormatError) as caught:
            Trajectory.load(path)
        assert caught.value.next_step
        assert caught.value.file == str(path)


def test_pickles_and_lying_headers_are_refused(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, format="surefoot.trajectory/1", q=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FileFormatError, match="cannot be read"):
        Trajectory.load(path)
    lie = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    lie += b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", lie)
    with pytest.raises(FileFormatError, match="cannot be read") as caught:
        Trajectory.load(path)
    assert "does not fit" in str(caught.value)


def test_csv_names_its_columns_with_units(tmp_path):
    robot, motion = walker(), a_trajectory()
    path = tmp_path / "t.csv"
    export_csv(path, motion, robot)
    header = path.read_text().splitlines()[0].split(",")
    for name in (
        "time [s]",
        "q.root_joint.qw [1]",
        "q.left_knee [rad]",
        "v.left_knee [rad/s]",
        "a.left_knee [rad/s^2]",
        "tau.left_slide [N]",
        "tau.left_knee [N m]",
        "wrench.left_foot.fz [N]",
        "reference.com[1]",
    ):
        assert name in header
    numbers = np.loadtxt(path, delimiter=",", skiprows=1)
    assert (
        numbers[:, header.index("q.left_knee [rad]")].tobytes()
        == motion.q[:, robot.tree.q_index[robot.joint_index("left_knee")]].tobytes()
    )
    with pytest.raises(NotSupportedError):
        export_csv(path, motion)
    export_csv(path, written())
    assert path.read_text().splitlines()[0] == "time [s],base.height [m],force[0] [N],force[1] [N],force[2] [N]"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_quaternions_that_are_not_of_unit_length_are_refused(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"t{suffix}"
    motion = a_trajectory()
    long = np.array(motion.q)
    long[3, 3:7] *= 2.0
    with monkeypatch.context() as patch:
        patch.setattr("surefoot.motion.trajectory.require_unit_length", lambda *_: None)
        replace(motion, q=long).save(path)
    with pytest.raises(FileFormatError, match="does not match its format") as caught:
        Trajectory.load(path)
    assert "root_joint" in caught.value.evidence["reason"]


def test_unknown_suffixes_and_metadata_that_is_no_json_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="suffix"):
        a_trajectory().save(tmp_path / "t.mat")
    with pytest.raises(ShapeError, match="JSON"):
        Log.of(Column("time", "s", [0.0]), metadata={"a": {1, 2}}).save(tmp_path / "t.npz")
    assert not list(tmp_path.iterdir())
