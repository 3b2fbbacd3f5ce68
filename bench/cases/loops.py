"""O(n) with closed chains against the open chain of as many bodies, and against Pinocchio.

Two mechanisms, after Buschmann 2014, Fig. 3.12: the driven coil, with a geared rotor on every body, and a chain of
four-bar linkages, each on the coupler of the one before. Pinocchio's `constraintDynamics` takes the linkages; it has no
constraint for gears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from bench import page
from bench.check import require_right
from bench.machine import header
from bench.page import Json, number_text, print_table
from bench.peers import PinocchioConstraints
from bench.timing import QUICK, Effort, Times, measure, pinned, tell
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.dynamics import close, own_constraints, project_velocity
from surefoot.dynamics.constraints import constrained_equations
from surefoot.dynamics.loops import gear_matrix, loop_graph, minimal_function
from surefoot.kinematics import integrate
from surefoot.robot import Drive, Joint, Link, Loop, Robot, load, placement
from surefoot.spatial import so3

__all__ = ["linkage_chain", "run", "show"]

Array = NDArray[np.float64]
State = tuple[Array, Array, Array]
_CLOSED = 16  # different closed states; a batch repeats them
_TOLERANCE = 1e-9  # of Pinocchio's solution
_WAYS = ("single", "batch")


def run(
    largest: Annotated[int, typer.Option("--max", help="Most bodies.", min=8, max=128)] = 32,
    states: page.States = 1024,
    seed: page.Seed = 0,
    quick: page.Quick = False,
) -> Json:
    """Measure; the number of bodies, rotors included, is doubled from 8 on."""
    result = header("loops", seed) | {"states": states, "quick": quick, "rows": []}
    cases = [(family, 2**k) for family in _FAMILIES for k in range(3, largest.bit_length())]
    with pinned():
        for number, (family, n) in enumerate(cases):
            tell(number / len(cases), f"{family}, {n} bodies")
            result["rows"].append(_row(family, n, states, seed, QUICK if quick else Effort()))
    tell(1.0, "")
    return result


def linkage_chain(linkages: int) -> Robot:
    """Four-bar linkages, each on the coupler of the one before; 1 m long in all, of 1 kg/m. One dof each.

    The coupler hangs on the crank by a cardan joint, so that its tip meets the rocker's in three directions, none of
    them redundant.
    """
    links, loops, parent = [Link("ground")], [], "ground"
    size = 1.0 / linkages
    home: dict[str, float] = {}
    for k in range(linkages):
        on = placement((0.3 * size if k else 0.0, 0.0, 0.0), so3.exp([0.4, 0.0, 0.0]))
        far = on.copy()
        far[:3, 3] += on[:3, :3] @ [0.7 * size, 0.0, 0.0]
        cardan = Joint(f"cardan{k}", "universal", placement((0.3 * size, 0.0, 0.0)), (0, 1, 0), (0, 0, 1))
        links += [
            _bar(f"crank{k}", parent, Joint(f"crank_joint{k}", "revolute", on, axis=(0, 1, 0)), 0.3 * size),
            _bar(f"coupler{k}", f"crank{k}", cardan, 0.8 * size),
            _bar(f"rocker{k}", parent, Joint(f"rocker_joint{k}", "revolute", far, axis=(0, 1, 0)), 0.6 * size),
        ]
        ends = placement((0.8 * size, 0.0, 0.0)), placement((0.6 * size, 0.0, 0.0))
        loops.append(Loop(f"linkage{k}", f"coupler{k}", f"rocker{k}", *ends, (True,) * 3 + (False,) * 3))
        home |= {f"crank_joint{k}": -1.2, f"cardan{k}_1": 0.9, f"rocker_joint{k}": -1.7}
        parent = f"coupler{k}"
    drives = tuple(Drive(f"crank_joint{k}") for k in range(linkages))
    robot = Robot.from_tree(f"linkages-{linkages}", links, "fixed", loops=tuple(loops), drives=drives, home=home)
    return robot.replace(home=close(robot, None, robot.home))


def _bar(name: str, parent: str, joint: Joint, length: float) -> Link:
    """A slender bar along x, of 1 kg/m."""
    across = length**3 / 12.0
    inertia = np.diag([0.01 * across, across, across])
    return Link(name, parent, joint, mass=length, com=np.array([0.5 * length, 0.0, 0.0]), inertia=inertia)


_FAMILIES: dict[str, Callable[[int], Robot]] = {
    "driven coil": lambda n: load(f"coil:{n // 2}:driven"),
    "linkages": lambda n: linkage_chain(n // 4),  # of crank, cross of the cardan joint, coupler and rocker
}


def _row(family: str, bodies: int, states: int, seed: int, effort: Effort) -> Json:
    """One mechanism: ours, the open chain of as many bodies, and Pinocchio where it can."""
    robot, chain, what = _FAMILIES[family](bodies), load(f"coil:{bodies}"), f"{family}, {bodies} bodies"
    kernel = compile_robot(robot, functions={"loops": minimal_function(robot)}).loops
    some = _closed_states(robot, states, seed)
    error = require_right(what, [kernel(*some)], [_projected(robot, some)], _TOLERANCE)
    q, v, tau = (np.resize(x, (states, x.shape[1])) for x in some)
    a, b, c = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, states, chain.nv))
    times, open_times = _times((kernel, (q, v, tau)), (compile_robot(chain).aba, (a, b, c)), effort)
    row: Json = {"family": family, "bodies": bodies, "dofs": len(loop_graph(robot).independent), "error": error}
    row |= {"loops": times, "chain": open_times}
    row |= {f"{way}_over_chain": times[way]["p50_us"] / open_times[way]["p50_us"] for way in _WAYS}
    if robot.couplings:
        return row
    peer, rows = PinocchioConstraints(robot).accelerate, list(zip(*some, strict=True))
    require_right(f"{what}, Pinocchio", [np.array([peer(*x) for x in rows])], [kernel(*some)], _TOLERANCE)
    found = measure(lambda: [peer(*x) for x in rows], len(rows), effort)
    return row | {"pinocchio": found.json()} | {f"{way}_ratio": 1e6 * found.p50 / times[way]["p50_us"] for way in _WAYS}


def _times(ours: tuple[Kernel, State], theirs: tuple[Kernel, State], effort: Effort) -> tuple[Json, Json]:
    """One state a call, and a batch in rows, on one core; in turn, the faster of two measurements of each."""
    found: dict[tuple[int, str], list[Times]] = {}
    for _ in range(2):
        for side, (kernel, states) in enumerate((ours, theirs)):
            for way, (one_pass, count) in zip(_WAYS, _passes(kernel, states), strict=True):
                found.setdefault((side, way), []).append(measure(one_pass, count, effort))
    best = {key: min(times, key=lambda x: x.p50).json() for key, times in found.items()}
    return {way: best[0, way] for way in _WAYS}, {way: best[1, way] for way in _WAYS}


def _passes(kernel: Kernel, states: State) -> Iterator[tuple[Callable[[], Any], int]]:
    """What is timed, and how many states it takes."""
    out = np.empty((len(states[0]), states[1].shape[1]))
    ones = [tuple(np.ascontiguousarray(x[i]) for x in states) for i in range(min(len(out), 64))]
    yield lambda: [kernel(*one) for one in ones], len(ones)
    yield lambda: kernel(*states, out=out), len(out)


def _closed_states(robot: Robot, states: int, seed: int) -> State:
    """Closed configurations near home, velocities that keep them closed, and joint forces."""
    rng, rows = np.random.default_rng([seed, robot.nv]), []
    for _ in range(min(states, _CLOSED)):
        q = close(robot, None, integrate(robot.tree, np.array(robot.home), rng.uniform(-0.2, 0.2, robot.nv)))
        v = project_velocity(robot, None, q, rng.standard_normal(robot.nv), weighted=False)
        rows.append((q, v, rng.standard_normal(robot.nv)))
    q, v, tau = (np.array(column) for column in zip(*rows, strict=True))
    return q, v, tau


def _projected(robot: Robot, states: State) -> Array:
    """The equations of the whole tree on a basis of the motions that the loops allow."""
    held, rows = own_constraints(robot), []
    for q, v, tau in zip(*states, strict=True):
        M, force, J, drift = constrained_equations(robot.tree, held, q, v, tau)
        N, bound = _allowed(robot, J), -np.linalg.lstsq(J, drift, rcond=None)[0]
        rows.append(bound + N @ np.linalg.solve(N.T @ M @ N, N.T @ (force - M @ bound)))
    return np.array(rows)


def _allowed(robot: Robot, J: Array) -> Array:
    """Columns that span the null space of J; for gears, of their ratios."""
    if robot.couplings:
        graph = loop_graph(robot)
        gears = [gear for item in graph.subsystems for gear in item.gears]
        return gear_matrix(robot.tree, gears)[:, list(graph.independent)]
    _, values, directions = np.linalg.svd(J)
    return directions[len(values) :].T


def show(result: Json) -> None:
    """Print one table."""
    print("\nForward dynamics of closed chains in minimal coordinates [µs per state], one core")
    heads = ("mechanism", "bodies", "dofs", "single", "batch", "open chain, single", "batch", "over chain, single",
             "batch", "Pinocchio", "× single", "× batch", "error")  # fmt: skip
    print_table(heads, map(_cells, result["rows"]))
    print("open chain: compiled O(n) of coil(bodies); Pinocchio: constraintDynamics, one state a call")


def _cells(row: Json) -> list[str]:
    numbers = [row[kind][way]["p50_us"] for kind in ("loops", "chain") for way in _WAYS]
    numbers += [row[f"{way}_over_chain"] for way in _WAYS]
    numbers += [row.get("pinocchio", {}).get("p50_us"), row.get("single_ratio"), row.get("batch_ratio")]
    first = [row["family"], str(row["bodies"]), str(row["dofs"])]
    return [*first, *map(number_text, numbers), f"{row['error']:.1e}"]
