"""The constraint equations A z + b = 0 of a model: positions, velocities, accelerations with forces.

    positions   J₁S Δφ' + C₁Sᵀ Δϑ + 2 (S_a - R_tail) = 0                       [red.position]   Busenhart 1994, (3.43)
                J₂ Δφ' + J₃ Δs' + C₂ᵀ Δϑ + C₃ᵀ ΔX + s_a - X_tail = 0                            (3.44)
    velocities  J₁ θ' + C₁ᵀ ω = 0,  J₂ θ' + J₃ ṡ' + C₂ᵀ ω + C₃ᵀ Ẋ = 0          [red.velocity]   (3.55), (3.56)
    dynamics    I ω̇ + C₁ τ + C₂ f + ω × I ω = 0,  m Ẍ + C₃ f - m g = 0         [red.dynamics]   (3.92), (3.93)
                J₁ θ̇' + C₁ᵀ ω̇ + g = 0,  J₂ θ̇' + J₃ s̈' + C₂ᵀ ω̇ + C₃ᵀ Ẍ + h = 0   (3.63), (3.64; erratum: + h)
                J₁ᵀ τ + J₂ᵀ f - B₁ u - τ'_P = 0,  J₃ᵀ f - B₂ u - f'_P = 0                       (3.73), (3.74)

τ_a and f_a are what the head does to the tail, about the tail's centre of mass. Residuals of hinges on the ground hold
S_a and s_a (erratum: the printed sums drop them). R and -R are the same attitude, so the nearer of the two is compared.
Drives with an inertia of their own add armature · θ̇' to the last rows, which Busenhart does not have. τ'_P and f'_P are
the springs, dampers and dry friction of the freedoms.

Blocks are computed for all hinges, bodies or freedoms at once and laid end to end in a pool. A plan, made once for a
model, sends the entries of the pool to those of the matrix and holds the entries that never change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.ops import Array
from surefoot.redundant.equations.chains import Chains, biases, chains, tail_spinors
from surefoot.redundant.equations.state import (
    State,
    bars,
    coordinates,
    crosses,
    matrices,
    skews,
    velocity_vector,
)
from surefoot.redundant.model import Layout, Model

Indices = NDArray[np.int64]


def _passive_forces(layout: Layout, state: State) -> Array:
    """τ'_P and f'_P (m,), N m or N (Busenhart 1994, (3.26) and (3.27)): springs, dampers, dry friction."""
    laws, rates = layout.freedoms, state.rates
    out = -laws.spring * (coordinates(layout, state) - laws.rest) - laws.damping * rates
    if laws.friction.any():
        out = out - laws.friction * _tanh(rates / laws.friction_speed)
    return out


def _tanh(x: Array) -> Array:
    """Hyperbolic tangent for numbers and symbols, without overflow."""
    if not ops.is_symbolic(x):
        return np.tanh(x)
    decay = ops.exp(-2.0 * ops.absolute(x))
    return ops.where(ops.less(x, 0.0), -1.0, 1.0) * (1.0 - decay) / (1.0 + decay)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Which entries of a pool (`take`) go to which of a flat matrix (`put`), and what never changes (`constant`)."""

    constant: NDArray[np.float64]
    take: Indices
    put: Indices

    def filled(self, blocks: list[Array]) -> Array:
        """The matrix (rows, columns) of blocks, in the order in which the plan was made."""
        pool = np.concatenate([block.ravel() for block in blocks])
        out = self.constant.copy() if pool.dtype != object else self.constant.astype(object)
        out.reshape(-1)[self.put] = pool[self.take]
        return out


class _Planner:
    """Collects where the entries of the blocks go."""

    def __init__(self, rows: int, columns: int) -> None:
        self.constant = np.zeros((rows, columns))
        self.take: list[Indices] = []
        self.put: list[Indices] = []
        self.size = 0

    def block(self, *shape: int) -> Indices:
        """Entries of the next block in the pool, in its shape."""
        out = self.size + np.arange(int(np.prod(shape))).reshape(shape)
        self.size += out.size
        return out

    def place(self, entries: Indices, rows: Indices, columns: Indices) -> None:
        """Send entries to rows and columns; shapes are broadcast."""
        at = rows * self.constant.shape[1] + columns
        entries, at = np.broadcast_arrays(entries, at)
        self.take.append(entries.ravel())
        self.put.append(at.ravel())

    def done(self) -> _Plan:
        empty = np.zeros(0, dtype=np.int64)
        return _Plan(self.constant, np.concatenate([empty, *self.take]), np.concatenate([empty, *self.put]))


def _grid(start: int, count: int, width: int) -> Indices:
    """Numbers of `count` groups of `width` unknowns (or rows) that begin at `start`: (count, width)."""
    return start + np.arange(count * width, dtype=np.int64).reshape(count, width)


def _on_bodies(layout: Layout, ends: Indices) -> Indices:
    """Hinges whose end is a body."""
    return np.flatnonzero(ends < layout.bodies)


@lru_cache(maxsize=64)
def _position_plan(layout: Layout) -> _Plan:
    """Blocks: S̄_a (n, 4, 3), R̄_tail (n, 4, 3), J₁S (turns, 4), J₂ (turns, 3), J₃ (slides, 3), levers (n, 3, 3)."""
    n, at = layout.hinges, layout.motion_places
    angular, linear, spin = layout.rotations, layout.translations, layout.spinor_rows
    plan = _Planner(n * (len(spin) + len(linear)), at["slides"].stop)
    rows = _grid(0, n, len(spin))
    turn = _grid(at["turn"].start, layout.bodies, len(angular))
    for ends in (layout.head, layout.tail):
        entries, own = plan.block(n, 4, 3), _on_bodies(layout, ends)
        plan.place(entries[own][:, spin][:, :, angular], rows[own][:, :, None], turn[ends[own]][:, None, :])
    hinges = layout.links.turn_at[1]
    freedoms = np.arange(at["turns"].start, at["turns"].stop)
    plan.place(plan.block(layout.turns, 4)[:, spin], rows[hinges], freedoms[:, None])
    _translations(layout, plan, _grid(n * len(spin), n, len(linear)), at)
    return plan.done()


@lru_cache(maxsize=64)
def _velocity_plan(layout: Layout) -> _Plan:
    """Blocks: J₁ (turns, 3), J₂ (turns, 3), J₃ (slides, 3), levers (n, 3, 3)."""
    n, at = layout.hinges, layout.motion_places
    angular, linear = len(layout.rotations), len(layout.translations)
    plan = _Planner(n * (angular + linear), at["slides"].stop)
    _rotations(layout, plan, _grid(0, n, angular), at)
    _translations(layout, plan, _grid(n * angular, n, linear), at)
    return plan.done()


@lru_cache(maxsize=64)
def _dynamics_plan(layout: Layout) -> _Plan:
    """Blocks: those of the velocities twice (accelerations, forces), then the inertias (N, 3, 3) in world axes."""
    n, N, at = layout.hinges, layout.bodies, layout.dynamics_places
    angular, linear, m = len(layout.rotations), len(layout.translations), len(layout.freedoms.names)
    first, second = (N + n) * angular, N * linear
    plan = _Planner(first + second + n * linear + m, at["slides"].stop)
    motion = N * (angular + linear)
    _rotations(layout, plan, _grid(motion, n, angular), at)
    _translations(layout, plan, _grid(motion + n * angular, n, linear), at)
    _forces(layout, plan, motion + n * (angular + linear))
    _newton(layout, plan)
    return plan.done()


def _rotations(layout: Layout, plan: _Planner, rows: Indices, at: dict[str, slice]) -> None:
    """J₁ θ' + C₁ᵀ ω: angular velocities of head, freedoms and tail."""
    turn = _grid(at["turn"].start, layout.bodies, len(layout.rotations))
    for ends, sign in ((layout.head, 1.0), (layout.tail, -1.0)):
        own = _on_bodies(layout, ends)
        plan.constant[rows[own], turn[ends[own]]] = sign
    freedoms = np.arange(at["turns"].start, at["turns"].stop)
    entries = plan.block(layout.turns, 3)[:, layout.rotations]
    plan.place(entries, rows[layout.links.turn_at[1]], freedoms[:, None])


def _translations(layout: Layout, plan: _Planner, rows: Indices, at: dict[str, slice]) -> None:
    """J₂ θ' + J₃ ṡ' + C₂ᵀ ω + C₃ᵀ Ẋ: velocities of the tail."""
    angular, linear = layout.rotations, layout.translations
    turn = _grid(at["turn"].start, layout.bodies, len(angular))
    move = _grid(at["move"].start, layout.bodies, len(linear))
    for ends, sign in ((layout.head, 1.0), (layout.tail, -1.0)):
        own = _on_bodies(layout, ends)
        plan.constant[rows[own], move[ends[own]]] = sign
    for name, count, hinges in (
        ("turns", layout.turns, layout.links.turn_at[1]),
        ("slides", layout.slides, layout.links.slide_at[1]),
    ):
        freedoms = np.arange(at[name].start, at[name].stop)
        plan.place(plan.block(count, 3)[:, linear], rows[hinges], freedoms[:, None])
    entries, own = plan.block(layout.hinges, 3, 3), _on_bodies(layout, layout.head)
    chosen = entries[own][:, angular][:, :, linear].transpose(0, 2, 1)
    plan.place(chosen, rows[own][:, :, None], turn[layout.head[own]][:, None, :])


def _forces(layout: Layout, plan: _Planner, start: int) -> None:
    """J₁ᵀ τ + J₂ᵀ f - B₁ u + armature θ̈' and J₃ᵀ f - B₂ u + armature s̈', one row for each freedom."""
    at, turns, links = layout.dynamics_places, layout.turns, layout.links
    torque = _grid(at["torque"].start, layout.hinges, len(layout.rotations))
    force = _grid(at["force"].start, layout.hinges, len(layout.translations))
    rows = start + np.arange(len(layout.freedoms.names))
    plan.place(plan.block(turns, 3)[:, layout.rotations], rows[:turns, None], torque[links.turn_at[1]])
    plan.place(plan.block(turns, 3)[:, layout.translations], rows[:turns, None], force[links.turn_at[1]])
    plan.place(plan.block(layout.slides, 3)[:, layout.translations], rows[turns:, None], force[links.slide_at[1]])
    plan.constant[rows, at["u"]] = -layout.freedoms.drives
    plan.constant[rows, at["turns"].start + np.arange(len(rows))] = layout.freedoms.armature


def _newton(layout: Layout, plan: _Planner) -> None:
    """M_I ω̇ + C₁ τ + C₂ f and M_m Ẍ + C₃ f, one row for each component of each body."""
    N, at, angular, linear = layout.bodies, layout.dynamics_places, layout.rotations, layout.translations
    turning, moving = _grid(0, N, len(angular)), _grid(N * len(angular), N, len(linear))
    turn, move = _grid(at["turn"].start, N, len(angular)), _grid(at["move"].start, N, len(linear))
    torque = _grid(at["torque"].start, layout.hinges, len(angular))
    force = _grid(at["force"].start, layout.hinges, len(linear))
    plan.constant[moving, move] = layout.masses[:, None]
    for ends, sign in ((layout.head, 1.0), (layout.tail, -1.0)):
        own = _on_bodies(layout, ends)
        plan.constant[turning[ends[own]], torque[own]] = sign
        plan.constant[moving[ends[own]], force[own]] = sign
    own = _on_bodies(layout, layout.head)
    entries = plan.block(layout.hinges, 3, 3)[own][:, angular][:, :, linear]
    plan.place(entries, turning[layout.head[own]][:, :, None], force[own][:, None, :])
    entries = plan.block(N, 3, 3)[:, angular][:, :, angular]
    plan.place(entries, turning[:, :, None], turn[:, None, :])


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
    """The linearised hinges, of z = [Δϑ, ΔX, Δφ', Δs'].   [red.position]."""
    layout = model.layout
    found, S, R = chains(layout, state), tail_spinors(layout, state), _nearer_tails(layout, state)
    S_bar = bars(S)
    along = (S_bar[layout.links.turn_at[1]] @ found.turn_axes[..., None])[..., 0]
    blocks = [S_bar, -bars(R), along, found.turn_levers, found.slide_axes, skews(found.levers)]
    turn, shift = _residuals(layout, state, found, S, R)
    b = np.concatenate([turn[:, layout.spinor_rows].ravel(), shift[:, layout.translations].ravel()])
    return System(_position_plan(layout).filled(blocks), b)


def velocity_system(model: Model, state: State) -> System:
    """The hinges in velocities, of z = [ω, Ẋ, θ', ṡ'].   [red.velocity]."""
    layout = model.layout
    A = _velocity_plan(layout).filled(_motion_blocks(chains(layout, state)))
    return System(A, np.zeros(A.shape[0]))


def dynamics_system(model: Model, state: State, external: Array | None = None) -> System:
    """Newton and Euler, hinges in accelerations, and joint forces, of z = [u, ω̇, Ẍ, τ, f, θ̇', s̈'].   [red.dynamics].

    Args:
        model: The model.
        state: Coordinates and velocities.
        external: (N, 6) force and torque on every body, at its centre of mass, in world axes; none if omitted.
    """
    layout = model.layout
    found = chains(layout, state)
    inertias = _world_inertias(layout, state)
    turns, levers, slides, arms = _motion_blocks(found)
    A = _dynamics_plan(layout).filled([turns, levers, slides, arms, turns, levers, slides, arms, inertias])
    uneven = inertias - _evenly(layout)  # the even part of an inertia has no gyroscopic torque, also not by rounding
    torque = crosses(state.turning, (uneven @ state.turning[..., None])[..., 0])
    force = -layout.masses[:, None] * layout.gravity
    if external is not None:
        torque, force = torque - external[:, 3:], force - external[:, :3]
    g, h = biases(layout, state, found)
    angular, linear = layout.rotations, layout.translations
    rows = (torque[:, angular], force[:, linear], g[:, angular], h[:, linear], -_passive_forces(layout, state))
    return System(A, np.concatenate([part.ravel() for part in rows]))


def hinge_residuals(model: Model, state: State) -> tuple[Array, Array]:
    """By how much each hinge is open: angle (n,), rad, and distance (n,), m."""
    layout = model.layout
    found, S, R = chains(layout, state), tail_spinors(layout, state), _nearer_tails(layout, state)
    turn, shift = _residuals(layout, state, found, S, R)
    return np.linalg.norm(turn, axis=1), np.linalg.norm(shift, axis=1)


def _world_inertias(layout: Layout, state: State) -> Array:
    """World inertias R diag(I) Rᵀ (N, 3, 3) [kg m²]; in the plane only the entry about z is not zero."""
    if layout.planar:
        return layout.inertias[:, :, None] * np.eye(3)
    R, least = matrices(state.spinors), layout.inertias.min(axis=1)
    uneven = layout.inertias - least[:, None]
    return _evenly(layout) + (R * uneven[:, None, :]) @ np.swapaxes(R, -1, -2)


def _evenly(layout: Layout) -> Array:
    """The least moment in all directions (N, 3, 3): what is left is exactly zero for bodies like a sphere ((3.81))."""
    return layout.inertias.min(axis=1)[:, None, None] * np.eye(3)


def velocity_residual(model: Model, state: State) -> float:
    """Largest violation of the velocity constraints, rad/s or m/s.

    Args:
        model: The model.
        state: Coordinates and velocities.
    """
    z = velocity_vector(model.layout, state)
    return float(np.abs(velocity_system(model, state).A @ z).max(initial=0.0))


def kinetic_energy(model: Model, state: State) -> Any:
    """½ Σ m Ẋ² + ½ Σ ω I ω + ½ Σ armature ẋ², J.

    Args:
        model: The model.
        state: Coordinates and velocities.
    """
    layout = model.layout
    momentum = (_world_inertias(layout, state) @ state.turning[..., None])[..., 0]
    linear = (layout.masses * (state.velocities**2).sum(axis=-1)).sum()
    return 0.5 * (linear + (state.turning * momentum).sum() + layout.freedoms.armature @ state.rates**2)


def potential_energy(model: Model, state: State) -> Any:
    """-Σ m g · X and the energy in the springs, J; zero at the origin of the world and with relaxed springs."""
    layout = model.layout
    away = coordinates(layout, state) - layout.freedoms.rest
    springs = 0.5 * (layout.freedoms.spring * away) @ away
    return springs - layout.masses @ (state.positions @ layout.gravity)


def _motion_blocks(found: Chains) -> list[Array]:
    return [found.turn_axes, found.turn_levers, found.slide_axes, skews(found.levers)]


def _nearer_tails(layout: Layout, state: State) -> Array:
    """R_tail (n, 4), or -R_tail where that is nearer to the chain."""
    S, R = tail_spinors(layout, state), state.grounded_spinors[layout.tail]
    away = ops.less((S * R).sum(axis=-1), 0.0)
    return R * ops.where(away, -1.0, 1.0)[:, None]


def _residuals(layout: Layout, state: State, found: Chains, S: Array, R: Array) -> tuple[Array, Array]:
    """2 (S_a - R_tail) (n, 4) and s_a - X_tail (n, 3)."""
    return 2.0 * (S - R), found.tails - state.grounded_positions[layout.tail]
