"""Run scenarios in processes of their own, and say in one word and one sentence how each ended."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError

__all__ = ["DIED", "FAILED", "FELL", "PASSED", "REFUSED", "Job", "Outcome", "run_job", "run_jobs"]

PASSED, FELL, FAILED, REFUSED, DIED = "passed", "fell", "failed", "refused", "died"
_LARGE = ("log.parquet", "timing.parquet", "trajectory.npz", "report.html")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """A run to do.

    Args:
        scenario: Name or file.
        robot: Name or file; None for the scenario's.
        seed: Of all randomness.
        folder: Of the run; it must not exist or be empty.
        overrides: Changes, `dotted.key=value`.
        keep: Whether the large files of a run that passed are kept too.
    """

    scenario: str
    robot: str | None
    seed: int
    folder: Path
    overrides: tuple[str, ...] = ()
    keep: bool = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a run ended.

    Args:
        job: What was run.
        verdict: "passed"; "fell"; "failed": stayed up but did not do what it should; "refused": impossible, nothing
            moved; "died": its process ended, or an error of the program.
        reason: Why it did not pass, in a sentence; None if it did.
        metrics: As in `metrics.json`; empty if nothing moved.
    """

    job: Job
    verdict: str
    reason: str | None
    metrics: dict[str, Any] = field(default_factory=dict)


def run_jobs(jobs: Sequence[Job], workers: int | None = None) -> Iterator[Outcome]:
    """Run all jobs in processes, as many at a time as there are cores; yields each outcome as soon as it is there.

    Args:
        jobs: What to run.
        workers: How many at a time; default: the cores that this process may use.
    """
    count = min(workers or len(os.sched_getaffinity(0)), max(len(jobs), 1))
    if count == 1:
        yield from map(run_job, jobs)
        return
    with _one_thread_each(), ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(run_job, job): job for job in jobs}
        try:
            for future in as_completed(waiting):
                yield _result(future, waiting[future])
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _result(future: Future[Outcome], job: Job) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return Outcome(job, DIED, "its process ended unexpectedly")


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that start now use one thread each: there is one of them for each core."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run_job(job: Job) -> Outcome:
    """Run one job in this process.

    Args:
        job: What to run.
    """
    from surefoot.scenario.run import run_scenario

    try:
        result = run_scenario(job.scenario, job.robot, job.folder, job.seed, job.overrides)
    except SurefootError as error:
        return Outcome(job, REFUSED, error.message)
    except Exception as error:  # noqa: BLE001 - one broken run must not end the others; it is reported as such
        return Outcome(job, DIED, f"{type(error).__name__}: {error}")
    if result.passed and not job.keep:
        for name in _LARGE:
            (job.folder / name).unlink(missing_ok=True)
    return Outcome(job, *_verdict(result.metrics), result.metrics)


def _verdict(metrics: dict[str, Any]) -> tuple[str, str | None]:
    if metrics["verdict"] == PASSED:
        return PASSED, None
    if metrics["fallen"]:
        cause = metrics.get("fall_cause") or "cause not studied"
        return FELL, f"{cause}; fell at {metrics['fall_time_s']:.1f} s"
    return FAILED, str(metrics["verdict"])
