"""`surefoot bench ik`: inverse kinematics against placo, pink and mink on the same targets, one judge for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.benchmarks.check import WrongAnswerError
from surefoot.benchmarks.ik_judge import ANGLE, POSITION, IkVerdict, judge
from surefoot.benchmarks.ik_ours import OURS, solve_ours
from surefoot.benchmarks.ik_peers import IK_PEERS, run_peer
from surefoot.benchmarks.ik_problems import IK_CASES, make_problems
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.timing import Progress, pinned, silent
from surefoot.errors import NotSupportedError, ShapeError, one_of

__all__ = ["IkBench", "run_ik"]

Json = dict[str, Any]
_QUICK_TARGETS = 20
_TUNING = 200
_PASSES = 3


@dataclass(frozen=True)
class IkBench:
    """What to measure.

    Args:
        robots: Keys of `IK_CASES`: panda, talos, g1.
        targets: Reachable targets of each robot.
        seed: Of the targets; the settings of the peers are chosen on targets of the next seed.
        quick: 20 targets at most, one pass, no peers.
        pythons: Interpreters that have a peer, by its name: placo, pink, mink.
        progress: progress(share done, what is next).
    """

    robots: Sequence[str] = tuple(IK_CASES)
    targets: int = 1000
    seed: int = 0
    quick: bool = False
    pythons: Mapping[str, Path] = field(default_factory=dict)
    progress: Progress = field(default_factory=lambda: silent)

    @property
    def passes(self) -> int:
        """How often all targets are solved; the fastest pass counts."""
        return 1 if self.quick else _PASSES


def run_ik(bench: IkBench) -> Json:
    """Measure; the result as plain data.

    Success is judged for all alike: hand and feet within 1 mm and 1 mrad, the centre of mass within 1 mm, joints
    inside their limits to 1e-6. Restarts are part of the time, which is that of all targets over their number.

    Args:
        bench: What to measure.
    """
    _check(bench)
    result: Json = header("ik", bench.seed) | {"targets": _count(bench), "quick": bench.quick}
    result |= {"tolerance": {"position_m": POSITION, "angle_rad": ANGLE}, "robots": {}, "skipped": []}
    for name in sorted(set(IK_PEERS) - set(bench.pythons)):
        result["skipped"].append(f"{name}: no interpreter that has it was named")
    for number, name in enumerate(bench.robots):
        result["robots"][name] = _RobotBench(bench, name, number, result).run()
    bench.progress(1.0, "")
    return result


def _check(bench: IkBench) -> None:
    if bench.targets < 1:
        raise ShapeError(f"{bench.targets} targets cannot be timed", next_step="give one or more")
    for names, known, kind in ((bench.robots, IK_CASES, "case"), (bench.pythons, IK_PEERS, "peer")):
        for name in names:
            if name not in known:
                raise one_of(f"{kind} of inverse kinematics", name, known)


def _count(bench: IkBench) -> int:
    return min(bench.targets, _QUICK_TARGETS) if bench.quick else bench.targets


@dataclass(eq=False)
class _RobotBench:
    """All solvers on the targets of one robot."""

    bench: IkBench
    name: str
    number: int
    result: Json

    def run(self) -> Json:
        self.problems = make_problems(self.name, _count(self.bench), self.bench.seed)
        known = judge(self.problems, self.problems.answers)
        if not known.solved.all():
            raise WrongAnswerError(f"{self.name}: targets are not reached by the postures that they were read off")
        peers = {} if self.bench.quick else self.peers()
        ours = self.ours()
        case, robot = self.problems.case, self.problems.robot
        return {
            "nq": robot.nq,
            "nv": robot.nv,
            "hand": case.hand,
            "feet": list(case.feet),
            "ours": ours,
            "peers": peers,
            "ratios": _ratios(ours, peers),
        }

    def tell(self, share: float, who: str) -> None:
        self.bench.progress((self.number + share) / len(self.bench.robots), f"{self.name} {who}")

    def peers(self) -> Json:
        """Every peer that has an interpreter, with the settings that suit it best."""
        tuning = make_problems(self.name, _TUNING, self.bench.seed + 1)
        found: Json = {}
        for k, (name, python) in enumerate(self.bench.pythons.items()):
            self.tell(k / (len(self.bench.pythons) + 1), name)
            try:
                with pinned():
                    answers = run_peer(name, python, tuning, self.problems, self.bench.passes)
            except NotSupportedError as error:
                self.result["skipped"].append(f"{self.name} {name}: {error.message}")
                continue
            facts = answers.facts
            found[name] = {
                "with_restarts": _row(judge(self.problems, answers.restarts), facts["restarts"]),
                "once": _row(judge(self.problems, answers.once), facts["once"]),
                "settings": facts["settings"],
                "settings_tried": len(facts["tried"]),
                "versions": facts["versions"],
            }
        return found

    def ours(self) -> Json:
        """One target a call, with new tasks or a solver that is kept, and all in a batch."""
        found = {}
        for way in OURS:
            self.tell(0.9, way)
            with pinned():
                answers = solve_ours(way, self.problems, self.bench.passes)
            found[way] = _row(judge(self.problems, answers.q), answers.facts)
        return found


def _row(verdict: IkVerdict, facts: Json) -> Json:
    """What the judge says beside what was measured."""
    rate = verdict.rate
    return {
        "success": rate,
        "ms_per_target": facts["ms"],
        "processor_ms_per_target": facts["processor_ms"],
        "solves_per_second": 1e3 * rate / facts["ms"],
        "iterations": facts["iterations"],
        "restarts": facts["restarts"],
        "worst_position_m": _largest(verdict.position, verdict),
        "worst_angle_rad": _largest(verdict.angle, verdict),
        "worst_limit_excess": _largest(verdict.excess, verdict),
    }


def _largest(errors: Any, verdict: IkVerdict) -> float | None:
    """Of the solved targets; None if there are none."""
    return float(np.max(errors[verdict.solved])) if verdict.solved.any() else None


def _ratios(ours: Json, peers: Json) -> Json:
    """Our solves per second over those of each peer, and over those of the fastest."""
    speeds = {name: rows["with_restarts"]["solves_per_second"] for name, rows in peers.items()}
    speeds = {name: speed for name, speed in speeds.items() if speed > 0.0}
    fastest = max(speeds, key=lambda name: speeds[name]) if speeds else None
    found: Json = {"fastest_peer": fastest}
    for way, row in ours.items():
        found[way] = {name: row["solves_per_second"] / speed for name, speed in speeds.items()}
    return found
