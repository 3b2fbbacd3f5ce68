"""The arithmetic of the filter that is not matrix products, as functions of one state, and compiled for a robot.

Right-invariant filter of Hartley, Ghaffari, Eustice and Grizzle 2020; order of errors and signs as in
`surefoot.estimation.invariant_filter`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.compiler import KernelSet, compile_robot
from surefoot.estimation.footholds import ContactPoints
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.spatial.so3 import skew
from surefoot.spatial.stumpff import stumpff


@dataclass(frozen=True, eq=False)
class Turn:
    """A turn by the rotation vector `vector` (3,) [rad], with its matrix φ̃, φ̃² and the Stumpff functions c_0 … c_6.

        Γ_m(φ) = Σ_n φ̃ⁿ / (n + m)! = I / m! + c_{m+1} φ̃ + c_{m+2} φ̃²        [estimation.gamma]   Hartley et al. 2020

    Its integrals Γ_m are what an IMU sample adds up to over a step, exactly; c_n are functions of |φ|². Γ₀ is the
    rotation itself, Γ₁ its left Jacobian. For numbers and symbols.
    """

    vector: Array
    tilde: Array
    square: Array
    c: list[Any]

    @classmethod
    def by(cls, vector: Array) -> Turn:
        """The turn by a rotation vector (3,) [rad]."""
        tilde = skew(vector)
        return cls(vector, tilde, tilde @ tilde, [stumpff(n, vector @ vector) for n in range(7)])

    def gamma(self, m: int) -> Array:
        """Γ_m (3, 3), m from 0 to 2."""
        return np.eye(3) / factorial(m) + self.c[m + 1] * self.tilde + self.c[m + 2] * self.square

    def derivative(self, m: int, a: Array) -> Array:
        """∂(Γ_m(φ) a)/∂φ (3, 3) for a fixed vector a (3,), m from 0 to 2.

        From dc_n/dx = (n c_{n+2} − c_{n+1}) / 2 and ∂(φ̃² a)/∂φ = (φ·a) I + φ aᵀ − 2 a φᵀ.
        """
        c, phi = self.c, self.vector
        slope = [n * c[n + 2] - c[n + 1] for n in (m + 1, m + 2)]  # ∂c/∂φ = slope φᵀ
        along = slope[0] * (self.tilde @ a) + slope[1] * (self.square @ a)
        of_square = (phi @ a) * np.eye(3) + np.outer(phi, a) - 2.0 * np.outer(a, phi)
        return c[m + 2] * of_square - c[m + 1] * skew(a) + np.outer(along, phi)


def filter_kernels(robot: Robot, points: ContactPoints) -> KernelSet:
    """Kernels `inertial_step`, `move` (below) and `contact_points` (`ContactPoints.at`) of a robot."""
    body = {"rotation": (3, 3), "velocity": (3,), "position": (3,), "footholds": (points.count, 3)}
    functions = {
        "inertial_step": (inertial_step, {**body, "turn": (3,), "push": (3,), "dt": (1,), "gravity": (3,)}),
        "move": (move, {**body, "step": (15 + 3 * points.count,)}),
        "contact_points": points.at,
    }
    return compile_robot(robot, functions=functions)


def inertial_step(
    rotation: Array,
    velocity: Array,
    position: Array,
    footholds: Array,
    turn: Array,
    push: Array,
    dt: Array,
    gravity: Array,
) -> tuple[Array, Array, Array, Array]:
    """A step with constant readings, exactly.

        R⁺ = R Γ₀,  v⁺ = v + R Γ₁ a dt + g dt,  p⁺ = p + v dt + R Γ₂ a dt² + ½ g dt²        [estimation.imu]

    Args:
        rotation: R_world_imu (3, 3).
        velocity: (3,) in world [m/s].
        position: (3,) in world [m].
        footholds: (n, 3) in world [m].
        turn: ω (3,), offset taken away [rad/s].
        push: a (3,) specific force, offset taken away [m/s²].
        dt: (1,) length of the step [s].
        gravity: g (3,) in world [m/s²].

    Returns:
        R⁺, v⁺, p⁺, and (15 + 3 n, 6) how offsets that are estimated too large become errors of the state.
    """
    h = dt[0]
    made = Turn.by(turn * h)
    rate, way = rotation @ made.gamma(1) * h, rotation @ made.gamma(2) * h**2
    new_position = position + velocity * h + way @ push + 0.5 * h**2 * gravity
    new_velocity = velocity + rate @ push + h * gravity
    bent_rate, bent_way = (rotation @ made.derivative(m, push) * h ** (m + 1) for m in (1, 2))
    none = np.zeros((3, 3))
    by_turn = [-rate, -skew(new_velocity) @ rate - bent_rate, -skew(new_position) @ rate - bent_way, none, none]
    by_turn += [-skew(foothold) @ rate for foothold in footholds]
    by_push = [none, -rate, -way, none, none, *(none for _ in footholds)]
    inputs = ops.concatenate([ops.concatenate(by_turn), ops.concatenate(by_push)], axis=1)
    return _orthogonal(rotation @ made.gamma(0)), new_velocity, new_position, inputs


def move(
    rotation: Array, velocity: Array, position: Array, footholds: Array, step: Array
) -> tuple[Array, Array, Array, Array]:
    """X ← exp(step) X in SE_{n+2}(3).

    Args:
        rotation: R_world_imu (3, 3).
        velocity: (3,) in world [m/s].
        position: (3,) in world [m].
        footholds: (n, 3) in world [m].
        step: (15 + 3 n,) in the order of the error.
    """
    made = Turn.by(step[:3])
    R, J = made.gamma(0), made.gamma(1)
    moved = footholds @ R.T + step[15:].reshape(footholds.shape) @ J.T
    return _orthogonal(R @ rotation), R @ velocity + J @ step[3:6], R @ position + J @ step[6:9], moved


def _orthogonal(R: Array) -> Array:
    """One Newton step towards the nearest rotation matrix."""
    return 1.5 * R - 0.5 * R @ (R.T @ R)
