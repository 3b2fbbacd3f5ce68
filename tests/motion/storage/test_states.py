"""Files of states: every layout × suffix comes back; wrong files are refused with place and reason."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import FileFormatError, ShapeError, SurefootError, UnknownNameError
from surefoot.motion.exchange import to_layout
from surefoot.motion.exchange.exchange import LAYOUTS
from surefoot.motion.storage import StateTable, read_states, write_states
from surefoot.robot import Robot
from tests.motion.examples import distance, every_kind, link, random_states, walker
from tests.motion.test_trajectory import a_trajectory

SUFFIXES = [".npz", ".csv", ".parquet"]


def a_table(robot, n=6, with_time=True, with_v=True) -> StateTable:
    q, v = random_states(robot, n)
    return StateTable(0.1 * np.arange(n) if with_time else None, q, v if with_v else None)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("base", ["floating", "planar"])
def test_round_trips(tmp_path, layout, suffix, base):
    robot, path = every_kind(base), tmp_path / f"s{suffix}"
    for with_time in (True, False):
        for with_v in (True, False):
            table = a_table(robot, with_time=with_time, with_v=with_v)
            write_states(path, robot, layout, table)
            back = read_states(path, robot, layout)
            assert distance(robot, table.q, back.q) < 1e-12
            assert (back.v is None) == (not with_v)
            assert (back.time is None) == (not with_time)
            if with_v:
                np.testing.assert_allclose(back.v, table.v, atol=1e-12)
            if with_time:
                np.testing.assert_array_equal(back.time, table.time)
    again = path.read_bytes()
    write_states(path, robot, layout, table)
    assert path.read_bytes() == again


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_another_joint_order_comes_back_from_the_names_in_the_file(tmp_path, layout, suffix):
    robot, path = every_kind(), tmp_path / f"s{suffix}"
    table = a_table(robot)
    names = list(robot.joint_names[1:][::-1])
    write_states(path, robot, layout, table, names)
    told = names if suffix == ".npz" and layout in ("pinocchio", "mujoco", "drake") else None
    back = read_states(path, robot, layout, told)
    assert distance(robot, table.q, back.q) < 1e-12
    np.testing.assert_allclose(back.v, table.v, atol=1e-12)


@pytest.mark.parametrize("layout", ["pinocchio", "mujoco", "drake"])
def test_files_without_header_are_read_by_their_number_of_columns(tmp_path, layout):
    robot, path = every_kind(), tmp_path / "s.csv"
    for with_time in (True, False):
        for with_v in (True, False):
            table = a_table(robot, with_time=with_time, with_v=with_v)
            write_states(path, robot, layout, table)
            path.write_text("\n".join(path.read_text().splitlines()[1:]) + "\n\n")
            back = read_states(path, robot, layout)
            assert distance(robot, table.q, back.q) < 1e-12
            assert (back.time is None, back.v is None) == (not with_time, not with_v)


def test_an_ambiguous_number_of_columns_is_refused(tmp_path):
    robot = Robot.from_tree("one", [link("a", None, "revolute")], contacts=())
    path = tmp_path / "s.csv"
    path.write_text("0.0,1.0\n0.1,2.0\n")
    with pytest.raises(FileFormatError, match="two ways") as caught:
        read_states(path, robot, "mujoco")
    assert "header" in caught.value.next_step
    path.write_text("time,qpos[0]\n0.0,1.0\n0.1,2.0\n")
    np.testing.assert_array_equal(read_states(path, robot, "mujoco").q[:, 0], [1.0, 2.0])


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_trajectories_are_read_as_pinocchio(tmp_path, suffix):
    robot, path, motion = walker(), tmp_path / f"t{suffix}", a_trajectory()
    motion.save(path)
    back = read_states(path, robot, "pinocchio")
    for name in ("time", "q", "v"):
        np.testing.assert_array_equal(getattr(back, name), getattr(motion, name))
    with pytest.raises(FileFormatError, match="trajectory of surefoot"):
        read_states(path, robot, "mujoco")
    with pytest.raises(ShapeError, match="does not fit robot"):
        read_states(path, every_kind(), "pinocchio")


@pytest.mark.parametrize(
    ("text", "word"), [("nan", "nan"), ("abc", "abc"), ("", "''"), ("1e999", "1e999"), ("1_0", "1_0")]
)
def test_wrong_entries_are_named_with_line_and_column(tmp_path, text, word):
    robot, path = every_kind(), tmp_path / "s.csv"
    write_states(path, robot, "csv", a_table(robot))
    lines = path.read_text().splitlines()
    cells = lines[4].split(",")
    cells[3] = text
    lines[4] = ",".join(cells)
    path.write_text("\n".join(lines))
    with pytest.raises(FileFormatError) as caught:
        read_states(path, robot, "csv")
    assert (caught.value.file, caught.value.line) == (str(path), 5)
    assert "column 4 (`base.z [m]`)" in caught.value.message
    assert word in caught.value.message


def test_ragged_rows_binary_and_empty_files_are_refused(tmp_path):
    robot, path = every_kind(), tmp_path / "s.csv"
    write_states(path, robot, "csv", a_table(robot))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:3], lines[3] + ",1.0"]))
    with pytest.raises(FileFormatError, match="entries, the first one has") as caught:
        read_states(path, robot, "csv")
    assert caught.value.line == 4
    for content, word in ((b"\xff\xfe\x00", "not a text file"), (b"", "empty"), (b"\n\n", "empty")):
        path.write_bytes(content)
        with pytest.raises(FileFormatError, match=word):
            read_states(path, robot, "csv")
    with pytest.raises(FileFormatError, match="suffix"):
        read_states(tmp_path / "s.mat", robot, "csv")


def test_wrong_quaternions_name_file_line_and_the_layout_that_fits(tmp_path):
    robot = Robot.from_tree("w", walker_links(), "floating", contacts=())
    q, _ = random_states(robot, 5)
    q[:, :3] += 3.0
    path = tmp_path / "s.csv"
    np.savetxt(path, to_layout(robot, "drake", q)["q"], delimiter=",")
    with pytest.raises(ShapeError, match="has length") as caught:
        read_states(path, robot, "mujoco")
    assert caught.value.line == 1
    assert "drake" in caught.value.next_step
    assert "--from" in caught.value.next_step


def walker_links():
    from surefoot.robot import Link

    return [Link("t", mass=1.0, inertia=np.eye(3)), link("a", "t", "revolute"), link("b", "a", "revolute")]


def test_a_header_of_another_layout_is_refused(tmp_path):
    """Drake's and Pinocchio's vectors have the same keys; the labels tell them apart."""
    robot, path = every_kind(), tmp_path / "s.csv"
    write_states(path, robot, "drake", a_table(robot))
    with pytest.raises(FileFormatError, match="not that of layout pinocchio"):
        read_states(path, robot, "pinocchio")
    write_states(path, robot, "mujoco", a_table(robot))
    with pytest.raises(FileFormatError, match="not of layout pinocchio"):
        read_states(path, robot, "pinocchio")
    path.write_text(path.read_text().replace("a_joint [rad]", "a_joint [deg]"))
    with pytest.raises(FileFormatError, match="not that of layout mujoco"):
        read_states(path, robot, "mujoco")
    with pytest.raises(SurefootError):
        read_states(path, robot, "csv")


def test_missing_and_unknown_columns_are_named(tmp_path):
    robot, path = every_kind(), tmp_path / "s.csv"
    write_states(path, robot, "ros", a_table(robot))
    good = path.read_text()
    path.write_text(good.replace("a_joint [rad]", "elbow [rad]", 1))
    with pytest.raises(UnknownNameError, match="elbow") as caught:
        read_states(path, robot, "ros")
    assert caught.value.file == str(path)
    path.write_text(good.replace("base.x [m]", "base.y [m]"))
    with pytest.raises(FileFormatError, match="repeat"):
        read_states(path, robot, "ros")
    path.write_text("\n".join(good.splitlines()[1:]))
    with pytest.raises(FileFormatError, match="needs a header"):
        read_states(path, robot, "ros")


def test_time_must_increase(tmp_path):
    robot, path = every_kind(), tmp_path / "s.npz"
    q, v = random_states(robot, 2)
    np.savez(path, time=[1.0, 0.0], **to_layout(robot, "mujoco", q, v))
    with pytest.raises(ShapeError, match="does not increase") as caught:
        read_states(path, robot, "mujoco")
    assert caught.value.file == str(path)
