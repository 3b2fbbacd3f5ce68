"""Robots on their feet, side by side with Pinocchio's `constraintDynamics`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import page
from bench.check import random_states, require_right
from bench.machine import header
from bench.page import Json, print_lines, print_table, times_text
from bench.peers import PinocchioConstraints
from bench.timing import QUICK, Effort, measure, pinned, tell
from surefoot.compiler import compile_robot
from surefoot.dynamics import constraints_of, contact
from surefoot.dynamics.methods import anchor_values
from surefoot.errors import ModelError
from surefoot.robot import Robot, load
from surefoot.words import counted

__all__ = ["run", "show"]

Array = NDArray[np.float64]
_TOLERANCE = 1e-9
_TITLES = {"constrained": "accelerations and contact forces", "constrained_derivatives": "their derivatives"}
_WAYS = {
    "pinocchio": "Pinocchio, before", "pinocchio_after": "Pinocchio, after", "single": "surefoot, one state per call",
    "batch": "surefoot, batch",
}  # fmt: skip


def run(
    robots: page.Robots = "talos,g1,anymal",
    states: page.States = 1024,
    seed: page.Seed = 0,
    quick: page.Quick = False,
) -> Json:
    """Measure; robots are held by all their contact surfaces."""
    names = page.named(robots, "robot", "--robots talos,g1")
    result: Json = header("constrained", seed) | {"states": states, "quick": quick, "robots": {}}
    for number, name in enumerate(names):
        tell(number / len(names), name)
        result["robots"][name] = _robot(load(name), states, seed, QUICK if quick else Effort())
    tell(1.0, "")
    return result


def _robot(robot: Robot, count: int, seed: int, effort: Effort) -> Json:
    """Accelerations and derivatives of one robot, both sides on the same states, contacts at rest."""
    if not robot.contacts:
        raise ModelError(f"`{robot.name}` has no contact surfaces by which it could be held")
    kinds = {name: "point" if surface.kind == "point" else "flat" for name, surface in robot.contacts.items()}
    held = constraints_of(robot, [contact(robot, robot.neutral, name, kind) for name, kind in kinds.items()])
    free = random_states(robot, count, np.random.default_rng(seed))
    J = np.array([held.jacobian(robot.tree, q) for q in free.q])
    v = free.v - np.einsum("nij,nj->ni", np.linalg.pinv(J), np.einsum("nij,nj->ni", J, free.v))
    arguments = (free.q, v, free.tau, np.tile(anchor_values(held), (count, 1, 1, 1)))
    rows, peer = list(zip(free.q, v, free.tau, strict=True)), PinocchioConstraints(robot, kinds)
    kernels = compile_robot(robot)
    cases = {}
    with pinned():
        for what in _TITLES:
            call: Callable[..., Any] = peer.accelerate if what == "constrained" else peer.differentiate
            kernel, answers = kernels.constrained_kernel(held, what=what), [_copies(call(*row)) for row in rows]
            theirs = [np.array(column) for column in zip(*answers, strict=True)]
            error = require_right(f"{robot.name} {what}", kernel(*arguments)[: len(theirs)], theirs, _TOLERANCE)
            cases[what] = {"error": error} | _times(kernel, arguments, lambda: [call(*row) for row in rows], effort)  # noqa: B023
    return {"nv": robot.nv, "contacts": kinds, "rows": len(held.rows), "cases": cases, "peer": peer.describe}


def _copies(found: Any) -> list[Array]:
    return [np.array(x) for x in (found if isinstance(found, tuple) else (found,))]


def _times(kernel: Any, arguments: Sequence[Array], peer_pass: Callable[[], Any], effort: Effort) -> Json:
    """Pinocchio before and after ours, so that a change of the machine shows."""
    n = len(arguments[0])
    ones = [tuple(np.ascontiguousarray(x[i]) for x in arguments) for i in range(min(n, 64))]
    before = measure(peer_pass, n, effort)
    batch = measure(lambda: kernel(*arguments), n, effort)
    single = measure(lambda: [kernel(*one) for one in ones], len(ones), effort)
    after = measure(peer_pass, n, effort)
    fastest = min(before.p50, after.p50)
    ours = {"single": single, "batch": batch}
    return {"pinocchio": before.json(), "pinocchio_after": after.json()} | {
        way: times.json() | {"ratio": fastest / times.p50} for way, times in ours.items()
    }


def show(result: Json) -> None:
    """Print a table for each robot."""
    for name, robot in result["robots"].items():
        held = ", ".join(f"{contact} ({kind})" for contact, kind in robot["contacts"].items())
        print(f"\n{name}: nv {robot['nv']}, held by {held}: {counted(robot['rows'], 'row')}")
        print_table(("µs per state", "p5", "p50", "p95", "× Pinocchio", "error"), _rows(robot))
    print_lines("what is compared", [f"Pinocchio: {next(iter(result['robots'].values()))['peer']}"])


def _rows(robot: Json) -> Iterator[list[str]]:
    for what, case in robot["cases"].items():
        yield [_TITLES[what], "", "", "", "", f"{case['error']:.1e}"]
        yield from ([f"  {title}", *times_text(case[way], "ratio")] for way, title in _WAYS.items())
