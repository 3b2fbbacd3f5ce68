"""Kernels on a GPU, in two halves: `surefoot bench gpu FOLDER` here, `python FOLDER/run.py` on a machine with a GPU.

The folder holds CUDA sources of inverse dynamics (RNEA), forward dynamics (ABA) and mass matrices (CRBA) in both
precisions, random states with Pinocchio's answers, and `run.py`, which needs numpy and CuPy but not surefoot: it
compiles, checks, times, prints a table and writes `result.json`. Mass matrices are packed where states are columns, and
dense where they are rows.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pinocchio as pin
import typer
from numpy.typing import NDArray

import surefoot as sf
from bench import page
from bench.machine import header
from bench.page import Json
from bench.timing import tell
from surefoot import ops
from surefoot.codegen import Program, trace
from surefoot.codegen.cuda import RESULTS, kernel_source, spread_source
from surefoot.dynamics import crba, forward_dynamics, rnea
from surefoot.dynamics.tree import singular_joints
from surefoot.robot import Robot

__all__ = ["run", "show"]

Array = NDArray[Any]
_INPUTS = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau"), "crba": ("q",)}
_FUNCTIONS: dict[str, Any] = {"rnea": rnea, "aba": forward_dynamics, "crba": crba}


def _traced(robot: Robot, algorithm: str) -> Program:
    """The program of an algorithm for a robot."""
    sizes = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "tau": robot.nv}
    inputs = [ops.symbols(name, sizes[name]) for name in _INPUTS[algorithm]]
    return trace(inputs, [_FUNCTIONS[algorithm](robot.tree, *inputs)], interleaved=False)


def _states(robot: Robot, count: int, rng: np.random.Generator) -> dict[str, Array]:
    """Random states, with joint forces that keep accelerations ordinary."""
    model, data = robot.model, robot.model.createData()
    start = pin.neutral(model)
    q = np.array([pin.integrate(model, start, x) for x in rng.uniform(-3.0, 3.0, (count, robot.nv))])
    v, a = rng.standard_normal((2, count, robot.nv))
    tau = np.array([pin.rnea(model, data, *x) for x in zip(q, v, 3.0 * a, strict=True)])
    return {"q": q, "v": v, "a": 3.0 * a, "tau": tau + rng.standard_normal(tau.shape)}


def _mass_matrices(robot: Robot, q: Array) -> Array:
    """Pinocchio's (n, nv, nv), of which it computes the upper triangle."""
    data = robot.model.createData()
    upper = np.array([np.triu(pin.crba(robot.model, data, x)) for x in q])
    return upper + np.triu(upper, 1).transpose(0, 2, 1)


def _answers(robot: Robot, given: dict[str, Array]) -> dict[str, Array]:
    """Pinocchio's answers; the condition of M says how exact accelerations can be."""
    model, data = robot.model, robot.model.createData()
    q, v, a, tau = (given[name] for name in ("q", "v", "a", "tau"))
    M = _mass_matrices(robot, q)
    return {
        "rnea_out": np.array([pin.rnea(model, data, *x) for x in zip(q, v, a, strict=True)]),
        "aba_out": np.array([pin.aba(model, data, *x) for x in zip(q, v, tau, strict=True)]),
        "crba_out": M.reshape(len(M), -1),
        "condition": np.linalg.cond(M),
    }


def _kernel(robot: Robot, algorithm: str, bits: int, program: Program, folder: Path) -> dict[str, Any]:
    """Write the sources of one kernel; what the runner must know of it."""
    name = f"{algorithm}{bits}_{robot.name}".replace("-", "_")
    layout = list(program.layout[0])
    wide = len(layout) > RESULTS
    sources = [kernel_source(program.packed if wide else program, bits, name)]
    if wide:
        sources.append(spread_source(program, bits, f"{name}_spread"))
    for source in sources:
        (folder / f"{source.name}.cu").write_text(source.text, encoding="utf-8")
    return {
        "robot": robot.name, "algorithm": algorithm, "bits": bits, "inputs": _INPUTS[algorithm],
        "operations": program.operations, "entries": len(layout),
        "packed": [layout.index(slot) for slot in range(len(program.slots))],
        "kernels": [
            {"name": x.name, "threads": x.threads, "states": x.states, "shared_bytes": x.shared_bytes} for x in sources
        ],
    }  # fmt: skip


def run(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write sources, answers and the runner.")],
    robots: page.Robots = "g1,talos",
    states: Annotated[int, typer.Option(help="Reference states per robot.", min=6)] = 1024,
) -> Json:
    """Fill the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    names, kernels = page.named(robots, "robot", "--robots g1,talos"), []
    for k, name in enumerate(names):
        tell(k / len(names), name)
        robot = sf.load(name)
        algorithms = [x for x in _INPUTS if x != "aba" or not singular_joints(robot.tree)]
        programs = {x: _traced(robot, x) for x in algorithms}
        kernels += [_kernel(robot, x, bits, programs[x], folder) for x in algorithms for bits in (32, 64)]
        given = _states(robot, states, np.random.default_rng(0))
        np.savez(folder / f"{robot.name}.npz", allow_pickle=False, **given, **_answers(robot, given))
    text = json.dumps({"surefoot": sf.__version__, "cases": kernels}, indent=1)
    (folder / "cases.json").write_text(text, encoding="utf-8")
    shutil.copy(Path(__file__).parents[1] / "peers" / "gpu_run.py", folder / "run.py")
    return header("gpu", 0) | {"folder": str(folder), "kernels": kernels}


def show(result: Json) -> None:
    """Print what to do next."""
    print(f"{len(result['kernels'])} kernels; now: python {result['folder']}/run.py")
