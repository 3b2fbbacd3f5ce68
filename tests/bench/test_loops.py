"""The bench of closed chains: answers are checked, the result is plain data, and it can be printed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bench.cases import loops
from bench.check import WrongAnswerError
from surefoot.cli.main import _status
from surefoot.dynamics import own_constraints
from surefoot.dynamics.loops import loop_graph

pytestmark = pytest.mark.slow


def test_it_reports_times_beside_an_open_chain_and_pinocchio() -> None:
    found = json.loads(json.dumps(loops.run(8, 8, quick=True)))
    coil, linkages = found["rows"]
    assert (coil["family"], coil["dofs"]) == ("driven coil", 4)
    assert (linkages["family"], linkages["dofs"]) == ("linkages", 2)
    for row in (coil, linkages):
        assert row["error"] < 1e-12
        for way in ("single", "batch"):
            assert row[f"{way}_over_chain"] == row["loops"][way]["p50_us"] / row["chain"][way]["p50_us"]
    assert linkages["batch_ratio"] > 0.0
    assert "pinocchio" not in coil


def test_every_linkage_is_a_closed_subsystem_of_one_dof() -> None:
    robot = loops.linkage_chain(3)
    assert np.abs(own_constraints(robot).residual(robot.tree, robot.home)).max() < 1e-12
    assert [len(item.independent) for item in loop_graph(robot).subsystems] == [1, 1, 1]
    assert robot.tree.n == 12


def test_a_wrong_answer_is_not_timed(monkeypatch) -> None:
    right = loops.minimal_function
    monkeypatch.setattr(loops, "minimal_function", lambda robot: lambda q, v, tau: 1.01 * right(robot)(q, v, tau))
    with pytest.raises(WrongAnswerError, match="driven coil, 8 bodies"):
        loops.run(8, 4, quick=True)


def test_the_command_prints_a_table(capsys, tmp_path) -> None:
    file = tmp_path / "loops.json"
    words = ["bench", "loops", "--max", "8", "--states", "4", "--quick", "--json", str(file)]
    assert _status(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "driven coil" in out
    assert "linkages" in out
    assert json.loads(file.read_text(encoding="utf-8"))["bench"] == "loops"
