"""Hinges as chains of rigid displacements, walked from the head to the tail, all hinges at once.

With S the rotation of the frame on the head side of a link, and a', ω', ȧ' its translation and rates in that frame:

    a ← a + S a',  ω ← ω + S ω'                                   [red.chain]   Busenhart 1994, (2.87)-(2.92)
    g ← g + ω × S ω',  h ← h + g × S a' + ω × (ω × S a' + 2 S ȧ')               (2.95)-(2.98)

(errata: (2.95) and (2.97) print the rate of ω' in g; it is ω'. The values of g and ω in h are those of the head side.)
Since the rotations S do not depend on the sums, all sums are running sums over the links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot import ops
from surefoot.ops import Array
from surefoot.redundant.equations.state import State, crosses, matrices, products
from surefoot.redundant.model import Layout, Links


@dataclass(frozen=True, eq=False)
class Chains:
    """All hinges at one state, in world axes.

    Args:
        world: (L, n, 3, 3) rotation of the frame on the head side of each link.
        origins: (L + 1, n, 3) origin of the head, then of the frame after each link; the last is the tail [m].
        turn_axes: (turns, 3) axes of the rotational freedoms: columns of J₁.
        turn_levers: (turns, 3) axis × lever to the tail: columns of J₂ [m].
        slide_axes: (slides, 3) axes of the translational freedoms: columns of J₃.
        offsets: (L, n, 3) translation of each link, S a' [m].
    """

    world: Array
    origins: Array
    turn_axes: Array
    turn_levers: Array
    slide_axes: Array
    offsets: Array

    @property
    def tails(self) -> Array:
        """s_a (n, 3): positions of the tails by the chains [m]."""
        return self.origins[-1]

    @property
    def levers(self) -> Array:
        """s_a - X_head (n, 3) [m]."""
        return self.origins[-1] - self.origins[0]


def link_spinors(links: Links, state: State) -> Array:
    """Rotation of every link (L, n, 4)."""
    half = 0.5 * state.angles
    out = links.spinors.astype(object) if ops.is_symbolic(half, state.balls) else links.spinors.copy()
    pins = np.concatenate([ops.cos(half)[:, None], ops.sin(half)[:, None] * links.pin_axes], axis=1)
    out[links.pin_at[0], links.pin_at[1]] = pins
    if len(state.balls):
        out[links.ball_at[0], links.ball_at[1]] = state.balls
    return out


def chains(layout: Layout, state: State) -> Chains:
    """Walk all chains.

    Args:
        layout: The model.
        state: The coordinates; velocities are not looked at.
    """
    links, shape = layout.links, layout.links.offsets.shape
    bodies = matrices(state.grounded_spinors)
    turned = matrices(link_spinors(links, state))
    world = [bodies[layout.head]]
    for slot in range(shape[0] - 1):
        world.append(world[-1] @ turned[slot])
    S = np.stack(world)
    local = links.offsets + (links.slide_map @ state.slides).reshape(shape)
    offsets = (S @ local[..., None])[..., 0]
    origins = np.cumsum(np.concatenate([state.grounded_positions[layout.head][None], offsets]), axis=0)
    axes = (S[links.turn_at[0], links.turn_at[1]] @ links.turn_axes[..., None])[..., 0]
    slides = (S[links.slide_at[0], links.slide_at[1]] @ links.slide_axes[..., None])[..., 0]
    levers = origins[-1][links.turn_at[1]] - origins[links.turn_at[0] + 1, links.turn_at[1]]
    return Chains(S, origins, axes, crosses(axes, levers), slides, offsets)


def tail_spinors(layout: Layout, state: State) -> Array:
    """S_a (n, 4): the attitude that the chains give to the tails.   (Busenhart 1994, (3.33))."""
    out = state.grounded_spinors[layout.head]
    for own in link_spinors(layout.links, state):
        out = products(own, out)
    return out


def biases(layout: Layout, state: State, found: Chains) -> tuple[Array, Array]:
    """Biases g and h (n, 3): angular and linear acceleration of the tails that velocities cause.   [red.chain]."""
    shape = found.offsets.shape
    rates = np.stack(
        [
            (layout.links.turn_map @ state.rates[: layout.turns]).reshape(shape),
            (layout.links.slide_map @ state.rates[layout.turns :]).reshape(shape),
        ],
        axis=-1,
    )
    turned = found.world @ rates
    relative, sliding = turned[..., 0], turned[..., 1]
    heads = np.concatenate([state.turning, np.zeros((1, 3))])[layout.head]
    omega = np.cumsum(np.concatenate([heads[None], relative[:-1]]), axis=0)
    gain = crosses(omega, relative)
    before = np.cumsum(np.concatenate([np.zeros((1, *shape[1:])), gain[:-1]]), axis=0)
    h = crosses(before, found.offsets) + crosses(omega, crosses(omega, found.offsets) + 2.0 * sliding)
    return gain.sum(axis=0), h.sum(axis=0)
