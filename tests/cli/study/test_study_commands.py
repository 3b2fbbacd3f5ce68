"""Commands that compare methods: tables, JSON, pages, and errors that say what to do."""

import json
from pathlib import Path

import pytest

from surefoot.cli.study.controllers import compare_controllers
from surefoot.cli.study.distribution import compare_distribution
from surefoot.cli.study.optimal import study_nodes, study_swingup, study_walk
from surefoot.cli.study.regions import regions
from surefoot.cli.study.swing_up import swing_up
from surefoot.cli.study.walkers import compare_walkers
from surefoot.errors import NotSupportedError, ScenarioError, ShapeError, UnknownNameError


def test_regions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "regions.html"
    assert regions("humanoid", 5.0, page, True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["moment"] == 5.0
    half = min(-found["support"][0], found["support"][1])
    assert found["impulse_ns"] == pytest.approx(found["mass"] * found["omega"] * half)
    assert page.read_text(encoding="utf-8").count("<svg ") == 5
    with pytest.raises(NotSupportedError, match="base stays fixed"):
        regions("cartpole", None, page, True)


def test_distribution(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "shares.html"
    assert compare_distribution("humanoid", None, "0.2,0,0", "0.0,0.01", page, True) == 0
    assert page.read_text(encoding="utf-8").count("<svg ") == 1
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 9
    assert all(row["trouble"] is None for row in rows)
    assert compare_distribution("humanoid", "left_foot", "0,0,0", None, page, False) == 0
    assert "between two contacts" in capsys.readouterr().out
    with pytest.raises(ShapeError, match="3 numbers"):
        compare_distribution("humanoid", None, "1,2", None, page, False)


def test_controllers_and_cases(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="controller"):
        compare_controllers("push", "humanoid", "magic", None, tmp_path / "x.html", False)
    with pytest.raises(NotSupportedError, match="no push"):
        compare_controllers("squat", "humanoid", "henze", None, tmp_path / "x.html", False)
    with pytest.raises(UnknownNameError, match="case"):
        swing_up("11", 0, tmp_path / "x.html", False)


def test_walks_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="objective"):
        study_walk("humanoid", 0.15, "torque,beauty", tmp_path / "x.html", True)
    with pytest.raises(NotSupportedError, match="two feet"):
        study_walk("hexapod", 0.15, "torque", tmp_path / "x.html", True)


@pytest.mark.slow
def test_walks_on_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "walks.html"
    assert study_walk("humanoid", 0.15, "torque", page, True) == 0
    found = json.loads(capsys.readouterr().out)
    assert [run["constraints_set"] for run in found["runs"]] == ["zmp free", "fif", "frf"]
    assert all(run["converged"] for run in found["runs"])
    costs = {run["constraints_set"]: run["objective"] for run in found["runs"]}
    assert max(costs["zmp free"], costs["frf"]) <= costs["fif"] * 1.001  # less is asked for
    assert "0.704" not in page.read_text(encoding="utf-8")  # duty factors are in percent
    assert "70.4%" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_more_nodes_leave_less_between_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ScenarioError, match="no motion that can be compared"):
        study_nodes("stand", None, (1.0,), (), True)
    assert study_nodes("squat-fast", "humanoid", (0.5, 1.0), (), True) == 0
    coarse, fine = json.loads(capsys.readouterr().out)
    assert (coarse["nodes"], fine["nodes"]) == (16, 31)
    assert fine["beyond"]["momentum balance"] < 0.5 * coarse["beyond"]["momentum balance"]


@pytest.mark.slow
def test_swingup_of_koch(capsys: pytest.CaptureFixture[str]) -> None:
    assert study_swingup("21,41", 0, True) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["table"]) == 10
    assert len(found["nodes"]) == 8


@pytest.mark.slow
def test_controllers_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "controllers.html"
    assert compare_controllers("push", "g1", "henze,joint_pd", None, page, True) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["henze"]["survived"] >= 0.25
    assert "CoM after a push" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_swing_up_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "swing.html"
    assert swing_up("5", 0, page, False) == 0
    assert "agrees" in capsys.readouterr().out
    assert "<svg" in page.read_text(encoding="utf-8")


def test_walkers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "walkers.html"
    assert compare_walkers("passive", page, True) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["eigenvalue"] < 1.0
    assert not page.exists()
    assert compare_walkers("passive", page, False) == 0
    assert page.read_text(encoding="utf-8").count("<svg ") == 1
    with pytest.raises(UnknownNameError, match="walker"):
        compare_walkers("moon", page, False)
