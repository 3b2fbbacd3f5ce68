"""Simulation by the formalism alone: dynamics node, position and velocity nodes, boundary tests (section 5.2).

Each step: flags of stops and contacts are tested until they agree with the solution that they cause; freedoms that have
run into a stop lose their velocity without rebound; the dynamics node is integrated with the flags and the actuator
forces held; the position and velocity nodes take away what the integration has opened. Impacts are found at the ends of
steps: a stop is passed by at most speed · dt before it is felt, and the freedom is then put back on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError, SimulationError, one_of
from surefoot.redundant.equations import (
    State,
    coordinate_rate,
    coordinates,
    flat,
    hinge_residuals,
    kinetic_energy,
    normalise,
    of_flat,
    potential_energy,
    velocity_residual,
)
from surefoot.redundant.model import Model
from surefoot.redundant.nodes import (
    Boundaries,
    Dynamics,
    Solver,
    boundary_test,
    checked_inputs,
    forward_dynamics,
    free_boundaries,
    held_freedoms,
    plastic_impact,
    project_positions,
    project_velocities,
)
from surefoot.solvers import ode

Inputs = Callable[[float, State], ArrayLike] | ArrayLike | None
Method = Literal["rk4", "kutta-merson"]
_MOST_TESTS = 8


@dataclass(frozen=True, eq=False)
class Simulated:
    """Result of a simulation: k + 1 times, N bodies, n hinges, m freedoms.

    Args:
        time: (k + 1,) [s].
        spinors: (k + 1, N, 4) attitudes.
        positions: (k + 1, N, 3) [m].
        turning: (k + 1, N, 3) angular velocities in world axes [rad/s].
        velocities: (k + 1, N, 3) [m/s].
        coordinates: (k + 1, m) of the freedoms [rad] or [m].
        rates: (k + 1, m) [rad/s] or [m/s].
        accelerations: (k + 1, m) [rad/s²] or [m/s²].
        inputs: (k + 1, actuators) actuator forces, within their bounds [N m] or [N].
        torques: (k + 1, n, 3) of the hinges, on the tail [N m].
        forces: (k + 1, n, 3) of the hinges, on the tail [N].
        reactions: (k + 1, m) of stops and friction along the freedoms [N m] or [N].
        held: (k + 1, m) which freedoms were held.
        kinetic: (k + 1,) [J].
        potential: (k + 1,) gravity and springs [J].
        open_angle: (k + 1,) worst gap of the hinges [rad].
        open_distance: (k + 1,) worst gap of the hinges [m].
        open_rate: (k + 1,) worst row of the velocity constraints [rad/s] or [m/s].
        final: The last state.
    """

    time: Array
    spinors: Array
    positions: Array
    turning: Array
    velocities: Array
    coordinates: Array
    rates: Array
    accelerations: Array
    inputs: Array
    torques: Array
    forces: Array
    reactions: Array
    held: NDArray[np.bool_]
    kinetic: Array
    potential: Array
    open_angle: Array
    open_distance: Array
    open_rate: Array
    final: State

    @property
    def energy(self) -> Array:
        """(k + 1,) kinetic and potential [J]."""
        return self.kinetic + self.potential


@dataclass
class Stepper:
    """A model on its way through time.

    Args:
        model: The model.
        state: Where it is.
        dt: Step [s].
        method: "rk4": four evaluations a step; "kutta-merson": adaptive steps within dt.
        tol: Tolerance of the adaptive steps.
        project: Whether positions and velocities are brought back to the hinges after each step.
        solver: As in `minimise`.
        time: [s].
    """

    model: Model
    state: State
    dt: float
    method: Method = "rk4"
    tol: float = 1e-8
    project: bool = True
    solver: Solver = "auto"
    time: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.dt) and self.dt > 0.0):
            raise ShapeError("the step must be positive", evidence={"dt": self.dt})
        if self.method not in ("rk4", "kutta-merson"):
            raise one_of("method", self.method, ("rk4", "kutta-merson"))
        self.boundaries: Boundaries = free_boundaries(self.model.layout)

    def clipped(self, u: ArrayLike | None) -> Array:
        """Actuator forces within their bounds, (actuators,); zero if omitted."""
        bounds = [(a.lower, a.upper) for a in self.model.actuators]
        lower = np.array([-np.inf if low is None else low for low, _ in bounds])
        upper = np.array([np.inf if high is None else high for _, high in bounds])
        return np.clip(checked_inputs(self.model.layout, u), lower, upper)

    def settle(self, u: Array, external: Array | None = None) -> Dynamics:
        """Flags that agree with the solution that they cause, impacts done; returns that solution.

        Args:
            u: (actuators,) within bounds.
            external: (N, 6) force and torque on the bodies.
        """
        for attempt in range(_MOST_TESTS):
            found = forward_dynamics(self.model, self.state, u, external, self.boundaries, self.solver)
            brake = 1.0 / self.dt
            tested = boundary_test(self.model, self.state, found.freedoms, found.reactions, self.boundaries, brake)
            if tested.same_as(self.boundaries) or attempt == _MOST_TESTS - 1:
                break
            self._hold(tested)
        return found

    def _hold(self, tested: Boundaries) -> None:
        """Take over new flags; freedoms that are caught lose their velocity, and contacts that land try to stick."""
        layout = self.model.layout
        landed = [tested.lower[c.normal] and not self.boundaries.lower[c.normal] for c in layout.contacts]
        tested = replace(tested, stick=tested.stick | np.array(landed, dtype=bool))
        caught = held_freedoms(layout, tested) & ~held_freedoms(layout, self.boundaries)
        if np.abs(self.state.rates[caught]).max(initial=0.0) > 0.0:
            self.state, _ = plastic_impact(self.model, self.state, tested, self.solver)
        self.boundaries = tested

    def advance(self, u: Array, external: Array | None = None) -> None:
        """Integrate over one step with flags and forces held, then project.

        Args:
            u: (actuators,) within bounds.
            external: (N, 6) force and torque on the bodies, held.
        """
        start, field = flat(self.state), self._field(u, external)
        if self.method == "rk4":
            end = ode.runge_kutta_step(field, 0.0, start, self.dt, ode.RK4)
        else:
            end = ode.integrate(field, start, 0.0, self.dt, method=ode.KUTTA_MERSON, tol=self.tol).x[-1]
        if not np.isfinite(end).all():
            raise SimulationError(f"the state of `{self.model.name}` is not finite", evidence={"time": self.time})
        self.state, self.time = normalise(of_flat(self.state, end)), self.time + self.dt
        if self.project:
            held = self.boundaries
            self.state = project_positions(self.model, self.state, boundaries=held, solver=self.solver)
            self.state = project_velocities(self.model, self.state, boundaries=held, solver=self.solver)

    def _field(self, u: Array, external: Array | None) -> Callable[[float, Array], Array]:
        def rates(_: float, x: Array) -> Array:
            state = of_flat(self.state, x)
            found = forward_dynamics(self.model, state, u, external, self.boundaries, self.solver)
            parts = (coordinate_rate(self.model.layout, state), found.turn, found.move, found.freedoms)
            return np.concatenate([part.ravel() for part in parts])

        return rates


def simulate(
    model: Model,
    state: State,
    inputs: Inputs,
    duration: float,
    dt: float,
    *,
    method: Method = "rk4",
    tol: float = 1e-8,
    project: bool = True,
    external: Callable[[float], Array] | None = None,
    solver: Solver = "auto",
) -> Simulated:
    """Integrate a model by the formalism.

    Args:
        model: The model.
        state: Where it starts, with closed hinges (`posed`).
        inputs: Actuator forces: constant (actuators,), or a function of time and state, asked once for each step; they
            are cut to the bounds of the actuators. None: no forces.
        duration: [s], rounded to whole steps.
        dt: Step [s].
        method: "rk4" or "kutta-merson" (adaptive within a step, Busenhart's choice).
        tol: Tolerance of the adaptive steps.
        project: Whether drift is taken away after each step.
        external: Force and torque (N, 6) on the bodies at their centres of mass, in world axes, of time.
        solver: As in `minimise`.

    Raises:
        ShapeError: Duration or step are not positive, or inputs have the wrong shape.
        SimulationError: The numbers are no longer finite.
    """
    if not (np.isfinite(duration) and duration > 0.0):
        raise ShapeError("the duration must be positive", evidence={"duration": duration})
    stepper = Stepper(model, state, dt, method, tol, project, solver)
    rows: list[dict[str, ArrayLike]] = []
    for step in range(round(duration / dt) + 1):
        asked = inputs(stepper.time, stepper.state) if callable(inputs) else inputs
        u, wrench = stepper.clipped(asked), None if external is None else external(stepper.time)
        rows.append(_row(stepper, u, stepper.settle(u, wrench)))
        if step < round(duration / dt):
            stepper.advance(u, wrench)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Simulated(**columns, final=stepper.state)


def _row(stepper: Stepper, u: Array, found: Dynamics) -> dict[str, ArrayLike]:
    """The logged quantities of one time."""
    model, state = stepper.model, stepper.state
    angle, distance = hinge_residuals(model, state)
    return {
        "time": stepper.time,
        "spinors": state.spinors,
        "positions": state.positions,
        "turning": state.turning,
        "velocities": state.velocities,
        "coordinates": coordinates(model.layout, state),
        "rates": state.rates,
        "accelerations": found.freedoms,
        "inputs": u,
        "torques": found.torques,
        "forces": found.forces,
        "reactions": found.reactions,
        "held": held_freedoms(model.layout, stepper.boundaries),
        "kinetic": kinetic_energy(model, state),
        "potential": potential_energy(model, state),
        "open_angle": angle.max(initial=0.0),
        "open_distance": distance.max(initial=0.0),
        "open_rate": velocity_residual(model, state),
    }
