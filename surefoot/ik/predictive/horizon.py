"""The optimal control problems of predictive inverse kinematics on one horizon: cost and gradient of an input.

A problem has unknowns x (rows, n) with weights of the rows for the inner product ⟨a, b⟩ = Σ w_r a_r · b_r, which stands
for the integral over the horizon. Three choices of x:

    HorizonProblem     x = u(t): null-space velocities                              Buschmann 2014, (5.111)–(5.116)
    SmoothProblem      x = du/dt, so that joint velocities are continuous           (5.120)–(5.129)
    FreeStartProblem   x = (q(t_b), u(t)): the self-motion at the start is free     (5.104)–(5.110)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.ik.predictive.kernels import PredictiveKernels

_CLOSING_STEPS = 6  # of Newton, back to the task at the start


@dataclass(frozen=True, eq=False)
class Window:
    """Given quantities on a horizon of N steps.

    Args:
        q: (n,) posture at its start.
        pose: (N, 4, 4) wanted T_world_frame at the start of each step.
        twist: (N, 6) its rate, in world axes, linear first.
        obstacles: (N, k, 3) vertices of the obstacles [m].
        weights: (3,) of speed, collision and limits.
        h: Length of a step [s].
    """

    q: Array
    pose: Array
    twist: Array
    obstacles: Array
    weights: Array
    h: float

    @property
    def steps(self) -> int:
        """N."""
        return len(self.pose)


@dataclass(frozen=True, eq=False)
class Trials:
    """Several inputs, tried side by side.

    Args:
        costs: (trials,) Φ; infinite where the motion ran into a singularity.
        postures: (trials, N + 1, n) at the start of each step and at the end of the horizon.
    """

    costs: Array
    postures: Array


class HorizonProblem:
    """Null-space velocities u(t) of least cost on a horizon, from a given posture.

    Args:
        kernels: Compiled for the robot.
        window: What is given.
    """

    def __init__(self, kernels: PredictiveKernels, window: Window) -> None:
        self.kernels, self.window = kernels, window
        self.row_weights: Array = np.full(window.steps, window.h)

    def inner(self, a: Array, b: Array) -> float:
        """⟨a, b⟩ of two arrays of the shape of x.

        Args:
            a: (rows, n).
            b: (rows, n).
        """
        return float(self.row_weights @ np.einsum("ij,ij->i", a, b))

    def velocities(self, x: Array) -> Array:
        """Null-space velocities u (N, n) of the unknowns.

        Args:
            x: (rows, n).
        """
        return x

    def try_sizes(self, x: Array, direction: Array, sizes: Array) -> Trials:
        """Cost of x + size · direction, for several sizes.

        Args:
            x: (rows, n).
            direction: (rows, n).
            sizes: (trials,).
        """
        starts = np.repeat(self.window.q[None], len(sizes), axis=0)
        return self._roll(starts, self.velocities(x), direction, sizes)

    def gradient(self, x: Array, postures: Array) -> Array:
        """Gradient of the cost (rows, n), with respect to `inner`.

        Args:
            x: (rows, n).
            postures: (N + 1, n) that belong to it.
        """
        return self._by_velocity(x, postures)[0]

    def settled(self, x: Array) -> Array:
        """The unknowns, brought back to what constrains them.

        Args:
            x: (rows, n).
        """
        return x

    def _roll(self, starts: Array, u: Array, direction: Array, sizes: Array) -> Trials:
        """Forward from several postures (trials, n) with u + size · direction, both (N, n)."""
        w = self.window
        given: dict[str, Any] = {
            "pose": w.pose,
            "twist": w.twist,
            "obstacles": w.obstacles,
            "weights": w.weights,
            "h": [w.h],
        }
        tried = {"q": starts, "cost": np.zeros((len(sizes), 1)), "size": sizes[:, None]}
        found = self.kernels.forward({**given, **tried, "u": u, "direction": direction}, w.steps)
        costs = np.where(found.good == w.steps, found.final["cost"][:, 0], np.inf)
        return Trials(costs, np.concatenate([starts[:, None], found.records[0]], axis=1))

    def _by_velocity(self, x: Array, postures: Array) -> tuple[Array, Array]:
        """Gradient by u (N, n), and the costate λ at the start (n,)."""
        w = self.window
        back = [
            np.ascontiguousarray(a[::-1]) for a in (postures[:-1], self.velocities(x), w.pose, w.twist, w.obstacles)
        ]
        slope, projector, by_q, by_u = self.kernels.linearise(*back, np.repeat(w.weights[None], w.steps, axis=0))
        lines = {"slope": slope, "projector": projector, "by_q": by_q, "by_u": by_u}
        found = self.kernels.backward({"costate": np.zeros(len(w.q)), **lines, "h": [w.h]}, w.steps)
        return found.records[1][::-1], found.final["costate"]


class SmoothProblem(HorizonProblem):
    """Rates du/dt of least cost, from a given posture and a given null-space velocity.

    The state is (q, u). Since u' = û, the costate of u is the integral of the gradient by u, from the end on:

        g = 2 w_a û + λ₂,   λ₂' = −φ_u − N λ₁,   λ₂(t_e) = 0        [ik.predictive-smooth]   Buschmann 2014, A.5.2

    Args:
        kernels: Compiled for the robot.
        window: What is given.
        u: (n,) null-space velocity at the start.
        change: w_a: weight of û² [s²].
    """

    def __init__(self, kernels: PredictiveKernels, window: Window, u: Array, change: float) -> None:
        super().__init__(kernels, window)
        self.u, self.change = u, change

    def velocities(self, x: Array) -> Array:
        """Null-space velocities u (N, n): the given one, and what the rates add."""
        return self.u + self._integral(x)

    def try_sizes(self, x: Array, direction: Array, sizes: Array) -> Trials:
        """Cost of x + size · direction, with the rates' own."""
        starts = np.repeat(self.window.q[None], len(sizes), axis=0)
        trials = self._roll(starts, self.velocities(x), self._integral(direction), sizes)
        squares = (
            self.inner(x, x) + 2.0 * sizes * self.inner(x, direction) + sizes**2 * self.inner(direction, direction)
        )
        return Trials(trials.costs + self.change * squares, trials.postures)

    def gradient(self, x: Array, postures: Array) -> Array:
        """Gradient of the cost by the rates (N, n)."""
        by_u = self._by_velocity(x, postures)[0]
        later = np.cumsum(by_u[::-1], axis=0)[::-1]
        return 2.0 * self.change * x + self.window.h * (later - by_u)

    def _integral(self, x: Array) -> Array:
        """∫ x dt (N, n) at the start of each step."""
        return self.window.h * (np.cumsum(x, axis=0) - x)


class FreeStartProblem(HorizonProblem):
    """Null-space velocities and the start posture of least cost; only the task at the start is given.

    At the optimum N λ(t_b) = 0 (Buschmann 2014, (5.109)). The first row of x is the start posture; what is done with
    it is done in its self-motion. It weighs as much as the whole horizon in the inner product.

    Args:
        kernels: Compiled for the robot.
        window: What is given; its posture is where the search starts.
    """

    def __init__(self, kernels: PredictiveKernels, window: Window) -> None:
        super().__init__(kernels, window)
        self.row_weights = np.concatenate([[window.h * window.steps], self.row_weights])

    def velocities(self, x: Array) -> Array:
        """Null-space velocities u (N, n)."""
        return x[1:]

    def try_sizes(self, x: Array, direction: Array, sizes: Array) -> Trials:
        """Cost of x + size · direction, each start brought back to the task."""
        starts = self._closed(x[0] + sizes[:, None] * direction[0])
        return self._roll(starts, x[1:], direction[1:], sizes)

    def gradient(self, x: Array, postures: Array) -> Array:
        """Gradient of the cost (1 + N, n)."""
        w = self.window
        by_u, costate = self._by_velocity(x, postures)
        projector = self.kernels.linearise(postures[0], x[1], w.pose[0], w.twist[0], w.obstacles[0], w.weights)[1]
        return np.concatenate([(projector @ costate)[None] / self.row_weights[0], by_u])

    def settled(self, x: Array) -> Array:
        """The unknowns, with the start posture brought back to the task."""
        return np.concatenate([self._closed(x[:1]), x[1:]])

    def _closed(self, starts: Array) -> Array:
        """Postures (trials, n) brought to the pose at the start by Newton steps, which have length 1 / K and u = 0."""
        w, n = self.window, starts.shape[1]
        none = np.zeros((_CLOSING_STEPS, n))
        given = {
            name: np.repeat(a[:1], _CLOSING_STEPS, axis=0) for name, a in (("pose", w.pose), ("obstacles", w.obstacles))
        }
        tried = {"q": starts, "cost": np.zeros((len(starts), 1)), "size": np.zeros((len(starts), 1))}
        still: dict[str, Any] = {
            "twist": np.zeros((_CLOSING_STEPS, 6)),
            "weights": np.zeros(3),
            "h": [1.0 / self.kernels.model.task.gain],
        }
        found = self.kernels.forward({**given, **tried, **still, "u": none, "direction": none}, _CLOSING_STEPS)
        return found.final["q"]
