"""`surefoot bench scaling`: forward dynamics of growing trees by three methods; after Buschmann 2014, section 3.3."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.check import require_right
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.scaling_facts import READINGS, TABLE_3_1, Cell
from surefoot.benchmarks.timing import Effort, Progress, measure, pinned, silent
from surefoot.compiler import compile_robot
from surefoot.compiler.large_trees import LOOP_FROM
from surefoot.dynamics import ForwardMethod, forward_dynamics
from surefoot.errors import ModelError, ShapeError
from surefoot.robot import Robot
from surefoot.robot.assemble import Mimic
from surefoot.robot.load import load

__all__ = ["FAMILIES", "KINDS", "METHODS", "Family", "ScalingBench", "run_scaling"]

Array = NDArray[np.float64]
Json = dict[str, Any]
METHODS: dict[str, ForwardMethod] = {"O(n)": "aba", "CRBA": "crba", "NE": "newton_euler"}
KINDS = ("base", "compiled")
_FIRST = ("O(n)", "compiled")
_PARTS = ((_FIRST,), tuple(x for x in product(METHODS, KINDS) if x != _FIRST))  # the cheap one up to the largest size
_EFFORT = {"base": Effort(repeats=5, seconds=0.02, passes=1), "compiled": Effort(repeats=5, seconds=0.01, passes=5)}
_CASE_SECONDS = 5.0  # a case that would take longer is left out, but for those of Table 3.1
_ALL_SECONDS = 90.0
_LARGEST = 512


@dataclass(frozen=True)
class Family:
    """Trees of any size.

    Args:
        name: Its name.
        robot: robot(bodies): name of the zoo.
        mimic: What becomes of rotors: "reduce" for rigid gears, "free" for none.
        has_order_n: Whether O(n) takes it.
    """

    name: str
    robot: Callable[[int], str]
    mimic: Mimic = "coupling"
    has_order_n: bool = True


def _levels(bodies: int) -> int:
    return bodies.bit_length() - 1


FAMILIES = (
    Family("coil", lambda n: f"coil:{n}"),
    Family("dill", lambda n: f"dill:{_levels(n)}"),
    Family("coil, rigid gears", lambda n: f"coil:{n // 2}:driven", "reduce", has_order_n=False),
    Family("dill, rigid gears", lambda n: f"dill:{_levels(n // 2)}:driven", "reduce", has_order_n=False),
    Family("coil, free rotors", lambda n: f"coil:{n // 2}:driven", "free"),
    Family("dill, free rotors", lambda n: f"dill:{_levels(n // 2)}:driven", "free"),
)


@dataclass(frozen=True)
class ScalingBench:
    """What to measure.

    Args:
        largest: Number of bodies, rotors included, up to which sizes are doubled from 4 on.
        seed: Of the states.
        families: Trees.
        seconds: Of computing, for the whole run; what does not fit is left out, largest first.
        progress: progress(share done, what is next).
    """

    largest: int = 256
    seed: int = 0
    families: Sequence[Family] = FAMILIES
    seconds: float = _ALL_SECONDS
    progress: Progress = field(default_factory=lambda: silent)

    @property
    def sizes(self) -> list[int]:
        """Numbers of bodies."""
        return [2**k for k in range(2, _levels(self.largest) + 1)]


def run_scaling(bench: ScalingBench) -> Json:
    """Measure; the result as plain data.

    Args:
        bench: What to measure.

    Raises:
        WrongAnswerError: A method computes something else than Pinocchio.
    """
    if not 4 <= bench.largest <= _LARGEST:
        raise ShapeError(f"{bench.largest} bodies", next_step=f"give 4 to {_LARGEST} bodies")
    result = header("scaling", bench.seed) | {"largest": bench.largest}
    run = _Run(bench)
    with pinned():
        rows = sorted((row for part in _PARTS for size in bench.sizes for row in run.size(size, part)), key=_place)
    bench.progress(1.0, "")
    times = {(r["family"], r["bodies"], r["method"], r["kind"]): 1e-6 * r["p50_us"] for r in rows}
    return result | {
        "rows": rows,
        "growth": _growth(times),
        "table_3_1": _table(times),
        "readings": _readings(times),
        "left_out": run.left_out,
    }


@dataclass(frozen=True, eq=False)
class _Problem:
    """One state of a tree, and its acceleration by Pinocchio."""

    robot: Robot
    state: tuple[Array, Array, Array]
    expected: Array
    tolerance: Array


@dataclass(eq=False)
class _Run:
    """Case after case; remembers how long cases took, and drops those that would take too long."""

    bench: ScalingBench
    start: float = field(default_factory=time.process_time)
    spent: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)
    dropped: set[tuple[str, str, str]] = field(default_factory=set)
    left_out: list[Json] = field(default_factory=list)

    def size(self, bodies: int, part: Sequence[tuple[str, str]]) -> Iterator[Json]:
        """All families of one number of bodies, by some methods."""
        share = (_PARTS.index(part) + self.bench.sizes.index(bodies) / len(self.bench.sizes)) / len(_PARTS)
        for (method, kind), family in product(part, self.bench.families):
            cell = (family.name, bodies, method, kind)
            if (family.name, method, kind) in self.dropped:
                continue
            self.bench.progress(share, ", ".join(str(x) for x in cell))
            why = self.reason(family, cell)
            try:
                if not why:
                    yield self.case(_problem(family, bodies, self.bench.seed), cell)
            except ModelError as error:
                why = error.message
            if why:
                self.drop(cell, why)

    def drop(self, cell: Cell, why: str) -> None:
        """Leave out a case and all larger ones of its kind."""
        family, bodies, method, kind = cell
        self.dropped.add((family, method, kind))
        self.left_out.append({"family": family, "from_bodies": bodies, "method": method, "kind": kind, "why": why})

    def reason(self, family: Family, cell: Cell) -> str:
        """Why a case cannot be done, or not in time; empty if it can."""
        _, _, method, kind = cell
        if method == "O(n)" and not family.has_order_n:
            return "articulated bodies do not take joints that copy others"
        if (method, kind) == _FIRST and cell[1] >= LOOP_FROM:
            return ""  # looped code, which is made at once
        before = self.spent.get((family.name, method, kind), [])
        growth = before[-1] / before[-2] if len(before) > 1 and method != "O(n)" else 2.0
        guess = before[-1] * max(2.0, growth) if before else 0.0
        if guess > _CASE_SECONDS and cell not in TABLE_3_1:
            return f"a case would take more than {_CASE_SECONDS:.0f} s"
        left = self.bench.seconds - (time.process_time() - self.start)
        return f"the run would take more than {self.bench.seconds:.0f} s" if guess > left or left < 0.0 else ""

    def case(self, problem: _Problem, cell: Cell) -> Json:
        """Prepare, check, measure."""
        family, bodies, method, kind = cell
        start = time.process_time()
        call, answer = _prepare(problem, METHODS[method], kind)
        prepared = time.process_time() - start
        what = f"{family}, {bodies} bodies, {method}, {kind}"
        error = require_right(what, [answer()[None]], [problem.expected[None]], problem.tolerance)
        times = measure(call, 1, _EFFORT[kind])
        self.spent.setdefault((family, method, kind), []).append(time.process_time() - start)
        names = {"family": family, "robot": problem.robot.name, "bodies": bodies, "dofs": problem.robot.nv}
        found = {"method": method, "kind": kind, "error": error, "prepare_s": prepared}
        return names | found | times.json()


def _prepare(problem: _Problem, method: ForwardMethod, kind: str) -> tuple[Callable[[], Any], Callable[[], Array]]:
    """A call to be timed, and one that answers."""
    tree, state = problem.robot.tree, problem.state
    if kind == "base":

        def reference() -> Array:
            return forward_dynamics(tree, *state, method=method)

        return reference, reference

    def forward(tree: Any, q: Any, v: Any, tau: Any) -> Any:
        return forward_dynamics(tree, q, v, tau, method=method)

    k = compile_robot(problem.robot, functions={"forward": forward})
    kernel = k.aba if method == "aba" else k.forward
    out = np.empty(problem.robot.nv)
    call = kernel.bind(*state, out)

    def answer() -> Array:
        call()
        return out

    return call, answer


@lru_cache(maxsize=2 * len(FAMILIES))
def _problem(family: Family, bodies: int, seed: int) -> _Problem:
    """A random state, with the acceleration of the whole tree projected on the coordinates: G a = q̈ of all bodies.

    (Gᵀ M G) a = tau − Gᵀ h, G = ∂(velocities of all joints)/∂v, M and h of the tree with rotors free by Pinocchio.
    """
    rng, name = np.random.default_rng([seed, bodies]), family.robot(bodies)
    robot, whole = load(name, mimic=family.mimic), load(name)
    q, v, tau = rng.uniform(-1.5, 1.5, robot.nq), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    G = _gears(robot)
    data = whole.model.createData()
    M = G.T @ np.array(pin.crba(whole.model, data, G @ q)) @ G
    a = np.linalg.solve(M, tau - G.T @ pin.nonLinearEffects(whole.model, data, G @ q, G @ v))
    tolerance = max(1e-12, 20.0 * float(np.finfo(float).eps * np.linalg.cond(M)))
    return _Problem(robot, (q, v, tau), a, np.array([tolerance]))


def _gears(robot: Robot) -> Array:
    """G (bodies, nv): velocity of each joint per velocity; all joints are hinges, without offsets."""
    tree = robot.tree
    G = np.zeros((tree.n, robot.nv))
    for i in range(tree.n):
        source = int(tree.mimic_source[i])
        G[i, tree.v_index[i if source < 0 else source]] = 1.0 if source < 0 else tree.mimic_ratio[i]
    return G


def _place(row: Json) -> tuple[int, ...]:
    """Families, methods and kinds in their order, small before large."""
    family = [item.name for item in FAMILIES].index(row["family"])
    return family, list(METHODS).index(row["method"]), KINDS.index(row["kind"]), row["bodies"]


def _growth(times: dict[Cell, float]) -> list[Json]:
    """Exponent of the time between the two largest sizes: 1 is linear."""
    out = []
    for family, method, kind in dict.fromkeys((f, m, k) for f, _, m, k in times):
        sizes = sorted(n for f, n, m, k in times if (f, m, k) == (family, method, kind))[-2:]
        if len(sizes) == 2:
            small, large = (times[family, n, method, kind] for n in sizes)
            exponent = float(np.log(large / small) / np.log(sizes[1] / sizes[0]))
            out.append({"family": family, "method": method, "kind": kind, "bodies": sizes, "exponent": exponent})
    return out


def _table(times: dict[Cell, float]) -> list[Json]:
    """Table 3.1: times relative to O(n) of the same kind, measured and there."""
    rows = []
    for cell, there in TABLE_3_1.items():
        family, bodies, method, kind = cell
        order_n = (family, bodies, "O(n)", kind)
        if cell in times and order_n in times:
            rows.append(
                {
                    "family": family, "bodies": bodies, "method": method, "kind": kind, "time_us": 1e6 * times[cell],
                    "ratio": times[cell] / times[order_n], "source_us": 1e6 * there,
                    "source_ratio": there / TABLE_3_1[order_n],
                }
            )  # fmt: skip
    return rows


def _readings(times: dict[Cell, float]) -> list[Json]:
    out = []
    for item in READINGS:
        if item.above in times and item.below in times:
            ratio = times[item.above] / times[item.below]
            out.append(
                {"text": item.text, "ratio": ratio, "source_ratio": item.source, "holds": bool(item.holds(ratio))}
            )
    return out
