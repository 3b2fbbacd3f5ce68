"""Our kernels side by side with Pinocchio, MuJoCo and Drake, on the same states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pinocchio as pin
import typer
from rich.text import Text

from bench import page
from bench.check import States, end_frames, normwise_errors, random_states, require_right
from bench.machine import header, second_level_cache
from bench.page import Json, print_lines, print_table, times_text
from bench.peers import DrakePeer, MujocoPeer, PinocchioBatch
from bench.timing import QUICK, Effort, Times, measure, pinned, tell
from surefoot.codegen import Kernel
from surefoot.codegen.batch import aligned_empty
from surefoot.codegen.llvm import kernel_text
from surefoot.compiler import KernelSet, compile_robot
from surefoot.errors import ModelError, NotSupportedError
from surefoot.robot import Robot, load

__all__ = ["CASES", "WAYS", "Case", "expected_answers", "memory_operations", "run", "show", "tolerances"]

Array = np.ndarray[Any, Any]
Inputs = tuple[Array, ...]
Prepared = tuple[Callable[[], Any], Callable[[], list[Array]], float]
"""A pass over all states, the dense outputs (n, …), and the bytes of a state that go from and to memory (0: cached)."""
_AXES = pin.LOCAL_WORLD_ALIGNED
_TOLERANCE, _ROUNDINGS = {64: 1e-12, 32: 1e-4}, 20.0
_PEER_TOLERANCE = 1e-6  # other engines: Ẇ v comes from finite differences, and inertias are rounded
_PEER_ANSWERS = 8
_NO_DRAKE = "drake: no interpreter that has it was named"
_PEERS = {"mujoco": "MuJoCo", "drake": "Drake", "pinocchio_all": "Pinocchio's own batch, all cores"}


# -- what is compared -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One computation: kernel(kernel set, frames), and pinocchio(model, data, frame ids) of one state.

    `inverts`: the mass matrix is inverted, so that its condition decides about the error.
    """

    name: str
    title: str
    inputs: tuple[str, ...]
    kernel: Callable[[KernelSet, Sequence[str]], Kernel]
    pinocchio: Callable[[Any, Any, Sequence[int]], Callable[..., Any]]
    calls: str
    inverts: bool = False

    def reference(self, robot: Robot, frames: Sequence[str]) -> Callable[..., Any]:
        """Pinocchio's function of one state."""
        return self.pinocchio(robot.model, robot.model.createData(), [robot.frame_id(name) for name in frames])


def _arrays(found: Any) -> list[Array]:
    """Results of one state, ours or Pinocchio's, as arrays of their own."""
    items = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else (found,)
    return [np.array(x.homogeneous if isinstance(x, pin.SE3) else getattr(x, "vector", x)) for x in items]


def _columns(rows: Any) -> list[Array]:
    """Outputs (n, …) of results of n states."""
    return [np.array(column) for column in zip(*rows, strict=True)]


def _one(name: str, title: str, inputs: str, function: Callable[..., Any], inverts: bool = False) -> Case:
    """A case that is one call of Pinocchio."""

    def prepare(model: Any, data: Any, _: Sequence[int]) -> Callable[..., Any]:
        return partial(function, model, data)

    calls = function.__name__
    return Case(name, title, tuple(inputs.split()), lambda k, _: getattr(k, name), prepare, calls, inverts)


def _frames(model: Any, data: Any, ids: Sequence[int]) -> Callable[..., Any]:
    def call(q: Array) -> tuple[Any, ...]:
        pin.computeJointJacobians(model, data, q)
        placements = [pin.updateFramePlacement(model, data, i) for i in ids]
        return (*placements, *[pin.getFrameJacobian(model, data, i, _AXES) for i in ids])

    return call


def _controller(model: Any, data: Any, ids: Sequence[int]) -> Callable[..., Any]:
    still = np.zeros(model.nv)

    def call(q: Array, v: Array) -> tuple[Any, ...]:
        pin.computeAllTerms(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, still)
        jacobians = [pin.getFrameJacobian(model, data, i, _AXES) for i in ids]
        biases = [pin.getFrameClassicalAcceleration(model, data, i, _AXES) for i in ids]
        return (data.M, data.nle, data.com[0], data.Jcom, *jacobians, *biases)

    return call


def _bundle(first: Sequence[str], of_frames: Sequence[str]) -> Callable[[KernelSet, Sequence[str]], Kernel]:
    return lambda k, names: k.bundle([*first, *(f"{what}:{name}" for what in of_frames for name in names)])


CASES: tuple[Case, ...] = (
    _one("rnea", "inverse dynamics", "q v a", pin.rnea),
    _one("aba", "forward dynamics", "q v tau", pin.aba, inverts=True),
    _one("crba", "mass matrix", "q", pin.crba),
    Case(
        "frames", "placements and Jacobians of end frames", ("q",), _bundle((), ("T", "J")), _frames,
        "computeJointJacobians; of each frame: updateFramePlacement, getFrameJacobian",
    ),
    _one("rnea_derivatives", "derivatives of inverse dynamics", "q v a", pin.computeRNEADerivatives),
    _one("aba_derivatives", "derivatives of forward dynamics", "q v tau", pin.computeABADerivatives, inverts=True),
    Case(
        "controller", "M, h, com, Jcom, and J, J̇v of end frames", ("q", "v"),
        _bundle(("M", "h", "com", "Jcom"), ("J", "Jdv")), _controller,
        "computeAllTerms, forwardKinematics; of each frame: getFrameJacobian, getFrameClassicalAcceleration",
    ),
)  # fmt: skip


def expected_answers(case: Case, robot: Robot, frames: Sequence[str], states: States) -> list[Array]:
    """Pinocchio's results (n, …), in the order of the kernel's."""
    call = case.reference(robot, frames)
    return _columns(_arrays(call(*state)) for state in zip(*states.of(case.inputs), strict=True))


def tolerances(case: Case, robot: Robot, states: States, bits: int) -> Array:
    """Normwise tolerance (n,): 1e-12 (float32: 1e-4), or 20 ε cond(M) if M is inverted and that is more."""
    least = np.full(len(states), _TOLERANCE[bits])
    if not case.inverts:
        return least
    data = robot.model.createData()
    M = np.array([pin.crba(robot.model, data, q) for q in states.q])
    return np.maximum(least, _ROUNDINGS * float(np.finfo(f"f{bits // 8}").eps) * np.linalg.cond(M))


# -- ways to call a kernel --------------------------------------------------------------------------------------------


def _calls(kernel: Kernel, inputs: Inputs) -> Prepared:
    states = list(zip(*inputs, strict=True))
    return lambda: deque(starmap(kernel, states), maxlen=0), lambda: _columns(map(_arrays, starmap(kernel, states))), 0


def _bound(kernel: Kernel, inputs: Inputs) -> Prepared:
    outputs = [np.empty(shape) for shape in kernel.single.artifact.output_shapes]
    calls = [kernel.bind(*(np.array(x) for x in state), *outputs) for state in zip(*inputs, strict=True)]

    def one_pass() -> None:
        for call in calls:
            call()

    def answer(call: Callable[[], None]) -> list[Array]:
        call()
        return [np.array(x) for x in outputs]

    return one_pass, lambda: _columns(map(answer, calls)), 0


def _tiled(kernel: Kernel, inputs: Inputs) -> Prepared:
    """In groups of tiles whose packed results, all in one buffer, take three quarters of the second-level cache."""
    runner, tiles = kernel.batch, [kernel.to_tiles(x) for x in inputs]
    blocks, slots = len(tiles[0]), runner.artifact.slots
    size = int(np.clip(3 * second_level_cache() // 4 // max(1, slots * runner.artifact.build.stride), 1, blocks))
    groups = [[x[at : at + size] for x in tiles] for at in range(0, blocks, size)]
    buffer = aligned_empty((size, slots, runner.width), kernel.dtype)

    def one_pass() -> None:
        for group in groups:
            runner.tiles(group, buffer, len(group[0]))

    def packed(group: list[Array]) -> Array:
        runner.tiles(group, buffer, len(group[0]))
        return buffer[: len(group[0])].copy()

    return one_pass, lambda: list(kernel.unpack(np.concatenate([*map(packed, groups)]), len(inputs[0]))), 0


def _rows(**options: str) -> Callable[[Kernel, Inputs], Prepared]:
    def prepare(kernel: Kernel, inputs: Inputs) -> Prepared:
        shapes = kernel.artifact.output_shapes
        outputs = [np.empty((len(inputs[0]), *shape)) for shape in shapes]

        def one_pass() -> list[Array]:
            kernel(*inputs, out=outputs, **options)
            return outputs

        return one_pass, one_pass, _traffic(kernel, sum(int(np.prod(shape)) for shape in shapes))

    return prepare


def _packed_rows(kernel: Kernel, inputs: Inputs) -> Prepared:
    result = np.empty((len(inputs[0]), kernel.artifact.slots), kernel.dtype)

    def one_pass() -> Array:
        return kernel.packed(*inputs, out=result)

    return one_pass, lambda: list(kernel.unpack(one_pass())), _traffic(kernel, kernel.artifact.slots)


def _traffic(kernel: Kernel, results: int) -> float:
    """Bytes of the inputs and so many results of a state."""
    return (sum(int(np.prod(shape)) for shape in kernel.artifact.input_shapes) + results) * kernel.dtype.itemsize


def _tiled_all(kernel: Kernel, inputs: Inputs) -> Prepared:
    tiles = [kernel.to_tiles(x) for x in inputs]
    packed = kernel.tiled(*tiles)

    def one_pass() -> Array:
        return kernel.tiled(*tiles, out=packed, threads="all")

    return one_pass, lambda: list(kernel.unpack(one_pass(), len(inputs[0]))), 0


@dataclass(frozen=True)
class _Way:
    """A way to call a kernel: prepare(kernel, inputs (n, …))."""

    name: str
    title: str
    prepare: Callable[[Kernel, Inputs], Prepared]
    bits: int = 64
    all_cores: bool = False


WAYS = (
    _Way("call", "one state a call, from Python", _calls),
    _Way("bound", "one state a call, arrays bound", _bound),
    _Way("tiled", "batch in tiles, packed results in cache", _tiled),
    _Way("packed", "batch in rows, packed results", _packed_rows),
    _Way("rows", "batch in rows, dense results", _rows()),
    _Way("tiled_float32", "batch in tiles, float32", _tiled, bits=32),
    _Way("tiled_all", "batch in tiles, all cores", _tiled_all, all_cores=True),
    _Way("rows_all", "batch in rows, all cores", _rows(threads="all"), all_cores=True),
)


# -- the measurement --------------------------------------------------------------------------------------------------


def run(
    robots: page.Robots = "g1,talos",
    states: page.States = 1024,
    seed: page.Seed = 0,
    quick: page.Quick = False,
    drake_python: Annotated[Path | None, typer.Option(help="A Python that has Drake, to be measured too.")] = None,
) -> Json:
    """Measure."""
    names = page.named(robots, "robot", "--robots g1,talos")
    loaded = {name: load(name) for name in names}
    result: Json = header("dynamics", seed) | {"states": states, "quick": quick, "robots": {}}
    result["skipped"] = [] if drake_python else [_NO_DRAKE]
    for number, (name, robot) in enumerate(loaded.items()):
        given = random_states(robot, states, np.random.default_rng(seed))
        result["robots"][name] = _RobotBench(robot, given, drake_python, result).run(number, len(names))
    tell(1.0, "")
    return result


class _RobotBench:
    """All cases of one robot."""

    def __init__(self, robot: Robot, states: States, drake: Path | None, result: Json) -> None:
        self.robot, self.states, self.result, self.quick = robot, states, result, result["quick"]
        self.effort, self.frames = QUICK if self.quick else Effort(), end_frames(robot)
        self.sets = {bits: compile_robot(robot, dtype=f"float{bits}") for bits in (64, 32)}
        self.peers = list(self.find_peers(drake))

    def run(self, number: int, robots: int) -> Json:
        cases = {}
        for k, case in enumerate(CASES):
            tell((number + k / len(CASES)) / robots, self.title(case))
            try:
                cases[case.name] = self.case(case)
            except (ModelError, NotSupportedError) as error:  # M has no inverse, for one
                self.skip(self.title(case), error.message)
        return {"nq": self.robot.nq, "nv": self.robot.nv, "frames": list(self.frames), "cases": cases}

    def title(self, case: Case) -> str:
        return f"{self.robot.name} {case.name}"

    def skip(self, what: str, why: str) -> None:
        self.result["skipped"].append(f"{what}: {why}")

    def find_peers(self, drake: Path | None) -> Iterator[Any]:
        """The other libraries that take the robot; a line for each that does not."""
        robot, frames, states = self.robot, self.frames, self.states
        makers: dict[str, Callable[[], Any]] = {"mujoco": lambda: MujocoPeer(robot, frames, states)}
        if drake is not None:
            makers["drake"] = lambda: DrakePeer(drake, robot, frames, states, self.effort)
        makers["pinocchio_all"] = lambda: PinocchioBatch(robot, states)
        for name, make in makers.items():
            try:
                peer = make()
            except NotSupportedError as error:
                self.skip(f"{robot.name} {name}", error.message)
                continue
            if name == "drake":
                self.result["versions"]["drake"] = peer.version
            yield peer

    def case(self, case: Case) -> Json:
        """Check all ways, then time them between two measurements of Pinocchio."""
        kernels = {bits: case.kernel(k, self.frames) for bits, k in self.sets.items()}
        if not kernels[64].artifact.slots:
            raise NotSupportedError("the result is the same for all states")
        inputs = self.states.of(case.inputs)
        typed = {bits: tuple(x.astype(kernel.dtype) for x in inputs) for bits, kernel in kernels.items()}
        ready = {way: way.prepare(kernels[way.bits], typed[way.bits]) for way in WAYS}
        errors = self.checked(case, ready)
        pinocchio, ours, others = self.timed(case, ready)
        with pinned():
            filling = measure(_fill(kernels[64], len(self.states)), len(self.states), self.effort)
        baseline = min(x.p50 for x in pinocchio.values())
        limit = _limit(kernels[64], ours["tiled"].p50, self.result["machine"]) | {"fill": _row(filling, baseline)}
        return {
            "title": case.title,
            "pinocchio": {"calls": case.calls, "p50_us": 1e6 * baseline, **{k: x.json() for k, x in pinocchio.items()}},
            "ways": {
                way.name: {"title": way.title, "error": errors[way.name]} | _row(ours[way.name], baseline, traffic)
                for way, (_, _, traffic) in ready.items()
            },
            "peers": {
                x.name: {"calls": x.calls[case.name]} | _row(others[x.name], baseline)
                for x in self.peers
                if x.name in others
            },
            "limit": limit | ({} if self.quick else memory_operations(kernels[64])),
        }

    def checked(self, case: Case, ready: dict[_Way, Prepared]) -> dict[str, float]:
        """The largest error of every way; a wrong answer ends the run."""
        expected = expected_answers(case, self.robot, self.frames, self.states)
        allowed = {bits: tolerances(case, self.robot, self.states, bits) for bits in self.sets}
        return {
            way.name: require_right(f"{self.title(case)}, {way.title}", answers(), expected, allowed[way.bits])
            for way, (_, answers, _) in ready.items()
        }

    def timed(self, case: Case, ready: dict[_Way, Prepared]) -> tuple[dict[str, Times], ...]:
        """Times of Pinocchio before and after, of our ways, and of the other libraries."""
        effort, n = self.effort, len(self.states)
        call, states = case.reference(self.robot, self.frames), list(zip(*self.states.of(case.inputs), strict=True))
        peers = [peer for peer in self.peers if self.agrees(peer, case)]

        def of_pinocchio() -> Times:
            return measure(lambda: deque(starmap(call, states), maxlen=0), n, effort)

        def of_ours(all_cores: bool) -> dict[str, Times]:
            return {w.name: measure(x[0], n, effort) for w, x in ready.items() if w.all_cores == all_cores}

        def of_peers(all_cores: bool) -> dict[str, Times]:
            return {p.name: p.times(case.name, effort) for p in peers if p.all_cores == all_cores}

        with pinned():
            before, ours, others, after = of_pinocchio(), of_ours(False), of_peers(False), of_pinocchio()
        return {"before": before, "after": after}, ours | of_ours(True), others | of_peers(True)

    def agrees(self, peer: Any, case: Case) -> bool:
        """Whether a library has the case and its answers are Pinocchio's; if they are not, a line reports it."""
        if case.name not in peer.calls or case.name == "controller":  # which is made of the calls of the others
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


def _fill(kernel: Kernel, n: int) -> Callable[[], None]:
    """Writes zeros to dense outputs (n, …): no way that computes them can be faster."""
    outputs = [np.empty((n, *shape), kernel.dtype) for shape in kernel.artifact.output_shapes]

    def one_pass() -> None:
        for x in outputs:
            x.fill(0.0)

    return one_pass


def _limit(kernel: Kernel, seconds: float, machine: Json) -> Json:
    """Work for one state, and arithmetic instructions per cycle against the most that the CPU does.

    An instruction works on one vector of states; a fused multiply-add is one, a sine counts as one although it is
    many, so that the true figure is a little higher.
    """
    artifact = kernel.artifact
    per_cycle = artifact.operations / (artifact.build.width * seconds * machine["clock_hz"])
    return {
        "operations_per_state": artifact.operations,
        "stored_values_per_state": artifact.slots,
        "instructions_per_cycle": per_cycle,
        "share_of_peak": per_cycle / machine["peak_instructions_per_cycle"],
    }


def memory_operations(kernel: Kernel) -> Json:
    """Vector loads and stores of the assembly; stores beyond the results are spills. None for looped code.

    Values that leave their register are planned before LLVM sees the program, so that the text shows them.
    """
    build, recipe = kernel.artifact.build, kernel.recipe
    if recipe.emit is not kernel_text:
        return {"loads": None, "spill_stores": None}
    text = recipe.emit(recipe.program, build, "limit").text
    stores = text.count(f"store {build.vector} ")
    return {"loads": text.count(f"= load {build.vector},"), "spill_stores": stores - len(recipe.program.slots)}


# -- what is printed --------------------------------------------------------------------------------------------------


def show(result: Json) -> None:
    """Print tables of times and limits for each robot."""
    compared: dict[str, None] = {}
    for name, robot in result["robots"].items():
        print(f"\n{name}: nq {robot['nq']}, nv {robot['nv']}, end frames {', '.join(robot['frames'])}")
        print_table(("µs per state", "p5", "p50", "p95", "× Pinocchio", "GB/s"), _time_rows(robot))
        heads = ("operations", "stored", "loads", "spill stores", "instructions/cycle", "of peak")
        print_table(("limit (batch in tiles)", *heads), _limit_rows(robot))
        for of, case in robot["cases"].items():
            compared[f"{of}: Pinocchio: {case['pinocchio']['calls']}"] = None
            compared |= {f"{of}: {_PEERS[peer]}: {row['calls']}": None for peer, row in case["peers"].items()}
    print_lines("what is compared", list(compared))
    print_lines("not measured", result["skipped"])


def _time_rows(robot: Json) -> Iterator[list[str | Text]]:
    """Every way of every case, with Pinocchio above and the others below."""
    for name, case in robot["cases"].items():
        yield [Text(f"{name}: {case['title']}", style="bold")]
        rows = [(f"Pinocchio, {when}", case["pinocchio"][when]) for when in ("before", "after")]
        rows += [(way["title"], way) for way in case["ways"].values()]
        rows += [("for comparison: dense results filled with zeros", case["limit"]["fill"])]
        rows += [(_PEERS[peer], row) for peer, row in case["peers"].items()]
        for title, row in rows:
            yield [f"  {title}", *times_text(row, "ratio", "bandwidth_gb_s")]


def _limit_rows(robot: Json) -> Iterator[list[str]]:
    """How close the batch in tiles is to what the CPU can do."""
    for name, case in robot["cases"].items():
        limit = case["limit"]
        keys = ("operations_per_state", "stored_values_per_state", "loads", "spill_stores")
        counts = ["–" if limit.get(key) is None else str(limit[key]) for key in keys]
        share = f"{100.0 * limit['share_of_peak']:.0f} %"
        yield [name, *counts, f"{limit['instructions_per_cycle']:.2f}", share]
