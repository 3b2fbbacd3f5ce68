"""The redundant state: every body and every freedom of every hinge has coordinates of its own.

Spinors are arrays (…, 4), with the functions of `surefoot.spatial.spinor` for all bodies and links at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from surefoot import ops
from surefoot.ops import Array
from surefoot.redundant.model import Layout

UNIT = np.array([1.0, 0.0, 0.0, 0.0])
"""The spinor of no rotation."""
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
# entries of R̄ (4, 3): which of (a, b₁, b₂, b₃), and its sign   [spatial.spinor-bar]
_BAR_ENTRY = np.array([[1, 2, 3], [0, 3, 2], [3, 0, 1], [2, 1, 0]])
_BAR_SIGN = np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])
_SKEW_ENTRY = np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]])
_SKEW_SIGN = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def crosses(a: Array, b: Array) -> Array:
    """Cross products a × b of vectors (…, 3)."""
    return a[..., _NEXT] * b[..., _LAST] - a[..., _LAST] * b[..., _NEXT]


def skews(a: Array) -> Array:
    """Matrices (…, 3, 3) of the cross product with vectors (…, 3)."""
    return a[..., _SKEW_ENTRY] * _SKEW_SIGN


def bars(spinors: Array) -> Array:
    """R̄ (…, 4, 3) of spinors (…, 4): dR/dt = ½ R̄ ω.   [spatial.spinor-bar]."""
    return spinors[..., _BAR_ENTRY] * _BAR_SIGN


def products(first: Array, then: Array) -> Array:
    """R₁R₂ (…, 4): turn first by R₁, then by R₂.   [spatial.spinor-product]."""
    turned = (bars(first) @ then[..., 1:, None])[..., 0]
    return first * then[..., :1] + turned


def matrices(spinors: Array) -> Array:
    """Rotation matrices (…, 3, 3), body to space.   [spatial.spinor-matrix]."""
    a, b = spinors[..., 0, None, None], spinors[..., 1:]
    return (2.0 * a * a - 1.0) * np.eye(3) + 2.0 * (b[..., :, None] * b[..., None, :]) + 2.0 * a * skews(b)


def updates(spinors: Array, rotations: Array) -> Array:
    """Unit spinors (…, 4) after small rotations Δϑ (…, 3), rad, in space axes.   [spatial.spinor-update]."""
    half = 0.5 * rotations
    length = ops.sqrt(1.0 + (half * half).sum(axis=-1))
    return (spinors + (bars(spinors) @ half[..., None])[..., 0]) / length[..., None]


@dataclass(frozen=True, eq=False)
class State:
    """Positions and velocities of N bodies and m freedoms (p pins, l balls, s slides; turns = p + 3 l).

    Args:
        spinors: (N, 4) attitude of the bodies, body to world.
        positions: (N, 3) centres of mass in world [m].
        angles: (p,) of the pins [rad].
        balls: (l, 4) spinors of the balls.
        slides: (s,) [m].
        turning: (N, 3) angular velocities in world axes [rad/s].
        velocities: (N, 3) of the centres of mass in world [m/s].
        rates: (m,) of the freedoms, rotational ones first [rad/s] or [m/s].
    """

    spinors: Array
    positions: Array
    angles: Array
    balls: Array
    slides: Array
    turning: Array
    velocities: Array
    rates: Array

    @property
    def grounded_spinors(self) -> Array:
        """(N + 1, 4) attitude of the bodies and, last, of the ground."""
        return np.concatenate([self.spinors, UNIT[None]])

    @property
    def grounded_positions(self) -> Array:
        """(N + 1, 3) centres of mass and, last, the origin of the ground [m]."""
        return np.concatenate([self.positions, np.zeros((1, 3))])

    def at_rest(self) -> State:
        """The same place without velocity."""
        still = {name: np.zeros_like(getattr(self, name)) for name in ("turning", "velocities", "rates")}
        return replace(self, **still)


def rest_state(layout: Layout) -> State:
    """All coordinates zero, all bodies at the origin: a state to start from, not one that keeps the hinges."""
    N, balls = layout.bodies, layout.links.ball_rows.shape[0]
    return State(
        spinors=np.tile(UNIT, (N, 1)),
        positions=np.zeros((N, 3)),
        angles=np.zeros(len(layout.links.pin_rows)),
        balls=np.tile(UNIT, (balls, 1)),
        slides=np.zeros(layout.slides),
        turning=np.zeros((N, 3)),
        velocities=np.zeros((N, 3)),
        rates=np.zeros(len(layout.freedoms.names)),
    )


def coordinates(layout: Layout, state: State) -> Array:
    """(m,) the coordinate of each freedom, rad or m; 0 for the axes of balls, which have none of their own."""
    out = ops.zeros(len(layout.freedoms.names), like=[state.angles, state.slides])
    out[layout.links.pin_rows] = state.angles
    out[layout.turns :] = state.slides
    return out


def displace(layout: Layout, state: State, turn: Array, move: Array, freedoms: Array) -> State:
    """The state after small displacements (Busenhart 1994, (3.47) for spinors).

    Args:
        layout: The model.
        state: Where it starts.
        turn: (N, 3) rotations of the bodies in world axes, rad.
        move: (N, 3) of the centres of mass, m.
        freedoms: (m,) of the freedoms; those of balls in axes of the head side.
    """
    return replace(
        state,
        spinors=updates(state.spinors, turn),
        positions=state.positions + move,
        angles=state.angles + freedoms[layout.links.pin_rows],
        balls=updates(state.balls, freedoms[layout.links.ball_rows]),
        slides=state.slides + freedoms[layout.turns :],
    )


def coordinate_rate(layout: Layout, state: State) -> Array:
    """Rates of all coordinates in the order of `flat`, without the velocities."""
    spinors = 0.5 * (bars(state.spinors) @ state.turning[..., None])[..., 0]
    balls = 0.5 * (bars(state.balls) @ state.rates[layout.links.ball_rows][..., None])[..., 0]
    angles = state.rates[layout.links.pin_rows]
    parts = (spinors, state.velocities, angles, balls, state.rates[layout.turns :])
    return np.concatenate([part.ravel() for part in parts])


def velocity_vector(layout: Layout, state: State) -> Array:
    """z_vel: the velocities that are unknowns, [ω, Ẋ, θ', ṡ']."""
    parts = (state.turning[:, layout.rotations], state.velocities[:, layout.translations], state.rates)
    return np.concatenate([part.ravel() for part in parts])


def flat(state: State) -> Array:
    """All entries as one vector."""
    return np.concatenate([getattr(state, item.name).ravel() for item in fields(state)])


def of_flat(like: State, vector: Array) -> State:
    """The state of a vector of `flat`, with the shapes of another state."""
    values, start = {}, 0
    for item in fields(like):
        old = getattr(like, item.name)
        values[item.name] = vector[start : start + old.size].reshape(old.shape)
        start += old.size
    return State(**values)


def normalise(state: State) -> State:
    """The state with spinors of unit length."""
    lengths = [np.linalg.norm(s, axis=-1, keepdims=True) for s in (state.spinors, state.balls)]
    return replace(state, spinors=state.spinors / lengths[0], balls=state.balls / lengths[1])
