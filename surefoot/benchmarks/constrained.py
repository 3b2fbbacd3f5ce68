"""`surefoot bench constrained`: robots on their feet, side by side with Pinocchio's `constraintDynamics`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks.check import require_right
from surefoot.benchmarks.machine import header
from surefoot.benchmarks.pinocchio_constraints import PinocchioConstraints
from surefoot.benchmarks.states import States, random_states
from surefoot.benchmarks.timing import Effort, Progress, measure, pinned, silent
from surefoot.compiler import compile_robot
from surefoot.dynamics.constrained_forward import anchor_values
from surefoot.dynamics.constraints import Constraints, constraints_of, contact
from surefoot.errors import ModelError
from surefoot.robot import Robot
from surefoot.robot.load import load

__all__ = ["ConstrainedBench", "run_constrained"]

Array = NDArray[np.float64]
Json = dict[str, Any]
_TOLERANCE = 1e-9
_QUICK = Effort(repeats=3, seconds=0.02, passes=3)


@dataclass(frozen=True)
class ConstrainedBench:
    """What to measure.

    Args:
        robots: Names of the zoo or files; they are held by all their contact surfaces.
        states: States of a batch.
        seed: Of the states.
        quick: Measure for a short time.
        progress: progress(share done, what is next).
    """

    robots: Sequence[str] = ("talos", "g1", "anymal")
    states: int = 1024
    seed: int = 0
    quick: bool = False
    progress: Progress = field(default_factory=lambda: silent)


def run_constrained(bench: ConstrainedBench) -> Json:
    """Measure; the result as plain data.

    Args:
        bench: What to measure.

    Raises:
        WrongAnswerError: A kernel computes something else than Pinocchio.
    """
    result: Json = header("constrained", bench.seed) | {"states": bench.states, "quick": bench.quick, "robots": {}}
    for number, name in enumerate(bench.robots):
        bench.progress(number / len(bench.robots), name)
        result["robots"][name] = _robot(load(name), bench)
    bench.progress(1.0, "")
    return result


def _robot(robot: Robot, bench: ConstrainedBench) -> Json:
    """Accelerations and derivatives of one robot, both sides on the same states."""
    if not robot.contacts:
        raise ModelError(f"`{robot.name}` has no contact surfaces by which it could be held")
    kinds = {name: "point" if surface.kind == "point" else "flat" for name, surface in robot.contacts.items()}
    held = constraints_of(robot, [contact(robot, robot.neutral, name, kind) for name, kind in kinds.items()])
    kernels = compile_robot(robot)
    states = _held_states(robot, held, random_states(robot, bench.states, np.random.default_rng(bench.seed)))
    arguments = (states.q, states.v, states.tau, np.tile(anchor_values(held), (len(states), 1, 1, 1)))
    peer = PinocchioConstraints(robot, kinds)
    effort = _QUICK if bench.quick else Effort()
    rows = {}
    with pinned():
        for what in ("constrained", "constrained_derivatives"):
            kernel = kernels.constrained_kernel(held, what=what)
            ours, theirs = kernel(*arguments), peer.answers(what, states)
            error = require_right(f"{robot.name} {what}", ours[: len(theirs)], theirs, np.full(len(states), _TOLERANCE))
            rows[what] = {"error": error} | _times(kernel, arguments, peer.one_pass(what, states), effort)
    return {"nv": robot.nv, "contacts": kinds, "rows": len(held.rows), "cases": rows, "peer": peer.describe}


def _times(kernel: Any, arguments: Sequence[Array], peer_pass: Callable[[], Any], effort: Effort) -> Json:
    """Pinocchio before and after ours, so that a change of the machine shows."""
    n = len(arguments[0])
    before = measure(peer_pass, n, effort)
    batch = measure(lambda: kernel(*arguments), n, effort)
    ones = [tuple(np.ascontiguousarray(x[i]) for x in arguments) for i in range(min(n, 64))]
    single = measure(lambda: [kernel(*one) for one in ones], len(ones), effort)
    after = measure(peer_pass, n, effort)
    fastest = min(before.p50, after.p50)
    return {
        "pinocchio": before.json(), "pinocchio_after": after.json(),
        "single": single.json() | {"ratio": fastest / single.p50},
        "batch": batch.json() | {"ratio": fastest / batch.p50},
    }  # fmt: skip


def _held_states(robot: Robot, held: Constraints, states: States) -> States:
    """The same states, with velocities that keep the contacts where they are."""
    J = np.array([held.jacobian(robot.tree, q) for q in states.q])
    v = states.v - np.einsum("nij,nj->ni", np.linalg.pinv(J), np.einsum("nij,nj->ni", J, states.v))
    return States(states.q, v, states.a, states.tau)
