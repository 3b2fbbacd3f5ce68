"""`surefoot bench dynamics`: our kernels side by side with Pinocchio, MuJoCo and Drake, on the same states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.benchmarks import drake_calls, mujoco_calls
from surefoot.benchmarks.cases import CASES, Case
from surefoot.benchmarks.check import expected_answers, normwise_errors, require_right, tolerances
from surefoot.benchmarks.drake_calls import DrakePeer
from surefoot.benchmarks.limits import limit_of, memory_operations
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.mujoco_calls import MujocoPeer
from surefoot.benchmarks.states import States, end_frames, random_states
from surefoot.benchmarks.timing import Effort, Times, measure, pinned
from surefoot.benchmarks.ways import WAYS, Prepared
from surefoot.compiler import KernelSet, compile_robot
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
    progress: Callable[[float, str], None] = lambda share, text: None
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
    result: Json = header("dynamics", bench.seed) | {"states": bench.states, "quick": bench.quick, "skipped": []}
    result["robots"] = {}
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
    peers: list[Any] = field(default_factory=list)

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

    def find_peers(self) -> Iterator[Any]:
        """The other engines that take the robot."""
        python = self.bench.drake_python
        if python is None:
            self.skip(f"{self.robot.name} drake", "no interpreter was named (--drake-python)")
        try:
            yield MujocoPeer(self.robot, self.frames, self.states)
        except NotSupportedError as error:
            self.skip(f"{self.robot.name} mujoco", error.message)
        if python is not None:
            try:
                with pinned():
                    drake = DrakePeer(python, self.robot, self.frames, self.states, self.bench.effort)
                self.result["versions"]["drake"] = drake.version
                yield drake
            except NotSupportedError as error:
                self.skip(f"{self.robot.name} drake", error.message)

    # -- one case -------------------------------------------------------------------------------------------------

    def case(self, case: Case) -> Json:
        """Check all ways, then time them between two measurements of Pinocchio."""
        inputs = self.states.of(case.inputs)
        kernels = {bits: case.kernel(k, self.frames) for bits, k in self.sets.items()}
        typed = {bits: tuple(x.astype(kernel.dtype) for x in inputs) for bits, kernel in kernels.items()}
        ready = {way: way.prepare(kernels[way.bits], typed[way.bits]) for way in WAYS}
        expected = expected_answers(case, self.robot, self.frames, self.states)
        allowed = {bits: tolerances(case, self.robot, self.states, bits) for bits in kernels}
        errors = {
            way.name: require_right(f"{self.title(case)}, {way.title}", x.answers(), expected, allowed[way.bits])
            for way, x in ready.items()
        }
        pinocchio, times, peers = self.timed(case, ready)
        baseline = min(x.p50 for x in pinocchio.values())
        rows = {
            way.name: {"title": way.title, "error": errors[way.name]}
            | _row(times[way.name], baseline, ready[way].bytes_per_state)
            for way in WAYS
        }
        return {
            "title": case.title,
            "pinocchio": {"calls": case.calls, "p50_us": 1e6 * baseline}
            | {when: x.json() for when, x in pinocchio.items()},
            "ways": rows,
            "peers": {name: {"calls": calls} | _row(x, baseline) for name, (calls, x) in peers.items()},
            "limit": limit_of(kernels[64], times["tiled"].p50, self.result["machine"])
            | ({} if self.bench.quick else memory_operations(kernels[64])),
        }

    def timed(
        self, case: Case, ready: dict[Any, Prepared]
    ) -> tuple[dict[str, Times], dict[str, Times], dict[str, tuple[str, Times]]]:
        """Times of Pinocchio before and after, of our ways, and of the other engines with their calls."""
        effort, n = self.bench.effort, len(self.states)
        call, states = case.reference(self.robot, self.frames), list(zip(*self.states.of(case.inputs), strict=True))

        def pass_of_pinocchio() -> None:
            deque(starmap(call, states), maxlen=0)

        peers = {peer.name: peer for peer in self.peers if self.agrees(peer, case)}
        with pinned():
            pinocchio = {"before": measure(pass_of_pinocchio, n, effort)}
            times = {way.name: measure(x.one_pass, n, effort) for way, x in ready.items() if not way.all_cores}
            others = {name: self.peer_times(peer, case) for name, peer in peers.items()}
            pinocchio["after"] = measure(pass_of_pinocchio, n, effort)
        times |= {way.name: measure(x.one_pass, n, effort) for way, x in ready.items() if way.all_cores}
        if case.name in _PARALLEL:
            others["pinocchio_all"] = (_PARALLEL[case.name].__name__, self.parallel_times(case))
        return pinocchio, times, others

    # -- peers ----------------------------------------------------------------------------------------------------

    def agrees(self, peer: Any, case: Case) -> bool:
        """Whether an engine has the case and its answers are Pinocchio's; if not, a line says so."""
        if case.name not in _CALLS[peer.name]:
            return False
        count = min(_PEER_ANSWERS, len(self.states))
        if case.name == "controller":  # the same functions as in the other cases
            return True
        some = States(*(x[:count] for x in self.states.of(("q", "v", "a", "tau"))))
        expected = expected_answers(case, self.robot, self.frames, some)
        if case.name == "frames":
            expected = [np.stack(expected[len(self.frames) :], axis=1)]
        found = peer.answers(case.name, count)
        allowed = np.maximum(_PEER_TOLERANCE, tolerances(case, self.robot, some, 64))
        errors = normwise_errors([found], expected)
        if (errors > allowed).any():
            self.skip(f"{self.title(case)} {peer.name}", f"not timed: differs by {errors.max():.1e} from Pinocchio")
        return bool((errors <= allowed).all())

    def peer_times(self, peer: Any, case: Case) -> tuple[str, Times]:
        calls = _CALLS[peer.name][case.name]
        if isinstance(peer, DrakePeer):
            return calls, peer.times[case.name]
        return calls, measure(peer.one_pass(case.name), len(self.states), self.bench.effort)

    def parallel_times(self, case: Case) -> Times:
        """Pinocchio's own batch, in C++ on all cores; states in columns."""
        columns = [np.asfortranarray(x.T) for x in self.states.of(case.inputs)]
        threads = int(self.result["machine"]["cores"])
        pool, out = pin.ModelPool(self.robot.model, threads), np.zeros_like(columns[1])
        function = _PARALLEL[case.name]
        return measure(lambda: function(threads, pool, *columns, out), len(self.states), self.bench.effort)


_CALLS = {"mujoco": mujoco_calls.CALLS, "drake": drake_calls.CALLS}
_PARALLEL = {name: getattr(pin, f"{name}InParallel") for name in ("rnea", "aba") if hasattr(pin, f"{name}InParallel")}


def _row(times: Times, baseline: float, bytes_per_state: float = 0.0) -> Json:
    """Times, ratio to Pinocchio, and memory traffic where there is any."""
    traffic = {"bandwidth_gb_s": 1e-9 * bytes_per_state / times.p50} if bytes_per_state else {}
    return times.json() | {"ratio": baseline / times.p50} | traffic
