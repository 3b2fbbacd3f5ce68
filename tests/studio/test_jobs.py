"""Jobs run one at a time, in processes, can be stopped, and leave what they computed."""

from __future__ import annotations

import json
import threading
from contextlib import closing

import pytest

from surefoot.studio.files import RobotKey
from surefoot.studio.jobs import Job, JobQueue

QUICK = ["simulation.duration=0.05", "events=[]", "audit.kind=quick"]


class Ear:
    """Hears what becomes of jobs."""

    def __init__(self, queue: JobQueue) -> None:
        self.heard: list[tuple[int, str, str]] = []
        self._changed = threading.Condition()
        queue.listen(self)

    def __call__(self, job: Job, what: str) -> None:
        with self._changed:
            self.heard.append((job.number, what, job.state))
            self._changed.notify_all()

    def wait(self, condition) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, 240.0), self.heard


@pytest.fixture
def queue(tmp_path):
    queue = JobQueue(tmp_path)
    yield queue
    queue.close()


def run(queue: JobQueue, *overrides: str, scenario: str = "stand-pd") -> Job:
    request = {"kind": "run", "scenario": scenario, "robot": "biped", "seed": None, "overrides": list(overrides)}
    return queue.submit(scenario, request, RobotKey("biped"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that is over, what was heard of it, and the folder of the queue."""
    folder = tmp_path_factory.mktemp("finished")
    with closing(JobQueue(folder)) as queue:
        ear = Ear(queue)
        job = run(queue, *QUICK)
        ear.wait(lambda: job.is_over)
    return job, ear, folder


def test_a_run_is_told_about_and_lies_in_the_folder(finished):
    job, ear, folder = finished
    assert (job.state, job.verdict, job.share) == ("done", "passed", 1.0)
    assert job.folder is not None
    assert job.folder.parent == folder.resolve() / "runs"
    assert json.loads((job.folder / "metrics.json").read_text())["verdict"] == "passed"
    assert len(job.q) == 14
    assert {what for _, what, _ in ear.heard} == {"state", "progress", "frame"}


def test_an_audit_comes_back_as_data(finished):
    made, _, folder = finished
    request = {"kind": "audit", "motion": str(made.folder), "robot": "biped", "base": "auto", "mimic": "coupling",
               "world": str(made.folder / "scenario.toml"), "replay": False}  # fmt: skip
    with closing(JobQueue(folder)) as queue:
        ear = Ear(queue)
        job = queue.submit("audit", request, RobotKey("biped"))
        ear.wait(lambda: job.is_over)
    assert job.state == "done", job.trouble
    assert {"findings", "items", "passed"} <= set(job.audit)


@pytest.mark.slow
def test_one_at_a_time_and_both_can_be_stopped(queue):
    ear = Ear(queue)
    first = run(queue, "simulation.duration=600")
    second = run(queue, *QUICK)
    third = run(queue, *QUICK)
    ear.wait(lambda: first.q)
    assert [job.state for job in (first, second, third)] == ["running", "waiting", "waiting"]
    queue.stop(second)
    assert second.state == "stopped"
    queue.stop(first)
    ear.wait(lambda: first.is_over and third.is_over)
    assert first.state == "stopped"
    assert first.folder is not None
    assert json.loads((first.folder / "metrics.json").read_text())["verdict"] == "interrupted"
    assert third.state == "done"
    assert queue.jobs == [third, second, first]


def test_an_error_is_told_with_its_next_step(queue):
    ear = Ear(queue)
    job = run(queue, scenario="stant")
    ear.wait(lambda: job.is_over)
    assert job.state == "failed"
    assert "stand" in job.trouble[0]


@pytest.mark.slow
def test_closing_stops_what_runs(tmp_path):
    queue = JobQueue(tmp_path)
    ear = Ear(queue)
    job = run(queue, "simulation.duration=600")
    ear.wait(lambda: job.q)
    queue.close()
    assert job.state == "stopped"
    assert not queue._thread.is_alive()
