"""Forward dynamics with closed chains and geared rotors in minimal coordinates, O(n).

Buschmann 2014, section 3.4.2, in the corrected form of `surefoot.dynamics.subsystem_walk`. Loops become subsystems
(`loop_graph`), of which each accelerates by as many coordinates as it has; no multipliers, and no drift of what gears
tie. One text for numbers and for kernels:

    k = sf.compile(robot, functions={"loops": minimal_function(robot)})
    a = k.loops(q, v, tau)

Which coordinates are independent is settled once for a robot. Where the others are not determined by them, at dead
points, `minimal_acceleration` refuses by name; a kernel gives what is not finite or not true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.dynamics.constrained_equations import Baumgarte, drift_of
from surefoot.dynamics.constraints import Constraint, Constraints
from surefoot.dynamics.dependent_motion import dependent_jacobian
from surefoot.dynamics.driven_equations import checked_vector
from surefoot.dynamics.loop_graph import LoopGraph, Subsystem, loop_graph
from surefoot.dynamics.subsystem_walk import walk_subsystems
from surefoot.errors import ModelError, ShapeError
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.robot.tree import Tree

__all__ = ["minimal_acceleration", "minimal_forward", "minimal_function"]

_SINGULAR = 1e-8  # of the largest singular value
_CONTRADICTION = 1e-6  # of the accelerations that the constraints ask for


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
    tree, graph = robot.tree, _cut(robot, constraints)

    def loops(q: Array, v: Array, tau: Array) -> Array:
        return minimal_forward(tree, graph, q, v, tau, None, baumgarte)

    def pushed_loops(q: Array, v: Array, tau: Array, external: Array) -> Array:
        return minimal_forward(tree, graph, q, v, tau, external, baumgarte)

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

    Args:
        robot: The robot.
        constraints: What holds, or how it was cut; None for the robot's own loops and couplings.
        q: (nq,) configuration in which the loops are closed.
        v: (nv,) velocity with which they stay closed.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if left out.
        baumgarte: Gains that pull the state back.

    Raises:
        ModelError: A loop cannot be closed, is at a singular posture, contradicts another, or moves no inertia.
        ShapeError: An array has a wrong shape or is not finite.
    """
    tree, graph = robot.tree, _cut(robot, constraints)
    q, v, tau = robot.checked_q(q), checked_vector("v", v, robot.nv), checked_vector("tau", tau, robot.nv)
    wrenches = None if external is None else _checked_wrenches(tree, external)
    tied = [item for item in graph.subsystems if item.ties.parts]
    for item in tied:
        _require_regular(tree, item, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        a = minimal_forward(tree, graph, q, v, tau, wrenches, baumgarte)
    _require_inertia(graph, a)
    for item in tied:
        _require_consistent(tree, item, (q, v, a), baumgarte)
    return np.asarray(a, dtype=float)


def _cut(robot: Robot, constraints: Sequence[Constraint] | Constraints | LoopGraph | None) -> LoopGraph:
    """The subsystems; found once for a robot and its constraints."""
    if isinstance(constraints, LoopGraph):
        if constraints.tree.joint_names != robot.joint_names:
            raise ModelError(f"the loops were cut from another robot than `{robot.name}`")
        return constraints
    return _kept(robot, constraints if isinstance(constraints, Constraints | None) else tuple(constraints))


@lru_cache(maxsize=64)
def _kept(robot: Robot, constraints: tuple[Constraint, ...] | Constraints | None) -> LoopGraph:
    return loop_graph(robot, constraints)


def _checked_wrenches(tree: Tree, external: ArrayLike) -> NDArray[np.float64]:
    if np.shape(external) != (tree.n, 6):
        raise ShapeError(f"external has shape {np.shape(external)}, expected {(tree.n, 6)}")
    return checked_vector("external", np.ravel(external), 6 * tree.n).reshape(tree.n, 6)


def _require_regular(tree: Tree, item: Subsystem, q: NDArray[np.float64]) -> None:
    """Refuse a posture in which the independent coordinates do not determine the others."""
    if not item.dependent:
        return
    values = np.linalg.svd(dependent_jacobian(tree, item, q), compute_uv=False)
    if values[-1] <= _SINGULAR * values[0]:
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


def _require_consistent(tree: Tree, item: Subsystem, state: tuple[NDArray[np.float64], ...], gains: Baumgarte) -> None:
    """Refuse constraints of which some cannot be held while others are."""
    q, v, a = state
    J = item.ties.jacobian(tree, q)
    drift = drift_of(tree, item.ties, J, q, v, gains)
    gaps = np.abs(J @ a + drift)
    scale = max(1.0, float(np.abs(drift).max()), float((np.abs(J) @ np.abs(a)).max()))
    if gaps.max() > _CONTRADICTION * scale:
        worst = item.ties.rows[int(np.argmax(gaps))]
        raise ModelError(
            f"constraints of `{item.name}` contradict each other: `{worst}` cannot be held with the others",
            evidence={
                "residual of its acceleration": float(gaps.max()),
                "residual of positions [m or rad]": float(np.abs(item.ties.residual(tree, q)).max()),
            },
            next_step="close the loops first, or hold fewer directions",
        )


def _names(tree: Tree, rows: Sequence[int]) -> str:
    joints = [i for row in rows for i in range(tree.n) if tree.v_index[i] <= row < tree.v_index[i] + tree.nv_of(i)]
    return ", ".join(dict.fromkeys(tree.joint_names[i] for i in joints))
