"""Forward dynamics with closed chains and geared rotors in minimal coordinates, O(n).

Buschmann 2014, section 3.4.2, in the corrected form of `subsystem_walk`. Loops become subsystems (`loop_graph`), of
which each accelerates by as many coordinates as it has; no multipliers, and no drift of what gears tie. One text for
numbers and for kernels:

    k = sf.compile(robot, functions={"loops": minimal_function(robot)})
    a = k.loops(q, v, tau)

`loop_graph` chooses independent coordinates once, for kernels; driven joints lead where they can. Elsewhere ties may
determine the others badly, or not at all (a dead point of the choice, not of the mechanism): a kernel then returns
numbers that are not finite. `minimal_acceleration` chooses anew in each state, by pivots of J alone [loops.choice], and
names the loop where the mechanism itself is singular. Where gears and redundant ties disagree, off the constraints, it
takes gears as rows like the others, and meets all rows in least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.dynamics.algebra import contradictions, row_basis
from surefoot.dynamics.checked_arguments import checked_configuration, checked_robot, checked_vector, checked_wrenches
from surefoot.dynamics.constraints import (
    Baumgarte,
    Constraint,
    Constraints,
    checked_gains,
    constraints_of,
    drift_of,
    refuse_contradictions,
    require_owner,
)
from surefoot.dynamics.loops.graph import LoopGraph, Subsystem, gear_matrix, loop_graph, pivots
from surefoot.dynamics.loops.subsystem_walk import walk_subsystems
from surefoot.errors import ModelError
from surefoot.ops import Array
from surefoot.robot import Robot, Tree

_WORSE = 0.1  # share of the least singular value that the choice of coordinates may lose
_SINGULAR = 1e-8  # of the largest singular value
_DISAGREE = 1e-11  # of the accelerations that rows ask for


def suited_graph(graph: LoopGraph, q: Array, v: Array, gains: Baumgarte) -> LoopGraph:
    """The graph with coordinates that suit a state (numbers).   [loops.choice]."""
    items = tuple(_suited(graph.tree, item, (q, v), gains) if item.ties.parts else item for item in graph.subsystems)
    return replace(graph, subsystems=items)


def dependent_jacobian(tree: Tree, item: Subsystem, q: Array) -> Array:
    """J_D (rows, dependent) of the ties of a subsystem."""
    return _columns(tree, item, q)[:, [item.leading.index(row) for row in item.dependent]]


def is_regular(values: NDArray[np.floating[Any]]) -> bool:
    """Whether singular values (k,) of J_D, falling, are those of independent columns."""
    return not values.size or bool(values[-1] > _SINGULAR * values[0])


def _suited(tree: Tree, item: Subsystem, state: tuple[Array, Array], gains: Baumgarte) -> Subsystem:
    """A subsystem with coordinates that suit the state; as it is where they do."""
    item = _without_gears(item) if item.gears and _disagrees(tree, item, state, gains) else item
    J = _columns(tree, item, state[0])
    rank = row_basis(J).rank
    if rank < len(item.dependent):
        return item  # the mechanism itself is singular
    if rank == len(item.dependent):
        least = np.linalg.svd(J, compute_uv=False)[rank - 1] if rank else 0.0
        values = np.linalg.svd(dependent_jacobian(tree, item, state[0]), compute_uv=False)
        if not rank or values[-1] > _WORSE * least:
            return item
    dependent = tuple(sorted(item.leading[k] for k in pivots(J, rank, ())))
    return replace(item, dependent=dependent, independent=tuple(x for x in item.leading if x not in dependent))


def _columns(tree: Tree, item: Subsystem, q: Array) -> Array:
    """J E (rows, leading): the ties, with gears put in."""
    J = np.asarray(item.ties.jacobian(tree, q), dtype=float)
    return np.asarray(J @ gear_matrix(tree, item.gears)[:, list(item.leading)])


def _disagrees(tree: Tree, item: Subsystem, state: tuple[Array, Array], gains: Baumgarte) -> bool:
    """Whether gears and ties ask for accelerations that no motion has."""
    every = Constraints((*item.gears, *item.ties.parts))
    J = np.asarray(every.jacobian(tree, state[0]), dtype=float)
    return bool(contradictions(J, drift_of(tree, every, J, *state, gains), every.rows, _DISAGREE))


def _without_gears(item: Subsystem) -> Subsystem:
    """The same subsystem; gears are ties."""
    led = tuple(row for row in item.dofs if row not in item.leading)
    ties = Constraints((*item.gears, *item.ties.parts))
    return replace(item, gears=(), ties=ties, leading=item.dofs, dependent=tuple(sorted((*item.dependent, *led))))


def minimal_forward(
    tree: Tree,
    graph: LoopGraph,
    q: Array,
    v: Array,
    tau: Array,
    external: Array | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> Array:
    """Accelerations (nv,), rad/s² or m/s², of a robot whose loops and gears hold.   [loops.recursion].

    Args:
        tree: The tree.
        graph: Its subsystems (`surefoot.dynamics.loops.graph`).
        q: (nq,) configuration in which the loops are closed.
        v: (nv,) velocity with which they stay closed.
        tau: (nv,) joint forces, N m or N; also on joints that depend on others.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
        baumgarte: Gains that pull the state back.
    """
    inputs = {"q": q, "v": v, "tau": tau} | ({} if external is None else {"external": external})
    return walk_subsystems(tree, graph, inputs, baumgarte)


def minimal_function(
    robot: Robot,
    constraints: Sequence[Constraint] | Constraints | LoopGraph | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
    wrenches: bool = False,
) -> Callable[..., Array]:
    """A function of (q, v, tau), or of (q, v, tau, external), for `surefoot.compile`.

    Args:
        robot: The robot.
        constraints: The active constraints, or their graph; the robot's own loops and couplings if omitted.
        baumgarte: Gains that pull the state back.
        wrenches: Whether it takes wrenches on the bodies.
    """
    graph, gains = _cut(robot, constraints), checked_gains(baumgarte)
    tree = robot.tree

    def loops(q: Array, v: Array, tau: Array) -> Array:
        return minimal_forward(tree, graph, q, v, tau, None, gains)

    def pushed_loops(q: Array, v: Array, tau: Array, external: Array) -> Array:
        return minimal_forward(tree, graph, q, v, tau, external, gains)

    return pushed_loops if wrenches else loops


def minimal_acceleration(
    robot: Robot,
    constraints: Sequence[Constraint] | Constraints | LoopGraph | None,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external: ArrayLike | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> NDArray[np.float64]:
    """Accelerations (nv,), rad/s² or m/s², of a robot whose loops and gears hold, with checked arguments.

    Independent coordinates are chosen anew where those of the robot do not suit the state; those of a `LoopGraph` that
    is given stay. Off the constraints redundant rows may disagree; what they agree on is met, as by all methods.

    Args:
        robot: The robot.
        constraints: The active constraints, or their graph; None for the robot's own loops and couplings.
        q: (nq,) configuration in which the loops are closed.
        v: (nv,) velocity with which they stay closed.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
        baumgarte: Gains that pull the state back.

    Raises:
        ModelError: A loop cannot be closed, is at a singular posture, contradicts another, moves no inertia, or was
            made for another robot.
        ShapeError: An array has a wrong shape or is not finite.
        UnknownNameError: A frame or joint that the robot does not have.
    """
    graph, tree = _cut(robot, constraints), robot.tree
    q, v = checked_configuration(robot, q), checked_vector("v", v, robot.nv)
    acting = checked_vector("tau", tau, robot.nv), checked_wrenches(tree, external)
    gains = checked_gains(baumgarte)
    if not isinstance(constraints, LoopGraph):
        graph = suited_graph(graph, q, v, gains)
    for item in graph.subsystems:
        _require_regular(tree, item, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.asarray(minimal_forward(tree, graph, q, v, *acting, gains), dtype=float)
    _require_inertia(graph, a)
    held = Constraints(tuple(part for item in graph.subsystems for part in (*item.gears, *item.ties.parts)))
    J = np.asarray(held.jacobian(tree, q), dtype=float)
    refuse_contradictions(robot, held, (q, v), J, drift_of(tree, held, J, q, v, gains), gains)
    return a


def _cut(robot: Robot, constraints: Sequence[Constraint] | Constraints | LoopGraph | None) -> LoopGraph:
    """The subsystems; found once for a robot and its constraints."""
    checked_robot(robot)
    if isinstance(constraints, LoopGraph):
        require_owner(robot, "a graph of loops", constraints.tree)
        return constraints
    if constraints is None or isinstance(constraints, Constraints):
        return _kept(robot, constraints if constraints is None else constraints_of(robot, constraints))
    items = tuple(constraints) if isinstance(constraints, Iterator) else constraints
    constraints_of(robot, items)  # refuses invalid ones
    return _kept(robot, tuple(items))


@lru_cache(maxsize=64)
def _kept(robot: Robot, constraints: tuple[Constraint, ...] | Constraints | None) -> LoopGraph:
    return loop_graph(robot, constraints)


def _require_regular(tree: Tree, item: Subsystem, q: NDArray[np.float64]) -> None:
    """Refuse a posture in which the independent coordinates do not determine the others."""
    if not item.dependent:
        return
    values = np.linalg.svd(dependent_jacobian(tree, item, q), compute_uv=False)
    if not is_regular(values):
        raise ModelError(
            f"loop `{item.name}` is at a singular posture: its independent joints do not determine the others",
            evidence={
                "singular values of the dependent joints": f"{values[-1]:.3g} … {values[0]:.3g}",
                "independent": _names(tree, item.independent),
                "dependent": _names(tree, item.dependent),
                "residual [m or rad]": float(np.abs(item.ties.residual(tree, q)).max()),
            },
            next_step="move away from it, choose other joints there (`loop_graph(robot, …, q)`), or use multipliers",
        )


def _require_inertia(graph: LoopGraph, a: NDArray[np.float64]) -> None:
    """Refuse accelerations that are not determined."""
    lost = [item.name for item in graph.subsystems if not np.isfinite(a[list(item.dofs)]).all()]
    if lost:
        raise ModelError(
            f"`{lost[-1]}` moves no inertia, so that forces do not determine accelerations",
            evidence={"loops and joints": ", ".join(lost)},
            next_step="give the links that it moves a mass and an inertia, or the joints an armature",
        )


def _names(tree: Tree, rows: Sequence[int]) -> str:
    joints = [i for row in rows for i in range(tree.n) if tree.v_index[i] <= row < tree.v_index[i] + tree.nv_of(i)]
    return ", ".join(dict.fromkeys(tree.joint_names[i] for i in joints))
