"""Removal of drift: positions and velocities projected onto the hinges by their own nodes; plastic impacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError
from surefoot.redundant.equations import (
    State,
    System,
    coordinates,
    displace,
    dynamics_system,
    hinge_residuals,
    position_system,
    velocity_system,
    velocity_vector,
)
from surefoot.redundant.model import Layout, Model
from surefoot.redundant.nodes.boundaries import Boundaries, held_freedoms
from surefoot.redundant.nodes.dynamics import Dynamics, dynamics_node
from surefoot.redundant.nodes.index import Solver, minimise

WISH = 1e-8
"""Weight of a wish to stay, against 1 for the laws: what is left of a gap after one projection."""


def project_positions(
    model: Model,
    state: State,
    weights: ArrayLike = WISH,
    boundaries: Boundaries | None = None,
    solver: Solver = "auto",
) -> State:
    """One Gauss-Newton step towards closed hinges (Busenhart 1994, section 5.2).

    Args:
        model: The model.
        state: Where it starts.
        weights: (unknowns,) or one number: how much each of [Δϑ, ΔX, Δφ', Δs'] shall stay 0, against 1 for the hinges.
        boundaries: Freedoms held at stops are put on their stops.
        solver: As in `minimise`.
    """
    layout, system = model.layout, position_system(model, state)
    z_d, d0 = np.zeros(system.A.shape[1]), np.zeros(system.A.shape[1])
    d0[:] = weights
    if boundaries is not None:
        x, first = coordinates(layout, state), layout.motion_places["turns"].start
        for flags, stop in ((boundaries.lower, layout.freedoms.lower), (boundaries.upper, layout.freedoms.upper)):
            z_d[first:][flags], d0[first:][flags] = (stop - x)[flags], 1.0
    z = minimise(model, "position", system, z_d, d0, np.ones(len(system.b)), solver)
    return displace(layout, state, *_vectors(layout, z))


def project_velocities(
    model: Model,
    state: State,
    weights: ArrayLike = WISH,
    boundaries: Boundaries | None = None,
    solver: Solver = "auto",
) -> State:
    """Velocities that keep the hinges, near to those of the state.

    Args:
        model: The model.
        state: With the velocities that are wished.
        weights: (unknowns,) or one number: how much each of [ω, Ẋ, θ', ṡ'] is wished, against 1 for the hinges.
        boundaries: Freedoms that are held have no velocity.
        solver: As in `minimise`.
    """
    layout, system = model.layout, velocity_system(model, state)
    z_d, d0 = velocity_vector(layout, state), np.zeros(system.A.shape[1])
    d0[:] = weights
    if boundaries is not None:
        held, first = held_freedoms(layout, boundaries), layout.motion_places["turns"].start
        z_d[first:][held], d0[first:][held] = 0.0, 1.0
    z = minimise(model, "velocity", system, z_d, d0, np.ones(len(system.b)), solver)
    turning, velocities, rates = _vectors(layout, z)
    return replace(state, turning=turning, velocities=velocities, rates=rates)


def close_hinges(
    model: Model,
    state: State,
    weights: ArrayLike = WISH,
    tolerance: float = 1e-11,
    most: int = 60,
    put_back: Callable[[State], State] | None = None,
) -> State:
    """Positions projected until all hinges are closed.

    Args:
        model: The model.
        state: Where it starts.
        weights: As in `project_positions`.
        tolerance: Largest gap that is left [rad] and [m].
        most: Number of projections after which it gives up.
        put_back: Gives what shall not change its values again, before each projection.

    Raises:
        ModelError: A hinge stays open; the error names it, with the gap.
    """
    layout = model.layout
    for _ in range(most):
        angle, distance = hinge_residuals(model, state)
        if np.concatenate([angle, distance]).max(initial=0.0) <= tolerance:  # never for NaN
            return state
        state = project_positions(model, state if put_back is None else put_back(state), weights)
    worst = int(np.argmax(np.maximum(angle, distance)))
    raise ModelError(
        f"hinge `{layout.hinge_names[worst]}` of `{model.name}` cannot be closed",
        evidence={"gap": f"{distance[worst]:.3g} m, {angle[worst]:.3g} rad", "projections": most},
        next_step="check the lengths of the loop, or start nearer to a closed position",
    )


def plastic_impact(
    model: Model, state: State, boundaries: Boundaries, solver: Solver = "auto"
) -> tuple[State, Dynamics]:
    """Velocities after freedoms have run into their stops, without rebound, and the impulses.

    Newton and Euler over an instant: the dynamics without the forces that stay finite, in jumps of velocity and
    impulses, with the wish that held freedoms lose their rates (Busenhart 1994, table 6.2: plastic). A contact whose
    impulse would leave the friction cone slides.

    Args:
        model: The model.
        state: Before the impact.
        boundaries: The flags after it.
        solver: As in `minimise`.
    """
    layout = model.layout
    system = dynamics_system(model, state.at_rest())
    system = System(system.A, np.zeros_like(system.b))
    z_d, d0 = np.zeros(system.A.shape[1]), np.zeros(system.A.shape[1])
    d0[layout.dynamics_places["u"]] = 1.0
    z_d[layout.dynamics_places["turns"].start :] = -state.rates
    found = dynamics_node(model, system, z_d, d0, boundaries, solver)
    sliding = _beyond_friction(layout, state, boundaries, found)
    if not sliding.same_as(boundaries):
        found = dynamics_node(model, system, z_d, d0, sliding, solver)
    after = replace(
        state,
        turning=state.turning + found.turn,
        velocities=state.velocities + found.move,
        rates=state.rates + found.freedoms,
    )
    return after, found


def _beyond_friction(layout: Layout, state: State, boundaries: Boundaries, found: Dynamics) -> Boundaries:
    """The flags with contacts sliding whose impulse is beyond friction."""
    stick, slip = boundaries.stick.copy(), boundaries.slip.copy()
    for i, contact in enumerate(layout.contacts):
        tangents = list(contact.tangents)
        if not (stick[i] and tangents and boundaries.lower[contact.normal]):
            continue
        asked, speed = found.reactions[tangents], state.rates[tangents]
        if np.linalg.norm(asked) > contact.friction * found.reactions[contact.normal] and np.linalg.norm(speed) > 0.0:
            stick[i], slip[i, : len(tangents)] = False, speed / np.linalg.norm(speed)
    return replace(boundaries, stick=stick, slip=slip)


def _vectors(layout: Layout, z: Array) -> tuple[Array, Array, Array]:
    """Bodies turn (N, 3), bodies move (N, 3), freedoms (m,)."""
    at = layout.motion_places
    return layout.angular(z[at["turn"]]), layout.linear(z[at["move"]]), z[at["turns"].start :]
