"""Rates of base and joints that contacts allow: contacts first, then tasks in their free directions, then the rest.

All of them take the relations of one posture (`ContactKinematics`). Near singular postures of a limb, `threshold` and
`damping` bound the rates as in `filtered_inverse`; contacts are then missed by what the limb cannot do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.ik.contacts.kinematics import ContactKinematics
from surefoot.ik.textbook import restrict, truncated_inverse


class SplitVelocity(NamedTuple):
    """Quasi-velocities (6 + n,): what moves along the contacts, and what would move against them."""

    tangent: Array
    constraint: Array


def split_velocity(contacts: ContactKinematics, velocity: ArrayLike) -> SplitVelocity:
    """Split any quasi-velocity (V_B, θ') into the part that contacts allow and the part that they take.

    q'_u = N(J_cB) q'_u + J_cB⁺ J_cB q'_u        [ik.split]   Nenchev & Konno 2019, section 2.11.2

    Args:
        contacts: The relations of the posture.
        velocity: q'_u = (V_B, θ') (6 + n,), V_B in world axes.
    """
    J = contacts.constraint_jacobian
    velocity = finite_array(velocity, (J.shape[1],), "quasi-velocity")
    rows = restrict(J, np.eye(J.shape[1])).rows
    taken = rows.T @ (rows @ velocity)
    return SplitVelocity(velocity - taken, taken)


def base_twist_of_joints(
    contacts: ContactKinematics, joint_rates: ArrayLike, free_twist: ArrayLike | None = None
) -> Array:
    """V_B (6,): how the base moves if the joints do, as far as contacts determine it.

    V_B = −C_cB^{#T} 𝒥_cB θ' + (E − C_cB^{#T} C_cBᵀ) V_Ba        [ik.base-of-joints]   Nenchev & Konno 2019, (2.90)
    (erratum: the printed projector has its factors swapped)

    With c < 6 the base keeps 6 − c freedoms, in which it moves as V_Ba; with c > 6 the joints must fit the loops, and
    this is the twist with the smallest motion of the contacts.

    Args:
        contacts: The relations of the posture.
        joint_rates: θ' (n,).
        free_twist: V_Ba (6,); zero if omitted.
    """
    rates = finite_array(joint_rates, (contacts.J_c.shape[1],), "joint rates")
    wanted = np.zeros(6) if free_twist is None else finite_array(free_twist, (6,), "twist of the base")
    C = contacts.C_c.T
    return wanted - truncated_inverse(C) @ (contacts.J_c @ rates + C @ wanted)


def joint_rates_of_base(
    contacts: ContactKinematics,
    base_twist: ArrayLike,
    held_rate: ArrayLike | None = None,
    free_rate: ArrayLike | None = None,
    rest: ArrayLike | None = None,
    threshold: float = 0.0,
    damping: float = 0.0,
) -> Array:
    """θ' (n,) that carries the base with V_B: contacts above tasks of the free directions above the rest.

        θ' = 𝒥_c⁺ Ṽᶜ + 𝒥̄_m⁺ Ṽᵐ + N(J_B) θ'_u        [ik.joints-of-base]   Nenchev & Konno 2019, section 2.11.2
        Ṽᶜ = V̄ᶜ − C_cBᵀ V_B,  Ṽᵐ = V̄ᵐ − C_mBᵀ V_B − 𝒥_m 𝒥_c⁺ Ṽᶜ,  𝒥̄_m = 𝒥_m N(𝒥_c)

    For one fixed foot and a leg of six joints it is θ' = −J_B⁻¹ T_FB V_B (erratum: (2.87) prints +J_B⁻¹ V_B).

    Args:
        contacts: The relations of the posture.
        base_twist: V_B (6,) in world axes.
        held_rate: V̄ᶜ (c,): rates of the directions that are held; zero if omitted.
        free_rate: V̄ᵐ (f,): rates of the free directions; they are not tasks if omitted.
        rest: θ'_u (n,); zero if omitted.
        threshold: ε of `filtered_inverse`; 0 for none.
        damping: λ_max of `filtered_inverse`.
    """
    blocks = (contacts.C_c, contacts.J_c, contacts.C_m, contacts.J_m)
    return _rates(blocks, base_twist, held_rate, free_rate, rest, threshold, damping)


def joint_rates_of_mixed(
    contacts: ContactKinematics,
    mixed_twist: ArrayLike,
    held_rate: ArrayLike | None = None,
    free_rate: ArrayLike | None = None,
    rest: ArrayLike | None = None,
    threshold: float = 0.0,
    damping: float = 0.0,
) -> Array:
    """θ' (n,) that moves the centre of mass with v_C and turns the base with ω_B: all limbs take part.

        θ' = 𝒥_cM⁺ (V̄ᶜ − C_cCᵀ V_M) + N(𝒥_cM) θ'_u        [ik.joints-of-mixed]   Nenchev & Konno 2019, (2.132)
        and with tasks of the free directions as in `joint_rates_of_base`        (2.133)

    Args:
        contacts: The relations of the posture.
        mixed_twist: V_M = (v_C, ω_B) (6,) in world axes.
        held_rate: V̄ᶜ (c,): rates of the directions that are held; zero if omitted.
        free_rate: V̄ᵐ (f,): rates of the free directions; they are not tasks if omitted.
        rest: θ'_u (n,); zero if omitted.
        threshold: ε of `filtered_inverse`; 0 for none.
        damping: λ_max of `filtered_inverse`.
    """
    return _rates(contacts.mixed(), mixed_twist, held_rate, free_rate, rest, threshold, damping)


def _rates(
    blocks: tuple[Array, Array, Array, Array],
    root: ArrayLike,
    held_rate: ArrayLike | None,
    free_rate: ArrayLike | None,
    rest: ArrayLike | None,
    threshold: float,
    damping: float,
) -> Array:
    """Joint rates in three ranks, for any twist of the root with its C and 𝒥 of held and free directions."""
    C_c, J_c, C_m, J_m = blocks
    (c, n), root = J_c.shape, finite_array(root, (6,), "twist")
    held = np.zeros(c) if held_rate is None else finite_array(held_rate, (c,), "rates of held directions")
    upper = restrict(J_c, np.eye(n), threshold, damping)
    rates, N = upper.inverse @ (held - C_c.T @ root), np.eye(n) - upper.rows.T @ upper.rows
    if free_rate is not None:
        wanted = finite_array(free_rate, (len(J_m),), "rates of free directions") - C_m.T @ root
        lower = restrict(J_m, N, threshold, damping)
        rates, N = rates + lower.inverse @ (wanted - J_m @ rates), N - N @ lower.rows.T @ lower.rows
    return rates if rest is None else rates + N @ finite_array(rest, (n,), "joint rates of the rest")
