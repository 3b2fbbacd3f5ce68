"""Tasks in strict order: each does its best in what the ones above it leave free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError, one_of
from surefoot.ik.textbook.inverses import restrict
from surefoot.ik.textbook.self_motion import self_motion_basis

PriorityScheme = Literal["product", "stacked"]


class TaskRate(NamedTuple):
    """What a task asks of the joint rates: J θ' = V, J (m, n), V (m,)."""

    J: ArrayLike
    rate: ArrayLike


def task_priority_rates(
    tasks: Sequence[TaskRate],
    rest: ArrayLike | None = None,
    scheme: PriorityScheme = "product",
    threshold: float = 0.0,
    damping: float = 0.0,
) -> Array:
    """Joint rates (n,) of tasks in the order of their priority.

        θ'_k = θ'_{k−1} + J̄_k⁺ (V_k − J_k θ'_{k−1}),  J̄_k = J_k N_{k−1}        [ik.task-priority]
        product: N_k = Π (E − J̄ᵢ⁺ J̄ᵢ)        Siciliano & Slotine 1991; Nenchev & Konno 2019, (2.51)
        stacked: N_k = E − J_C⁺ J_C, J_C = [J_1; …; J_k]        (2.52) (erratum: N_{k−1} is of C_{k−1}, not of C_k)

    Exact inverses make both the same; where the stacked tasks have full row rank they are the pseudoinverse of the
    stack. A threshold damps a task where it nearly contradicts those above it (an algorithmic singularity): its own
    rate is missed there, while those above are held exactly, since the projectors are never damped.

    Args:
        tasks: Jacobians and rates, the most important first.
        rest: θ'_a (n,): what the joints do in the null space of all; nothing if omitted.
        scheme: How the null space is carried on.
        threshold: ε of `filtered_inverse`, in the units of the Jacobians; 0 for none.
        damping: λ_max of `filtered_inverse`.
    """
    if scheme not in get_args(PriorityScheme):
        raise one_of("priority scheme", scheme, get_args(PriorityScheme))
    pairs, n = task_rates(tasks)
    number(threshold, "threshold"), number(damping, "damping")
    rates, N = np.zeros(n), np.eye(n)
    for k, (J, rate) in enumerate(pairs, start=1):
        restricted = restrict(J, N, threshold, damping)
        rates = rates + restricted.inverse @ (rate - J @ rates)
        if scheme == "product":
            N = N - N @ restricted.rows.T @ restricted.rows
        else:
            Z = self_motion_basis(np.vstack([J for J, _ in pairs[:k]]))
            N = Z.T @ Z
    return rates if rest is None else rates + N @ finite_array(rest, (n,), "joint rates in the null space")


def task_rates(tasks: Sequence[TaskRate]) -> tuple[list[tuple[Array, Array]], int]:
    """Jacobians and rates as arrays that fit together, and n."""
    if not tasks:
        raise ShapeError("there are no tasks", next_step="give at least one Jacobian and its rate")
    n = finite_array(tasks[0][0], (None, None), "J of task 0").shape[1]
    pairs = []
    for k, (J, rate) in enumerate(tasks):
        J = finite_array(J, (None, n), f"J of task {k}")
        pairs.append((J, finite_array(rate, (J.shape[0],), f"rate of task {k}")))
    return pairs, n
