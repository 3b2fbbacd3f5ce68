"""A squat as an optimal control problem: our solvers and kernels, beside CasADi's evaluation with IPOPT and FATROP."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from bench.cases.ocp_peers import compare_walks, show_walks
from bench.cases.ocp_squat import Squat
from bench.check import WrongAnswerError
from bench.machine import header
from bench.page import Json, print_table
from bench.timing import tell
from surefoot import ops
from surefoot.robot import load
from surefoot.solvers import on_one_core
from surefoot.solvers.staged import SolverOptions, StagedProblem, solve_staged

__all__ = ["run", "show"]

_TOLERANCE, _SAME_COST = 1e-4, 1e-3
_SOLVERS = ("riccati", "fatrop", "ipopt")

RobotName = Annotated[str, typer.Option(metavar="NAME", help="A robot with flat feet.")]
Nodes = Annotated[int, typer.Option(help="Nodes of the horizon.", min=2)]
Repeats = Annotated[int, typer.Option(help="Solves of which the fastest counts.", min=1)]
WithCasadi = Annotated[bool, typer.Option(help="Also solve with CasADi's own evaluation, which takes a minute.")]


Peers = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Environment of Crocoddyl (scripts/make_ocp_peers.sh).")
]


def run(
    robot: RobotName = "talos",
    nodes: Nodes = 30,
    repeats: Repeats = 5,
    casadi: WithCasadi = True,
    peers: Peers = None,
) -> Json:
    """Solve the same program in all ways; status 1 if the optima differ. With peers, also the walk of Crocoddyl."""
    tell(0.0, "kernels")
    squat = Squat(load(robot), nodes)
    problem = squat.problem()
    result: Json = header("ocp", 0) | {"robot": robot, "nodes": nodes, "variables": problem.sizes.variables, "rows": []}
    for number, solver in enumerate(_SOLVERS):
        tell(0.3 + 0.1 * number, solver)
        result["rows"].append(_ours(problem, solver, repeats if solver == "riccati" else min(repeats, 2)))
    for plugin in ("fatrop", "ipopt") if casadi else ():
        tell(0.7, f"CasADi with {plugin}")
        result["rows"].append(_casadi(squat, problem, plugin))
    tell(1.0, "")
    costs = [row["cost"] for row in result["rows"]]
    if max(costs) - min(costs) > _SAME_COST * abs(min(costs)) or not all(row["success"] for row in result["rows"]):
        raise WrongAnswerError("solvers do not agree", evidence={row["name"]: row["cost"] for row in result["rows"]})
    if peers is not None:
        result["walks"] = compare_walks(peers, repeats)
    return result


def _row(name: str, solves: list[tuple[float, Any]], read: Callable[[Any], Json]) -> Json:
    """CPU seconds of the fastest solve."""
    seconds, found = min(solves, key=lambda pair: pair[0])
    row = read(found)
    return {"name": name, "seconds": seconds, "ms_per_iteration": 1e3 * seconds / max(1, row["iterations"])} | row


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    found = call()
    return time.process_time() - begin, found


def _ours(problem: StagedProblem, solver: str, repeats: int) -> Json:
    options = SolverOptions(tolerance=_TOLERANCE)
    solves = [_timed(lambda: solve_staged(problem, solver, options)) for _ in range(repeats)]

    def read(found: Any) -> Json:
        share = found.seconds.evaluation / found.seconds.total
        return {
            "success": found.success, "iterations": found.iterations, "cost": found.cost, "evaluation_share": share,
            "kkt_residual": found.kkt_residual,
        }  # fmt: skip

    return _row(f"surefoot, {solver}", solves, read)


def _casadi(squat: Squat, problem: StagedProblem, plugin: str) -> Json:
    """The same program with stage functions that CasADi evaluates and differentiates."""
    import casadi

    n, N = squat.n, squat.nodes
    x, u, height = ops.symbols("x", 2 * n), ops.symbols("u", n + squat.wrenches), ops.symbols("h", 1)
    stage = ops.function("stage", [x, u, height], list(squat.terms(x, u, height)))
    cost, g, w = 0.0, [], []
    low, high = [], []
    X = casadi.MX.sym("x0", 2 * n)
    for k in range(N):
        U = casadi.MX.sym(f"u{k}", n + squat.wrenches)
        w += [X, U]
        f, equations = stage(X, U, squat.heights[k])
        cost += f
        after = casadi.MX.sym(f"x{k + 1}", 2 * n)
        g += [after - casadi.mtimes(casadi.DM(squat.step), casadi.vertcat(X, U)), equations]
        g += [casadi.mtimes(casadi.DM(squat.cone), U[n:])]
        if k == 0 and plugin == "fatrop":  # which takes no bounds that fix
            g += [X - casadi.DM(squat.start)]
        rows = [np.zeros(2 * n + squat.equations), np.zeros(len(squat.cone)), np.zeros(0)]
        first = np.zeros(2 * n if k == 0 and plugin == "fatrop" else 0)
        low += [rows[0], rows[1], first]
        high += [rows[0], np.full(len(squat.cone), np.inf), first]
        X = after
    nlp = {"x": casadi.vertcat(*w, X), "f": cost, "g": casadi.vertcat(*g)}
    lower, upper = np.concatenate(low), np.concatenate(high)
    options: Json = {"print_time": False}
    bounds: Json = {}
    if plugin == "ipopt":
        options["ipopt"] = {"tol": _TOLERANCE, "print_level": 0, "sb": "yes"}
        bounds = {"lbx": problem.lower, "ubx": problem.upper}
    else:
        equality = (lower == upper).tolist()
        options |= {"structure_detection": "auto", "equality": equality}
        options["fatrop"] = {"tol": _TOLERANCE, "print_level": 0}
    solver = casadi.nlpsol("squat", plugin, nlp, options)
    with on_one_core():
        solves = [_timed(lambda: solver(x0=problem.w0, lbg=lower, ubg=upper, **bounds))]
    statistics = solver.stats()

    def read(found: Any) -> Json:
        count = statistics.get("iter_count") or statistics.get("fatrop", {}).get("iterations_count", 0)
        return {"success": bool(statistics["success"]), "iterations": int(count), "cost": float(found["f"])}

    return _row(f"CasADi, {plugin}", solves, read)


def show(result: Json) -> None:
    """One line for each solver; ratios against ours."""
    first = result["rows"][0]["seconds"]
    print(
        f"squat of {result['robot']}, {result['nodes']} nodes, {result['variables']} variables, tolerance {_TOLERANCE}"
    )
    rows = [
        (
            row["name"], str(row["iterations"]), f"{row['seconds']:.3f}", f"{row['ms_per_iteration']:.1f}",
            f"{100 * row['evaluation_share']:.0f} %" if "evaluation_share" in row else "–", f"{row['cost']:.5f}",
            f"{row['seconds'] / first:.1f}",
        )
        for row in result["rows"]
    ]  # fmt: skip
    print_table(("solver", "iterations", "CPU s", "ms/iteration", "evaluation", "cost", "ratio"), rows)
    if "walks" in result:
        show_walks(result["walks"])
