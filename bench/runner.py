"""The one runner: `surefoot bench NAME [options]`.

A case is a module with `run(…)`, whose parameters are the options of the command and which returns plain data, and
`show(result)`, which prints it. `--json` prints the data instead, `--json FILE` writes it to a file as well.
"""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import typer

from bench.page import File, machine_line, print_table, progress, require_folder, write_json
from surefoot.errors import one_of

__all__ = ["CASES", "main"]

CASES = {
    "dynamics": "Dynamics side by side with Pinocchio, MuJoCo and Drake, answers checked; status 1 if one is wrong.",
    "constrained": "Robots on their feet side by side with Pinocchio's constraint dynamics; status 1 if one is wrong.",
    "scaling": "Forward dynamics of growing trees by O(n), CRBA and Newton-Euler; after Buschmann 2014, Table 3.1.",
    "sim": "Steps of the native engine side by side with MuJoCo and Pinocchio; status 1 if their answers differ.",
    "distance": "Distances of swept volumes against Buschmann 2014, Table 5.1, and coal; status 1 if one is wrong.",
    "predictive": "Predictive inverse kinematics: peaks of the pseudo-energy, times of a cycle; Buschmann 2014, 5.6.",
    "ik": "Inverse kinematics side by side with placo, pink and mink: the same targets, one judge.",
    "hierarchy": "A control loop with ten tasks on three strict levels; status 1 if a priority or a limit is broken.",
    "loops": "Closed chains and gears in O(n), against open chains and Pinocchio; after Buschmann 2014, Fig. 3.12.",
    "audit": "Time of an audit of 10 s at 1 kHz, self-collision included, replay aside.",
    "whole_body": "A tick of whole-body control with six tasks and all limits, side by side with placo and TSID.",
    "push": "The largest push survived without a step, side by side with placo and TSID in the same MuJoCo world.",
    "walking": "Walking references by each method and predictive plans with footsteps, answers checked.",
    "abuse": "A million ticks of absurd states, silent sensors and failing solvers; status 1 if a command is not safe.",
    "stand": "The robots that are promised to stand, each pushed from four sides in MuJoCo.",
    "explain": "Time to explain a conflict of about 500 groups, answers checked first.",
    "ocp": "A squat as an optimal control problem: own solver and kernels beside CasADi with IPOPT and FATROP.",
    "planning": "Stances of a hexapod: checked states beside Pinocchio and coal, planners by scenario and seed.",
    "meshes": "Seven meshes of 150,000 to 700,000 vertices cut into convex pieces; status 1 if a piece is wrong.",
    "gpu": "Sources and reference answers of CUDA kernels in a folder, with a runner for a machine with a GPU.",
}
"""What each case measures."""


def main(words: list[str]) -> int:
    """Run a benchmark; its exit status.

    Args:
        words: Its name and options; without a name all are listed.
    """
    if not words or words[0] in ("-h", "--help"):
        print("usage: surefoot bench NAME [options]; `surefoot bench NAME --help` lists the options\n")
        print_table(("name", "what is measured"), CASES.items(), left=2)
        return 0 if words else 2
    name, *rest = words
    if name not in CASES:
        raise one_of("benchmark", name, CASES)
    module = import_module(f"bench.cases.{name}")
    command = _command(module, name)
    with command.make_context(f"surefoot bench {name}", _with_target(rest)) as context:
        status: int = command.invoke(context)
    return status


def _with_target(words: list[str]) -> list[str]:
    """Words in which `--json` without a file means `-`, standard output."""
    out = []
    for word, after in zip(words, [*words[1:], "--"], strict=True):
        out += [word, "-"] if word == "--json" and after.startswith("--") else [word]
    return out


def _command(module: ModuleType, name: str) -> Any:
    """The command whose options are the parameters of `run`, and `--json [FILE]`."""

    def call(file: Path | None = None, **options: Any) -> int:
        to_stdout = file == Path("-")
        require_folder(None if to_stdout else file)
        with progress():
            result = module.run(**options)
        if to_stdout:
            print(json.dumps(result, indent=1))
            return 0
        write_json(file, result)
        print(machine_line(result))
        module.show(result)
        return 0

    target = inspect.Parameter("file", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=File)
    hints = get_type_hints(module.run, include_extras=True) | {"file": File, "return": int}
    given = [x.replace(annotation=hints[x.name]) for x in inspect.signature(module.run).parameters.values()]
    call.__annotations__ = hints
    call.__signature__ = inspect.Signature([*given, target])  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})
    app.command(help=CASES[name])(call)
    return typer.main.get_command(app)
