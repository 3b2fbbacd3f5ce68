"""Forward dynamics of growing trees by three methods; after Buschmann 2014, section 3.3."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pinocchio as pin
import typer
from numpy.typing import NDArray

from bench import page
from bench.cases.scaling_plot import gather, require_plot_name, write_plot
from bench.check import require_right
from bench.machine import header
from bench.page import Json, number_text, print_lines, print_table, require_folder
from bench.timing import Effort, measure, pinned, tell
from surefoot.compiler import LOOP_FROM, compile_robot
from surefoot.dynamics import ForwardMethod, crba, forward_dynamics, nonlinear_effects
from surefoot.dynamics.loops import minimal_function
from surefoot.errors import ModelError
from surefoot.robot import Robot, load
from surefoot.robot.build import Mimic

__all__ = ["FAMILIES", "KINDS", "METHODS", "TABLE_3_1", "Family", "run", "show"]

Array = NDArray[np.float64]
Cell = tuple[str, int, str, str]
"""Family, bodies, method, kind."""
METHODS: dict[str, ForwardMethod] = {"O(n)": "aba", "CRBA": "crba", "NE": "newton_euler"}
KINDS = ("base", "compiled")
_FIRST = ("O(n)", "compiled")
_PARTS = ((_FIRST,), tuple(x for x in product(METHODS, KINDS) if x != _FIRST))  # the cheap one up to the largest size
_EFFORT = {"base": Effort(repeats=5, seconds=0.02, passes=1), "compiled": Effort(repeats=5, seconds=0.01, passes=5)}
_CASE_SECONDS = 5.0  # a case that would take longer is left out, but for those of Table 3.1
_ALL_SECONDS = 90.0  # of computing, for the whole run; what does not fit is left out, largest first

_SHARE_SIZES = (6, 12, 24, 39)
_ABOUT_1, _ABOVE_1 = (0.85, 1.15), (np.nextafter(1.0, 2.0), np.inf)
_TABLE = {
    "coil": ((1.55e-4, 3.73e-4, 5.42e-4), (2.21e-5, 8.62e-5, 1.98e-4)),
    "dill": ((1.54e-4, 2.01e-4, 5.41e-4), (2.20e-5, 6.85e-5, 4.95e-5)),
}
TABLE_3_1: Mapping[Cell, float] = {
    (family, 32, method, kind): seconds
    for family, kinds in _TABLE.items()
    for kind, row in zip(KINDS, kinds, strict=True)
    for method, seconds in zip(METHODS, row, strict=True)
}
"""Core i5-660, 3.33 GHz; "compiled" is called optimised there. On the dill CRBA and NE are sparse."""
_READINGS = (
    ("branching leaves O(n) unchanged: dill(5) / coil(32)", "dill O(n)", "coil O(n)", _ABOUT_1),
    ("the same of the base", "dill O(n) base", "coil O(n) base", _ABOUT_1),
    ("branching helps NE: coil(32) / dill(5) is 2 or more", "coil NE", "dill NE", (2.0, np.inf)),
    ("NE beats CRBA on dill(5): CRBA / NE is above 1", "dill CRBA", "dill NE", _ABOVE_1),
    ("CRBA beats NE on coil(32): NE / CRBA is above 1", "coil NE", "coil CRBA", _ABOVE_1),
    ("O(n) beats CRBA on coil(32): CRBA / O(n) is above 1", "coil CRBA", "coil O(n)", _ABOVE_1),
    ("O(n) beats CRBA on dill(5): CRBA / O(n) is above 1", "dill CRBA", "dill O(n)", _ABOVE_1),
    ("O(n) beats NE on dill(5): NE / O(n) is above 1", "dill NE", "dill O(n)", _ABOVE_1),
    ("compiled O(n) beats the base on coil(32): base / compiled is above 1", "coil O(n) base", "coil O(n)",
     _ABOVE_1),
    ("16 links and 16 free rotors cost O(n) as much as coil(32)", "coil,_free_rotors O(n)", "coil O(n)", _ABOUT_1),
)  # fmt: skip
"""What Buschmann 2014 says: text, dividend, divisor, and the range of the ratio; all of 32 bodies."""


@dataclass(frozen=True)
class Family:
    """Trees of any size: robot(bodies) is a name of the zoo; rotors are rigid gears ("reduce") or "free"."""

    name: str
    robot: Callable[[int], str]
    mimic: Mimic = "coupling"


def _levels(bodies: int) -> int:
    return bodies.bit_length() - 1


FAMILIES: Sequence[Family] = (
    Family("coil", lambda n: f"coil:{n}"),
    Family("dill", lambda n: f"dill:{_levels(n)}"),
    Family("coil, rigid gears", lambda n: f"coil:{n // 2}:driven", "reduce"),
    Family("dill, rigid gears", lambda n: f"dill:{_levels(n // 2)}:driven", "reduce"),
    Family("coil, free rotors", lambda n: f"coil:{n // 2}:driven", "free"),
    Family("dill, free rotors", lambda n: f"dill:{_levels(n // 2)}:driven", "free"),
)


def run(
    largest: Annotated[int, typer.Option("--max", help="Most bodies.", min=4, max=512)] = 256,
    seed: page.Seed = 0,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a plot: .svg or .html.")] = None,
) -> Json:
    """Measure; the number of bodies, rotors included, is doubled from 4 on."""
    require_folder(plot)
    if plot is not None:
        require_plot_name(plot)
    result = header("scaling", seed) | {"largest": largest}
    sizes, search = [2**k for k in range(2, _levels(largest) + 1)], _Run(seed)
    with pinned():
        rows = sorted((row for part in _PARTS for n in sizes for row in search.size(n, part, sizes)), key=_place)
    tell(1.0, "")
    times = {(r["family"], r["bodies"], r["method"], r["kind"]): 1e-6 * r["p50_us"] for r in rows}
    result |= {"rows": rows, "growth": _growth(times), "table_3_1": _table(times), "readings": _readings(times)}
    result["left_out"] = search.left_out
    result["solve_share"] = [{"joints": n, "percent": _solve_share(n, seed)} for n in _SHARE_SIZES if n <= largest]
    if plot is not None:
        write_plot(plot, result)
    return result


class _Run:
    """Case after case; remembers how long cases took, and drops those that would take too long."""

    def __init__(self, seed: int) -> None:
        self.seed, self.start = seed, time.process_time()
        self.spent: dict[tuple[str, str, str], list[float]] = {}
        self.dropped: set[tuple[str, str, str]] = set()
        self.left_out: list[Json] = []

    def size(self, bodies: int, part: Sequence[tuple[str, str]], sizes: Sequence[int]) -> Iterator[Json]:
        """All families of one number of bodies, by some methods."""
        for (method, kind), family in product(part, FAMILIES):
            cell = (family.name, bodies, method, kind)
            if (family.name, method, kind) in self.dropped:
                continue
            share = (_PARTS.index(tuple(part)) + sizes.index(bodies) / len(sizes)) / len(_PARTS)
            tell(share, ", ".join(str(x) for x in cell))
            why = self.reason(family, cell)
            try:
                if not why:
                    yield self.case(_problem(family, bodies, self.seed), cell)
            except ModelError as error:
                why = error.message
            if why:  # larger ones of its kind are left out, too
                self.dropped.add((family.name, method, kind))
                names = {"family": family.name, "from_bodies": bodies, "method": method, "kind": kind}
                self.left_out.append(names | {"why": why})

    def reason(self, family: Family, cell: Cell) -> str:
        """Why a case cannot be done, or not in time; empty if it can."""
        _, bodies, method, kind = cell
        if (method, kind) == _FIRST and bodies >= LOOP_FROM and family.mimic != "reduce":
            return ""  # looped code, which is made at once
        before = self.spent.get((family.name, method, kind), [])
        growth = before[-1] / before[-2] if len(before) > 1 and method != "O(n)" else 2.0
        guess = before[-1] * max(2.0, growth) if before else 0.0
        if guess > _CASE_SECONDS and cell not in TABLE_3_1:
            return f"a case would take more than {_CASE_SECONDS:.0f} s"
        left = _ALL_SECONDS - (time.process_time() - self.start)
        return f"the run would take more than {_ALL_SECONDS:.0f} s" if guess > left or left < 0.0 else ""

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
        return names | {"method": method, "kind": kind, "error": error, "prepare_s": prepared} | times.json()


@dataclass(frozen=True, eq=False)
class _Problem:
    """One state of a tree, and its acceleration by Pinocchio.

    Args:
        robot: Without the coordinates of geared rotors.
        whole: The same robot with them, tied by couplings.
        state: q, v and tau of `robot`.
        expected: (nv,).
        tolerance: Of the acceleration.
    """

    robot: Robot
    whole: Robot
    state: tuple[Array, Array, Array]
    expected: Array
    tolerance: float


def _prepare(problem: _Problem, method: ForwardMethod, kind: str) -> tuple[Callable[[], Any], Callable[[], Array]]:
    """A call to be timed, and one that answers."""
    if method == "aba" and (problem.robot.tree.mimic_source >= 0).any():
        return _prepare_geared(problem, kind)

    def forward(tree: Any, q: Any, v: Any, tau: Any) -> Any:
        return forward_dynamics(tree, q, v, tau, method=method)

    if kind == "base":
        return (lambda: forward(problem.robot.tree, *problem.state),) * 2
    k = compile_robot(problem.robot, functions={"forward": forward})
    out = np.empty(problem.robot.nv)
    call = (k.aba if method == "aba" else k.forward).bind(*problem.state, out)

    def answer() -> Array:
        call()
        return out

    return call, answer


def _prepare_geared(problem: _Problem, kind: str) -> tuple[Callable[[], Any], Callable[[], Array]]:
    """The O(n) recursion in which each link and its rotor are one subsystem (Buschmann 2014, section 3.4.2)."""
    tree, G = problem.robot.tree, _gears(problem.robot)
    leads = np.flatnonzero(tree.mimic_source < 0)
    q, v, tau = problem.state
    forces, out = np.zeros(len(G)), np.empty(len(G))
    forces[leads] = tau[tree.v_index[leads]]
    function = minimal_function(problem.whole)
    if kind == "base":
        return (lambda: function(G @ q, G @ v, forces)[leads],) * 2
    call = compile_robot(problem.whole, functions={"geared": function}).geared.bind(G @ q, G @ v, forces, out)

    def answer() -> Array:
        call()
        return out[leads]

    return call, answer


@lru_cache(maxsize=2 * len(FAMILIES))
def _problem(family: Family, bodies: int, seed: int) -> _Problem:
    """A random state, with the acceleration of the whole tree projected on the coordinates: G a = q̈ of all bodies.

    (Gᵀ M G) a = tau − Gᵀ h, G = ∂(velocities of all joints)/∂v, M and h of the tree with rotors free by Pinocchio.
    """
    rng, name = np.random.default_rng([seed, bodies]), family.robot(bodies)
    robot, whole = load(name, mimic=family.mimic), load(name)
    q, v, tau = rng.uniform(-1.5, 1.5, robot.nq), rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)
    G, data = _gears(robot), whole.model.createData()
    M = G.T @ np.array(pin.crba(whole.model, data, G @ q)) @ G
    a = np.linalg.solve(M, tau - G.T @ pin.nonLinearEffects(whole.model, data, G @ q, G @ v))
    return _Problem(robot, whole, (q, v, tau), a, max(1e-12, 20.0 * float(np.finfo(float).eps * np.linalg.cond(M))))


def _gears(robot: Robot) -> Array:
    """G (bodies, nv): velocity of each joint per velocity; all joints are hinges, without offsets."""
    tree = robot.tree
    G = np.zeros((tree.n, robot.nv))
    for i in range(tree.n):
        source = int(tree.mimic_source[i])
        G[i, tree.v_index[i if source < 0 else source]] = 1.0 if source < 0 else tree.mimic_ratio[i]
    return G


def _solve_share(joints: int, seed: int) -> float:
    """Share of the solution of M a = tau − h in forward dynamics by M and h, compiled, in batches [%]."""
    robot, rng = load(f"coil:{joints}"), np.random.default_rng(seed)
    tree, shapes = robot.tree, dict.fromkeys(("q", "v", "tau"), (joints,))

    def whole(q: Array, v: Array, tau: Array) -> Array:
        return forward_dynamics(tree, q, v, tau, method="crba")

    def assembly(q: Array, v: Array, tau: Array) -> Array:
        return crba(tree, q) @ tau + nonlinear_effects(tree, q, v)  # the product makes one vector of both

    k = compile_robot(robot, functions={"whole": (whole, shapes), "assembly": (assembly, shapes)})
    given = rng.standard_normal((3, 512, joints))
    times = [measure(partial(f, *given), 512, _EFFORT["compiled"]).p5 for f in (k.whole, k.assembly)]
    return 100.0 * (1.0 - times[1] / times[0])


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
        order_n = (cell[0], cell[1], "O(n)", cell[3])
        if cell in times and order_n in times:
            row = dict(zip(("family", "bodies", "method", "kind"), cell, strict=True))
            row |= {"time_us": 1e6 * times[cell], "ratio": times[cell] / times[order_n]}
            rows.append(row | {"source_us": 1e6 * there, "source_ratio": there / TABLE_3_1[order_n]})
    return rows


def _readings(times: Mapping[Cell, float]) -> list[Json]:
    """Statements about two times, and whether they are true here."""
    out = []
    for text, *words, (least, most) in _READINGS:
        above, below = (_cell(*x.split()) for x in words)
        if above in times and below in times:
            source = TABLE_3_1[above] / TABLE_3_1[below] if above in TABLE_3_1 and below in TABLE_3_1 else None
            ratio = times[above] / times[below]
            out.append({"text": text, "ratio": ratio, "source_ratio": source, "holds": bool(least <= ratio <= most)})
    return out


def _cell(family: str, method: str, kind: str = "compiled") -> Cell:
    return family.replace("_", " "), 32, method, kind


def show(result: Json) -> None:
    """Print times, their growth, and what Buschmann 2014 says."""
    print("\nTime of one forward dynamics [µs]; in brackets the exponent of its growth at the end: 1 is linear")
    rows = {(r["family"], r["method"], r["kind"], r["bodies"]): r["p50_us"] for r in result["rows"]}
    growth = {(g["family"], g["method"], g["kind"]): f"({g['exponent']:.2f})" for g in result["growth"]}
    sizes = sorted({bodies for *_, bodies in rows})
    lines = [
        [*key, *(number_text(rows[*key, n]) if (*key, n) in rows else "" for n in sizes), growth.get(key, "")]
        for key in dict.fromkeys(key[:3] for key in rows)
    ]
    print_table(("bodies", "method", "kind", *map(str, sizes), "growth"), lines, left=3)
    if result["table_3_1"]:
        print("\nRelative to O(n): measured here, and in Table 3.1 of Buschmann 2014")
        keys = ("time_us", "ratio", "source_us", "source_ratio")
        cells = [
            [f"{r['family']}, {r['bodies']} bodies", r["method"], r["kind"], *(number_text(r[key]) for key in keys)]
            for r in result["table_3_1"]
        ]
        print_table(("tree", "method", "kind", "µs here", "over O(n)", "µs there", "over O(n) there"), cells, left=3)
    if result["readings"]:
        print()
        cells = [
            [r["text"], number_text(r["ratio"]), number_text(r["source_ratio"]), "yes" if r["holds"] else "no"]
            for r in result["readings"]
        ]
        print_table(("reading (compiled)", "here", "there", "true here"), cells)
    print(
        "\nShare of the linear solve in forward dynamics by CRBA, in batches; Koch 2015: 7.84 % to 66.16 % for 6 to 39"
    )
    print_table(("joints", "share [%]"), [[str(r["joints"]), f"{r['percent']:.0f}"] for r in result["solve_share"]])
    print_lines("left out", [f"{tree}: {methods}: {why}" for tree, methods, why in gather(result["left_out"])])
