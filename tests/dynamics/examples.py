"""Robots and helpers that the tests of this room share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion.bodies import bodies
from surefoot.ops import Symbol
from surefoot.robot import Joint, Link, Robot
from surefoot.robot.model.tree import Tree
from tests.kinematics.examples import (
    KINDS,
    assert_same,
    followers,
    full_configuration,
    moved,
    robot_named,
    state,
    widened,
)
from tests.sim.examples import solid, turned


@lru_cache(maxsize=4)
def armed(base: str = "floating") -> Robot:
    """A branched robot with joints of every kind, skew axes and placements, and drives with inertia."""
    rng = np.random.default_rng(11)
    links = [Link("base", **solid(rng, 4.0))]
    for k, kind in enumerate(KINDS):
        joint = Joint(
            f"j{k}", kind, turned(rng), axis=rng.standard_normal(3), second_axis=rng.standard_normal(3), pitch=0.1,
            armature=0.05 * (k + 1) if k % 3 else 0.0,
        )  # fmt: skip
        links.append(Link(f"l{k}", "base" if k % 3 == 0 else f"l{k - 1}", joint, **solid(rng)))
    return Robot.from_tree("armed", links, base, drives=())


@lru_cache(maxsize=4)
def two_roots() -> Robot:
    """Two arms on the world, without a common body."""
    rng = np.random.default_rng(12)
    links = [Link("floor")]
    for k, (parent, kind) in enumerate((("floor", "revolute"), ("l0", "prismatic"), ("floor", "spherical"))):
        links.append(
            Link(f"l{k}", parent, Joint(f"j{k}", kind, turned(rng), axis=rng.standard_normal(3)), **solid(rng))
        )
    return Robot.from_tree("two roots", links, "fixed", drives=())


def wrenches(robot: Robot, seed: int) -> np.ndarray:
    """Random wrenches (n, 6) on all bodies."""
    return np.random.default_rng(seed + 1000).standard_normal((robot.tree.n, 6))


def traced(function: Callable[..., np.ndarray], *values: np.ndarray) -> np.ndarray:
    """The value of a function through its trace."""
    symbols = [ops.symbols(f"x{k}", np.shape(value)) for k, value in enumerate(values)]
    found = ops.array(function(*symbols))
    out = ops.function("f", symbols, [found])(*values)
    return np.array(out, dtype=float).reshape(found.shape)


def with_constants_as_inputs(function: Callable[..., np.ndarray], tree: Tree, *values: np.ndarray) -> np.ndarray:
    """The value of function(bodies, *values) through a trace in which all constants of the bodies are symbols."""
    names = ("R", "p", "axis", "pitch", "mass", "moment", "inertia", "ratio", "offset")
    inputs: list[np.ndarray] = [ops.symbols(f"x{k}", np.shape(value)) for k, value in enumerate(values)]
    numbers, symbolic = list(values), []
    for body in bodies(tree):
        own = {}
        for name in names:
            value = np.atleast_1d(np.asarray(getattr(body, name), dtype=float))
            numbers.append(value)
            inputs.append(ops.symbols(name, value.shape))
            own[name] = inputs[-1] if np.ndim(getattr(body, name)) else inputs[-1][0]
        symbolic.append(replace(body, **own))
    found = function(symbolic, *inputs[: len(values)])
    return np.array(ops.function("f", inputs, [found])(*numbers), dtype=float).reshape(found.shape)


def operations(function: Callable[..., np.ndarray], *sizes: int) -> int:
    """How many different arithmetic operations the trace of a function holds; a change of sign counts as none."""
    found = ops.array(function(*(ops.symbols(f"x{k}", size) for k, size in enumerate(sizes))))
    kinds: dict[tuple[Any, ...], int] = {}
    numbers: dict[int, int] = {}
    stack = [entry for entry in found.ravel() if isinstance(entry, Symbol)]
    while stack:
        node = stack[-1]
        waiting = [x for x in node.args if isinstance(x, Symbol) and id(x) not in numbers]
        if id(node) not in numbers and waiting:
            stack.extend(waiting)
            continue
        if id(node) not in numbers:
            args = [numbers[id(x)] if isinstance(x, Symbol) else x for x in node.args]
            args = sorted(args, key=str) if node.op in ("add", "mul") else args
            numbers[id(node)] = kinds.setdefault((node.op, *map(str, args)), len(kinds))
        stack.pop()
    return sum(op not in ("input", "neg") for op, *_ in kinds)


__all__ = [
    "KINDS",
    "armed",
    "assert_same",
    "followers",
    "full_configuration",
    "moved",
    "operations",
    "robot_named",
    "state",
    "traced",
    "two_roots",
    "widened",
    "with_constants_as_inputs",
    "wrenches",
]
