"""`surefoot compare`: the table on the terminal, JSON, the page."""

from __future__ import annotations

import json

import pytest

from surefoot.cli.compare import compare_command
from surefoot.errors import FileFormatError, ShapeError
from tests.report.motions import write_run


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return [write_run(folder / "one", slip_m=0.02), write_run(folder / "two", end=1.5, slip_m=0.01, verdict="[red]")]


def test_the_table_has_values_and_differences(folders, capsys):
    assert compare_command(folders, None, False) == 0
    rows = {line.split()[0]: line.split() for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert rows["slip_m"] == ["slip_m", "0.02", "0.01", "-0.01", "-50"]
    assert rows["world.friction"][1:3] == ["0.5", "0.55"]
    assert rows["verdict"] == ["verdict", "–", "[red]"]
    assert rows["versions:"] == ["versions:", "no", "difference"]


def test_long_names_stand_once_and_long_texts_are_cut(tmp_path, capsys):
    text = "a sentence that would make every row of the table as wide as itself"
    runs = [write_run(tmp_path / f"stand-20260101-1200{k}0", slip_m=10.0**k, note=text * k) for k in (1, 3)]
    assert compare_command(runs, None, False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("stand-20260101" in line for line in lines) == 2
    assert lines[1].split() == ["B", "stand-20260101-120030"]
    assert next(line.split() for line in lines if line.startswith("slip_m"))[-1] == "×100"
    assert max(len(line) for line in lines if not line.startswith("the same")) < 110


def test_verdict_and_defects_come_first_and_incidents_are_one_line(tmp_path, capsys):
    def incident(start, times):
        return {
            "robot": "r",
            "kind": "slip",
            "where": "foot",
            "times": times,
            "start_s": start,
            "end_s": 2.0,
            "worst": 1,
        }

    more = {"audit": {"passed": False, "defects": 4}, "verdict": "passed", "zmp_way_m": 0.1}
    runs = [
        write_run(tmp_path / "one", **more, slip_m=0.2, incidents=[incident(0.7, 2), incident(0.5, 1)]),
        write_run(tmp_path / "two", **more | {"zmp_way_m": 0.3}, incidents=[]),
    ]
    assert compare_command(runs, None, False) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:6]] == ["verdict", "audit.defects", "incidents", "slip_m", "zmp_way_m"]
    assert lines[3].split(maxsplit=1)[1].split("  ")[0] == "3, first at 0.50 s"
    assert lines[3].split()[-1] == "none"
    assert not any("incidents[" in line for line in lines)


def test_json_is_json_alone(folders, capsys, tmp_path):
    assert compare_command(folders, tmp_path / "page.html", True) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["slip_m"]["absolute"] == pytest.approx([-0.01])
    assert "Metrics side by side" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_bad_input_is_told(folders, tmp_path):
    with pytest.raises(ShapeError, match="two runs"):
        compare_command(folders[:1], None, False)
    with pytest.raises(FileFormatError, match="suffix"):
        compare_command(folders, tmp_path / "page.pdf", False)
    with pytest.raises(FileFormatError, match="no such folder"):
        compare_command([folders[0], tmp_path / "nothing"], None, False)
    with pytest.raises(FileFormatError, match="finished run"):
        compare_command([folders[0], tmp_path], None, False)
