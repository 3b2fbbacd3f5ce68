"""The constraint equations A z + b = 0 of a model: positions, velocities, accelerations with forces.

    positions   J₁S Δφ' + C₁Sᵀ Δϑ + 2 (S_a - R_tail) = 0                       [red.position]   Busenhart 1994, (3.43)
                J₂ Δφ' + J₃ Δs' + C₂ᵀ Δϑ + C₃ᵀ ΔX + s_a - X_tail = 0                            (3.44)
    velocities  J₁ θ' + C₁ᵀ ω = 0,  J₂ θ' + J₃ ṡ' + C₂ᵀ ω + C₃ᵀ Ẋ = 0          [red.velocity]   (3.55), (3.56)
    dynamics    I ω̇ + C₁ τ + C₂ f + ω × I ω = 0,  m Ẍ + C₃ f - m g = 0         [red.dynamics]   (3.92), (3.93)
                J₁ θ̇' + C₁ᵀ ω̇ + g = 0,  J₂ θ̇' + J₃ s̈' + C₂ᵀ ω̇ + C₃ᵀ Ẍ + h = 0   (3.63), (3.64; erratum: + h)
                J₁ᵀ τ + J₂ᵀ f - B₁ u - τ'_P = 0,  J₃ᵀ f - B₂ u - f'_P = 0                       (3.73), (3.74)

τ_a and f_a are what the head does to the tail, about the tail's centre of mass. Residuals of hinges on the ground hold
S_a and s_a (erratum: the printed sums drop them). R and -R are the same attitude, so the nearer of the two is compared.
Drives with an inertia of their own add armature · θ̇' to the last rows, which Busenhart does not have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot import ops
from surefoot.ops import Array
from surefoot.redundant.chains import Chains, biases, chains, tail_spinors
from surefoot.redundant.layout import Layout, Model
from surefoot.redundant.passive import passive_forces
from surefoot.redundant.places import dynamics_plan, position_plan, velocity_plan
from surefoot.redundant.spinors import bars, crosses, matrices, skews
from surefoot.redundant.state import State

__all__ = ["System", "dynamics_system", "hinge_residuals", "position_system", "velocity_system", "world_inertias"]

_UNIT = np.array([[1.0, 0.0, 0.0, 0.0]])


@dataclass(frozen=True, eq=False)
class System:
    """Rows A z + b = 0.

    Args:
        A: (rows, unknowns).
        b: (rows,).
    """

    A: Array
    b: Array


def position_system(model: Model, state: State) -> System:
    """The linearised hinges, of z = [Δϑ, ΔX, Δφ', Δs'].   [red.position].

    Args:
        model: The model.
        state: Where it is linearised.
    """
    layout = model.layout
    found, S, R = chains(layout, state), tail_spinors(layout, state), _nearer_tails(layout, state)
    S_bar = bars(S)
    along = (S_bar[layout.links.turn_at[1]] @ found.turn_axes[..., None])[..., 0]
    blocks = [S_bar, -bars(R), along, found.turn_levers, found.slide_axes, skews(found.levers)]
    turn, shift = _residuals(layout, state, found, S, R)
    b = np.concatenate([turn[:, layout.spinor_rows].ravel(), shift[:, layout.translations].ravel()])
    return System(position_plan(layout).filled(blocks), b)


def velocity_system(model: Model, state: State) -> System:
    """The hinges in velocities, of z = [ω, Ẋ, θ', ṡ'].   [red.velocity].

    Args:
        model: The model.
        state: The coordinates.
    """
    layout = model.layout
    A = velocity_plan(layout).filled(_motion_blocks(chains(layout, state)))
    return System(A, np.zeros(A.shape[0]))


def dynamics_system(model: Model, state: State, external: Array | None = None) -> System:
    """Newton and Euler, hinges in accelerations, and joint forces, of z = [u, ω̇, Ẍ, τ, f, θ̇', s̈'].   [red.dynamics].

    Args:
        model: The model.
        state: Coordinates and velocities.
        external: (N, 6) force and torque on every body, at its centre of mass, in world axes; none if left out.
    """
    layout = model.layout
    found = chains(layout, state)
    inertias = world_inertias(layout, state)
    turns, levers, slides, arms = _motion_blocks(found)
    A = dynamics_plan(layout).filled([turns, levers, slides, arms, turns, levers, slides, arms, inertias])
    uneven = inertias - _evenly(layout)  # the even part of an inertia has no gyroscopic torque, also not by rounding
    torque = crosses(state.turning, (uneven @ state.turning[..., None])[..., 0])
    force = -layout.masses[:, None] * layout.gravity
    if external is not None:
        torque, force = torque - external[:, 3:], force - external[:, :3]
    g, h = biases(layout, state, found)
    angular, linear = layout.rotations, layout.translations
    rows = (torque[:, angular], force[:, linear], g[:, angular], h[:, linear], -passive_forces(layout, state))
    return System(A, np.concatenate([part.ravel() for part in rows]))


def hinge_residuals(model: Model, state: State) -> tuple[Array, Array]:
    """By how much each hinge is open: angle (n,), rad, and distance (n,), m.

    Args:
        model: The model.
        state: The coordinates.
    """
    layout = model.layout
    found, S, R = chains(layout, state), tail_spinors(layout, state), _nearer_tails(layout, state)
    turn, shift = _residuals(layout, state, found, S, R)
    return np.linalg.norm(turn, axis=1), np.linalg.norm(shift, axis=1)


def world_inertias(layout: Layout, state: State) -> Array:
    """World inertias R diag(I) Rᵀ (N, 3, 3) [kg m²]; in the plane only the entry about z is not zero."""
    if layout.planar:
        return layout.inertias[:, :, None] * np.eye(3)
    R, least = matrices(state.spinors), layout.inertias.min(axis=1)
    uneven = layout.inertias - least[:, None]
    return _evenly(layout) + (R * uneven[:, None, :]) @ np.swapaxes(R, -1, -2)


def _evenly(layout: Layout) -> Array:
    """The least moment in all directions (N, 3, 3): what is left is exactly zero for bodies like a sphere ((3.81))."""
    return layout.inertias.min(axis=1)[:, None, None] * np.eye(3)


def _motion_blocks(found: Chains) -> list[Array]:
    return [found.turn_axes, found.turn_levers, found.slide_axes, skews(found.levers)]


def _nearer_tails(layout: Layout, state: State) -> Array:
    """R_tail (n, 4), or -R_tail where that is nearer to what the chain says."""
    S, R = tail_spinors(layout, state), np.concatenate([state.spinors, _UNIT])[layout.tail]
    away = ops.less((S * R).sum(axis=-1), 0.0)
    return R * ops.where(away, -1.0, 1.0)[:, None]


def _residuals(layout: Layout, state: State, found: Chains, S: Array, R: Array) -> tuple[Array, Array]:
    """2 (S_a - R_tail) (n, 4) and s_a - X_tail (n, 3)."""
    tails = np.concatenate([state.positions, np.zeros((1, 3))])[layout.tail]
    return 2.0 * (S - R), found.tails - tails
