"""Forward dynamics with closed chains and geared rotors in minimal coordinates, O(n).

Buschmann 2014, section 3.4.2, in the corrected form of `surefoot.dynamics.subsystem_walk`. Loops become subsystems
(`loop_graph`), of which each accelerates by as many coordinates as it has; no multipliers, and no drift of what gears
tie. One text for numbers and for kernels:

    k = sf.compile(robot, functions={"loops": minimal_function(robot)})
    a = k.loops(q, v, tau)

Which coordinates are independent is settled once for a kernel. Where the others are not determined by them, at dead
points, it gives what is not finite. `minimal_acceleration` chooses others there (`coordinate_choice`), and refuses by
name where the mechanism itself is singular: ask it why, where a kernel gives nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.dynamics.checked_arguments import (
    checked_configuration,
    checked_robot,
    checked_vector,
    checked_wrenches,
)
from surefoot.dynamics.constrained_equations import Baumgarte, checked_gains, drift_of
from surefoot.dynamics.constraint_conflicts import refuse_contradictions
from surefoot.dynamics.constraint_owner import require_owner
from surefoot.dynamics.constraints import Constraint, Constraints, constraints_of
from surefoot.dynamics.coordinate_choice import dependent_jacobian, is_regular, suited_graph
from surefoot.dynamics.loop_graph import LoopGraph, Subsystem, loop_graph
from surefoot.dynamics.subsystem_walk import walk_subsystems
from surefoot.errors import ModelError
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.robot.tree import Tree

__all__ = ["minimal_acceleration", "minimal_forward", "minimal_function"]


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
        graph: Its subsystems (`surefoot.dynamics.loop_graph`).
        q: (nq,) configuration in which the loops are closed.
        v: (nv,) velocity with which they stay closed.
        tau: (nv,) joint forces, N m or N; also on joints that depend on others.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if left out.
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
        constraints: What holds, or how it was cut; the robot's own loops and couplings if left out.
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
    """Accelerations (nv,), rad/s² or m/s², of a robot whose loops and gears hold; what cannot be is refused.

    Independent coordinates are chosen anew where those of the robot do not suit the state; those of a `LoopGraph` that
    is given stay. Off the constraints redundant rows may disagree; what they agree on is met, as by all methods.

    Args:
        robot: The robot.
        constraints: What holds, or how it was cut; None for the robot's own loops and couplings.
        q: (nq,) configuration in which the loops are closed.
        v: (nv,) velocity with which they stay closed.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if left out.
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
    _refuse_contradictions(robot, graph, (q, v), gains)
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
    constraints_of(robot, items)  # says what is wrong with them
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
            next_step="move away from it, choose others there (`loop_graph(robot, …, q)`), or use multipliers",
        )


def _require_inertia(graph: LoopGraph, a: NDArray[np.float64]) -> None:
    """Refuse accelerations that are not determined."""
    lost = [item.name for item in graph.subsystems if not np.isfinite(a[list(item.dofs)]).all()]
    if lost:
        raise ModelError(
            f"`{lost[-1]}` moves no inertia, so that forces do not determine accelerations",
            evidence={"all": ", ".join(lost)},
            next_step="give the links that it moves a mass and an inertia, or the joints an armature",
        )


def _refuse_contradictions(robot: Robot, graph: LoopGraph, state: tuple[Array, Array], gains: Baumgarte) -> None:
    held = Constraints(tuple(part for item in graph.subsystems for part in (*item.gears, *item.ties.parts)))
    J = np.asarray(held.jacobian(robot.tree, state[0]), dtype=float)
    drift = drift_of(robot.tree, held, J, *state, gains)
    refuse_contradictions(robot, held, state, J, drift, gains)


def _names(tree: Tree, rows: Sequence[int]) -> str:
    joints = [i for row in rows for i in range(tree.n) if tree.v_index[i] <= row < tree.v_index[i] + tree.nv_of(i)]
    return ", ".join(dict.fromkeys(tree.joint_names[i] for i in joints))
