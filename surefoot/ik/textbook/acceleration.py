"""Joint accelerations of task accelerations, with a null-space motion that does not build up."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.ik.textbook.inverses import truncated_inverse


def closed_loop_acceleration(
    target_acceleration: ArrayLike, error_rate: ArrayLike, error: ArrayLike, damping: ArrayLike, stiffness: ArrayLike
) -> Array:
    """w"_eff (m,): the wanted acceleration and what takes the error back.

    w"_eff = w"_d + K_D (w'_d − w') + K_P (w_d − w)        [ik.clik-acceleration]   Luh, Walker & Paul 1980;
    Buschmann 2014, chapter 5

    Args:
        target_acceleration: w"_d (m,).
        error_rate: w'_d − w' (m,).
        error: w_d − w (m,).
        damping: K_D [1/s]: a number or (m,).
        stiffness: K_P [1/s²]: a number or (m,).
    """
    error = finite_array(error, (None,), "error of the task")
    error_rate = finite_array(error_rate, error.shape, "rate of the error")
    wanted = finite_array(target_acceleration, error.shape, "acceleration of the target")
    return wanted + np.asarray(damping, dtype=float) * error_rate + np.asarray(stiffness, dtype=float) * error


def resolved_acceleration(
    J: ArrayLike, bias: ArrayLike, acceleration: ArrayLike, rest: ArrayLike | None = None
) -> Array:
    """θ" (n,) with J θ" + J' θ' = V', and θ"_a in the null space.

    θ" = J⁺ (V' − J' θ') + (E − J⁺ J) θ"_a        [ik.resolved-acceleration]   Luh, Walker & Paul 1980;
    Nenchev & Konno 2019, section 2.7

    A self-motion that has begun goes on at θ"_a = 0, and harmonic θ"_a make it grow: damp it, or use
    `integrable_acceleration`.

    Args:
        J: (m, n).
        bias: J' θ' (m,).
        acceleration: V' (m,).
        rest: θ"_a (n,); zero if omitted.
    """
    J = finite_array(J, (None, None), "J")
    m, n = J.shape
    wanted = finite_array(acceleration, (m,), "acceleration of the task") - finite_array(bias, (m,), "J' θ'")
    rest = np.zeros(n) if rest is None else finite_array(rest, (n,), "joint accelerations in the null space")
    return rest + truncated_inverse(J) @ (wanted - J @ rest)


def integrable_acceleration(
    J: ArrayLike,
    J_rate: ArrayLike,
    input_rates: ArrayLike,
    input_accelerations: ArrayLike,
    task_rate: ArrayLike | None = None,
    task_acceleration: ArrayLike | None = None,
) -> Array:
    """q" (n,) whose integral is q' = J⁺ V + N u at all times, u the integral of the input u' and not the state.

        q" = d/dt(J⁺) V + J⁺ V' + N' u + N u'        [ik.integrable]   Nenchev & Konno 2019, section 2.11.3
        N' = −(L + Lᵀ), L = J⁺ J' N;   d/dt(J⁺) = −J⁺ J' J⁺ + N J'ᵀ (J Jᵀ)⁻¹

    For V = 0 it is −J⁺ J' N u + N (u' − J'ᵀ J⁺ᵀ u), and |q'| ≤ |u|: a periodic input has a periodic motion. Start from
    q' = J⁺ V + N u, and add a feedback of the task to `task_acceleration` against drift.

    Args:
        J: (m, n) of full row rank.
        J_rate: J' (m, n).
        input_rates: u (n,).
        input_accelerations: u' (n,).
        task_rate: V (m,); zero if omitted.
        task_acceleration: V' (m,); zero if omitted.
    """
    J = finite_array(J, (None, None), "J")
    m, n = J.shape
    J_rate = finite_array(J_rate, (m, n), "J'")
    u, du = finite_array(input_rates, (n,), "u"), finite_array(input_accelerations, (n,), "u'")
    rate = np.zeros(m) if task_rate is None else finite_array(task_rate, (m,), "rate of the task")
    wanted = np.zeros(m) if task_acceleration is None else finite_array(task_acceleration, (m,), "V'")
    inverse = truncated_inverse(J)
    N = np.eye(n) - inverse @ J
    pull = inverse.T @ (inverse @ rate - u)  # (J Jᵀ)⁻¹ V − J⁺ᵀ u: what turns with the row space of J
    return inverse @ (wanted - J_rate @ (inverse @ rate + N @ u)) + N @ (du + J_rate.T @ pull)
