"""How the joints of a subsystem move with its independent coordinates: a = G x + g.

Gears first, v = E y with ratios as they are. Ties then hold J E y' + J e + drift = 0, with the columns of J of the
subsystem alone: the relative motion along the loop, whatever carries it. The dependent part of y' is solved for,

    y'_D = -J_D⁺ (J_I x + J e + drift)        [loops.elimination]   Buschmann 2014, section 3.4.2: q̈_t = G q̈_S + g

in least squares, for numbers and symbols, by reflections that leave exact zeros alone:

    |A X - right| → min        [dyn.qr]   Householder 1958; Golub & Van Loan 2013, section 5.3.2

A reflection takes only rows in which its column has an entry that is not exactly zero, and columns with few such rows
go first: in Jacobians of several loops, joints of one loop before those that they share, so that little fills up.
There is no pivoting on values, and none is needed while A has full column rank; redundant rows do not matter. Without
full column rank the result is not finite: of a column that depends on others nothing is left to divide by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import is_exactly
from surefoot.dynamics.constraints import Baumgarte, Constraints, drift_of
from surefoot.dynamics.loops.graph import Subsystem, gear_matrix
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot import Tree

_NOTHING = 1e-8  # of the size of A


def structured_least_squares(A: Array, right: Array) -> Array:
    """X (n, k) with |A X - right| least; A (m, n) has full column rank.   [dyn.qr]."""
    if not ops.is_symbolic(A, right):
        found, _, _, values = np.linalg.lstsq(A, right, rcond=None)
        return found if not values.size or values[-1] > _NOTHING * values[0] else np.full_like(found, np.nan)
    n = A.shape[1]
    order = sorted(range(n), key=lambda j: len(_live(A[:, j])))
    work = ops.concatenate([A[:, order], right], axis=1).astype(object)
    least = _NOTHING**2 * (A.ravel() @ A.ravel())
    for k in range(n):
        _reflect(work, k)
        work[k, k] = ops.where(ops.less(least, work[k, k] * work[k, k]), work[k, k], 0.0)
    X = ops.zeros((n, right.shape[1]), like=work)
    X[order] = _back_substituted(work, n)
    return X


def _live(column: Array) -> list[int]:
    """Rows that are not known to be zero."""
    return [i for i, entry in enumerate(column) if not is_exactly(entry, 0.0)]


def _reflect(work: Array, k: int) -> None:
    """Turn column k, from row k on, into one entry."""
    live = [k + i for i in _live(work[k:, k])]
    if k not in live:
        work[[k, live[0]]] = work[[live[0], k]]
        live[0] = k
    if len(live) == 1:
        return
    x = work[live, k]
    length = ops.sqrt(x @ x)
    side = ops.where(ops.less(x[0], 0.0), -length, length)
    u = ops.concatenate([[x[0] + side], x[1:]])
    scale = 1.0 / (length * (length + ops.absolute(x[0])))
    work[live, k] = 0.0
    work[k, k] = -side
    for j in range(k + 1, work.shape[1]):
        column = work[live, j]
        if _live(column):
            work[live, j] = column - u * (scale * (u @ column))


def _back_substituted(work: Array, n: int) -> Array:
    """R⁻¹ times the columns right of R."""
    X: list[Any] = [None] * n
    for k in reversed(range(n)):
        row = work[k, n:]
        for j in range(k + 1, n):
            row = row - work[k, j] * X[j]
        X[k] = row * (1.0 / work[k, k])
    return ops.stack(X)


def dependent_motion(tree: Tree, item: Subsystem, q: Array, v: Array, gains: Baumgarte) -> tuple[Array, Array]:
    """G (n, k) and g (n,): the accelerations of the n rows `item.dofs` per independent one.   [loops.elimination]."""
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
    """Accelerations e (nv,) that pull geared joints back."""
    e = ops.zeros(len(tree.armature), like=[q, v])
    if not (gains.alpha or gains.beta):
        return e
    for gear in item.gears:
        part = Constraints((gear,))
        drift = drift_of(tree, part, part.jacobian(tree, q), q, v, gains)
        e[dof_rows(tree, gear.joint)] = gear.ratio * e[dof_rows(tree, gear.source)] - drift
    return e
