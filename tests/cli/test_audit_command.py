"""`surefoot audit` as a user meets it: run folders, odd inputs, JSON."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from surefoot.feasibility import ITEMS
from surefoot.motion import Trajectory
from surefoot.scenario import run_scenario
from tests.cli.test_main import surefoot


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run on ground that is lower than usual, so that the audit is wrong without its world."""
    low = 'world.ground=[{kind="box", size=[4, 4, 1], position=[0, 0, -1.5]}]'
    options = ["simulation.duration=0.3", "study=none", low, "audit.kind=none"]
    return run_scenario("slide", out=tmp_path_factory.mktemp("runs") / "run", overrides=options).path


def refuse(text):
    raise ValueError(text)


def audit_json(capsys, *words):
    status, out, err = surefoot(capsys, "audit", *map(str, words), "--json", "--no-replay")
    assert status in (0, 1), err
    return json.loads(out, parse_constant=refuse)


def test_a_run_folder_knows_its_robot_and_its_world(capsys, folder):
    found = audit_json(capsys, folder)
    assert found["robot"] == "block"
    assert found["passed"], found["findings"]
    touched = [part for part in found["schedule"].values() if part]
    assert touched, "the block stands on the ground of the run"
    for name in ("trajectory.npz", "log.parquet"):
        assert audit_json(capsys, folder / name)["schedule"] == found["schedule"]


def test_another_world_is_taken_if_asked_for(capsys, folder, tmp_path):
    (tmp_path / "high.toml").write_text("[[world.ground]]\nkind = 'plane'\npoint = [0.0, 0.0, -0.95]\n")
    assert not audit_json(capsys, folder, "--world", tmp_path / "high.toml")["passed"]


def test_the_order_of_quaternions_can_be_said(capsys, folder, tmp_path):
    motion = Trajectory.load(folder / "trajectory.npz")
    turned = np.hstack([motion.q[:, :3], np.roll(motion.q[:, 3:7], 1, axis=1)])
    np.save(tmp_path / "m.npy", turned)
    world = ["--world", folder / "scenario.toml", "--robot", "block", "--rate", 1.0 / np.diff(motion.time).mean()]
    found = {order: audit_json(capsys, tmp_path / "m.npy", *world, "--quaternion", order) for order in ("wxyz", "xyzw")}
    assert found["wxyz"]["passed"], found["wxyz"]["findings"]
    assert found["xyzw"]["findings"][0]["item"] == "quaternion_order"
    wrong = surefoot(capsys, "audit", str(tmp_path / "m.npy"), *map(str, world), "--quaternion", "zyx")
    assert wrong[0] == 2
    assert "xyzw" in wrong[2]


def test_a_page_is_written_too(capsys, folder, tmp_path):
    status, out, _ = surefoot(capsys, "audit", str(folder), "--no-replay", "--html", str(tmp_path / "page.html"))
    assert status == 0
    assert out.splitlines()[-1] == str(tmp_path / "page.html")
    assert "<canvas" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["{0}/none.npz", "--robot", "block"], "no such file"),
        (["{0}", "--robot", "block"], "folder without a motion"),
        (["{0}"], "--robot"),
        (["{1}", "--robot", "pendulum"], "does not fit robot `pendulum`"),
        (["{1}", "--robot", "blok"], "did you mean `block`"),
        (["{1}", "--robot", "none.urdf"], "none.urdf"),
        (["{1}", "--base", "floatng"], "did you mean `floating`"),
        (["{1}/metrics.json", "--robot", "block"], "suffix `.json`"),
        (["{1}/timing.parquet", "--robot", "block"], "without states"),
        (["{0}/bad.npz", "--robot", "block"], "bad.npz"),
        (["{0}/bad.csv", "--robot", "block"], "columns are missing"),
        (["{0}/nan.npz", "--robot", "block"], "contains nan"),
        (["{1}", "--layout", "mujco"], "did you mean `mujoco`"),
        (["{1}", "--tolerance", "clearnce=1"], "did you mean `clearance`"),
        (["{1}", "--tolerance", "clearance=x"], "not a number"),
        (["{1}", "--world", "{0}/none.toml"], "none.toml"),
        (["{1}", "--world", "stnad"], "did you mean `stand`"),
        (["{1}", "--html", "{0}/page.txt"], "use .html"),
        (["{1}", "--html", "{0}/none/page.html"], "create the folder first"),
    ],
)
def test_odd_inputs_are_told(capsys, folder, tmp_path, words, hint):
    (tmp_path / "bad.npz").write_bytes(b"hello")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    np.savez(tmp_path / "nan.npz", q=np.full((5, 7), np.nan), time=np.arange(5.0))
    status, out, err = surefoot(capsys, "audit", *(word.format(tmp_path, folder) for word in words))
    assert status == 2
    assert hint in err
    assert out == ""


def test_a_run_without_its_scenario_needs_a_robot(capsys, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "run")
    (tmp_path / "run" / "scenario.toml").unlink()
    status, _, err = surefoot(capsys, "audit", str(tmp_path / "run"))
    assert status == 2
    assert "--robot" in err


def test_into_a_pipe_every_item_is_one_short_line(capsys, folder):
    _, out, _ = surefoot(capsys, "audit", str(folder), "--no-replay")
    lines = out.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("item"))
    rows = lines[start + 1 : start + 1 + len(ITEMS)]
    assert [row.split("  ")[0] for row in rows] == [kind.title for kind in ITEMS.values()]
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, rows)) < 140


def test_the_verdict_of_the_checks_is_printed_before_the_replay(capsys, folder):
    status, out, _ = surefoot(capsys, "audit", str(folder))
    assert (status, out.splitlines()[0]) == (0, "before the replay: passed")
