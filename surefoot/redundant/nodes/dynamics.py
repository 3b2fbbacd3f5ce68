"""Forward and inverse dynamics from one index: the weights select the known quantities.

Forward: the actuators are known, nothing else is wished. Inverse: accelerations are wished, the actuators are found. In
between: any mixture, with `dynamics_node`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.redundant.equations import State, System, dynamics_system
from surefoot.redundant.model import Layout, Model
from surefoot.redundant.nodes.boundaries import Boundaries, free_boundaries, held_freedoms, with_boundaries
from surefoot.redundant.nodes.index import Solver, minimise


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A solution of the dynamics.

    Args:
        u: (actuators,) [N m] or [N].
        turn: (N, 3) angular accelerations in world axes [rad/s²].
        move: (N, 3) accelerations of the centres of mass [m/s²].
        torques: (n, 3) of the head on the tail, about the tail's centre of mass, in world axes [N m].
        forces: (n, 3) of the head on the tail, in world axes [N].
        freedoms: (m,) accelerations of the freedoms [rad/s²] or [m/s²].
        reactions: (m,) what stops and friction add to the forces along the freedoms [N m] or [N].
        residual: (rows,) A z + b: by how much each law is missed.
    """

    u: Array
    turn: Array
    move: Array
    torques: Array
    forces: Array
    freedoms: Array
    reactions: Array
    residual: Array


def _unpacked(layout: Layout, z: Array, residual: Array, reactions: Array) -> Dynamics:
    """The parts of z_dyn, with three components each."""
    at = layout.dynamics_places
    return Dynamics(
        u=z[at["u"]],
        turn=layout.angular(z[at["turn"]]),
        move=layout.linear(z[at["move"]]),
        torques=layout.angular(z[at["torque"]]),
        forces=layout.linear(z[at["force"]]),
        freedoms=z[at["turns"].start :],
        reactions=reactions,
        residual=residual,
    )


def dynamics_node(
    model: Model,
    system: System,
    z_d: Array,
    d0: Array,
    boundaries: Boundaries | None = None,
    solver: Solver = "auto",
) -> Dynamics:
    """The solution for given wishes and weights; laws have the weight 1.

    Args:
        model: The model.
        system: From `dynamics_system`.
        z_d: (unknowns,) wishes; those of held freedoms are their demanded accelerations.
        d0: (unknowns,) their weights; those of held freedoms are replaced by 1.
        boundaries: Active unilateral constraints; none if omitted.
        solver: As in `minimise`.
    """
    layout = model.layout
    flags = free_boundaries(layout) if boundaries is None else boundaries
    rubbed, held = with_boundaries(layout, system, flags), held_freedoms(layout, flags)
    m = len(held)
    d0, d1 = d0.copy(), np.ones(len(rubbed.b))
    d0[len(d0) - m :][held], d1[len(d1) - m :][held] = 1.0, 0.0
    z = minimise(model, "dynamics", rubbed, z_d, d0, d1, solver)
    reactions = system.A[-m:] @ z + system.b[-m:] if m else np.zeros(0)
    return _unpacked(layout, z, rubbed.A @ z + rubbed.b, reactions)


def forward_dynamics(
    model: Model,
    state: State,
    u: ArrayLike | None = None,
    external: Array | None = None,
    boundaries: Boundaries | None = None,
    solver: Solver = "auto",
    spread: float = 0.0,
) -> Dynamics:
    """Accelerations and hinge forces under given actuator forces.

    Args:
        model: The model.
        state: Coordinates and velocities.
        u: (actuators,) [N m] or [N]; zero if omitted.
        external: (N, 6) force and torque on every body, at its centre of mass, in world axes.
        boundaries: Active unilateral constraints; none if omitted. Held freedoms have no acceleration.
        solver: As in `minimise`.
        spread: Weight of the wish for small hinge forces. Where several sets of forces go with the same motion
            (hyperstatic models), a small weight (1e-12) finds the least of them; with 0 it is any of them.
    """
    layout = model.layout
    system = dynamics_system(model, state, external)
    z_d, d0 = np.zeros(system.A.shape[1]), np.zeros(system.A.shape[1])
    z_d[layout.dynamics_places["u"]] = checked_inputs(layout, u)
    d0[layout.dynamics_places["u"]] = 1.0
    d0[layout.dynamics_places["torque"]] = d0[layout.dynamics_places["force"]] = spread
    return dynamics_node(model, system, z_d, d0, boundaries, solver)


def inverse_dynamics(
    model: Model,
    state: State,
    accelerations: ArrayLike,
    weights: ArrayLike = 1e-4,
    effort: float = 0.0,
    external: Array | None = None,
    boundaries: Boundaries | None = None,
    solver: Solver = "dense",
) -> Dynamics:
    """Actuator forces that come nearest to wished accelerations of the freedoms.

    Args:
        model: The model.
        state: Coordinates and velocities.
        accelerations: (m,) of the freedoms [rad/s²] or [m/s²].
        weights: (m,) or one number: how much each is wished, against 1 for the laws; 0 where it does not matter.
        effort: Weight of the wish for small actuator forces.
        external: As in `forward_dynamics`.
        boundaries: As in `forward_dynamics`.
        solver: As in `minimise`; "dense" takes the least forces where several do.
    """
    layout = model.layout
    system = dynamics_system(model, state, external)
    z_d, d0 = np.zeros(system.A.shape[1]), np.zeros(system.A.shape[1])
    start = layout.dynamics_places["turns"].start
    z_d[start:] = np.asarray(accelerations, dtype=float)
    d0[start:] = weights
    d0[layout.dynamics_places["u"]] = effort
    return dynamics_node(model, system, z_d, d0, boundaries, solver)


def checked_inputs(layout: Layout, u: ArrayLike | None) -> Array:
    """The actuator forces (actuators,) as an array, zero if omitted.

    Args:
        layout: The model.
        u: The forces [N m] or [N].

    Raises:
        ShapeError: They have the wrong shape, or are not finite.
    """
    out = np.zeros(layout.actuators) if u is None else np.asarray(u, dtype=float)
    if out.shape != (layout.actuators,) or not np.isfinite(out).all():
        raise ShapeError(f"inputs must be ({layout.actuators},) and finite", evidence={"inputs": out})
    return out
