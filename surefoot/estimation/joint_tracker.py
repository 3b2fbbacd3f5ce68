"""Joint positions and velocities from encoders that are silent now and then."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.estimation.encoded_joints import EncodedJoints
from surefoot.estimation.settings import EstimatorSettings

__all__ = ["JointTracker"]

Array = NDArray[np.float64]


class JointTracker:
    """Passes on what the encoders say; goes on where they say nothing.

    A silent position goes on with the velocity, and its variance grows. A silent velocity is taken from the positions;
    where these are silent too it fades away.

    Args:
        joints: The joints.
        settings: Noise and time constants.
    """

    def __init__(self, joints: EncodedJoints, settings: EstimatorSettings) -> None:
        self._joints, self._settings = joints, settings
        self.position, self.velocity = np.zeros(joints.size), np.zeros(joints.size)
        self._silent = np.zeros(joints.size)  # time since the last position [s]

    def reset(self, position: Array, velocity: Array) -> None:
        """Begin again; both (nj,)."""
        self.position, self.velocity = position.copy(), velocity.copy()
        self._silent[:] = 0.0

    @property
    def variance(self) -> Array:
        """(nj,) of the positions [rad²] or [m²]."""
        chosen, gap = self._settings, self._silent
        drift = chosen.encoder_velocity_noise * gap + 0.5 * chosen.joint_acceleration * gap**2
        out: Array = chosen.encoder_noise**2 + drift**2
        return out

    def update(self, dt: float, position: Array, velocity: Array) -> None:
        """Take the readings at the end of a step.

        Args:
            dt: Of the step [s].
            position: (nj,) readings [rad] or [m], NaN where silent.
            velocity: (nj,) readings [rad/s] or [m/s], NaN where silent.
        """
        seen, felt = ~np.isnan(position), ~np.isnan(velocity)
        moved = self._joints.shortest(position - self.position)
        self._silent = np.where(seen, 0.0, self._silent + dt)
        guess = self.position + self.velocity * dt
        if not felt.all() and dt > 0.0:
            share = 1.0 - np.exp(-dt / self._settings.joint_memory)
            rate = np.where(seen, moved / dt, 0.0)
            velocity = np.where(felt, velocity, self.velocity + share * (rate - self.velocity))
            felt[:] = True
        self.position = np.where(seen, position, guess)
        self.velocity = np.where(felt, velocity, self.velocity)
