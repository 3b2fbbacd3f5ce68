"""The bench of planning: verdicts are those of the peer, and rows hold what a reader compares."""

from __future__ import annotations

import json

import pytest

from bench.cases import planning
from surefoot.cli.main import _status
from surefoot.errors import SurefootError


@pytest.mark.slow
def test_a_quick_run_prints_its_result_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "planning", "--quick", "--moves", "2", "--planners", "connect", "--json"]
    assert _status(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bench"] == "planning"
    for row in found["states"].values():
        assert row["compared"] == 500
        assert 0.3 < row["allowed"] < 0.7
        assert row["ratio"] > 1.0
    scenarios = {row["scenario"]: row for row in found["plans"]}
    assert set(scenarios) == {"flat, 2 given", "step, 2 given", "flat", "step"}
    for row in scenarios.values():
        assert row["solved"]
        assert row["audit_passed"]
        assert row["tip_travel_m"] > 0.0
    assert [scenarios[f"{name}, 2 given"]["moves"] for name in ("flat", "step")] == [2, 2]


def test_a_verdict_that_is_not_that_of_the_peer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    sequence = planning.StanceSequence.load(planning._SEQUENCE)
    monkeypatch.setattr(planning, "_PEER_STATES", 20)
    monkeypatch.setattr(planning._Peer, "allowed", lambda *_: True)
    with pytest.raises(SurefootError, match="verdicts"):
        planning._throughput(sequence, planning._WORLDS["flat"], 100)
