"""Matrices: rows, resuming, tables. Runs are replaced where physics is not the point."""

from __future__ import annotations

import json
import multiprocessing

import pytest

from surefoot.errors import ScenarioError, UnknownNameError
from surefoot.scenario.sweeps import (
    Job,
    MatrixRow,
    Outcome,
    matrix_jobs,
    matrix_page,
    matrix_table,
    run_jobs,
    run_matrix,
)

MODULE = "surefoot.scenario.sweeps.matrix.run_jobs"


@pytest.fixture
def runs(monkeypatch):
    """Runs that do nothing: robot `b` falls. Returns the jobs that were run."""
    done: list[Job] = []

    def fake(jobs, workers=None):
        for job in reversed(jobs):
            done.append(job)
            job.folder.mkdir(parents=True)
            falls = job.robot == "b"
            yield Outcome(job, "fell" if falls else "passed", "slip of <foot>; fell at 1.0 s" if falls else None)

    monkeypatch.setattr(MODULE, fake)
    return done


def test_rows_come_in_order_and_are_kept(tmp_path, runs):
    jobs = matrix_jobs(["walk", "carry"], ["a", "b"], range(2), tmp_path / "m")
    told = []
    rows = run_matrix(jobs, tmp_path / "m", lambda row, left: told.append(left))
    assert [(row.scenario, row.robot, row.seed) for row in rows] == [(j.scenario, j.robot, j.seed) for j in jobs]
    assert told == list(range(7, -1, -1))
    assert {row.verdict for row in rows if row.robot == "b"} == {"fell"}
    kept = json.loads((tmp_path / "m" / "matrix.json").read_text())
    assert len(kept["rows"]) == 8
    assert set(kept["rows"][0]) == {"scenario", "robot", "seed", "verdict", "reason"}
    table = (tmp_path / "m" / "matrix.md").read_text()
    assert "| walk | 2/2 | 0/2 |" in table
    assert "carry, b, seed 1: fell (slip of <foot>; fell at 1.0 s)" in table
    page = (tmp_path / "m" / "matrix.html").read_text()
    assert "slip of &lt;foot&gt;" in page
    assert 'href="walk/b/seed-0/report.html"' in page


def test_a_matrix_goes_on_where_it_stopped(tmp_path, runs, monkeypatch):
    folder = tmp_path / "m"
    run_matrix(matrix_jobs(["walk"], ["a"], range(1), folder), folder)
    (folder / "walk" / "a" / "seed-1").mkdir()  # of a run that was interrupted
    runs.clear()
    rows = run_matrix(matrix_jobs(["walk"], ["a"], range(3), folder), folder)
    assert [job.seed for job in runs] == [2, 1]
    assert [row.seed for row in rows] == [0, 1, 2]


def test_a_run_whose_process_died_is_done_again(tmp_path, monkeypatch):
    folder, verdicts = tmp_path / "m", iter(["died", "passed"])
    monkeypatch.setattr(MODULE, lambda jobs, workers=None: (Outcome(job, next(verdicts), None) for job in jobs))
    assert run_matrix(matrix_jobs(["walk"], ["a"], range(1), folder), folder)[0].verdict == "died"
    assert run_matrix(matrix_jobs(["walk"], ["a"], range(1), folder), folder)[0].verdict == "passed"


def test_other_settings_and_other_folders_are_refused(tmp_path, runs):
    folder = tmp_path / "m"
    run_matrix(matrix_jobs(["walk"], ["a"], range(1), folder), folder)
    with pytest.raises(ScenarioError, match="other settings"):
        run_matrix(matrix_jobs(["walk"], ["a"], range(1), folder, ["walk.step=0.2"]), folder)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(ScenarioError, match="neither empty nor the folder of a matrix"):
        run_matrix(matrix_jobs(["walk"], ["a"], range(1), tmp_path / "mine"), tmp_path / "mine")
    with pytest.raises(UnknownNameError, match="did you mean `walk`"):
        matrix_jobs(["wlk"], ["a"], range(1), folder)


def test_a_matrix_without_failures_has_no_reasons():
    assert matrix_table([]).startswith("| scenario |")
    assert "0 of 0 runs passed" in matrix_page([])


def test_robots_that_lack_what_a_scenario_is_about_do_not_count():
    rows = [MatrixRow("reach-wbc", "g1", 0, "passed", None), MatrixRow("reach-wbc", "go2", 0, "for other robots", "no")]
    assert "| reach-wbc | 1/1 | – |" in matrix_table(rows)
    assert "go2, seed" not in matrix_table(rows)
    assert "1 of 1 run passed" in matrix_page(rows)


def test_a_robot_without_hands_is_refused_by_name_before_it_moves(tmp_path):
    (outcome,) = run_jobs([Job("wipe", "go2", 0, tmp_path / "r", ("audit.kind=none",))], workers=1)
    assert (outcome.verdict, outcome.metrics) == ("for other robots", {})
    assert "`go2` has no hands" in outcome.reason


def job(tmp_path, robot: str, *overrides: str) -> Job:
    return Job("slide", robot, 0, tmp_path / robot, ("simulation.duration=0.2", "audit.kind=none", *overrides))


def test_jobs_say_how_runs_ended(tmp_path):
    """In this process, one after the other."""
    jobs = [job(tmp_path, "block"), job(tmp_path, "tallos"), job(tmp_path, "g1", "walk.goal=[1,2,3]")]
    passed, unknown, wrong = run_jobs(jobs, workers=1)
    assert passed.metrics["robot"] == "block"
    assert passed.verdict in ("passed", "failed")
    assert (unknown.verdict, unknown.metrics) == ("refused", {})
    assert "talos" in unknown.reason
    assert wrong.verdict in ("refused", "fell", "failed")
    if passed.verdict == "passed":
        assert {path.name for path in passed.job.folder.iterdir()} == {"metrics.json", "scenario.toml"}


@pytest.mark.slow
def test_jobs_run_in_processes(tmp_path):
    jobs = [Job("slide", "block", k, tmp_path / str(k), ("audit.kind=none",), keep=True) for k in range(3)]
    found = {outcome.job.seed: outcome for outcome in run_jobs(jobs, workers=2)}
    assert set(found) == {0, 1, 2}
    assert all((job.folder / "report.html").is_file() for job in jobs)
    assert all(outcome.metrics["seed"] == seed for seed, outcome in found.items())


def test_a_process_that_dies_does_not_stop_the_others(tmp_path, monkeypatch):
    """A job of one process is killed while it starts; the other one is refused, which needs no physics."""
    started = multiprocessing.context.SpawnProcess.start

    def start(process):
        is_doomed = process._args[1].robot == "g1"
        started(process)
        if is_doomed:
            process.kill()

    monkeypatch.setattr(multiprocessing.context.SpawnProcess, "start", start)
    jobs = [Job("slide", "g1", 0, tmp_path / "a"), Job("slide", "nobody", 0, tmp_path / "b")]
    found = {outcome.job.robot: outcome for outcome in run_jobs(jobs, workers=2)}
    assert (found["g1"].verdict, found["g1"].reason) == ("died", "its process ended with status -9")
    assert found["nobody"].verdict == "refused"
