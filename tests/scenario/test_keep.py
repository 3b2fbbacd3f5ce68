"""What a run leaves when the user stops it, wherever that is, and when it cannot be written."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from surefoot.errors import FileFormatError
from surefoot.motion import Log
from surefoot.scenario import RunInterrupted, run, run_scenario
from surefoot.scenario.metrics import metrics_of_nothing
from surefoot.scenario.motions import PlannedFollower
from surefoot.scenario.outcome import keep

from .test_run import MEASURED

OVERRIDES = ["simulation.duration=0.4", "audit.kind=quick"]


def stop(*arguments):
    raise KeyboardInterrupt


def once(action):
    """The action, interrupted the first time."""
    calls = iter((stop, action))

    def call(*arguments):
        return next(calls)(*arguments)

    return call


def interrupted(out):
    with pytest.raises(RunInterrupted) as caught:
        run_scenario("slide", out=out, overrides=OVERRIDES)
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics == caught.value.result.metrics
    assert metrics["completed"] is False
    assert metrics["verdict"] == caught.value.result.verdict
    return metrics, {path.name for path in out.iterdir()}


def test_while_it_plans(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "build_simulation", stop)
    metrics, files = interrupted(tmp_path / "a")
    assert metrics["verdict"] == "interrupted before the simulation began"
    assert files == {"scenario.toml", "metrics.json"}


def test_while_it_is_written_it_is_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "write_measured", once(keep.write_measured))
    metrics, files = interrupted(tmp_path / "a")
    assert metrics["verdict"] == "interrupted during writing"
    assert files == MEASURED | {"audit.json"}


def test_during_the_study(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "study_of", lambda kind: stop)
    metrics, files = interrupted(tmp_path / "a")
    assert metrics["verdict"] == "interrupted during the study"
    assert files == MEASURED | {"audit.json"}


def test_during_the_audit_all_but_the_audit_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "audit_of_run", stop)
    metrics, files = interrupted(tmp_path / "a")
    assert metrics["verdict"] == "interrupted during the audit"
    assert metrics["audit"] is None
    assert metrics["slope_deg"] > 0.0
    assert files == MEASURED
    assert "interrupted during the audit" in (tmp_path / "a" / "report.html").read_text()
    assert not Log.load(tmp_path / "a" / "log.parquet").partial


def test_a_second_time_it_leaves_without_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "audit_of_run", stop)
    monkeypatch.setattr(keep, "write_page", stop)
    metrics, files = interrupted(tmp_path / "a")
    assert metrics["verdict"] == "interrupted during the audit"
    assert files == MEASURED - {"report.html"}


def test_a_disk_that_is_full_is_told(tmp_path, monkeypatch):
    """What was written before is whole; nothing else is there."""

    def full(folder, audited):
        raise FileFormatError("cannot be written: No space left on device", file=folder / "audit.json")

    monkeypatch.setattr(keep, "write_audit", full)
    with pytest.raises(FileFormatError, match="No space left"):
        run_scenario("slide", out=tmp_path / "a", overrides=OVERRIDES)
    assert {path.name for path in (tmp_path / "a").iterdir()} == MEASURED - {"report.html", "metrics.json"}


def test_folders_in_which_one_may_not_write_are_told_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr(run, "build_simulation", lambda scenario: pytest.fail("it was begun"))
    with pytest.raises(FileFormatError, match="no permission to write"):
        run_scenario("slide", out=tmp_path)


def test_a_run_that_was_stopped_keeps_what_was_planned():
    follower = PlannedFollower.__new__(PlannedFollower)
    follower.plan = SimpleNamespace(metrics={"rise_m": 0.1})
    run = SimpleNamespace(scenario=SimpleNamespace(study="motion"))
    found = keep._study(run, SimpleNamespace(controller=follower), "diverged")
    assert found.metrics == {"rise_m": 0.1}


def test_a_walk_that_was_stopped_has_its_metrics_as_null():
    run = SimpleNamespace(scenario=SimpleNamespace(study="walk"))
    found = keep._study(run, SimpleNamespace(controller=None), "diverged")
    keys = "goal_error_m goal_error_rad mean_speed_m_s steps cost_of_transport electrical_cost_of_transport fall_cause"
    assert found.metrics == dict.fromkeys(keys.split())


def test_numbers_that_are_not_finite_are_null():
    given = {"a": float("inf"), "b": [1.0, float("nan")], "c": {"d": (2, float("-inf"))}, "e": "inf"}
    assert keep._strict(given) == {"a": None, "b": [1.0, None], "c": {"d": [2, None]}, "e": "inf"}


def test_a_run_that_never_began_has_the_usual_keys(tmp_path):
    metrics = metrics_of_nothing("s", "r", 3)
    whole = run_scenario("slide", out=tmp_path / "a", overrides=["study=none", *OVERRIDES]).metrics
    assert set(whole) - set(metrics) == {"study", "study_metrics", "verdict", "audit"}
    assert (metrics["seed"], metrics["completed"], metrics["duration_s"]) == (3, False, 0.0)
    json.dumps(metrics, allow_nan=False)
