"""Our solver beside Crocoddyl on the walk of its biped example, judged by Crocoddyl's cost and defects."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.cases.ocp_walk import crocoddyl_motion, walk_problem
from bench.page import Json, print_table
from bench.peers import run_outside
from bench.timing import tell
from surefoot.errors import NotSupportedError
from surefoot.ocp import SolverOptions
from surefoot.robot import Robot, load
from surefoot.solvers.staged import solve_staged

__all__ = ["compare_walks", "same_robot", "show_walks"]

ROBOTS = ("talos_legs", "talos")
_TOLERANCE, _BARRIER, _SECONDS = 1e-4, 1e-4, 600.0


def compare_walks(peers: Path, repeats: int) -> list[Json]:
    """Solve the walks of both robots with Crocoddyl and with ours.

    Args:
        peers: Folder with the environment `croc` (scripts/make_ocp_peers.sh).
        repeats: Solves of which the fastest counts.
    """
    python = peers / "croc" / "bin" / "python"
    if not python.exists():
        raise NotSupportedError(f"`{python}` does not exist", next_step="run scripts/make_ocp_peers.sh")
    rows = []
    for number, name in enumerate(ROBOTS):
        tell(0.1 + 0.4 * number, f"walk of {name}")
        with tempfile.TemporaryDirectory() as folder:
            rows += _walk(name, python, Path(folder), repeats)
    return rows


def _walk(name: str, python: Path, folder: Path, repeats: int) -> list[Json]:
    (folder / "job.json").write_text(json.dumps({"robot": name, "repeats": repeats}))
    theirs = _outside(python, folder)
    robot = load(name)
    if list(robot.joint_names) != theirs["joints"]:
        raise NotSupportedError(f"`{name}` has other joints there", evidence={"joints": theirs["joints"]})
    problem, options = walk_problem(same_robot(robot, theirs)), SolverOptions(tolerance=_TOLERANCE, barrier=_BARRIER)
    found = problem.solve(options=options, gauss_newton=True)  # as theirs
    if not found.success:
        raise NotSupportedError(f"the walk of `{name}` was not solved")
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        solve_staged(found.transcription.program, options=options)
        seconds.append(time.process_time() - begin)
    xs, us = crocoddyl_motion(found)
    np.savez(folder / "motion.npz", xs=xs, us=us)
    judged = _outside(python, folder)["judged"]
    own = {"seconds": min(seconds), "iterations": found.iterations, "own_cost": found.objective} | judged
    return [
        {"name": f"surefoot, {name}"} | own,
        {"name": f"Crocoddyl {theirs['version']}, {name}", "seconds": theirs["seconds"], "own_cost": theirs["cost"]}
        | {"iterations": theirs["iterations"]}
        | theirs["judged"],
    ]


def same_robot(robot: Robot, theirs: Json) -> Robot:
    """Our robot with the numbers of the peer's: its URDF has other rotors and feet, and its joints have no dampers.

    Args:
        robot: With the same joints.
        theirs: First posture, armature, masses, centres of mass, inertias and placements.
    """
    parts: Json = {name: np.array(theirs[name]) for name in ("armature", "masses", "coms", "inertias", "placements")}
    model = robot.model.copy()
    model.damping[:] = 0.0
    return robot.replace(home=np.array(theirs["q0"]), tree=replace(robot.tree, **parts), model=model)


def _outside(python: Path, folder: Path) -> Json:
    run_outside(python, "Crocoddyl", folder, ("crocoddyl_script.py",), _SECONDS)
    found: Json = json.loads((folder / "answer.json").read_text())
    return found


def show_walks(rows: list[Json]) -> None:
    """One line for each solver and robot."""
    print("walk of Crocoddyl's biped example, 75 intervals; cost and defects as Crocoddyl computes them")
    table = [
        (
            row["name"],
            str(row["iterations"]),
            f"{row['seconds']:.3f}",
            f"{1e3 * row['seconds'] / row['iterations']:.1f}",
            *(f"{row[key]:.0f}" for key in ("own_cost", "cost")),
            *(f"{row[key]:.2f}" for key in ("velocity_defect", "torque_share")),
        )
        for row in rows
    ]
    head = ("solver", "iterations", "CPU s", "ms/iteration", "own cost", "judged cost", "defect [1/s]", "torque/limit")
    print_table(head, table)
