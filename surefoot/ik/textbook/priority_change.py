"""Tasks that come, go or change places without a jump of the joint rates: an activation α runs from 0 to 1.

Activations are numbers in 0 … 1; what they follow (time, a distance) should itself be smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError
from surefoot.ik.textbook.inverses import RANK, restrict
from surefoot.ik.textbook.task_priority import TaskRate, task_rates


def intermediate_value_rates(
    first: TaskRate,
    second: TaskRate,
    activations: tuple[float, float],
    threshold: float = 0.0,
    damping: float = 0.0,
) -> Array:
    """Joint rates (n,) of two tasks, the first above the second, either of which may fade in or out.

        V₁ⁱ = α₁ V₁ + (1 − α₁) J₁ J₂⁺ α₂ V₂,  V₂ⁱ = α₂ V₂ + (1 − α₂) J₂ J₁⁺ α₁ V₁        [ik.intermediate]
        θ' = J₁⁺ V₁ⁱ + J̄₂⁺ (V₂ⁱ − J₂ J₁⁺ V₁ⁱ)        Lee, Mansard & Park 2012; Nenchev & Konno 2019, (2.54)

    α = (1, 1) is strict priority, (1, 0) the first task alone, (0, 1) the second alone, (0, 0) rest. To change places,
    fade one out, and in again below the other.

    Args:
        first: The task above.
        second: The task below.
        activations: α₁, α₂.
        threshold: ε of `filtered_inverse`, in the units of the Jacobians; 0 for none.
        damping: λ_max of `filtered_inverse`.
    """
    ((J1, V1), (J2, V2)), n = task_rates([first, second])
    a1, a2 = _activations(activations, 2)
    alone1, alone2 = (restrict(J, np.eye(n), threshold, damping) for J in (J1, J2))
    below = restrict(J2, np.eye(n) - alone1.rows.T @ alone1.rows, threshold, damping)
    rate1, rate2 = alone1.inverse @ V1, alone2.inverse @ V2
    value1 = a1 * V1 + (1.0 - a1) * a2 * (J1 @ rate2)
    value2 = a2 * V2 + (1.0 - a2) * a1 * (J2 @ rate1)
    rates = alone1.inverse @ value1
    return rates + below.inverse @ (value2 - J2 @ rates)


def scaled_projector_rates(
    tasks: Sequence[TaskRate],
    activations: Sequence[float],
    rest: ArrayLike | None = None,
    threshold: float = 0.0,
    damping: float = 0.0,
) -> Array:
    """Joint rates (n,) of tasks in order, each of which binds those below it only as far as it is active.

        θ'_k = θ'_{k−1} + α_k N_{k−1} J̄_k⁺ (V_k − J_k θ'_{k−1}),  J̄_k = J_k N_{k−1}        [ik.scaled-projector]
        N_k = N_{k−1} (E − α_k J̄_k⁺ J̄_k)        Nenchev & Konno 2019, (2.54)–(2.56)

    With all α = 1 it is strict priority, and a task with α = 0 is as if it were not there. Where a task contradicts
    one above it, only a threshold above zero keeps the rates continuous as α comes to 1.

    Args:
        tasks: Jacobians and rates, the most important first.
        activations: α of each.
        rest: θ'_a (n,): what the joints do in the null space of all; nothing if omitted.
        threshold: ε of `filtered_inverse`, in the units of the Jacobians; 0 for none.
        damping: λ_max of `filtered_inverse`.
    """
    pairs, n = task_rates(tasks)
    rates, N = np.zeros(n), np.eye(n)
    for (J, rate), activation in zip(pairs, _activations(activations, len(pairs)), strict=True):
        restricted = restrict(J, N, threshold, damping)
        rates = rates + activation * (N @ restricted.inverse @ (rate - J @ rates))
        N = N - activation * (N @ restricted.rows.T @ restricted.rows)
    return rates if rest is None else rates + N @ finite_array(rest, (n,), "joint rates in the null space")


def shaped_projector(J: ArrayLike, low: float, high: float, activation: float = 1.0) -> Array:
    """N (n, n), a projector whose directions fade with their singular values: continuous where J loses rank.

    N = E − V diag(α₁ … α_m, 0) Vᵀ,  αᵢ = α s((σᵢ − low) / (high − low))        [ik.shaped-projector]
    Dietrich, Albu-Schäffer & Hirzinger 2012; Nenchev & Konno 2019, (2.54)–(2.56); s is the quintic from 0 to 1

    Directions below `low` are free for others, those from `high` on belong to the task.

    Args:
        J: (m, n).
        low: Singular value up to which a direction is given up, ≥ 0.
        high: Singular value from which it is held, > low.
        activation: α in 0 … 1 of the whole task.
    """
    J = finite_array(J, (None, None), "J")
    if number(high, "high") <= number(low, "low"):
        raise ShapeError("singular values must be given up below those from which they are held",
                         evidence={"low": low, "high": high})  # fmt: skip
    _, sizes, Vt = np.linalg.svd(J, full_matrices=False)
    x = np.clip((sizes - low) / (high - low), 0.0, 1.0)
    held = _activations([activation], 1)[0] * x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
    return np.eye(J.shape[1]) - (Vt.T * held) @ Vt


class RowByRow(NamedTuple):
    """Joint rates (n,), the rows in the order in which they were served, and how well each was conditioned then.

    Conditioning is |j N| / |j|: 1 for a row that is orthogonal to those before it, 0 for one that they imply.
    """

    rates: Array
    order: tuple[int, ...]
    conditioning: Array


def full_decomposition_rates(task: TaskRate, threshold: float = 0.0, damping: float = 0.0) -> RowByRow:
    """Joint rates of a task that is taken apart into rows, the best conditioned first; no decomposition is needed.

        θ' += j̄ᵀ (v − j θ') / (|j̄|² + λ² |j|²),  j̄ = j N,  N −= j̄ᵀ j̄ / |j̄|²        [ik.full-decomposition]
        Nenchev & Konno 2019, section 2.8

    Only the last, badly conditioned rows are damped: λ² = (1 − (c/ε)²) λ_max² for a conditioning c < ε. With full row
    rank and no damping it is the pseudoinverse. Of equals the first is served first. Rows that contradict
    each other are served in an order that can change with the posture, and the rates with it.

    Args:
        task: All rows and their rates.
        threshold: ε in 0 … 1, of the conditioning; 0 for no damping.
        damping: λ_max, by which rows are damped relative to their length.
    """
    ((J, V),), n = task_rates([task])
    number(threshold, "threshold"), number(damping, "damping")
    lengths = np.linalg.norm(J, axis=1)
    left, rates, remaining = np.array(J), np.zeros(n), [int(i) for i in np.flatnonzero(lengths > 0.0)]
    order, found = [], []
    while remaining:
        scores = np.linalg.norm(left[remaining], axis=1) / lengths[remaining]
        i, score = remaining.pop(int(np.argmax(scores))), float(np.max(scores))
        if score <= RANK:
            break
        square = (damping * lengths[i]) ** 2 * max(1.0 - (score / threshold) ** 2, 0.0) if threshold > 0.0 else 0.0
        row = left[i]
        rates = rates + row * (V[i] - J[i] @ rates) / (row @ row + square)
        unit = row / np.linalg.norm(row)
        for _ in range(2):  # twice is enough for rounding (Kahan and Parlett)
            left = left - np.outer(left @ unit, unit)
        order.append(i)
        found.append(score)
    return RowByRow(rates, tuple(order), np.array(found))


def _activations(values: Sequence[float], count: int) -> Array:
    out = finite_array(values, (count,), "activations")
    if (out < 0.0).any() or (out > 1.0).any():
        raise ShapeError("activations must lie between 0 and 1", evidence={"given": out.tolist()})
    return out
