"""`surefoot bench dynamics`: our kernels side by side with Pinocchio, MuJoCo and Drake, on the same states."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.benchmarks.cases import CASES, Case
from surefoot.benchmarks.check import expected_answers, normwise_errors, require_right, tolerances
from surefoot.benchmarks.drake_calls import DrakePeer
from surefoot.benchmarks.limits import limit_of, memory_operations
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.mujoco_calls import MujocoPeer
from surefoot.benchmarks.peer import Peer
from surefoot.benchmarks.pinocchio_batch import PinocchioBatch
from surefoot.benchmarks.states import States, end_frames, random_states
from surefoot.benchmarks.timing import Effort, Progress, Times, measure, pinned, silent
from surefoot.benchmarks.ways import WAYS, Prepared, Way, fill_with_zeros
from surefoot.compiler import compile_robot
from surefoot.errors import ModelError, NotSupportedError, ShapeError
from surefoot.robot import Robot
from surefoot.robot.load import load

__all__ = ["DynamicsBench", "run_dynamics"]

Json = dict[str, Any]
_PEER_TOLERANCE = 1e-6  # other engines: Ẇ v comes from finite differences, and inertias are rounded
_PEER_ANSWERS = 8
_QUICK = Effort(repeats=3, seconds=0.02, passes=3)


@dataclass(frozen=True)
class DynamicsBench:
    """What to measure.

    Args:
        robots: Names of the zoo or files.
        states: States of a batch.
        seed: Of the states.
        quick: Measure for a short time, and leave out what takes long to find.
        drake_python: An interpreter that has Drake, or None.
        progress: progress(share done, what is next).
        cases: What is computed.
    """

    robots: Sequence[str] = ("g1", "talos")
    states: int = 1024
    seed: int = 0
    quick: bool = False
    drake_python: Path | None = None
    progress: Progress = field(default_factory=lambda: silent)
    cases: Sequence[Case] = CASES

    @property
    def effort(self) -> Effort:
        """How long to measure."""
        return _QUICK if self.quick else Effort()


def run_dynamics(bench: DynamicsBench) -> Json:
    """Measure; the result as plain data.

    Args:
        bench: What to measure.

    Raises:
        WrongAnswerError: A kernel computes something else than Pinocchio.
    """
    if bench.states < 1:
        raise ShapeError(f"{bench.states} states cannot be timed", next_step="give one or more")
    robots = [load(name) for name in bench.robots]
    result: Json = header("dynamics", bench.seed) | {"states": bench.states, "quick": bench.quick}
    result |= {"robots": {}, "skipped": [] if bench.drake_python else ["drake: no interpreter that has it was named"]}
    for number, (name, robot) in enumerate(zip(bench.robots, robots, strict=True)):
        result["robots"][name] = _RobotBench(bench, robot, result, number).run()
    bench.progress(1.0, "")
    return result


@dataclass(eq=False)
class _RobotBench:
    """All cases of one robot."""

    bench: DynamicsBench
    robot: Robot
    result: Json
    number: int
    peers: list[Peer] = field(default_factory=list)

    def run(self) -> Json:
        self.frames = end_frames(self.robot)
        self.states = random_states(self.robot, self.bench.states, np.random.default_rng(self.bench.seed))
        self.sets = {bits: compile_robot(self.robot, dtype=f"float{bits}") for bits in (64, 32)}
        self.peers = list(self.find_peers())
        cases = {}
        for k, case in enumerate(self.bench.cases):
            self.bench.progress((self.number + k / len(self.bench.cases)) / len(self.bench.robots), self.title(case))
            try:
                cases[case.name] = self.case(case)
            except (ModelError, NotSupportedError) as error:  # M has no inverse, for one
                self.skip(self.title(case), error.message)
        return {"nq": self.robot.nq, "nv": self.robot.nv, "frames": list(self.frames), "cases": cases}

    def title(self, case: Case) -> str:
        return f"{self.robot.name} {case.name}"

    def skip(self, what: str, why: str) -> None:
        self.result["skipped"].append(f"{what}: {why}")

    def find_peers(self) -> Iterator[Peer]:
        """The other libraries that take the robot; a line for each that does not."""
        for name, make in (("mujoco", self.mujoco), ("drake", self.drake), ("pinocchio_all", self.pinocchio)):
            try:
                if (peer := make()) is not None:
                    yield peer
            except NotSupportedError as error:
                self.skip(f"{self.robot.name} {name}", error.message)

    def mujoco(self) -> Peer:
        return MujocoPeer(self.robot, self.frames, self.states)

    def pinocchio(self) -> Peer:
        return PinocchioBatch(self.robot, self.states)

    def drake(self) -> Peer | None:
        if self.bench.drake_python is None:
            return None
        with pinned():
            peer = DrakePeer(self.bench.drake_python, self.robot, self.frames, self.states, self.bench.effort)
        self.result["versions"]["drake"] = peer.version
        return peer

    # -- one case -------------------------------------------------------------------------------------------------

    def case(self, case: Case) -> Json:
        """Check all ways, then time them between two measurements of Pinocchio."""
        inputs = self.states.of(case.inputs)
        kernels = {bits: case.kernel(k, self.frames) for bits, k in self.sets.items()}
        if not kernels[64].artifact.slots:
            raise NotSupportedError("the result is the same for all states")
        typed = {bits: tuple(x.astype(kernel.dtype) for x in inputs) for bits, kernel in kernels.items()}
        ready = {way: way.prepare(kernels[way.bits], typed[way.bits]) for way in WAYS}
        errors = self.checked(case, ready)
        pinocchio, ours, others = self.timed(case, ready)
        with pinned():
            filling = measure(fill_with_zeros(kernels[64], len(self.states)), len(self.states), self.bench.effort)
        baseline = min(x.p50 for x in pinocchio.values())
        calls = {peer.name: peer.calls[case.name] for peer in self.peers if peer.name in others}
        limit = limit_of(kernels[64], ours["tiled"].p50, self.result["machine"]) | {"fill": _row(filling, baseline)}
        return {
            "title": case.title,
            "pinocchio": {"calls": case.calls, "p50_us": 1e6 * baseline, **{k: x.json() for k, x in pinocchio.items()}},
            "ways": {
                way.name: {"title": way.title, "error": errors[way.name]}
                | _row(ours[way.name], baseline, x.bytes_per_state)
                for way, x in ready.items()
            },
            "peers": {name: {"calls": calls[name]} | _row(x, baseline) for name, x in others.items()},
            "limit": limit
            | {"fill": _row(filling, baseline)}
            | ({} if self.bench.quick else memory_operations(kernels[64])),
        }

    def checked(self, case: Case, ready: dict[Way, Prepared]) -> dict[str, float]:
        """The largest error of every way; a wrong answer ends the run."""
        expected = expected_answers(case, self.robot, self.frames, self.states)
        allowed = {bits: tolerances(case, self.robot, self.states, bits) for bits in self.sets}
        return {
            way.name: require_right(f"{self.title(case)}, {way.title}", x.answers(), expected, allowed[way.bits])
            for way, x in ready.items()
        }

    def timed(self, case: Case, ready: dict[Way, Prepared]) -> tuple[dict[str, Times], ...]:
        """Times of Pinocchio before and after, of our ways, and of the other libraries."""
        effort, n = self.bench.effort, len(self.states)
        call, states = case.reference(self.robot, self.frames), list(zip(*self.states.of(case.inputs), strict=True))

        def pass_of_pinocchio() -> None:
            deque(starmap(call, states), maxlen=0)

        def of_ours(all_cores: bool) -> dict[str, Times]:
            return {w.name: measure(x.one_pass, n, effort) for w, x in ready.items() if w.all_cores == all_cores}

        def of_peers(all_cores: bool) -> dict[str, Times]:
            return {p.name: p.times(case.name, effort) for p in peers if p.all_cores == all_cores}

        peers = [peer for peer in self.peers if self.agrees(peer, case)]
        with pinned():
            before = measure(pass_of_pinocchio, n, effort)
            ours, others = of_ours(False), of_peers(False)
            after = measure(pass_of_pinocchio, n, effort)
        return {"before": before, "after": after}, ours | of_ours(True), others | of_peers(True)

    def agrees(self, peer: Peer, case: Case) -> bool:
        """Whether a library has the case and its answers are Pinocchio's; if they are not, a line says so."""
        if case.name not in peer.calls or case.name == "controller":
            return case.name in peer.calls
        count = min(_PEER_ANSWERS, len(self.states))
        some = States(*(x[:count] for x in self.states.of(("q", "v", "a", "tau"))))
        expected = expected_answers(case, self.robot, peer.frames, some)
        if case.name == "frames":
            expected = [np.stack(expected[len(peer.frames) :], axis=1)]
        allowed = np.maximum(_PEER_TOLERANCE, tolerances(case, self.robot, some, 64))
        errors = normwise_errors([peer.answers(case.name, count)], expected)
        if (errors > allowed).any():
            self.skip(f"{self.title(case)} {peer.name}", f"differs by {errors.max():.1e} from Pinocchio")
        return bool((errors <= allowed).all())


def _row(times: Times, baseline: float, bytes_per_state: float = 0.0) -> Json:
    """Times, ratio to Pinocchio, and memory traffic where there is any."""
    traffic = {"bandwidth_gb_s": 1e-9 * bytes_per_state / times.p50} if bytes_per_state else {}
    return times.json() | {"ratio": baseline / times.p50} | traffic
