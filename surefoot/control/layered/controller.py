"""The controller: update and extrapolation, projections, coordination, execution, boundary test, once a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.layered.rules import Rule, demands
from surefoot.redundant import Model, State, dynamics_node, dynamics_system, posed
from surefoot.redundant.nodes import boundary_test, free_boundaries, project_positions, project_velocities

__all__ = ["LayeredController", "LayeredSettings"]

_KNOWN, _FOLLOWS = 1.0, 1e-8  # weights of freedoms and of bodies in the projections (Busenhart 1994, section 6.1.2)
_NEGLECTED = 1e-10


@dataclass(frozen=True)
class LayeredSettings:
    """What the controller is tuned by, besides its rules.

    Args:
        dt: Sample period [s].
        trust: p, share of a measurement in the estimate, 0 … 1.
        effort: Weight of the wish for small actuator forces.
        fixed: Weight of the wish that bodies without rotation or height of their own do not accelerate.
    """

    dt: float = 0.01
    trust: float = 1.0
    effort: float = 1e-8
    fixed: float = 1.0


class LayeredController:
    """Information processing, coordination and execution (Busenhart 1994, section 4.1 and Fig. 5.1).

    A command is computed during a sample for the next one: from the state that is extrapolated to its beginning.

    Args:
        model: What the controller believes of the plant.
        rules: Its coordination.
        start: Coordinates of the freedoms by name, as it believes them at first.
        settings: What it is tuned by.
        fixed: Indices of the unknowns of the dynamics that are wished 0 with the weight of laws.
    """

    def __init__(
        self,
        model: Model,
        rules: Sequence[Rule],
        start: dict[str, float],
        settings: LayeredSettings | None = None,
        fixed: Sequence[int] = (),
    ) -> None:
        self.model, self.rules, self.settings = model, tuple(rules), settings or LayeredSettings()
        self.state: State = posed(model, start)
        """The estimate, for the beginning of the next sample."""
        self._fixed, self._boundaries = list(fixed), free_boundaries(model.layout)
        self._acceleration = np.zeros(len(model.layout.freedoms.names))
        self.asked: Array = np.zeros(model.layout.actuators)
        """(actuators,) the last command before it was cut to the bounds of the actuators [N], [N m]."""

    def command(self, coordinates: ArrayLike, rates: ArrayLike) -> Array:
        """Actuator forces (actuators,) for the next sample.

        Args:
            coordinates: (m,) measured freedoms [rad], [m].
            rates: (m,) measured rates.
        """
        self.state = self._processed(np.asarray(coordinates, dtype=float), np.asarray(rates, dtype=float))
        z_d, d0 = demands(self.model, self.state, self.rules)
        return self._executed(z_d, d0)

    def _processed(self, measured: Array, rates: Array) -> State:
        """Update, extrapolation, and the projections of positions and velocities."""
        s, layout, old = self.settings, self.model.layout, self.state
        x, v = np.r_[old.angles, old.slides], np.array(old.rates)
        turns = len(old.angles)
        gap = measured - x
        gap[:turns] = np.remainder(gap[:turns] + np.pi, 2.0 * np.pi) - np.pi
        x, v = x + s.trust * gap, v + s.trust * (rates - v)
        x, v = x + s.dt * v, v + s.dt * self._acceleration
        state = posed(self.model, dict(zip(layout.freedoms.names, x, strict=True)))
        weights = np.full(layout.motion_places["slides"].stop, _FOLLOWS)
        weights[layout.motion_places["turns"].start :] = _KNOWN
        state = project_positions(self.model, replace(state, rates=v), weights, self._boundaries)
        return project_velocities(self.model, state, weights, self._boundaries)

    def _executed(self, z_d: Array, d0: Array) -> Array:
        """The dynamics node, cut to the actuators, and the boundary test for the next sample."""
        s, layout = self.settings, self.model.layout
        places = layout.dynamics_places
        d0 = np.where(d0 == 0.0, _NEGLECTED, d0)
        d0[places["u"]] = s.effort
        d0[self._fixed] = s.fixed
        brake = 1.0 / s.dt
        held = self._boundaries.lower | self._boundaries.upper
        z_d[places["turns"].start :][held] = -brake * self.state.rates[held]
        system = dynamics_system(self.model, self.state)
        found = dynamics_node(self.model, system, z_d, d0, self._boundaries)
        self.asked = found.u
        bounds = [(a.lower, a.upper) for a in self.model.actuators]
        lower = np.array([-np.inf if low is None else low for low, _ in bounds])
        upper = np.array([np.inf if high is None else high for _, high in bounds])
        u = np.clip(found.u, lower, upper)
        if (u != found.u).any():  # what the bounded actuators will do
            z_d, known = np.zeros_like(z_d), np.zeros_like(d0)
            z_d[places["u"]], known[places["u"]] = u, 1.0
            z_d[places["turns"].start :][held] = -brake * self.state.rates[held]
            found = dynamics_node(self.model, system, z_d, known, self._boundaries)
        self._acceleration = found.freedoms
        self._boundaries = boundary_test(
            self.model, self.state, found.freedoms, found.reactions, self._boundaries, brake
        )
        return u
