"""Where the blocks of the constraint matrices go: worked out once for a model, then one assignment fills a matrix.

Blocks are computed for all hinges, bodies or freedoms at once and laid end to end in a pool; a plan says which entry of
the pool goes to which entry of the matrix, and holds the entries that never change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from surefoot.ops import Array
from surefoot.redundant.layout import Layout

__all__ = ["Plan", "dynamics_plan", "position_plan", "velocity_plan"]

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Plan:
    """How a matrix is filled.

    Args:
        constant: (rows, columns) what never changes.
        take: Entries of the pool.
        put: Entries of the flat matrix where they go.
    """

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

    def done(self) -> Plan:
        empty = np.zeros(0, dtype=np.int64)
        return Plan(self.constant, np.concatenate([empty, *self.take]), np.concatenate([empty, *self.put]))


def _grid(start: int, count: int, width: int) -> Indices:
    """Numbers of `count` groups of `width` unknowns (or rows) that begin at `start`: (count, width)."""
    return start + np.arange(count * width, dtype=np.int64).reshape(count, width)


def _on_bodies(layout: Layout, ends: Indices) -> Indices:
    """Hinges whose end is a body."""
    return np.flatnonzero(ends < layout.bodies)


@lru_cache(maxsize=64)
def position_plan(layout: Layout) -> Plan:
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
def velocity_plan(layout: Layout) -> Plan:
    """Blocks: J₁ (turns, 3), J₂ (turns, 3), J₃ (slides, 3), levers (n, 3, 3)."""
    n, at = layout.hinges, layout.motion_places
    angular, linear = len(layout.rotations), len(layout.translations)
    plan = _Planner(n * (angular + linear), at["slides"].stop)
    _rotations(layout, plan, _grid(0, n, angular), at)
    _translations(layout, plan, _grid(n * angular, n, linear), at)
    return plan.done()


@lru_cache(maxsize=64)
def dynamics_plan(layout: Layout) -> Plan:
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
