"""`JobQueue`: scenarios and audits in separate processes, one at a time, shared by all tabs."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any, Literal

from surefoot.motion import World
from surefoot.processes import isolated_python
from surefoot.studio.files import RobotKey

State = Literal["waiting", "running", "done", "failed", "stopped"]
_KEPT = 20
_PATIENCE = 20.0
"""How long a job may take to write what it has after it was asked to stop [s]."""


@dataclass(eq=False)
class Job:
    """Something that was asked for. Only the queue changes it.

    Args:
        number: Counts up.
        title: For people.
        request: What the process is told.
        robot: The robot that moves in it.
        world: What stands around it, or None.
        state: What has become of it.
        share: How much is done, 0…1.
        phase: What it does now.
        time: Of the simulation [s].
        q: The newest posture.
        ways: Footholds that are planned so far, by limb [m].
        verdict: How it ended.
        passed: Whether nothing was wrong.
        folder: The folder of the run.
        audit: What an audit found, as plain data.
        trouble: Message and next step, where it failed.
    """

    number: int
    title: str
    request: Mapping[str, Any]
    robot: RobotKey
    world: World | None = field(default=None, repr=False)
    state: State = "waiting"
    share: float = 0.0
    phase: str = ""
    time: float = 0.0
    q: list[float] = field(default_factory=list, repr=False)
    ways: Mapping[str, list[list[float]]] = field(default_factory=dict, repr=False)
    verdict: str = ""
    passed: bool = False
    folder: Path | None = None
    audit: Mapping[str, Any] | None = field(default=None, repr=False)
    trouble: tuple[str, str] = ("", "")

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in ("done", "failed", "stopped")


Listener = Callable[[Job, str], None]
"""Called with a job and "state", "progress", "plan" or "frame"."""


class JobQueue:
    """Runs jobs one after the other, each in a process.

    Args:
        folder: Runs go to `runs/` in it. The processes themselves work elsewhere: paths in requests are absolute.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._jobs: list[Job] = []
        self._numbers = count(1)
        self._listeners: list[Listener] = []
        self._changed = threading.Condition()
        self._process: subprocess.Popen[str] | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name="surefoot jobs", daemon=True)
        self._thread.start()

    @property
    def jobs(self) -> list[Job]:
        """All jobs, the newest first."""
        with self._changed:
            return list(reversed(self._jobs))

    def submit(self, title: str, request: Mapping[str, Any], robot: RobotKey, world: World | None = None) -> Job:
        """Ask for a job; it begins when those before it are over.

        Args:
            title: For people.
            request: `kind` "run": scenario, robot, seed, overrides; "audit": motion, robot, base, mimic, world, replay.
            robot: The robot that moves in it.
            world: What stands around it, for those who watch.
        """
        job = Job(next(self._numbers), title, request, robot, world)
        with self._changed:
            self._jobs.append(job)
            over = [one for one in self._jobs if one.is_over]
            for old in over[: max(0, len(self._jobs) - _KEPT)]:
                self._jobs.remove(old)
            self._changed.notify()
        self._tell(job, "state")
        return job

    def stop(self, job: Job) -> None:
        """End a job: one that waits never begins, one that runs writes what it has."""
        with self._changed:
            if job.state == "waiting":
                job.state = "stopped"
            elif job.state == "running" and self._process is not None:
                job.phase = "stopping"
                self._process.send_signal(signal.SIGINT)
                threading.Thread(target=_end, args=(self._process,), daemon=True).start()
        self._tell(job, "state")

    def close(self) -> None:
        """Stop everything and wait for it."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        for job in self.jobs:
            if not job.is_over:
                self.stop(job)
        self._thread.join(_PATIENCE + 5.0)

    def listen(self, listener: Listener) -> None:
        """Register a listener for job events, called in the thread of the queue.

        Args:
            listener: Should return at once.
        """
        with self._changed:
            self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        """Remove a listener.

        Args:
            listener: As given to `listen`.
        """
        with self._changed:
            self._listeners.remove(listener)

    def _tell(self, job: Job, what: str) -> None:
        with self._changed:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(job, what)

    def _loop(self) -> None:
        while (job := self._next()) is not None:
            self._tell(job, "state")
            self._perform(job)
            self._tell(job, "state")

    def _next(self) -> Job | None:
        with self._changed:
            while True:
                job = next((one for one in self._jobs if one.state == "waiting"), None)
                if self._closed:
                    return None
                if job is not None:
                    job.state = "running"
                    return job
                self._changed.wait()

    def _perform(self, job: Job) -> None:
        """Start the process, hear what it says, and note how it ended."""
        with (
            tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints,
            isolated_python("-m", "surefoot.studio.jobs.worker") as python,
        ):
            process = subprocess.Popen(
                **python, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
                encoding="utf-8", start_new_session=True,
            )  # fmt: skip
            with self._changed:
                self._process = process
                is_late = self._closed
            if is_late:  # closed between the beginning of the job and that of its process
                process.send_signal(signal.SIGINT)
                threading.Thread(target=_end, args=(process,), daemon=True).start()
            self._converse(process, job)
            status = process.wait()
            with self._changed:
                self._process = None
                if job.state == "running":  # it never said how it ended
                    self._note_death(job, status, complaints)

    def _converse(self, process: subprocess.Popen[str], job: Job) -> None:
        if process.stdin is None or process.stdout is None:
            return
        try:
            process.stdin.write(json.dumps({**job.request, "runs": str(self._folder / "runs")}))
            process.stdin.close()
        except BrokenPipeError:
            return
        for line in process.stdout:
            what = _noted(job, json.loads(line))
            if what != "state":  # the end is told when the process is gone
                self._tell(job, what)

    def _note_death(self, job: Job, status: int, complaints: IO[str]) -> None:
        if job.phase == "stopping":
            job.state = "stopped"
            return
        complaints.seek(0)
        last = complaints.read()[-400:].strip().splitlines()[-1:] or ["no output"]
        job.state, job.trouble = "failed", (f"the process ended with status {status}: {last[0]}", "run it again")


def _noted(job: Job, event: Mapping[str, Any]) -> str:
    """Put into a job what its process says; returns what has changed."""
    kind = event["event"]
    if kind == "frame":
        job.time, job.q = event["t"], event["q"]
        return "frame"
    if kind == "plan":
        job.ways, job.share, job.phase = event["ways"], event["share"], "planning"
        return "plan"
    if kind == "progress":
        job.share, job.phase = event["share"], job.phase if job.phase == "stopping" else "running"
        return "progress"
    if kind == "phase":
        job.phase = event["text"]
        return "progress"
    job.state = kind
    job.verdict, job.passed = event.get("verdict", ""), event.get("passed", False)
    job.folder = Path(event["folder"]) if event.get("folder") else None
    job.audit = event.get("audit")
    if kind == "failed":
        facts = "".join(f"\n{name}: {value}" for name, value in event["evidence"].items())
        place = f"{event['place']}: " if event["place"] else ""
        job.trouble = (f"{place}{event['message']}{facts}", event["next_step"])
    if kind == "done":
        job.share = 1.0
    return "state"


def _end(process: subprocess.Popen[str]) -> None:
    """End a process that does not end by itself."""
    for way in (process.terminate, process.kill):
        try:
            process.wait(_PATIENCE / 2)
            return
        except subprocess.TimeoutExpired:
            way()
