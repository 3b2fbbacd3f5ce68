"""`surefoot bench sim`: steps of our engine against MuJoCo and Pinocchio, in free flight and on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.benchmarks.machine import header
from surefoot.benchmarks.sim_free import free_flight
from surefoot.benchmarks.sim_ground import on_ground
from surefoot.benchmarks.timing import Effort, Progress, silent
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.robot.load import load

__all__ = ["SimBench", "run_sim"]

Json = dict[str, Any]
_QUICK = Effort(repeats=1, seconds=0.02, passes=2)
_WHOLE = Effort(repeats=3, seconds=0.5, passes=3)


@dataclass(frozen=True)
class SimBench:
    """What to measure.

    Args:
        free: Robots in free flight: names of the zoo or files.
        ground: Robots that stand and march on the ground.
        copies: Of a batch.
        steps: Of a pass.
        seed: Of the copies.
        quick: Measure for a short time.
        progress: progress(share done, what is next).
    """

    free: Sequence[str] = ("g1",)
    ground: Sequence[str] = ("hexapod", "g1")
    copies: int = 256
    steps: int = 100
    seed: int = 0
    quick: bool = False
    progress: Progress = field(default_factory=lambda: silent)

    @property
    def effort(self) -> Effort:
        """How long to measure."""
        return _QUICK if self.quick else _WHOLE


def run_sim(bench: SimBench) -> Json:
    """Measure; the result as plain data.

    Args:
        bench: What to measure.

    Raises:
        WrongAnswerError: Engines that should agree do not.
    """
    for what in ("copies", "steps"):
        if getattr(bench, what) < 1:
            raise ShapeError(f"{getattr(bench, what)} {what} cannot be timed", next_step="give one or more")
    parts = [("free", free_flight, name) for name in bench.free] + [
        ("ground", on_ground, name) for name in bench.ground
    ]
    robots = {name: load(name) for _, _, name in parts}
    result: Json = header("sim", bench.seed) | {"copies": bench.copies, "steps": bench.steps, "quick": bench.quick}
    result |= {"free": {}, "ground": {}, "skipped": []}
    for k, (part, measure_part, name) in enumerate(parts):
        bench.progress(k / len(parts), f"{name} {part}")
        try:
            result[part][name] = measure_part(robots[name], bench.copies, bench.steps, bench.seed, bench.effort)
        except NotSupportedError as error:
            result["skipped"].append(f"{name} {part}: {error.message}")
    bench.progress(1.0, "")
    return result
