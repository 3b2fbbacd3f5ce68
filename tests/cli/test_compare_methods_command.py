"""`surefoot compare-methods`: the table, JSON, the files."""

from __future__ import annotations

import json

import pytest

from surefoot.cli.compare import compare_methods_command
from surefoot.errors import FileFormatError, ScenarioError, UnknownNameError

SHORT = ["simulation.duration=0.02"]


@pytest.mark.slow
def test_the_table_and_the_folder(tmp_path, capsys):
    out, page = tmp_path / "out", tmp_path / "page.html"
    assert compare_methods_command("four-bar", out, page, False, SHORT) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("udwadia_kalaba") for line in lines)
    assert any(line.startswith("projection") for line in lines)
    assert sorted(path.name for path in out.iterdir()) == ["methods.html", "methods.json", "timing.json"]
    assert page.read_text().startswith("<!doctype html>")
    found, timing = (json.loads((out / name).read_text()) for name in ("methods.json", "timing.json"))
    assert found["methods"]["gauss"]["acceleration_error"] < 1e-9
    assert timing["methods"]["gauss"] > 0.0


@pytest.mark.slow
def test_json_is_json_alone(capsys):
    assert compare_methods_command("four-bar", None, None, True, SHORT) == 0
    assert json.loads(capsys.readouterr().out)["timing"]["stabilisations"]["none"] > 0.0


def test_mistakes_are_said_before_the_work(tmp_path):
    with pytest.raises(FileFormatError, match="suffix"):
        compare_methods_command("four-bar", None, tmp_path / "page.png", False)
    with pytest.raises(FileFormatError, match="no folder"):
        compare_methods_command("four-bar", None, tmp_path / "no" / "page.html", False)
    with pytest.raises(UnknownNameError, match="four-bar"):
        compare_methods_command("four-bra", tmp_path / "out", None, False)
    assert not (tmp_path / "out").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(ScenarioError, match="empty folder"):
        compare_methods_command("four-bar", tmp_path / "full", None, False)


def test_an_interrupted_one_leaves_nothing(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("surefoot.scenario.methods._run", stop)
    with pytest.raises(KeyboardInterrupt):
        compare_methods_command("four-bar", tmp_path / "out", tmp_path / "page.html", False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_loop_that_is_singular_at_times_prints_no_warning(capfd):
    """`pendulum:tied`, whose iterative solution once met divisions by zero."""
    assert compare_methods_command("pendulum-drift", None, None, True, ["simulation.duration=0.2"]) == 0
    out, said = capfd.readouterr()
    assert "Warning" not in said
    errors = {name: row["acceleration_error"] for name, row in json.loads(out)["methods"].items()}
    known = [error for error in errors.values() if error is not None]
    assert len(known) > 5, errors
    assert max(known) < 1e-6, errors
