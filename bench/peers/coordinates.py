"""States, forces and matrices between Pinocchio's coordinates and those of another engine.

Velocities are mapped by qvel = W(q) v, so that accelerations are qacc = W a + Ẇ v, forces tau = Wᵀ force and mass
matrices M = Wᵀ mass W (here `force` and `mass` are the engine's).   [exchange.power]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from bench.check import States
from surefoot.motion.exchange import to_layout
from surefoot.robot import Robot

__all__ = ["PeerCoordinates"]

Array = NDArray[Any]
_KEYS = {"mujoco": ("qpos", "qvel"), "drake": ("q", "v")}
_STEP = 1e-6  # of the central difference along the motion [s]


@dataclass(frozen=True, eq=False)
class PeerCoordinates:
    """n states of a robot in the layout of an engine, "mujoco" or "drake"; all properties are (n, …)."""

    robot: Robot
    layout: str
    states: States

    def _velocity(self, q: Array, v: Array) -> Array:
        return np.asarray(to_layout(self.robot, self.layout, q, v)[_KEYS[self.layout][1]])

    @cached_property
    def positions(self) -> Array:
        """Configurations of the engine."""
        return np.asarray(to_layout(self.robot, self.layout, self.states.q)[_KEYS[self.layout][0]])

    @cached_property
    def velocities(self) -> Array:
        """Velocities of the engine."""
        return self._velocity(self.states.q, self.states.v)

    @cached_property
    def map(self) -> Array:
        """W (n, nv of the engine, nv)."""
        q = self.states.q
        return np.stack([self._velocity(q, np.tile(x, (len(q), 1))) for x in np.eye(self.robot.nv)], axis=2)

    @cached_property
    def drift(self) -> Array:
        """Ẇ v, by central differences along the motion."""
        q, v, model = self.states.q, self.states.v, self.robot.model
        ahead, behind = (
            self._velocity(np.array([pin.integrate(model, x, h * y) for x, y in zip(q, v, strict=True)]), v)
            for h in (_STEP, -_STEP)
        )
        return (ahead - behind) / (2.0 * _STEP)

    @cached_property
    def accelerations(self) -> Array:
        """Accelerations of the engine."""
        return np.einsum("nij,nj->ni", self.map, self.states.a) + self.drift

    @cached_property
    def forces(self) -> Array:
        """Joint forces of the engine."""
        return np.linalg.solve(self.map.transpose(0, 2, 1), self.states.tau[..., None])[..., 0]

    def back(self, case: str, found: Array) -> Array:
        """Results (k, …) of the first k states in Pinocchio's coordinates; "frames" are Jacobians only."""
        W = self.map[: len(found)]
        if case == "rnea":
            return np.einsum("nij,ni->nj", W, found)
        if case == "aba":
            return np.linalg.solve(W, (found - self.drift[: len(found)])[..., None])[..., 0]
        return W.transpose(0, 2, 1) @ found @ W if case == "crba" else found @ (W if found.ndim == 3 else W[:, None])
