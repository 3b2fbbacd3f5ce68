"""Independent coordinates that suit a state: chosen anew where those of the robot do not.

`loop_graph` chooses once, for kernels; driven joints lead where they can. Elsewhere the ties may determine the others
badly, or not at all (a dead point of the choice, not of the mechanism), or determine more of them than where the choice
was made. In a state that is known, columns of J are chosen by pivots alone.   [loops.choice]

Where a redundant set of gears and ties disagrees, off the constraints, gears are rows like the others: what all meet is
the least-squares part of all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.dynamics.constrained_equations import Baumgarte, drift_of
from surefoot.dynamics.constraint_rank import contradictions, row_basis
from surefoot.dynamics.constraints import Constraints
from surefoot.dynamics.loop_graph import LoopGraph, Subsystem, gear_matrix, pivots
from surefoot.robot.tree import Tree

__all__ = ["dependent_jacobian", "is_regular", "suited_graph"]

_WORSE = 0.1  # share of the least singular value that the choice of coordinates may lose
_SINGULAR = 1e-8  # of the largest singular value
_DISAGREE = 1e-11  # of the accelerations that rows ask for


def suited_graph(graph: LoopGraph, q: Array, v: Array, gains: Baumgarte) -> LoopGraph:
    """The graph with coordinates that suit a state (numbers).   [loops.choice].

    Args:
        graph: The subsystems.
        q: (nq,) configuration.
        v: (nv,) velocity.
        gains: That pull the state back.
    """
    items = tuple(_suited(graph.tree, item, (q, v), gains) if item.ties.parts else item for item in graph.subsystems)
    return replace(graph, subsystems=items)


def dependent_jacobian(tree: Tree, item: Subsystem, q: Array) -> Array:
    """J_D (rows, dependent) of the ties of a subsystem.

    Args:
        tree: The tree.
        item: The subsystem.
        q: (nq,) configuration.
    """
    return _columns(tree, item, q)[:, [item.leading.index(row) for row in item.dependent]]


def is_regular(values: NDArray[np.floating[Any]]) -> bool:
    """Whether singular values (k,) of J_D, falling, are those of columns that are independent.

    Args:
        values: The singular values.
    """
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
