"""A process that runs a scenario or an audit and reports progress as JSON lines.

`python -m surefoot.studio.jobs.worker` reads one request as JSON from its input and writes events, one JSON object on
each line. An interrupt ends it as Ctrl-C ends `surefoot run`: what was computed is written.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import SurefootError
from surefoot.words import counted, verdict_text

_FRAME_PERIOD = 0.06
"""Time between two reported postures [s]."""


class Teller:
    """Writes events."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._next_frame = 0.0
        self._next_share = 0.0

    def tell(self, event: str, **facts: Any) -> None:
        """Write one event."""
        self._write(json.dumps({"event": event, **facts}, ensure_ascii=False) + "\n")

    def share(self, share: float) -> None:
        """How much is done, not too often.

        Args:
            share: 0…1.
        """
        now = time.monotonic()
        if now >= self._next_share or share >= 1.0:
            self._next_share = now + 0.1
            self.tell("progress", share=round(share, 4))

    def watch(self, simulation: Any) -> None:
        """The posture of the first robot, not too often.

        Args:
            simulation: A `Simulation` that runs.
        """
        now = time.monotonic()
        if now >= self._next_frame:
            self._next_frame = now + _FRAME_PERIOD
            state = simulation.engine.states[0]
            self.tell("frame", t=round(float(state.t), 4), q=[round(float(x), 6) for x in state.q])

    def plan(self, share: float, ways: Mapping[str, Any]) -> None:
        """Footfalls that are planned so far.

        Args:
            share: Of the way, 0…1.
            ways: For each limb its footholds (k, 3) in order [m].
        """
        rounded = {name: [[round(float(x), 4) for x in point] for point in way] for name, way in ways.items()}
        self.tell("plan", share=round(share, 4), ways=rounded)


def perform(request: Mapping[str, Any], teller: Teller) -> None:
    """Do what a request asks for.

    Args:
        request: `kind` is "run" or "audit"; see `jobs`.
        teller: Who is told.
    """
    (_run if request["kind"] == "run" else _audit)(request, teller)


def _run(request: Mapping[str, Any], teller: Teller) -> None:
    from surefoot.scenario import RunInterrupted, run_scenario
    from surefoot.scenario.motions import watch_plans

    teller.tell("phase", text="preparing")
    try:
        with watch_plans(teller.plan):
            result = run_scenario(
                request["scenario"], robot=request.get("robot"), seed=request.get("seed"),
                overrides=request["overrides"], progress=teller.share, watch=teller.watch, runs=request["runs"],
            )  # fmt: skip
    except RunInterrupted as stop:
        partial = stop.result
        teller.tell("stopped", folder=str(partial.path.resolve()), verdict=partial.verdict)
        return
    teller.tell("done", folder=str(result.path.resolve()), verdict=verdict_text(result.metrics), passed=result.passed)


def _audit(request: Mapping[str, Any], teller: Teller) -> None:
    from surefoot.feasibility import audit
    from surefoot.robot import load
    from surefoot.scenario import read_world

    robot = load(request["robot"], base=request["base"], mimic=request["mimic"])
    world = None if request.get("world") is None else read_world(Path(request["world"]), robot)

    def progress(part: str, share: float) -> None:
        teller.tell("phase", text=part)
        teller.share(share)

    result = audit(request["motion"], robot, world, replay=request["replay"], progress=progress)
    defects = sum(one.severity == "defect" for one in result.findings)
    verdict = "passed" if result.passed else counted(defects, "defect")
    teller.tell("done", verdict=verdict, passed=result.passed, audit=result.to_dict())


def main() -> int:
    """Read a request, do it, tell about it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    told = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # whatever a library prints does not come between the events
    teller = Teller(told.write)
    try:
        perform(json.loads(sys.stdin.read()), teller)
    except KeyboardInterrupt:
        teller.tell("stopped")
    except BrokenPipeError:  # the studio is gone
        os._exit(1)
    except SurefootError as error:
        facts = {name: str(value) for name, value in error.evidence.items()}
        teller.tell("failed", message=error.message, place=error.place, evidence=facts, next_step=error.next_step)
    except Exception as error:  # noqa: BLE001 - the outermost border of a process
        step = "this is a bug in surefoot; please report it"
        teller.tell("failed", message=f"{type(error).__name__}: {error}", place="", evidence={}, next_step=step)
    return 0


if __name__ == "__main__":
    sys.exit(main())
