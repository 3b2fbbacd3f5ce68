"""Pendulum models of a legged robot: states, inputs, equations of motion and centres of pressure.

Every model has `rates(state, inputs)`, the derivative of its state, and `cop(state, inputs)`. Angles are measured from
the vertical, forward positive; moments act about the axis to the left, so that a positive one tips forward. The ground
is the plane z = 0. Sources are sections of Nenchev & Konno 2019; signs are ours where the book's contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.solvers import ode

QUARTER_TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""S₂: a horizontal moment m displaces the point of action of a vertical force f by −S₂ m / f."""


class PendulumModel(Protocol):
    """Anything with a state that moves."""

    def rates(self, state: Array, inputs: Array) -> Array:
        """The derivative of the state."""
        ...


class Motion(NamedTuple):
    """States over time.

    Args:
        time: (n,) [s].
        states: (n, s).
        inputs: (n, u).
    """

    time: Array
    states: Array
    inputs: Array


def move(model: PendulumModel, state: ArrayLike, law: Callable[[float, Array], ArrayLike], times: ArrayLike) -> Motion:
    """Integrate a model under a feedback law.

    Args:
        model: The model.
        state: (s,) at the first time.
        law: Inputs of time and state.
        times: (n,) where to report [s].
    """
    time = np.asarray(times, dtype=float)

    def field(t: float, x: Array) -> Array:
        return model.rates(x, np.atleast_1d(np.asarray(law(t, x), dtype=float)))

    x0 = np.asarray(state, dtype=float)
    found = ode.integrate(field, x0, float(time[0]), float(time[-1]), tol=1e-9)
    states = np.asarray(found.sample(time))
    inputs = np.array([np.atleast_1d(law(float(t), x)) for t, x in zip(time, states, strict=True)], dtype=float)
    return Motion(time, states, inputs)


@dataclass(frozen=True)
class InvertedPendulum:
    """A point mass on a leg of variable length on a foot: IP, IP on foot (sections 4.3.1 and 4.3.2).

        M l² θ̈ + 2 M l l̇ θ̇ − M g l sin θ = m,   M l̈ − M l θ̇² + M g cos θ = f        [models.pendulum]

    The book prints + M l θ̇². State: (θ, l, θ̇, l̇); inputs: ankle moment m [N m], force along the leg f [N].

    Args:
        mass: M [kg].
        gravity: g [m/s²].
    """

    mass: float
    gravity: float = 9.81

    def rates(self, state: Array, inputs: Array) -> Array:
        """(θ̇, l̇, θ̈, l̈)."""
        angle, length, turning, stretching = state
        moment, force = inputs
        M, g = self.mass, self.gravity
        turn = moment / (M * length**2) + (g * np.sin(angle) - 2.0 * stretching * turning) / length
        return np.array([turning, stretching, turn, force / M + length * turning**2 - g * np.cos(angle)])

    def rigid_leg(self, state: Array) -> float:
        """The force along the leg that keeps its length [N]."""
        angle, length, turning, _ = state
        return float(self.mass * (self.gravity * np.cos(angle) - length * turning**2))

    def acceleration(self, state: Array, inputs: Array) -> Array:
        """(ẍ, z̈) of the mass [m/s²]."""
        angle, length, turning, stretching = state
        turn, stretch = self.rates(state, inputs)[2:]
        along, across = stretch - length * turning**2, length * turn + 2.0 * stretching * turning
        s, c = np.sin(angle), np.cos(angle)
        return np.array([along * s + across * c, along * c - across * s])

    def cop(self, state: Array, inputs: Array) -> float:
        """Centre of pressure from the ankle [m]: x_p = −m / (M (g + z̈))."""
        return float(-inputs[0] / (self.mass * (self.gravity + self.acceleration(state, inputs)[1])))


@dataclass(frozen=True)
class LinearPendulum:
    """The linear inverted pendulum c̈ = ω² (c − p) in d directions: LIP, LIP on cart, 3-D LIP (4.3.2 and 4.4.2).

    State: (c, ċ) (2 d,); inputs: the CoP p (d,). In closed form: `pendulum_state`.

    Args:
        omega: √(g / z), or √(g / l) for small angles of a leg of constant length [1/s].
    """

    omega: float

    def rates(self, state: Array, inputs: Array) -> Array:
        """(ċ, c̈)."""
        c, v = np.split(state, 2)
        return np.concatenate([v, self.omega**2 * (c - inputs)])

    def cop(self, state: Array, inputs: Array) -> Array:
        """The CoP itself, (d,)."""
        return np.asarray(inputs, dtype=float)


@dataclass(frozen=True)
class CartTable:
    """A cart on a table: the LIP with the jerk as its input and the ZMP as its output (4.3.2).

    State: (x, ẋ, ẍ); input: the jerk [m/s³].

    Args:
        height: z [m].
        gravity: g [m/s²].
    """

    height: float
    gravity: float = 9.81

    def rates(self, state: Array, inputs: Array) -> Array:
        """(ẋ, ẍ, jerk)."""
        return np.array([state[1], state[2], inputs[0]])

    def cop(self, state: Array, inputs: Array) -> float:
        """X − ẍ z / g [m]."""
        return float(state[0] - state[2] * self.height / self.gravity)


@dataclass(frozen=True)
class InclinedPendulum:
    """A point mass on the plane z = a·r + b above a point of support (4.4.1).

        r̈ = ω² (r − p),   ω² = g / (a·p + b − p_z)        [models.inclined]

    State: (x, y, ẋ, ẏ); inputs: the point of support (p_x, p_y, p_z).

    Args:
        slope: a, of the plane.
        offset: b [m].
        gravity: g [m/s²].
    """

    slope: tuple[float, float]
    offset: float
    gravity: float = 9.81

    def omega(self, support: ArrayLike) -> float:
        """ω above a point of support [1/s]."""
        p = np.asarray(support, dtype=float)
        return float(np.sqrt(self.gravity / (np.dot(self.slope, p[:2]) + self.offset - p[2])))

    def rates(self, state: Array, inputs: Array) -> Array:
        """(ṙ, r̈)."""
        return np.concatenate([state[2:], self.omega(inputs) ** 2 * (state[:2] - inputs[:2])])

    def cop(self, state: Array, inputs: Array) -> Array:
        """The point of support, (3,)."""
        return np.asarray(inputs, dtype=float)


@dataclass(frozen=True)
class ReactionWheelPendulum:
    """A mass with three wheels above a CoP on the ground: IP on cart, variable height, (linear) RWP in 2-D and 3-D.

        M r̈_t = ((r_t − p) f_z − S₂ m_t) / z,   M z̈ = f_z − M g,   I ω̇ + ω × I ω = m        [models.wheels]

    These are Newton's and Euler's equations of any robot with these centroidal forces; with f_z = M g and constant
    height it is the linear RWP (4.3.3, 4.4.3). m is the rate of the centroidal angular momentum. The book prints −S₂ in
    (4.38). State: (r (3,), ṙ (3,), ω (3,)); inputs: (p_x, p_y, f_z, m_x, m_y, m_z).

    Args:
        mass: M [kg].
        inertia: Principal moments of inertia of the wheels [kg m²].
        gravity: g [m/s²].
    """

    mass: float
    inertia: tuple[float, float, float]
    gravity: float = 9.81

    def force(self, state: Array, inputs: Array) -> Array:
        """Force of the ground (3,) [N]."""
        along = ((state[:2] - inputs[:2]) * inputs[2] - QUARTER_TURN @ inputs[3:5]) / state[2]
        return np.array([along[0], along[1], inputs[2]])

    def rates(self, state: Array, inputs: Array) -> Array:
        """(ṙ, r̈, ω̇)."""
        turning, inertia = state[6:], np.array(self.inertia)
        acceleration = self.force(state, inputs) / self.mass - np.array([0.0, 0.0, self.gravity])
        spin = (inputs[3:] - np.cross(turning, inertia * turning)) / inertia
        return np.concatenate([state[3:6], acceleration, spin])

    def cop(self, state: Array, inputs: Array) -> Array:
        """P (2,) [m]."""
        return np.asarray(inputs[:2], dtype=float)

    def cmp(self, state: Array, inputs: Array) -> Array:
        """Centroidal moment pivot (2,) [m]: where the force would have to act to leave the wheels at rest."""
        force = self.force(state, inputs)
        return np.asarray(state[:2] - force[:2] * state[2] / force[2])

    def no_yaw(self, turning: ArrayLike) -> float:
        """m_z that keeps ω_z = 0 [N m]: −(I_x − I_y) ω_x ω_y."""
        turn_x, turn_y, _ = np.asarray(turning, dtype=float)
        return float(-(self.inertia[0] - self.inertia[1]) * turn_x * turn_y)


@dataclass(frozen=True)
class ReactionMassPendulum:
    """A pendulum of variable length whose mass is two halves at ± r on a rod that turns by φ against the leg (4.3.4).

        T = ½ M (l̇² + l² θ̇²) + ½ M (ṙ² + r² (θ̇ + φ̇)²),   V = M g l cos θ        [models.reaction-mass]

    The book prints the centrifugal signs and gravity otherwise. State: (θ, l, r, φ and their rates); inputs: the ankle
    moment [N m], forces along l and r [N], the moment at φ [N m].

    Args:
        mass: M [kg].
        gravity: g [m/s²].
    """

    mass: float
    gravity: float = 9.81

    def rates(self, state: Array, inputs: Array) -> Array:
        """Rates and accelerations of (θ, l, r, φ)."""
        angle, length, reach, _, turning, stretching, reaching, twisting = state
        M, g = self.mass, self.gravity
        whole = turning + twisting
        spin = 2.0 * M * reach * reaching * whole
        inertia = np.diag([M * (length**2 + reach**2), M, M, M * reach**2])
        inertia[0, 3] = inertia[3, 0] = M * reach**2
        bias = np.array(
            [
                2.0 * M * length * stretching * turning + spin - M * g * length * np.sin(angle),
                M * g * np.cos(angle) - M * length * turning**2,
                -M * reach * whole**2,
                spin,
            ]
        )
        return np.concatenate([state[4:], np.linalg.solve(inertia, inputs - bias)])

    def energy(self, state: Array) -> float:
        """T + V [J]."""
        angle, length, reach, _, turning, stretching, reaching, twisting = state
        legs = stretching**2 + (length * turning) ** 2
        masses = reaching**2 + (reach * (turning + twisting)) ** 2
        return float(self.mass * (0.5 * (legs + masses) + self.gravity * length * np.cos(angle)))

    def cop(self, state: Array, inputs: Array) -> float:
        """Centre of pressure from the ankle [m]."""
        angle, length, _, _, turning, stretching, _, _ = state
        turn, stretch = self.rates(state, inputs)[4:6]
        along, across = stretch - length * turning**2, length * turn + 2.0 * stretching * turning
        up = along * np.cos(angle) - across * np.sin(angle)
        return float(-inputs[0] / (self.mass * (self.gravity + up)))
