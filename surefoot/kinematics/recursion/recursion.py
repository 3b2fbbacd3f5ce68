"""Recursions over the tree as data: sweeps of one step function each, outwards or inwards.

A step sees one body, its joint's numbers, its own fields and its parent's, and returns the fields to write. `run` walks
the tree with it, on numbers or on symbols; for large trees the compiler emits the same steps as loops over the bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion.bodies import Body, bodies
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.robot.model import NQ, NV

Fields = Mapping[str, Array]


@dataclass(frozen=True)
class Step:
    """The fields that one step writes.

    Args:
        own: Fields of the body, set.
        parent: Fields of the parent, added to (inward sweeps only; unset fields count as zero).
        joint: Joint quantities by name, (nv,) of the joint; followers add theirs to the joint that leads them.
    """

    own: Fields = field(default_factory=dict)
    parent: Fields = field(default_factory=dict)
    joint: Fields = field(default_factory=dict)


StepFunction = Callable[[Body, Fields, Fields, Fields], Step]


@dataclass(frozen=True)
class Sweep:
    """One pass.

    Args:
        direction: "outward": parents first; "inward": children first.
        step: step(body, joint, own, parent) -> Step. `joint` holds the joint's entries of the inputs ("q", "v", …; of
            per-body inputs such as "external", the body's row).
    """

    direction: Literal["outward", "inward"]
    step: StepFunction


@dataclass(frozen=True)
class Recursion:
    """An O(n) algorithm.

    Args:
        sweeps: Its passes.
        world: world(gravity (3,)) -> the fields of the world, which is the parent of the roots.
    """

    sweeps: tuple[Sweep, ...]
    world: Callable[[Array], Fields]


def dof_rows(tree: Tree, i: int) -> slice:
    """Rows of joint i in v (of the leading joint, for a follower)."""
    start = int(tree.v_index[_leader(tree, i)])
    return slice(start, start + NV[tree.kinds[i]])


def _leader(tree: Tree, i: int) -> int:
    source = int(tree.mimic_source[i])
    return i if source < 0 else source


def _joint_inputs(tree: Tree, i: int, body: Body, inputs: Fields) -> dict[str, Array]:
    """The joint's entries of every input; a follower's position is scaled here, its velocity in the subspace."""
    out: dict[str, Array] = {}
    for name, values in inputs.items():
        if name == "q":
            start = int(tree.q_index[_leader(tree, i)])
            own = values[start : start + NQ[tree.kinds[i]]]
            out[name] = own if tree.mimic_source[i] < 0 else body.offset + body.ratio * own
        elif name == "external":
            out[name] = values[i]
        else:
            out[name] = values[dof_rows(tree, i)]
    return out


def run(
    recursion: Recursion,
    tree: Tree,
    inputs: Fields,
    only: Sequence[int] | None = None,
    constants: Callable[[Tree], Sequence[Body]] = bodies,
) -> tuple[list[dict[str, Array]], dict[str, Array]]:
    """Walk the tree: the fields of every body (the world's last), and the joint quantities (nv,).

    Args:
        recursion: The algorithm.
        tree: The tree.
        inputs: "q" (nq,), "v", "a", "tau" … (nv,), "external" (n, 6); as the steps need them.
        only: Visit these bodies (in the order of the tree), the others stay without fields; all by default.
        constants: Gives the bodies of the tree; others than its own if only some of their constants matter.
    """
    visited = range(tree.n) if only is None else only
    walk = _Walk(recursion, tree, constants(tree), inputs, visited)
    for sweeps in _paired(recursion.sweeps):
        walk.go(*sweeps)
    return walk.fields, walk.joints


def _paired(sweeps: Sequence[Sweep]) -> list[tuple[Sweep | None, Sweep | None]]:
    """Outward sweeps, each with the inward sweep that follows it."""
    pairs: list[tuple[Sweep | None, Sweep | None]] = []
    for sweep in sweeps:
        if sweep.direction == "outward":
            pairs.append((sweep, None))
        elif pairs and pairs[-1][1] is None:
            pairs[-1] = (pairs[-1][0], sweep)
        else:
            pairs.append((None, sweep))
    return pairs


class _Walk:
    """The state of a walk over the tree."""

    def __init__(
        self, recursion: Recursion, tree: Tree, parts: Sequence[Body], inputs: Fields, visited: Sequence[int]
    ) -> None:
        self.tree, self.bodies, self.visited = tree, parts, visited
        self.fields: list[dict[str, Array]] = [{} for _ in range(tree.n)] + [dict(recursion.world(tree.gravity))]
        self.joints: dict[str, Array] = {}
        self.inputs = {i: _joint_inputs(tree, i, self.bodies[i], inputs) for i in visited}

    def go(self, outward: Sweep | None, inward: Sweep | None) -> None:
        """Depth first: a limb is left inwards as soon as its tip is reached, so that little is kept in mind."""
        open_bodies: list[int] = []
        for i in self.visited:
            while open_bodies and open_bodies[-1] != self.tree.parents[i]:
                self.step(inward, open_bodies.pop())
            self.step(outward, i)
            open_bodies.append(i)
        while open_bodies:
            self.step(inward, open_bodies.pop())

    def step(self, sweep: Sweep | None, i: int) -> None:
        if sweep is None:
            return
        own, parent = self.fields[i], self.fields[int(self.tree.parents[i])]
        step = sweep.step(self.bodies[i], self.inputs[i], own, parent)
        own.update(step.own)
        for name, value in step.parent.items():
            parent[name] = parent[name] + value if name in parent else value
        for name, value in step.joint.items():
            rows = self.joints.setdefault(name, ops.zeros(len(self.tree.armature), like=value))
            rows[dof_rows(self.tree, i)] = rows[dof_rows(self.tree, i)] + value
            self.inputs[i][name] = value


def world_at_rest(gravity: Array) -> Fields:
    """The world's placement, twist and acceleration; gravity as an upward acceleration of the world."""
    return {
        "R": np.eye(3),
        "p": np.zeros(3),
        "twist": np.zeros(6),
        "acceleration": np.concatenate([-gravity, np.zeros(3)]),
    }
