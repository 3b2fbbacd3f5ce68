"""Closed-loop inverse kinematics with a gradient in the null space, without forming a pseudoinverse."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError


def closed_loop_rate(target_rate: ArrayLike, error: ArrayLike, gain: ArrayLike) -> Array:
    """w'_eff (m,): the wanted rate and what takes the error back, e' = −K e.

    w'_eff = w'_d + K (w_d − w)        [ik.clik]   Siciliano 1990; Buschmann 2014, chapter 5

    Args:
        target_rate: w'_d (m,).
        error: w_d − w (m,).
        gain: K [1/s]: a number or (m,); explicit Euler steps of length dt are stable for K dt < 2.
    """
    error = finite_array(error, (None,), "error of the task")
    target_rate = finite_array(target_rate, error.shape, "rate of the target")
    return target_rate + np.asarray(gain, dtype=float) * error


def liegeois_rates(
    J: ArrayLike, task_rate: ArrayLike, gradient: ArrayLike, W_inverse: ArrayLike | None = None
) -> Array:
    """Rates q' (n,) with J q' = w' that makes ½ q'ᵀ W q' + zᵀ q' smallest, z = α ∂H/∂q.

        B λ = w' + J W⁻¹ z,  B = J W⁻¹ Jᵀ        [ik.liegeois]   Liégeois 1977; Buschmann 2014, Alg. 10
        q' = W⁻¹ (Jᵀ λ − z)

    (erratum: Alg. 10 prints p = w' − J z, which violates the task.) It equals J# w' − N W⁻¹ z, N = E − J# J, at the
    cost of one symmetric solve.

    Args:
        J: (m, n) of full row rank.
        task_rate: w' (m,).
        gradient: z (n,): α times the gradient of the criterion that shall fall.
        W_inverse: W⁻¹ (n, n) symmetric and positive definite; the identity if omitted.

    Raises:
        NotSupportedError: J has lost rank.
    """
    J = finite_array(J, (None, None), "J")
    m, n = J.shape
    rate, z = finite_array(task_rate, (m,), "rate of the task"), finite_array(gradient, (n,), "gradient")
    W_inverse = np.eye(n) if W_inverse is None else finite_array(W_inverse, (n, n), "inverse weights")
    JW = J @ W_inverse
    try:
        multipliers = cho_solve(cho_factor(JW @ J.T), rate + JW @ z)
    except np.linalg.LinAlgError as error:
        raise NotSupportedError(
            "J has lost rank: no multipliers hold this task",
            evidence={"smallest singular value of J": float(np.linalg.svd(J, compute_uv=False)[-1])},
            next_step="use a damped inverse, or omit the task",
        ) from error
    return W_inverse @ (J.T @ multipliers - z)


def momentum_weight_inverse(J_L: ArrayLike, beta: float, gamma: float) -> Array:
    """W⁻¹ (n, n) of W = β (γ E + J_Lᵀ J_L): joint rates are cheap, angular momentum J_L q' is dear.

    W⁻¹ = (E − J_Lᵀ (γ E + J_L J_Lᵀ)⁻¹ J_L) / (β γ)        [ik.momentum-weight]   Buschmann 2014, section 5.3;
    Sherman & Morrison 1950 for one row, Woodbury 1950 for several

    Args:
        J_L: (k, n) or (n,) for one component: angular momentum of unit rates.
        beta: β > 0: the scale.
        gamma: γ > 0: what joint rates cost beside the momentum; Buschmann used 0.008.
    """
    J_L = finite_array(np.atleast_2d(np.asarray(J_L, dtype=float)), (None, None), "J of the angular momentum")
    beta, gamma = number(beta, "beta", positive=True), number(gamma, "gamma", positive=True)
    k, n = J_L.shape
    inner = np.linalg.solve(gamma * np.eye(k) + J_L @ J_L.T, J_L)
    return (np.eye(n) - J_L.T @ inner) / (beta * gamma)
