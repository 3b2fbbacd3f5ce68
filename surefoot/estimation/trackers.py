"""Joint positions and touches over time, from sensors that are silent now and then."""

from __future__ import annotations

from math import exp, isnan

import numpy as np

from surefoot.arrays import Array
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import EncodedJoints

_SURE = 0.98  # what a contact bit is worth


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
        self.variance = np.zeros(joints.size)
        """(nj,) of the positions [rad²] or [m²]."""
        self._silent = np.zeros(joints.size)  # time since the last position [s]
        self._bridged = True

    def reset(self, position: Array, velocity: Array) -> None:
        """Begin again; both (nj,)."""
        self.position[:], self.velocity[:] = position, velocity
        self._hear_all()

    def _hear_all(self) -> None:
        """No position is silent any more."""
        self._silent[:], self.variance = 0.0, np.full(self._joints.size, self._settings.encoder_noise**2)
        self._bridged = False

    def update(self, dt: float, position: Array, velocity: Array) -> None:
        """Take the readings at the end of a step.

        Args:
            dt: Of the step [s].
            position: (nj,) readings [rad] or [m], NaN where silent.
            velocity: (nj,) readings [rad/s] or [m/s], NaN where silent.
        """
        if not isnan(position.sum() + velocity.sum()):
            self.position[:], self.velocity[:] = position, velocity
            if self._bridged:
                self._hear_all()
            return
        chosen, seen, felt = self._settings, ~np.isnan(position), ~np.isnan(velocity)
        moved = self._joints.shortest(position - self.position)
        self._silent[:] = np.where(seen, 0.0, self._silent + dt)
        drift = chosen.encoder_velocity_noise * self._silent + 0.5 * chosen.joint_acceleration * self._silent**2
        self.variance, self._bridged = chosen.encoder_noise**2 + drift**2, True
        guess = self.position + self.velocity * dt
        if not felt.all() and dt > 0.0:
            share = 1.0 - exp(-dt / chosen.joint_memory)
            rate = np.where(seen, moved / dt, 0.0)
            velocity = np.where(felt, velocity, self.velocity + share * (rate - self.velocity))
            felt[:] = True
        self.position[:] = np.where(seen, position, guess)
        self.velocity[:] = np.where(felt, velocity, self.velocity)


def contact_probability(share: Array, touching: Array, settings: EstimatorSettings) -> Array:
    """Probability of touch from normal forces, before any smoothing.

        P = 1 / (1 + exp(−(f − f₀ + h P₋) / w))        [estimation.touch]   after Camurri et al. 2017

    with a threshold that is h lower for a contact that touched (hysteresis).

    Args:
        share: (k,) normal forces as shares of the weight.
        touching: (k,) P₋, the probabilities before.
        settings: f₀ `touch_force`, h `touch_hysteresis`, w `touch_width`.

    Returns:
        (k,) in 0…1, NaN where the force is.
    """
    return _logistic((share - settings.touch_force + settings.touch_hysteresis * touching) / settings.touch_width)


def _logistic(x: Array) -> Array:
    """1 / (1 + exp(−x)), without overflow."""
    out: Array = 0.5 * (1.0 + np.tanh(0.5 * x))
    return out


class TouchTracker:
    """Probabilities of touch over time: from the force, where it is silent from the contact bit, else from the speed.

    A contact that no sensor sees counts as touching while it is at rest in the world: more is not asked of a foothold.

    Args:
        count: Number k of contacts.
        settings: Thresholds and time constants.
    """

    def __init__(self, count: int, settings: EstimatorSettings) -> None:
        self._settings = settings
        self.probability, self._fresh = np.zeros(count), True
        """(k,) that each contact touches."""

    def reset(self) -> None:
        """Begin again: the next readings count in full."""
        self.probability[:] = 0.0
        self._fresh = True

    def update(self, dt: float, share: Array, bit: Array, speed: Array) -> None:
        """Take the readings at the end of a step.

        Args:
            dt: Of the step [s].
            share: (k,) normal forces as shares of the weight, NaN where silent.
            bit: (k,) contact bits 0 or 1, NaN where silent.
            speed: (k,) of the contacts in world, as far as known [m/s].
        """
        chosen, before = self._settings, self.probability
        target = contact_probability(share, before, chosen)
        if isnan(target.sum()):
            at_rest = _logistic(4.0 * (1.0 - speed / chosen.rest_speed))
            by_bit = np.where(np.isnan(bit), at_rest, np.where(bit > 0.5, _SURE, 1.0 - _SURE))
            target = np.where(np.isnan(share), by_bit, target)
        before += self.change(dt) * (target - before)

    def change(self, dt: float) -> float:
        """The share of the way to what the readings say that a probability goes in a step of dt [s]; count the step."""
        found = 1.0 if self._fresh else 1.0 - exp(-dt / self._settings.touch_time)
        self._fresh = False
        return found
