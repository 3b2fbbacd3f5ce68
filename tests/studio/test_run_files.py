"""Runs and motions of the folder: listed, loaded, and nothing from outside."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from surefoot.errors import FileFormatError, SurefootError
from surefoot.motion import Trajectory
from surefoot.robot import zoo
from surefoot.scenario import run_scenario
from surefoot.studio.files import RobotKey, RobotStore, load_motion, motion_choices, report_of, run_choices
from surefoot.studio.panels.replay import metrics_table
from surefoot.studio.safety import OutsideError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio").resolve()
    overrides = ["simulation.duration=0.05", "events=[]"]
    run_scenario("stand-pd", "biped", out=folder / "runs" / "first", overrides=overrides)
    shutil.copytree(folder / "runs" / "first", folder / "second")
    robot = zoo.load("panda")
    Trajectory.of(robot, [0.0, 1.0], np.array([robot.home, robot.neutral])).save(folder / "swing.npz")
    return folder


def test_runs_and_motions_are_listed_apart(folder):
    assert set(run_choices(folder)) == {"runs/first", "second"}
    assert motion_choices(folder) == ["swing.npz"]


def test_a_run_names_its_robot_and_world(folder):
    motion = load_motion(folder, "runs/first", RobotStore(folder), None)
    assert motion.robot.name == "biped"
    assert motion.metrics["verdict"] == "passed"
    assert motion.world is not None
    assert motion.trajectory.end == pytest.approx(0.05)
    assert report_of(folder, "runs/first") == folder / "runs" / "first" / "report.html"
    assert "<td>verdict</td><td>passed</td>" in metrics_table(motion.metrics)


def test_a_motion_file_moves_the_robot_of_the_tab(folder):
    store = RobotStore(folder)
    key = RobotKey("panda")
    motion = load_motion(folder, "swing.npz", store, (key, store.get(key)))
    assert len(motion.trajectory) == 2
    with pytest.raises(SurefootError, match="robot"):
        load_motion(folder, "swing.npz", store, None)


def test_nothing_outside_is_loaded(folder, tmp_path):
    store = RobotStore(folder)
    (tmp_path / "arm.urdf").write_text("<robot name='x'><link name='a'/></robot>")
    for path in ("../elsewhere", str(tmp_path), "/"):
        with pytest.raises(OutsideError):
            load_motion(folder, path, store, None)
    with pytest.raises(OutsideError):
        store.get(RobotKey(str(tmp_path / "arm.urdf")))
    (folder / "leak").symlink_to(tmp_path)
    with pytest.raises(OutsideError):
        store.get(RobotKey("./leak/arm.urdf"))
    assert not [name for name in run_choices(folder) if "leak" in name]


def test_a_run_whose_robot_lies_outside_is_refused(folder, tmp_path):
    (tmp_path / "arm.urdf").write_text("<robot name='x'><link name='a'/></robot>")
    shutil.copytree(folder / "second", folder / "third")
    file = folder / "third" / "scenario.toml"
    file.write_text(file.read_text().replace('name = "biped"', f'name = "{tmp_path}/arm.urdf"'))
    with pytest.raises(OutsideError):
        load_motion(folder, "third", RobotStore(folder), None)


def test_what_is_not_there_is_told(folder):
    with pytest.raises(FileFormatError, match="does not exist"):
        load_motion(folder, "nothing", RobotStore(folder), None)


def test_robots_are_found_by_words_and_in_the_folder(folder):
    (folder / "models").mkdir(exist_ok=True)
    (folder / "models" / "tiny.urdf").write_text("<robot name='tiny'><link name='a'/></robot>")
    store = RobotStore(folder)
    assert store.choices("models tiny") == ["./models/tiny.urdf"]
    assert "g1" in store.choices()
    assert store.get(RobotKey("./models/tiny.urdf")).name == "tiny"
    assert store.get(RobotKey("panda")) is store.get(RobotKey("panda"))
    with pytest.raises(SurefootError, match="panda"):
        store.get(RobotKey("pandda"))
