"""Run scenarios in processes of their own, and say in one word and one sentence how each ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from surefoot.errors import NotSupportedError, SurefootError
from surefoot.processes import isolated_spawn

PASSED, FELL, FAILED, REFUSED, DIED = "passed", "fell", "failed", "refused", "died"
OTHER_ROBOT = "for other robots"
_LARGE = ("log.parquet", "timing.parquet", "trajectory.npz", "report.html")


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
            moved; "for other robots": the robot lacks what the scenario is about, a hand, say; "died": its process
            ended, or an error of the program.
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
    running: set[BaseProcess] = set()
    with isolated_spawn() as context, ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(_run_apart, context, job, running) for job in jobs]
        try:
            for future in as_completed(waiting):
                yield future.result()
        finally:  # nothing is left, unless the user interrupts
            for future in waiting:
                future.cancel()
            for process in list(running):
                process.terminate()


def _run_apart(context: SpawnContext, job: Job, running: set[BaseProcess]) -> Outcome:
    """Run a job in a process of its own: if that dies, the others go on."""
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_outcome, args=(sender, job), daemon=True)
    process.start()
    sender.close()
    running.add(process)
    try:
        outcome: Outcome = receiver.recv()
    except EOFError:
        process.join()
        return Outcome(job, DIED, f"its process ended with status {process.exitcode}")
    finally:
        running.discard(process)
    process.join()
    return outcome


def _send_outcome(sender: Connection, job: Job) -> None:
    """In the process of a job; interruptions are the business of the one that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sender.send(run_job(job))
    sender.close()


def run_job(job: Job) -> Outcome:
    """Run one job in this process.

    Args:
        job: What to run.
    """
    from surefoot.scenario.run import run_scenario

    try:
        result = run_scenario(job.scenario, job.robot, job.folder, job.seed, job.overrides)
    except SurefootError as error:
        is_lacking = isinstance(error, NotSupportedError) and error.kind == "robot"
        return Outcome(job, OTHER_ROBOT if is_lacking else REFUSED, error.message)
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
