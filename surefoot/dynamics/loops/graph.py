"""Closed chains as subsystems of a robot, and the coordinates that are left to each.

A tie closes the path through the tree between two bodies, a gear the one between two joints. The bodies on such a path
hang, through each other, on one body that is not on it. Paths that share bodies make one subsystem, which hangs on the
highest of these; with every other body a subsystem of its own, the subsystems are a tree again (Buschmann 2014,
section 3.4.2).   [loops.graph]

A subsystem moves by its independent coordinates x alone: gears give v = E y with constant ratios, and of y as many
entries are left as the ties do not determine. Which ones, is found where the ties are closed: undriven ones depend
first, and among equals those that the ties determine best (QR with pivots).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.checked_arguments import checked_configuration
from surefoot.dynamics.constraints import (
    Constraint,
    ConstraintPart,
    Constraints,
    CoupledJoints,
    Distance,
    Tie,
    close,
    held_constraints,
)
from surefoot.errors import ModelError, NotSupportedError
from surefoot.kinematics import integrate
from surefoot.kinematics.frames import chain
from surefoot.kinematics.recursion import dof_rows
from surefoot.robot import Robot, Tree

_RANK = 1e-8  # singular values below this part of the largest one count as zero
_NOTHING = 1e-12  # of a Jacobian [m or rad per unit]
_STARTS, _AWAY = 5, 0.6  # postures that are looked at, and how far from home [rad or m]
_WELL = 1e-3  # a coordinate is left to a driven joint only if the others determine this much


@dataclass(frozen=True, eq=False)
class Subsystem:
    """Bodies that move together by a few coordinates, hung on one body.

    Args:
        name: Names of its constraints, or of its joint where there is none.
        parent: The body that it hangs on; −1 for the world.
        bodies: Its bodies, parents first.
        dofs: (n) rows of v of its joints.
        leading: Rows of v that no gear gives.
        independent: Rows of v that are free to choose.
        dependent: Rows of v that the ties determine.
        gears: Gears, each after those that move its source.
        ties: The other constraints; its rank is the number of dependent rows.
    """

    name: str
    parent: int
    bodies: tuple[int, ...]
    dofs: tuple[int, ...]
    leading: tuple[int, ...]
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    gears: tuple[CoupledJoints, ...]
    ties: Constraints

    @property
    def is_joint(self) -> bool:
        """Whether it is a single joint that nothing ties."""
        return len(self.bodies) == 1 and not self.gears and not self.ties.parts


@dataclass(frozen=True, eq=False)
class LoopGraph:
    """The subsystems of a robot, each after the one that it hangs on, limb by limb.

    Args:
        subsystems: All of them.
        carriers: For each, the number of the subsystem that it hangs on; −1 for the world.
        tree: The tree that they are cut from.
    """

    subsystems: tuple[Subsystem, ...]
    carriers: tuple[int, ...]
    tree: Tree

    @property
    def independent(self) -> tuple[int, ...]:
        """Rows of v that are free to choose, of the whole robot."""
        return tuple(sorted(row for item in self.subsystems for row in item.independent))

    def __str__(self) -> str:
        lines = []
        for item in self.subsystems:
            if not item.is_joint:
                body = "the world" if item.parent < 0 else f"`{self.tree.body_names[item.parent]}`"
                joints = ", ".join(self.tree.joint_names[i] for i in item.bodies)
                led = [row for row in item.dofs if row not in item.leading]
                words = [
                    f"{key}: {', '.join(self._names(rows))}"
                    for key, rows in (("independent", item.independent), ("dependent", item.dependent), ("geared", led))
                    if rows
                ]
                lines += [f"{item.name} on {body}", f"  joints: {joints}", *(f"  {text}" for text in words)]
        single = sum(item.is_joint for item in self.subsystems)
        return "\n".join([*lines, f"{single} joint(s) outside loops; {len(self.independent)} coordinates in total"])

    def _names(self, rows: Iterable[int]) -> list[str]:
        """Joints of rows of v, with the number of the axis where there are several."""
        out: dict[int, str] = {}
        for i in range(self.tree.n):
            own, name = dof_rows(self.tree, i), self.tree.joint_names[i]
            if self.tree.mimic_source[i] < 0:
                many = own.stop - own.start > 1
                out |= {row: f"{name}[{row - own.start}]" if many else name for row in range(own.start, own.stop)}
        return [out[row] for row in rows]


def loop_graph(
    robot: Robot, constraints: Sequence[Constraint] | Constraints | None = None, q: ArrayLike | None = None
) -> LoopGraph:
    """Cut the loops of a robot into subsystems.   [loops.graph].

    Args:
        robot: The robot; its tree is the spanning tree.
        constraints: The active constraints; the robot's own loops and couplings if omitted.
        q: (nq,) where the independent coordinates are chosen, closed; if omitted, the home posture, closed, or a
            posture near it where the loops are not singular.

    Raises:
        ModelError: A loop cannot be closed, or ties a body to itself.
    """
    known = held_constraints(robot, constraints)
    groups = _merged(robot.tree, [*known.parts, *_followers(robot.tree)])
    found = [
        _subsystem(robot, bodies, [part for part in known.parts if _path(robot.tree, part)[0] in bodies], q)
        for bodies in groups
    ]
    return _in_order(robot.tree, found)


# -- cutting ----------------------------------------------------------------------------------------------------------


def _followers(tree: Tree) -> list[CoupledJoints]:
    """Joints without coordinate of their own (`mimic="reduce"`) belong to the one that leads them."""
    return [
        CoupledJoints(tree.joint_names[i], i, int(tree.mimic_source[i]), float(tree.mimic_ratio[i]), 0.0)
        for i in range(tree.n)
        if tree.mimic_source[i] >= 0
    ]


def _path(tree: Tree, part: ConstraintPart) -> list[int]:
    """The bodies whose joints a constraint looks at, and those between them."""
    if isinstance(part, CoupledJoints):
        one, other = chain(tree, part.joint), chain(tree, part.source)
        shared = set(one[:-1]) & set(other[:-1])
    elif not isinstance(part, Tie | Distance):
        raise NotSupportedError(f"the joints that constraint `{part.name}` ties are unknown", next_step="use a Loop")
    else:
        one, other = chain(tree, part.first.body), chain(tree, part.second.body)
        shared = set(one) & set(other)
    found = sorted((set(one) | set(other)) - shared)
    if not found:
        raise ModelError(
            f"constraint `{part.name}` ties a body to itself",
            evidence={"body": tree.body_names[one[-1]] if one else "the world"},
            next_step="tie two bodies that a joint moves against each other",
        )
    return found


def _merged(tree: Tree, parts: Sequence[ConstraintPart]) -> list[tuple[int, ...]]:
    """The bodies of every subsystem: paths that share bodies are one."""
    group = list(range(tree.n))
    for part in parts:
        joined = {group[i] for i in _path(tree, part)}
        group = [min(joined) if x in joined else x for x in group]
    members: dict[int, list[int]] = {}
    for i, number in enumerate(group):
        members.setdefault(number, []).append(i)
    return [tuple(bodies) for bodies in members.values()]


def _in_order(tree: Tree, found: Sequence[Subsystem]) -> LoopGraph:
    """Depth first."""
    owner = {body: k for k, item in enumerate(found) for body in item.bodies} | {-1: -1}
    children: dict[int, list[int]] = {}
    for k, item in enumerate(found):
        children.setdefault(owner[item.parent], []).append(k)
    order, waiting = [], children.get(-1, [])[::-1]
    while waiting:
        order.append(k := waiting.pop())
        waiting.extend(children.get(k, [])[::-1])
    place = {k: number for number, k in enumerate(order)} | {-1: -1}
    carriers = tuple(place[owner[found[k].parent]] for k in order)
    return LoopGraph(tuple(found[k] for k in order), carriers, tree)


# -- coordinates ------------------------------------------------------------------------------------------------------


def _subsystem(
    robot: Robot, bodies: tuple[int, ...], parts: Sequence[ConstraintPart], q: ArrayLike | None
) -> Subsystem:
    """A subsystem with its coordinates."""
    tree = robot.tree
    rows = [dof_rows(tree, i) for i in bodies if tree.mimic_source[i] < 0]
    dofs = tuple(row for own in rows for row in range(own.start, own.stop))
    gears, ties = _split_gears(parts)
    led = {dof_rows(tree, gear.joint).start for gear in gears}
    leading = tuple(row for row in dofs if row not in led)
    dependent = _dependent(robot, gears, ties, leading, q) if ties.parts else ()
    independent = tuple(row for row in leading if row not in dependent)
    name = " + ".join(part.name for part in parts) or " + ".join(tree.joint_names[i] for i in bodies)
    parent = int(tree.parents[bodies[0]])
    return Subsystem(name, parent, bodies, dofs, leading, independent, dependent, gears, ties)


def _split_gears(parts: Sequence[ConstraintPart]) -> tuple[tuple[CoupledJoints, ...], Constraints]:
    """Gears that form no circle, each after those that move its source; and the rest, which has to be solved for."""
    source_of: dict[int, CoupledJoints] = {}
    rest: list[ConstraintPart] = []
    for part in parts:
        if isinstance(part, CoupledJoints) and part.joint not in source_of and not _leads(part, source_of):
            source_of[part.joint] = part
        else:
            rest.append(part)
    gears = sorted(source_of.values(), key=lambda gear: _depth(gear, source_of))
    return tuple(gears), Constraints(tuple(rest))


def _leads(part: CoupledJoints, source_of: dict[int, CoupledJoints]) -> bool:
    """Whether the joint moves its own source."""
    at = part.source
    while at in source_of and at != part.joint:
        at = source_of[at].source
    return at == part.joint


def _depth(part: CoupledJoints, source_of: dict[int, CoupledJoints]) -> int:
    depth, at = 0, part.source
    while at in source_of:
        depth, at = depth + 1, source_of[at].source
    return depth


def _dependent(
    robot: Robot, gears: Sequence[CoupledJoints], ties: Constraints, leading: tuple[int, ...], q: ArrayLike | None
) -> tuple[int, ...]:
    """Rows of v that the ties determine best, undriven ones first."""
    E = gear_matrix(robot.tree, gears)[:, list(leading)]
    every = Constraints((*gears, *ties.parts))
    states = [checked_configuration(robot, q)] if q is not None else _closed_states(robot, every, leading)
    jacobians = [ties.jacobian(robot.tree, at) @ E for at in states]
    values = [np.linalg.svd(J, compute_uv=False) for J in jacobians]
    ranks = [int(np.sum(s > max(_RANK * s[0], _NOTHING))) for s in values]
    rank = max(ranks)
    if not rank:
        return ()
    sound = [s[rank - 1] / s[0] if own == rank else 0.0 for s, own in zip(values, ranks, strict=True)]
    best = 0 if sound[0] > _WELL else int(np.argmax(sound))
    driven = set(robot.driven.tolist())
    passive = [k for k, row in enumerate(leading) if row not in driven]
    return tuple(sorted(leading[k] for k in pivots(jacobians[best], rank, passive)))


def _closed_states(robot: Robot, constraints: Constraints, moved: Sequence[int]) -> list[Array]:
    """Closed configurations (nq,): next to home, and some around it; always the same ones."""
    rng, states = np.random.default_rng(0), [close(robot, constraints, robot.home)]
    for k in range(1, _STARTS):
        step = np.zeros(robot.nv)
        step[list(moved)] = rng.uniform(-_AWAY, _AWAY, len(moved)) * k / _STARTS
        try:
            states.append(close(robot, constraints, integrate(robot.tree, states[0], step)))
        except ModelError:  # out of reach from there: those that were found will do
            continue
    return states


def pivots(J: Array, rank: int, preferred: Sequence[int]) -> list[int]:
    """`rank` columns that span the others, by QR with column pivots (Golub & Van Loan, section 5.4.2).

    Preferred ones are taken first, as long as they are well determined.
    """
    left, largest = J.copy(), 0.0
    chosen: list[int] = []
    while len(chosen) < rank:
        lengths = np.linalg.norm(left, axis=0)
        lengths[chosen] = 0.0
        among = [k for k in preferred if k not in chosen and lengths[k] > _WELL * max(largest, lengths.max())]
        k = max(among, key=lambda j: lengths[j]) if among else int(np.argmax(lengths))
        largest = max(largest, float(lengths[k]))
        direction = left[:, k] / lengths[k]
        left = left - np.outer(direction, direction @ left)
        chosen.append(k)
    return chosen


def gear_matrix(tree: Tree, gears: Sequence[CoupledJoints]) -> Array:
    """E (nv, nv): velocities of all joints per velocity of those that no gear moves; other columns are zero.

    Each gear must come after those that move its source.
    """
    E = np.eye(len(tree.armature))
    for gear in gears:
        E[dof_rows(tree, gear.joint)] = gear.ratio * E[dof_rows(tree, gear.source)]
    return E
