"""`surefoot bench loops`: O(n) with closed chains against the open chain of as many bodies, and against Pinocchio.

Two mechanisms, after Buschmann 2014, Fig. 3.12: the driven coil, with a geared rotor on every body, and a chain of
four-bar linkages, each on the coupler of the one before. Pinocchio's `constraintDynamics` takes the linkages; it has no
constraint for gears.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.check import require_right
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.timing import Effort, Progress, Times, measure, pinned, silent
from surefoot.compiler import Kernel, compile_robot
from surefoot.dynamics.constrained_equations import constrained_equations
from surefoot.dynamics.constraint_projection import close, project_velocity
from surefoot.dynamics.constraints import Constraints, Tie, own_constraints
from surefoot.dynamics.loop_graph import gear_matrix, loop_graph
from surefoot.dynamics.minimal_coordinates import minimal_function
from surefoot.errors import ShapeError
from surefoot.kinematics.configuration import integrate
from surefoot.robot import Drive, Joint, Link, Loop, Robot, placement
from surefoot.robot.load import load
from surefoot.spatial import so3

__all__ = ["LoopsBench", "linkage_chain", "run_loops"]

Array = NDArray[np.float64]
Json = dict[str, Any]
State = tuple[Array, Array, Array]
_QUICK = Effort(repeats=3, seconds=0.02, passes=3)
_CLOSED = 16  # different closed states; a batch repeats them
_TOLERANCE = 1e-9  # of Pinocchio's solution
_PER_LINKAGE = 4  # bodies: crank, cross of the cardan joint, coupler, rocker


@dataclass(frozen=True)
class LoopsBench:
    """What to measure.

    Args:
        sizes: Numbers of bodies, rotors included; multiples of four.
        states: States of a batch.
        seed: Of the states.
        quick: Measure for a short time.
        progress: progress(share done, what is next).
    """

    sizes: Sequence[int] = (8, 16, 32)
    states: int = 1024
    seed: int = 0
    quick: bool = False
    progress: Progress = field(default_factory=lambda: silent)


def run_loops(bench: LoopsBench) -> Json:
    """Measure; the result as plain data.

    Args:
        bench: What to measure.

    Raises:
        WrongAnswerError: A kernel computes something else than Pinocchio, or than the projected equations.
    """
    if bench.states < 1 or any(n < _PER_LINKAGE or n % _PER_LINKAGE for n in bench.sizes):
        raise ShapeError(f"{bench.states} states of {list(bench.sizes)} bodies", next_step="give multiples of four")
    result = header("loops", bench.seed) | {"states": bench.states, "quick": bench.quick, "rows": []}
    cases = [(family, n) for family in _FAMILIES for n in bench.sizes]
    with pinned():
        for number, (family, n) in enumerate(cases):
            bench.progress(number / len(cases), f"{family}, {n} bodies")
            result["rows"].append(_row(family, n, bench))
    bench.progress(1.0, "")
    return result


def linkage_chain(linkages: int) -> Robot:
    """Four-bar linkages, each on the coupler of the one before; 1 m long in all, of 1 kg/m. One dof each.

    The coupler hangs on the crank by a cardan joint, so that its tip meets the rocker's in three directions, none of
    them redundant.

    Args:
        linkages: How many.
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


# -- one row ----------------------------------------------------------------------------------------------------------


def _row(family: str, bodies: int, bench: LoopsBench) -> Json:
    """One mechanism: ours, the open chain of as many bodies, and Pinocchio where it can."""
    robot, chain = _FAMILIES[family](bodies), load(f"coil:{bodies}")
    effort = _QUICK if bench.quick else Effort()
    loops = compile_robot(robot, functions={"loops": minimal_function(robot)}).loops
    some = _closed_states(robot, bench)
    what = f"{family}, {bodies} bodies"
    error = require_right(what, [loops(*some)], [_projected(robot, some)], np.full(len(some[0]), _TOLERANCE))
    theirs = compile_robot(chain).aba
    times, open_times = _times((loops, _repeated(some, bench.states)), (theirs, _open_states(chain, bench)), effort)
    row: Json = {"family": family, "bodies": bodies, "dofs": len(loop_graph(robot).independent), "error": error}
    row |= {"loops": times, "chain": open_times} | {
        f"{way}_over_chain": times[way]["p50_us"] / open_times[way]["p50_us"] for way in times
    }
    if robot.couplings:
        return row
    peer = _pinocchio(robot)
    require_right(f"{what}, Pinocchio", [np.array([peer(*s) for s in zip(*some, strict=True)])], [loops(*some)],
                  np.full(len(some[0]), _TOLERANCE))  # fmt: skip
    found = measure(lambda: [peer(*state) for state in zip(*some, strict=True)], len(some[0]), effort)
    return row | {"pinocchio": found.json()} | {f"{way}_ratio": 1e6 * found.p50 / times[way]["p50_us"] for way in times}


_FAMILIES: dict[str, Callable[[int], Robot]] = {
    "driven coil": lambda n: load(f"coil:{n // 2}:driven"),
    "linkages": lambda n: linkage_chain(n // _PER_LINKAGE),
}


def _times(
    ours: tuple[Kernel, State], theirs: tuple[Kernel, State], effort: Effort
) -> tuple[dict[str, Json], dict[str, Json]]:
    """One state a call, and a batch in rows, on one core; in turn, the faster of two measurements of each."""
    found: dict[tuple[int, str], list[Times]] = {}
    for _ in range(2):
        for side, (kernel, states) in enumerate((ours, theirs)):
            for way, (one_pass, count) in _passes(kernel, states).items():
                found.setdefault((side, way), []).append(measure(one_pass, count, effort))
    best = {key: min(times, key=lambda x: x.p50).json() for key, times in found.items()}
    first, second = ({way: best[side, way] for way in ("single", "batch")} for side in (0, 1))
    return first, second


def _passes(kernel: Kernel, states: State) -> dict[str, tuple[Callable[[], Any], int]]:
    """What is timed, and how many states it takes."""
    out = np.empty((len(states[0]), states[1].shape[1]))
    ones = [tuple(np.ascontiguousarray(x[i]) for x in states) for i in range(min(len(out), 64))]
    return {
        "single": (lambda: [kernel(*one) for one in ones], len(ones)),
        "batch": (lambda: kernel(*states, out=out), len(out)),
    }


# -- states and answers -----------------------------------------------------------------------------------------------


def _closed_states(robot: Robot, bench: LoopsBench) -> State:
    """Closed configurations near home, velocities that keep them closed, and joint forces."""
    rng, count = np.random.default_rng([bench.seed, robot.nv]), min(bench.states, _CLOSED)
    rows = []
    for _ in range(count):
        q = close(robot, None, integrate(robot.tree, np.array(robot.home), rng.uniform(-0.2, 0.2, robot.nv)))
        v = project_velocity(robot, None, q, rng.standard_normal(robot.nv), weighted=False)
        rows.append((q, v, rng.standard_normal(robot.nv)))
    q, v, tau = (np.array(column) for column in zip(*rows, strict=True))
    return q, v, tau


def _open_states(robot: Robot, bench: LoopsBench) -> State:
    rng = np.random.default_rng(bench.seed)
    q, v, tau = rng.uniform(-1.0, 1.0, (3, bench.states, robot.nv))
    return q, v, tau


def _repeated(states: State, count: int) -> State:
    q, v, tau = (np.resize(x, (count, x.shape[1])) for x in states)
    return q, v, tau


def _projected(robot: Robot, states: State) -> Array:
    """The equations of the whole tree on a basis of what the loops allow; for gears, of their ratios."""
    held = own_constraints(robot)
    rows = []
    for q, v, tau in zip(*states, strict=True):
        M, force, J, drift = constrained_equations(robot.tree, held, q, v, tau)
        N, bound = _allowed(robot, J), -np.linalg.lstsq(J, drift, rcond=None)[0]
        rows.append(bound + N @ np.linalg.solve(N.T @ M @ N, N.T @ (force - M @ bound)))
    return np.array(rows)


def _allowed(robot: Robot, J: Array) -> Array:
    """Columns that span the null space of J."""
    graph = loop_graph(robot) if robot.couplings else None
    if graph is not None:
        gears = [gear for item in graph.subsystems for gear in item.gears]
        return gear_matrix(robot.tree, gears)[:, list(graph.independent)]
    _, values, directions = np.linalg.svd(J)
    return directions[len(values) :].T


def _pinocchio(robot: Robot) -> Callable[..., Array]:
    """Pinocchio's function of one state; the points of all loops are tied."""
    model, data = robot.model, robot.model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    held: Constraints = own_constraints(robot)
    for part in held.parts:
        if isinstance(part, Tie):
            one, other = part.first, part.second
            models.append(
                pin.RigidConstraintModel(
                    pin.ContactType.CONTACT_3D, model, one.body + 1, pin.SE3(one.R, one.p), other.body + 1,
                    pin.SE3(other.R, other.p), pin.LOCAL,
                )
            )  # fmt: skip
    for item in models:
        datas.append(item.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 0.0, 1)

    def call(q: Array, v: Array, tau: Array) -> Array:
        found: Array = pin.constraintDynamics(model, data, q, v, tau, models, datas, settings)
        return found

    return call
