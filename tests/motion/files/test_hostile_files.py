"""Files that lie about themselves: a named error, before time or memory is spent."""

import io
import json
import struct
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from surefoot.errors import FileFormatError, SurefootError
from surefoot.motion import Log, Trajectory
from surefoot.motion.files import read_csv, read_npy, read_npz, read_parquet, write_csv
from surefoot.motion.reading import read_motion
from tests.dynamics.examples import robot_named


def npy(header: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def archive(method: int, **arrays: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as out:
        for name, content in arrays.items():
            out.writestr(f"{name}.npy", content)
    return stream.getvalue()


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,\n",
        "((((\n",
        "(" * 5000 + "\n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000000,), }\n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n",
        f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({'9' * 5000},), }}\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n",
    ],
)
def test_headers_of_arrays(header, tmp_path):
    alone, inside = tmp_path / "a.npy", tmp_path / "a.npz"
    alone.write_bytes(npy(header))
    inside.write_bytes(archive(zipfile.ZIP_STORED, q=npy(header)))
    for read, path in ((read_npy, alone), (read_npz, inside)):
        with pytest.raises(FileFormatError, match="cannot be read"):
            read(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives(method, tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.arange(300.0))
    data, path = archive(method, q=stream.getvalue()), tmp_path / "a.npz"
    path.write_bytes(data)
    assert (read_npz(path)["q"] == np.arange(300.0)).all()
    path.write_bytes(data[:45] + b"\xff" * 20 + data[65:])
    with pytest.raises(FileFormatError, match="truncated, damaged"):
        read_npz(path)


def test_archives_that_unpack_to_far_more_than_they_are(tmp_path, monkeypatch):
    """Zeros are a thousand times smaller when compressed; ordinary motions are not."""
    stream = io.BytesIO()
    np.save(stream, np.zeros(1_000_000))
    path = tmp_path / "bomb.npz"
    path.write_bytes(archive(zipfile.ZIP_DEFLATED, q=stream.getvalue()))
    monkeypatch.setattr("surefoot.motion.files.columns._UNPACKED", (1 << 20, 100))
    with pytest.raises(FileFormatError, match="would unpack to"):
        read_npz(path)
    np.savez_compressed(path, q=np.random.default_rng(0).standard_normal(300_000))
    assert len(read_npz(path)["q"]) == 300_000
    pq.write_table(pa.table({"q": np.zeros(1_000_000)}), tmp_path / "bomb.parquet")
    with pytest.raises(FileFormatError, match="would unpack to"):
        read_parquet(tmp_path / "bomb.parquet")


@pytest.mark.parametrize("facts", ["[" * 100_000, '{"schedule": 1' + "1" * 5000 + "}", "7"])
def test_facts_that_are_not_facts(facts, tmp_path):
    np.savez(tmp_path / "a.npz", format="surefoot.trajectory/1", facts=facts, q=np.zeros((4, 3)), time=np.arange(4.0))
    texts = {"surefoot.format": "surefoot.trajectory/1", "surefoot.facts": facts, "surefoot.sizes": "{}"}
    pq.write_table(pa.table({"time": [0.0, 1.0]}).replace_schema_metadata(texts), tmp_path / "a.parquet")
    for name in ("a.npz", "a.parquet"):
        with pytest.raises(FileFormatError, match="does not match its format"):
            Trajectory.load(tmp_path / name)


@pytest.mark.parametrize("size", [10**9, -1, 1.5, "2", [1]])
def test_sizes_that_are_not_there(size, tmp_path):
    texts = {"surefoot.facts": "{}", "surefoot.sizes": json.dumps({"q": size})}
    for kind, load in (("trajectory", Trajectory.load), ("log", Log.load)):
        named = {"surefoot.format": f"surefoot.{kind}/1", **texts}
        pq.write_table(pa.table({"q[0]": [0.0, 1.0]}).replace_schema_metadata(named), tmp_path / "a.parquet")
        with pytest.raises(FileFormatError, match="does not match its format"):
            load(tmp_path / "a.parquet")


def test_a_version_of_thousands_of_digits(tmp_path):
    np.savez(tmp_path / "a.npz", format="surefoot.trajectory/" + "9" * 5000, facts="{}", time=np.arange(4.0))
    with pytest.raises(FileFormatError, match=r"is not a surefoot\.trajectory file"):
        Trajectory.load(tmp_path / "a.npz")


def test_a_table_of_more_columns_than_any_robot_has(tmp_path):
    pq.write_table(pa.table({f"c{k}": [0.0] for k in range(10_001)}), tmp_path / "a.parquet")
    with pytest.raises(FileFormatError, match="has 10001 columns, more than 10000"):
        read_parquet(tmp_path / "a.parquet")


def test_names_that_are_not_utf8(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"AAAA": [0.0, 1.0]}), path)
    path.write_bytes(path.read_bytes().replace(b"AAAA", b"\xff\xfe\xffA"))
    with pytest.raises(FileFormatError, match="cannot be read as a Parquet file"):
        read_parquet(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('time,"' + "j" * 140_000 + '"\n0,1\n', "cannot be read: field larger"),
        (",".join(f"c{k}" for k in range(20_000)) + "\n", "20000 columns"),
        (",".join("1" * 20_000) + "\n", "20000 columns"),
        ('"' + "a\n" * 50_000, "holds a line that cannot be read|not a number|expected a finite number"),
    ],
)
def test_text_of_any_size(text, message, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message) as caught:
        read_csv(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    "name",
    ["a\nb", 'quo"ted', "com,ma", "a\r\nb", "line\u2028separator", "tab\tbed", "form\x0cfeed", " a ", "\t", ' "a" '],
)
def test_any_name_of_a_joint_is_read_back(name, tmp_path):
    columns = {"time": np.arange(3.0), name: np.array([0.1, -0.2, 1e-300])}
    write_csv(tmp_path / "a.csv", columns)
    found = read_csv(tmp_path / "a.csv")
    assert found.header == tuple(columns)
    assert (found.columns[name] == columns[name]).all()


@pytest.mark.parametrize("fps", [np.zeros(0), np.array("thirty"), np.array(1j), np.array("2020-01-01", dtype="M8[D]")])
def test_rates_that_are_not_numbers(fps, tmp_path):
    robot = robot_named("panda")
    np.savez(tmp_path / "a.npz", qpos=np.zeros((5, robot.nq)), fps=fps)
    with pytest.raises(FileFormatError, match="`fps` is not a number"):
        read_motion(tmp_path / "a.npz", robot)


def test_names_of_files_that_no_file_system_takes():
    for name in ("x" * 300 + ".csv", "a\0b.npz"):
        with pytest.raises(SurefootError, match="no such file"):
            read_motion(name, robot_named("panda"))
