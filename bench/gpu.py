"""Kernels on a GPU, in two halves.

    python bench/gpu.py prepare FOLDER [--robots g1,talos]     # here: sources, reference answers, a runner
    python FOLDER/run.py                                       # on a machine with a GPU, numpy and CuPy; no surefoot

The folder holds CUDA sources of inverse dynamics (RNEA), forward dynamics (ABA) and mass matrices (CRBA) in both
precisions, random states with Pinocchio's answers, and `run.py`, which compiles, checks, times, prints a table and
writes `result.json`. Mass matrices are packed where states are columns, and dense where they are rows.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

import surefoot as sf
from surefoot import ops
from surefoot.compiler.cuda_plan import RESULTS
from surefoot.compiler.cuda_spread import spread_source
from surefoot.compiler.cuda_text import kernel_source
from surefoot.compiler.program import Program, trace
from surefoot.dynamics.crba import mass_matrix
from surefoot.dynamics.forward import forward_dynamics, singular_joints
from surefoot.dynamics.rnea import rnea
from surefoot.robot import Robot

INPUTS = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau"), "crba": ("q",)}
FUNCTIONS = {"rnea": rnea, "aba": forward_dynamics, "crba": mass_matrix}


def traced(robot: Robot, algorithm: str) -> Program:
    """The program of an algorithm for a robot."""
    sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    inputs = [ops.symbols(name, sizes[name]) for name in INPUTS[algorithm]]
    return trace(inputs, [FUNCTIONS[algorithm](robot.tree, *inputs)], interleaved=False)


def states(robot: Robot, count: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Random states, with joint forces that keep accelerations ordinary."""
    model, data = robot.model, robot.model.createData()
    start = pin.neutral(model)
    q = np.array([pin.integrate(model, start, x) for x in rng.uniform(-3.0, 3.0, (count, robot.nv))])
    v, a = rng.standard_normal((2, count, robot.nv))
    tau = np.array([pin.rnea(model, data, *x) for x in zip(q, v, 3.0 * a, strict=True)])
    return {"q": q, "v": v, "a": 3.0 * a, "tau": tau + rng.standard_normal(tau.shape)}


def mass_matrices(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Pinocchio's (n, nv, nv), of which it computes the upper triangle."""
    data = robot.model.createData()
    upper = np.array([np.triu(pin.crba(robot.model, data, x)) for x in q])
    return upper + np.triu(upper, 1).transpose(0, 2, 1)


def answers(robot: Robot, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Pinocchio's answers; the condition of M says how exact accelerations can be."""
    model, data = robot.model, robot.model.createData()
    q, v, a, tau = (given[name] for name in ("q", "v", "a", "tau"))
    M = mass_matrices(robot, q)
    return {
        "rnea_out": np.array([pin.rnea(model, data, *x) for x in zip(q, v, a, strict=True)]),
        "aba_out": np.array([pin.aba(model, data, *x) for x in zip(q, v, tau, strict=True)]),
        "crba_out": M.reshape(len(M), -1),
        "condition": np.linalg.cond(M),
    }


def case(robot: Robot, algorithm: str, bits: int, program: Program, folder: Path) -> dict[str, Any]:
    """Write the sources of one kernel; what the runner must know of it."""
    name = f"{algorithm}{bits}_{robot.name}".replace("-", "_")
    layout = list(program.layout[0])
    wide = len(layout) > RESULTS
    sources = [kernel_source(program.packed if wide else program, bits, name)]
    if wide:
        sources.append(spread_source(program, bits, f"{name}_spread"))
    for source in sources:
        (folder / f"{source.name}.cu").write_text(source.text)
    return {
        "robot": robot.name, "algorithm": algorithm, "bits": bits, "inputs": INPUTS[algorithm],
        "operations": program.operations, "entries": len(layout),
        "packed": [layout.index(slot) for slot in range(len(program.slots))],
        "kernels": [
            {"name": x.name, "threads": x.threads, "states": x.states, "shared_bytes": x.shared_bytes} for x in sources
        ],
    }  # fmt: skip


def prepare(folder: Path, names: list[str], count: int) -> None:
    """Fill the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for name in names:
        robot = sf.load(name)
        algorithms = [x for x in INPUTS if x != "aba" or not singular_joints(robot.tree)]
        programs = {x: traced(robot, x) for x in algorithms}
        cases += [case(robot, x, bits, programs[x], folder) for x in algorithms for bits in (32, 64)]
        given = states(robot, count, np.random.default_rng(0))
        np.savez(folder / f"{robot.name}.npz", **given, **answers(robot, given))
    (folder / "cases.json").write_text(json.dumps({"surefoot": sf.__version__, "cases": cases}, indent=1))
    shutil.copy(Path(__file__).with_name("gpu_run.py"), folder / "run.py")
    print(f"{len(cases)} kernels; now: python {folder}/run.py")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["prepare"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--robots", default="g1,talos", help="names, with commas")
    parser.add_argument("--states", type=int, default=1024, help="reference states per robot")
    options = parser.parse_args()
    prepare(options.folder, options.robots.split(","), options.states)


if __name__ == "__main__":
    main()
