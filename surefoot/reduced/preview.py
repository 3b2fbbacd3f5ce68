"""ZMP preview control: the smoothest motion of the CoM whose ZMP follows a reference that is known ahead.

Cart-table model (Kajita et al. 2003), each axis by itself, with the jerk u constant over samples of length Δ:

    x = (c, ċ, c̈),   x_{k+1} = A x_k + B u_k,   p_k = C x_k = c_k − c̈_k / ω²        [preview.cart-table]

Wanted is the u that minimises Σ_k (p_k − r_k)² + ρ u_k² for a reference r. Dynamic programming: let the cost to go
from sample k be V_k(x) = xᵀ P x − 2 v_kᵀ x + …. Then

    V_k(x) = (C x − r_k)² + min_u [ρ u² + V_{k+1}(A x + B u)]

The minimum is at u = (ρ + Bᵀ P B)⁻¹ Bᵀ (v_{k+1} − P A x) = −K x + G v_{k+1}, with G = (ρ + Bᵀ P B)⁻¹ Bᵀ and K = G P A.
Comparing the parts of V_k that are quadratic and linear in x:

    P = Aᵀ P A − Kᵀ (ρ + Bᵀ P B) K + Cᵀ C,   v_k = (A − B K)ᵀ v_{k+1} + Cᵀ r_k        [preview.riccati]

P solves the discrete Riccati equation. Unrolled, u_k = −K x_k + Σ_{j≥1} f_j r_{k+j} with the preview gains

    f_j = G ((A − B K)ᵀ)^{j−1} Cᵀ        [preview.gains]

They decay with the closed loop's poles, the slowest of which is nearly −ω: a window of 2 s is cut at 0.1 %. Σ f_j
equals the first entry of K, so a reference at rest is followed without error; a reference needs no integrator. Here v
runs backwards over the whole reference, which is the window of infinite length, its last value held.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_are

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError


def cart_table(omega: float, dt: float) -> tuple[Array, Array, Array]:
    """A (3, 3), B (3,), C (3,) of the cart-table model.

    Args:
        omega: √(g / z) [1/s].
        dt: Δ [s].
    """
    A = np.array([[1.0, dt, dt**2 / 2.0], [0.0, 1.0, dt], [0.0, 0.0, 1.0]])
    return A, np.array([dt**3 / 6.0, dt**2 / 2.0, dt]), np.array([1.0, 0.0, -1.0 / omega**2])


@lru_cache(maxsize=32)
def _gains(omega: float, dt: float, effort: float) -> tuple[Array, Array]:
    """K (3,) and G (3,)."""
    A, B, C = cart_table(omega, dt)
    P = solve_discrete_are(A, B[:, None], np.outer(C, C), np.array([[effort]]))
    G = B / (effort + B @ P @ B)
    return G @ P @ A, G


def preview_gains(omega: float, dt: float, samples: int, effort: float = 1e-6) -> tuple[Array, Array]:
    """Feedback K (3,) and preview gains f (samples,) for the references of the next samples: u = −K x + f · r.

    Args:
        omega: √(g / z) [1/s].
        dt: Δ [s].
        samples: Length of the window.
        effort: ρ, weight of the squared jerk against that of the ZMP [s⁶].
    """
    A, B, C = cart_table(omega, dt)
    K, G = _gains(omega, dt, effort)
    impulse = np.zeros((3, samples))
    impulse[:, 0] = C
    return K, G @ _accumulate((A - np.outer(B, K)).T, impulse)


def preview_control(
    zmp: ArrayLike, omega: float, dt: float, com: ArrayLike, velocity: ArrayLike, effort: float = 1e-6
) -> tuple[Array, Array, Array]:
    """CoM, its velocity and its acceleration (n, d) for a ZMP reference; the ZMP reached is c − c̈ / ω².

    Args:
        zmp: (n, d) reference at times k Δ, its last value held [m].
        omega: √(g / z) [1/s].
        dt: Δ [s].
        com: (d,) at the beginning [m].
        velocity: (d,) at the beginning [m/s].
        effort: ρ, weight of the squared jerk against that of the ZMP [s⁶].
    """
    r = finite_array(zmp, (None, None), "the ZMP reference")
    if not len(r):
        raise ShapeError("the ZMP reference is empty", next_step="give at least one sample")
    A, B, C = cart_table(number(omega, "omega", positive=True), number(dt, "dt", positive=True))
    K, G = _gains(float(omega), float(dt), number(effort, "effort", positive=True))
    M = A - np.outer(B, K)
    ahead = C[:, None, None] * r[::-1]  # (3, n, d), the last sample first
    ahead[:, 0] = np.linalg.solve(np.eye(3) - M.T, ahead[:, 0])  # it is held for ever
    v = _accumulate(M.T, ahead)[:, ::-1]
    state, start = np.empty_like(v), np.asarray(com, dtype=float)
    state[:, 0] = start, np.asarray(velocity, dtype=float), omega**2 * (start - r[0])
    state[:, 1:] = B[:, None, None] * (G[0] * v[0, 1:] + G[1] * v[1, 1:] + G[2] * v[2, 1:])
    c, rate, acceleration = _accumulate(M, state)
    return c, rate, acceleration


def _accumulate(M: Array, w: Array) -> Array:
    """X (3, n, …) with x_0 = w_0, x_{k+1} = M x_k + w_{k+1}, by doubling: x_k = Σ_j M^j w_{k−j}."""
    x, shift = w.copy(), 1
    while shift < x.shape[1] and np.abs(M).max() > 1e-18:
        before = x[:, :-shift].copy()
        for i in range(3):
            x[i, shift:] += M[i, 0] * before[0] + M[i, 1] * before[1] + M[i, 2] * before[2]
        M, shift = M @ M, 2 * shift
    return x
