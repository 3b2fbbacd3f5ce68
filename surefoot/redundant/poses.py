"""States from a few known values: coordinates and rates of some freedoms, places of some bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ModelError, ShapeError, one_of
from surefoot.redundant.equations import State, chains, rest_state, tail_spinors, velocity_residual
from surefoot.redundant.model import Layout, Model
from surefoot.redundant.nodes import WISH, close_hinges, project_velocities
from surefoot.spatial import so3, spinor


def posed(
    model: Model,
    coordinates: Mapping[str, float] | None = None,
    rates: Mapping[str, float] | None = None,
    bodies: Mapping[str, ArrayLike] | None = None,
) -> State:
    """A state with all hinges closed.

    Bodies are placed one after the other along the hinges, from those that are given or from the ground, with freedoms
    that are not given at 0. The hinges that were not needed for that (loops, contacts) follow; where they cannot, the
    freedoms that are not given give way.

    Args:
        model: The model.
        coordinates: Of freedoms by name [rad] or [m]; balls start without rotation.
        rates: Of freedoms by name [rad/s] or [m/s]; the others are 0 or follow, like the coordinates.
        bodies: Places by name: (x, y, angle) in the plane, position and rotation vector (6,) in space.

    Raises:
        ModelError: A hinge cannot be closed, or the rates contradict each other.
        UnknownNameError: There is no such freedom or body.
    """
    layout, given = model.layout, dict(bodies or {})
    state = _with_coordinates(layout, rest_state(layout), coordinates or {})
    places = {_body(layout, name): _pose(layout, at) for name, at in given.items()}
    state, used = _placed(layout, state, places)
    d0 = _weights(layout, used, coordinates or {})
    for name in given:
        # Give the place of a body the weight of a law
        body = _body(layout, name)
        at, angular, linear = layout.motion_places, len(layout.rotations), len(layout.translations)
        d0[at["turn"].start + body * angular :][:angular] = 1.0
        d0[at["move"].start + body * linear :][:linear] = 1.0
    state = close_hinges(model, state, d0, put_back=lambda now: _put_back(layout, now, coordinates or {}, places))
    return _with_rates(model, state, rates or {}, _weights(layout, used, rates or {}))


def _put_back(
    layout: Layout, state: State, given: Mapping[str, float], places: Mapping[int, tuple[Array, Array]]
) -> State:
    """The state with what was given as it was given."""
    angles, slides, spinors, positions = (
        x.copy() for x in (state.angles, state.slides, state.spinors, state.positions)
    )
    pins = {int(row): k for k, row in enumerate(layout.links.pin_rows)}
    for name, value in given.items():
        row = _freedom(layout, name)
        if row in pins:
            angles[pins[row]] = value
        elif row >= layout.turns:
            slides[row - layout.turns] = value
    for body, (R, X) in places.items():
        spinors[body], positions[body] = R, X
    return replace(state, angles=angles, slides=slides, spinors=spinors, positions=positions)


def _weights(layout: Layout, used: set[int], given: Mapping[str, float]) -> Array:
    """Weights of the unknowns: 1 for given ones, as for laws; 0 for bodies and hinges that follow."""
    d0, first = np.zeros(layout.motion_places["slides"].stop), layout.motion_places["turns"].start
    hinges = np.concatenate([layout.links.turn_at[1], layout.links.slide_at[1]])
    d0[first:][np.isin(hinges, list(used))] = WISH
    for name in given:
        d0[first + _freedom(layout, name)] = 1.0
    return d0


def _freedom(layout: Layout, name: str) -> int:
    if name not in layout.freedoms.names:
        raise one_of("freedom", name, layout.freedoms.names)
    return layout.freedoms.names.index(name)


def _body(layout: Layout, name: str) -> int:
    if name not in layout.body_names:
        raise one_of("body", name, layout.body_names)
    return layout.body_names.index(name)


def _pose(layout: Layout, at: ArrayLike) -> tuple[Array, Array]:
    """Spinor and position of a body."""
    values = np.asarray(at, dtype=float)
    if values.shape != ((3,) if layout.planar else (6,)) or not np.isfinite(values).all():
        wanted = "(x, y, angle)" if layout.planar else "position and rotation vector (6,)"
        raise ShapeError(f"the pose of a body must be finite: {wanted}", evidence={"given": at})
    if layout.planar:
        return np.array(spinor.from_axis_angle([0.0, 0.0, 1.0], values[2])), np.array([values[0], values[1], 0.0])
    return np.array(spinor.from_matrix(so3.exp(values[3:]))), values[:3]


def _with_coordinates(layout: Layout, state: State, given: Mapping[str, float]) -> State:
    values = np.zeros(len(layout.freedoms.names))
    for name, value in given.items():
        values[_freedom(layout, name)] = value
    if values[layout.links.ball_rows].any():
        raise ShapeError("the axes of balls have no coordinates of their own", evidence={"given": dict(given)})
    return replace(state, angles=values[layout.links.pin_rows], slides=values[layout.turns :])


def _placed(layout: Layout, state: State, given: dict[int, tuple[Array, Array]]) -> tuple[State, set[int]]:
    """Bodies placed along the hinges, as far as these reach, and those hinges; all of `state` are at the origin."""
    relative, shift = tail_spinors(layout, state), chains(layout, state).tails
    ground = (np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3))
    known, used = dict(given), set()
    for _ in range(2):
        while found := _next_placed(layout, known, relative, shift):
            hinge, body, place = found
            known[body] = place
            used.add(hinge)
        known[layout.bodies] = ground  # bodies that no given one reaches start from the ground
    spinors, positions = state.spinors.copy(), state.positions.copy()
    for body in set(known) - {layout.bodies}:
        spinors[body], positions[body] = known[body]
    return replace(state, spinors=spinors, positions=positions), used


def _next_placed(
    layout: Layout, known: dict[int, tuple[Array, Array]], relative: Array, shift: Array
) -> tuple[int, int, tuple[Array, Array]] | None:
    """The first hinge that ties a body to one that is placed, that body, and where it is; None if there is none."""
    for a, (tail, head, S, s) in enumerate(zip(layout.tail, layout.head, relative, shift, strict=True)):
        if head in known and tail not in known and tail < layout.bodies:
            R, X = known[int(head)]
            return a, int(tail), (spinor.product(S, R), X + spinor.to_matrix(R) @ s)
        if tail in known and head not in known and head < layout.bodies:
            R, X = known[int(tail)]
            R_head = spinor.product(spinor.reverse(S), R)
            return a, int(head), (R_head, X - spinor.to_matrix(R_head) @ s)
    return None


def _with_rates(model: Model, state: State, given: Mapping[str, float], d0: Array) -> State:
    """Velocities that keep the hinges and have the given rates."""
    layout, rates = model.layout, np.zeros(len(model.layout.freedoms.names))
    for name, value in given.items():
        rates[_freedom(layout, name)] = value
    rows = [_freedom(layout, name) for name in given]
    for _ in range(3):  # each time, what the small wishes have cost is given back
        wished = state.rates.copy()
        wished[rows] = rates[rows]
        state = project_velocities(model, replace(state, rates=wished), d0, solver="dense")
    left = velocity_residual(model, state)
    missed = np.abs(state.rates - rates)[rows].max(initial=0.0)
    if not np.max([left, missed]) <= 1e-9 * max(1.0, float(np.abs(rates).max(initial=0.0))):
        raise ModelError(
            f"the given rates contradict the hinges of `{model.name}`",
            evidence={"hinges miss by": left, "rates miss by": missed},
            next_step="give fewer rates; the others follow",
        )
    return state
