"""How the joints of a subsystem move with its independent coordinates: a = G x + g.

Gears first, v = E y with ratios as they are. Ties then hold J E y' + J e + drift = 0, with the columns of J of the
subsystem alone: the relative motion along the loop, whatever carries it. The dependent part of y' is solved for,

    y'_D = -J_D⁺ (J_I x + J e + drift)        [loops.elimination]   Buschmann 2014, section 3.4.2: q̈_t = G q̈_S + g

by reflections, so that no pivot can vanish while J_D has full rank; redundant rows do not matter.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.dynamics.constrained_equations import Baumgarte, drift_of
from surefoot.dynamics.constraints import Constraints
from surefoot.dynamics.loop_graph import Subsystem, gear_matrix
from surefoot.dynamics.structured_least_squares import structured_least_squares
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["dependent_motion"]


def dependent_motion(tree: Tree, item: Subsystem, q: Array, v: Array, gains: Baumgarte) -> tuple[Array, Array]:
    """G (n, k) and g (n,): the accelerations of the n rows `item.dofs` per independent one.   [loops.elimination].

    Args:
        tree: The tree.
        item: The subsystem.
        q: (nq,) configuration.
        v: (nv,) velocity.
        gains: That pull the state back.
    """
    dofs, leading = list(item.dofs), list(item.leading)
    E, e = gear_matrix(tree, item.gears)[:, leading], _gear_drift(tree, item, q, v, gains)
    y, rest = np.eye(len(leading)), ops.zeros(len(leading), like=[q, v])
    if item.dependent:
        y, rest = _closed(tree, item, E, e, (q, v), gains)
    return (E @ y)[dofs], (E @ rest + e)[dofs]


def _closed(
    tree: Tree, item: Subsystem, E: Array, e: Array, state: tuple[Array, Array], gains: Baumgarte
) -> tuple[Array, Array]:
    """Dependent and independent together, y' = Y x + rest: Y (leading, independent), rest (leading,)."""
    J = item.ties.jacobian(tree, state[0])
    drift = drift_of(tree, item.ties, J, *state, gains) + J @ e
    free = [k for k, row in enumerate(item.leading) if row in item.independent]
    tied = [k for k, row in enumerate(item.leading) if row in item.dependent]
    moved = J @ E
    right = ops.concatenate([moved[:, free], drift.reshape(-1, 1)], axis=1)
    found = structured_least_squares(moved[:, tied], right)
    Y = ops.zeros((len(item.leading), len(free)), like=found)
    rest = ops.zeros(len(item.leading), like=found)
    Y[free], Y[tied], rest[tied] = np.eye(len(free)), -found[:, :-1], -found[:, -1]
    return Y, rest


def _gear_drift(tree: Tree, item: Subsystem, q: Array, v: Array, gains: Baumgarte) -> Array:
    """What gears add, e (nv,), to the accelerations of their joints to pull them back."""
    e = ops.zeros(len(tree.armature), like=[q, v])
    if not (gains.alpha or gains.beta):
        return e
    for gear in item.gears:
        part = Constraints((gear,))
        drift = drift_of(tree, part, part.jacobian(tree, q), q, v, gains)
        e[dof_rows(tree, gear.joint)] = gear.ratio * e[dof_rows(tree, gear.source)] - drift
    return e
