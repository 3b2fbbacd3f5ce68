"""`surefoot walk`, `surefoot matrix` and `surefoot speed` as a user meets them."""

from __future__ import annotations

import json
from math import pi
from pathlib import Path

import pytest

from surefoot.cli.legged.walk import goal_in
from surefoot.errors import ShapeError
from surefoot.scenario.sweeps import FastestWalk, Outcome, Trial, push_map
from tests.cli.test_main import surefoot

WORLD = """
[world]
friction = 0.6
[[world.obstacles]]
kind = "box"
name = "wall"
size = [0.2, 4.0, 2.0]
position = [1.0, 0.0, 1.0]
"""


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("3,1,90deg", (3.0, 1.0, pi / 2)),
        ("-1.5, 0.2, -45deg", (-1.5, 0.2, -pi / 4)),
        ("3,1,1.57", (3.0, 1.0, 1.57)),
        ("3,1", (3.0, 1.0, 0.0)),
    ],
)
def test_goals(text, goal):
    assert goal_in(text) == pytest.approx(goal)


@pytest.mark.parametrize("text", ["3", "a,b,c", "1,2,3,4", "1,2,", "nan,0,0", "1,inf,0", "", "1,2,deg"])
def test_what_is_not_a_goal_is_told(text):
    with pytest.raises(ShapeError, match="X,Y,YAW"):
        goal_in(text)


@pytest.fixture
def small(tmp_path):
    return ["--robot", "small-humanoid", "--out", str(tmp_path / "run"), "--set", "audit.kind=none"]


def test_a_walk_ends_with_its_folder(capsys, tmp_path, small):
    status, out, _ = surefoot(capsys, "walk", "--to", "0.1,0,0deg", "--seed", "2", *small)
    assert status == 0, out
    assert out.splitlines()[-1] == str(tmp_path / "run")
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (metrics["scenario"], metrics["robot"], metrics["seed"]) == ("walk", "small-humanoid", 2)
    keys = "goal_error_m goal_error_rad mean_speed_m_s steps cost_of_transport fall_cause"
    assert set(keys.split()) <= set(metrics)
    assert metrics["goal_error_m"] < 0.05
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "<h2>Steps</h2>" in page


def test_impossible_walks_end_with_status_2_and_no_folder(capsys, tmp_path, small):
    world = tmp_path / "world.toml"
    world.write_text(WORLD)
    status, _, err = surefoot(capsys, "walk", "--to", "1,0,0", "--world", str(world), *small)
    assert status == 2
    assert "inside obstacle `wall`" in err
    world.write_text(WORLD.replace('"box"', '"bocks"'))
    status, _, err = surefoot(capsys, "walk", "--to", "1,0,0", "--world", str(world), *small)
    assert status == 2
    assert "world.toml:5" in err
    status, _, err = surefoot(capsys, "walk", "--to", "1,0,0", "--world", str(tmp_path / "none.toml"), *small)
    assert (status, "none.toml" in err) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_matrix_prints_rows_and_resumes(capsys, tmp_path, monkeypatch):
    def fake(jobs, workers=None):
        for job in jobs:
            job.folder.mkdir(parents=True)
            yield Outcome(job, *(("passed", None) if job.robot == "g1" else ("fell", "slip")))

    monkeypatch.setattr("surefoot.scenario.sweeps.matrix.run_jobs", fake)
    words = ["matrix", "walk", "--robots", "g1,talos", "--scenarios", "walk,carry", "--out", str(tmp_path / "m")]
    status, out, _ = surefoot(capsys, *words, "--json")
    rows = json.loads(out)
    assert status == 1
    assert len(rows) == 4
    assert rows[0] == {"scenario": "walk", "robot": "g1", "seed": 0, "verdict": "passed", "reason": None}
    status, out, err = surefoot(capsys, *words, "--seeds", "2")
    assert out.splitlines()[-1] == str(tmp_path / "m")
    assert "| walk | 2/2 | 0/2 |" in out
    assert len(err.splitlines()) == 4  # only the runs of the second seed
    assert surefoot(capsys, "matrix", "wlk")[0] == 2
    alone = ["matrix", "walk", "--robots", "g1", "--out", str(tmp_path / "n"), "--json"]
    status, out, _ = surefoot(capsys, *alone)
    assert (status, len(json.loads(out)) >= 10) == (0, True)


@pytest.mark.parametrize(
    "words", [("matrix", "walk", "--robots", "g1,nosuch"), ("speed", "nosuch"), ("speed", "anymal")]
)
def test_wrong_robots_are_refused_before_anything_runs(capsys, tmp_path, words):
    status, out, err = surefoot(capsys, *words, "--json", "--out", str(tmp_path / "m"))
    assert (status, out) == (2, "")
    assert words[-1].split(",")[-1] in err
    assert not (tmp_path / "m").exists() or not list((tmp_path / "m").iterdir())


def test_speed_prints_the_limit(capsys, tmp_path, monkeypatch):
    best = Trial(0.5, 1.2, 0.61, None)

    def fake(robot, folder, told, overrides, seed):
        (Path(folder) / "000").mkdir()
        told(best)
        return FastestWalk(0.61, "joint knee hit its limit", best, (best,))

    monkeypatch.setattr("surefoot.scenario.sweeps.fastest_walk", fake)
    status, out, _ = surefoot(capsys, "speed", "g1", "--json", "--out", str(tmp_path / "a"))
    assert (status, json.loads(out)) == (0, {"speed_m_s": 0.61, "limit": "joint knee hit its limit"})
    status, out, _ = surefoot(capsys, "speed", "g1", "--out", str(tmp_path / "b"))
    assert out.splitlines()[-1] == str(tmp_path / "b")
    assert "fastest clean walk 0.610 m/s" in out


@pytest.fixture
def pushed(monkeypatch):
    """The directions of all searches; each finds 20 N s."""
    tried = []

    def found(robot, method, angle, ideal):
        tried.append((method, angle))
        return push_map.PushRow(angle, 20.0, 1.25, method == "steps", method)

    monkeypatch.setattr(push_map, "largest_survived", found)
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0})
    return tried


def test_a_push_map_goes_on_but_not_with_rows_of_another_version(capsys, tmp_path, pushed, monkeypatch):
    def rows():
        status, out, err = surefoot(capsys, "push-map", "humanoid", "--json", "--out", str(tmp_path / "map"))
        assert status == 0, err
        searches = sorted(pushed)
        pushed.clear()
        return json.loads(out), searches, err

    found, searches, _ = rows()
    assert searches == [(name, 45.0 * k) for name in ("balance", "joint_pd", "steps") for k in range(8)]
    assert [(row["direction_deg"], row["stepping"]) for row in found[:9]] == [
        *((45.0 * k, False) for k in range(8)),
        (0.0, True),
    ]
    assert len(found) == 16
    assert found[0] == {"direction_deg": 0.0, "impulse_ns": 20.0, "share_of_m_omega_s": 1.25, "stepping": False}

    file = tmp_path / "map" / "push-map.json"
    stored = json.loads(file.read_text())
    file.write_text(json.dumps(stored | {"rows": [row for row in stored["rows"] if row["direction_deg"] != 90.0]}))
    again, searches, err = rows()
    assert (again, searches) == (found, [(name, 90.0) for name in ("balance", "joint_pd", "steps")])
    assert "searched anew" not in err

    monkeypatch.setattr("surefoot.codegen.cache.package_version", lambda: "another")
    again, searches, err = rows()
    assert (again, len(searches)) == (found, 24)
    assert "searched anew" in err


def test_a_push_map_of_some_controllers_keeps_the_rows_of_the_others(capsys, tmp_path, pushed):
    for words in ([], ["--no-stepping"]):
        assert surefoot(capsys, "push-map", "humanoid", "--out", str(tmp_path), *words)[0] == 0
    assert len(json.loads((tmp_path / "push-map.json").read_text())["rows"]) == 24


@pytest.mark.parametrize(("robot", "why"), [("nosuch", "nosuch"), ("panda", "cannot stand")])
def test_a_push_map_of_no_robot_that_stands_leaves_nothing(capsys, tmp_path, monkeypatch, robot, why):
    monkeypatch.chdir(tmp_path)
    status, _, err = surefoot(capsys, "push-map", robot)
    assert status == 2
    assert why in err
    assert not list(tmp_path.iterdir())
