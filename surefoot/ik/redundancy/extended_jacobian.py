"""The extended Jacobian: a task and as many functions of the joints as are needed to tie every joint."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.textbook import RANK, damped_inverse


def extended_jacobian_rates(
    J: ArrayLike, J_h: ArrayLike, task_rate: ArrayLike, function_rate: ArrayLike, damping: float = 0.0
) -> Array:
    """θ' (n,) that moves the task at V and the functions h(θ) at γ'.

    [J; J_h] θ' = [V; γ']        [ik.extended]   Baillieul 1985; Nenchev & Konno 2019, section 2.7.5

    Closed paths of the task have closed paths of the joints, since h(θ) = γ(t) holds joint positions.

    Args:
        J: (m, n) of the task.
        J_h: (n − m, n): ∂h/∂θ.
        task_rate: V (m,).
        function_rate: γ' (n − m,).
        damping: λ ≥ 0: damped least squares for both alike, where they contradict each other.

    Raises:
        NotSupportedError: The stacked matrix is singular, and nothing damps it.
        ShapeError: Both together do not have n rows.
    """
    stacked, rates = _stacked(J, J_h), np.concatenate([np.atleast_1d(task_rate), np.atleast_1d(function_rate)])
    if stacked.shape[0] != stacked.shape[1]:
        raise ShapeError(f"task and functions have {stacked.shape[0]} rows, the joints are {stacked.shape[1]}")
    rates = finite_array(rates, (len(stacked),), "rates of task and functions")
    if number(damping, "damping") > 0.0:
        return damped_inverse(stacked, damping) @ rates
    sizes = np.linalg.svd(stacked, compute_uv=False)
    if sizes[-1] <= RANK * sizes[0]:
        raise NotSupportedError(
            "task and functions of the joints do not determine the joint rates here",
            evidence={"smallest singular value": float(sizes[-1]), "algorithmic": algorithmic_rank_loss(J, J_h) > 0},
            next_step="give a damping, or another function",
        )
    return np.array(np.linalg.solve(stacked, rates), dtype=float)


def algorithmic_rank_loss(J: ArrayLike, J_h: ArrayLike) -> int:
    """The number rank J + rank J_h − rank [J; J_h]: above zero where two possible tasks contradict each other.

    Nenchev & Konno 2019, sections 2.7.5 and 2.8        [ik.algorithmic-singularity]

    Args:
        J: (m, n) of a task.
        J_h: (k, n) of another one.
    """
    rank = np.linalg.matrix_rank
    stacked = _stacked(J, J_h)
    m = np.shape(J)[0]
    return int(rank(stacked[:m], rtol=RANK) + rank(stacked[m:], rtol=RANK) - rank(stacked, rtol=RANK))


def _stacked(J: ArrayLike, J_h: ArrayLike) -> Array:
    J = finite_array(J, (None, None), "J")
    return np.vstack([J, finite_array(J_h, (None, J.shape[1]), "J of the functions")])
