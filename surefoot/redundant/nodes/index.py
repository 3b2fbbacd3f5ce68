"""The minimum of a weighted least-squares index over wishes and laws: a node (Busenhart 1994, section 4.2.3).

    J(z) = ½ (z - z_d)ᵀ D₀ (z - z_d) + ½ (A z + b)ᵀ D₁ (A z + b)        [red.index]   Busenhart 1994, (4.18)

Weights distinguish known quantities, wishes and laws; the same system then answers different questions. `pattern`
finds the entries of the constraint matrices that can be nonzero, from which the reduction is ordered off-line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.redundant.equations import State, System, dynamics_system, position_system, velocity_system
from surefoot.redundant.model import Freedom, Hinge, Layout, Link, Model
from surefoot.solvers import DyadicPlan

Level = Literal["position", "velocity", "dynamics"]
_SYSTEMS: dict[str, Callable[[Model, State], System]] = {
    "position": position_system,
    "velocity": velocity_system,
    "dynamics": dynamics_system,
}
_PROBES, _ROUNDING = 3, 1e-15


def pattern(model: Model, level: Level, generic_axes: bool = True) -> NDArray[np.bool_]:
    """The entries of [A b] (rows, unknowns + 1) of a level that can be nonzero, at any state.

    Found at random states, where only entries vanish that vanish everywhere; masses and inertias of zero stay zero.

    Args:
        model: The model.
        level: "position", "velocity" or "dynamics".
        generic_axes: Axes of slides count as if they had all components, as in Busenhart's tables (6.17, 6.18), also
            where they lie along coordinate axes of the ground. Needed where friction ties tangents to normals.
    """
    if level not in get_args(Level):
        raise one_of("level", level, get_args(Level))
    rng = np.random.default_rng(0)
    hinges = tuple(_tilted(hinge, rng) for hinge in model.hinges) if generic_axes else model.hinges
    probed = model.model_copy(update={"hinges": hinges})
    out: NDArray[np.bool_] | None = None
    for _ in range(_PROBES):
        system = _SYSTEMS[level](probed, _generic_state(probed.layout, rng))
        values = np.abs(np.column_stack([system.A, system.b]))
        found = values > _ROUNDING * np.maximum(values.max(axis=0, initial=0.0), 1e-300)
        out = found if out is None else out | found
    return np.zeros((0, 0), dtype=bool) if out is None else out


def _generic_state(layout: Layout, rng: np.random.Generator) -> State:
    """A state without special numbers; it does not keep the hinges."""
    N, balls = layout.bodies, layout.links.ball_rows.shape[0]
    angular, linear = np.zeros(3), np.zeros(3)
    angular[layout.rotations], linear[layout.translations] = 1.0, 1.0
    spin = np.zeros(4)
    spin[layout.spinor_rows] = 1.0
    return State(
        spinors=_unit(rng.uniform(0.3, 1.0, (N, 4)) * spin),
        positions=rng.standard_normal((N, 3)) * linear,
        angles=rng.uniform(0.3, 1.0, len(layout.links.pin_rows)),
        balls=_unit(rng.uniform(0.3, 1.0, (balls, 4))),
        slides=rng.uniform(0.3, 1.0, layout.slides),
        turning=rng.standard_normal((N, 3)) * angular,
        velocities=rng.standard_normal((N, 3)) * linear,
        rates=rng.standard_normal(len(layout.freedoms.names)),
    )


def _unit(values: Array) -> Array:
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def _tilted(hinge: Hinge, rng: np.random.Generator) -> Hinge:
    """The hinge with slides along random axes."""
    links: list[Link] = []
    for link in hinge.links:
        slides: list[Freedom] = []
        for slide in link.slides:
            axis = _unit(rng.uniform(0.3, 1.0, len(slide.axis or ())))
            slides.append(slide.model_copy(update={"axis": tuple(float(x) for x in axis)}))
        links.append(link.model_copy(update={"slides": tuple(slides)}))
    return hinge.model_copy(update={"links": tuple(links)})


Solver = Literal["auto", "dyadic", "dense"]
_MANY = 200  # unknowns beyond which ordering a reduction takes longer than it is worth


def minimise(
    model: Model, level: Level, system: System, z_d: Array, d0: Array, d1: Array, solver: Solver = "auto"
) -> Array:
    """The z (unknowns,) with the least index.   [red.index].

    Args:
        model: The model, whose ordered reduction is used.
        level: Of the system.
        system: The laws A z + b = 0.
        z_d: (unknowns,) wishes.
        d0: (unknowns,) weights of the wishes, 0 or more.
        d1: (rows,) weights of the laws, 0 or more.
        solver: "dyadic": the reduction ordered for the model, which takes a moment when it is first used and minutes
            for models of several hundred unknowns; "dense": orthogonal factors, slower in each solution, which take
            the shortest z where the index leaves one open; "auto": "dyadic" up to 200 unknowns.
    """
    if solver == "auto":
        solver = "dyadic" if len(z_d) <= _MANY else "dense"
    match solver:
        case "dyadic":
            plan = model.plans.get(level) or model.plans.setdefault(level, _plan(model, level))
            A = np.where(plan.pattern[:, :-1], system.A, 0.0)  # without the rounding outside the pattern
            return plan.solve(A, np.where(plan.pattern[:, -1], system.b, 0.0), z_d, d0, d1).z
        case "dense":
            return _dense(system, z_d, d0, d1)
    raise one_of("solver", solver, get_args(Solver))


def _plan(model: Model, level: Level) -> DyadicPlan:
    """The ordered reduction of a level; explicit rows have a right side."""
    found = pattern(model, level) | pattern(model, level, generic_axes=False)
    if level == "dynamics":
        start = len(found) - len(model.layout.freedoms.names)
        for contact in model.layout.contacts:  # friction ties tangents to normals
            for tangent in contact.tangents:
                found[start + tangent] |= found[start + contact.normal]
    return DyadicPlan(found, explicit_rhs=True, order="greedy")


def _dense(system: System, z_d: Array, d0: Array, d1: Array) -> Array:
    """The rows with weight, stacked, by a complete orthogonal factorisation."""
    wishes, laws = np.flatnonzero(d0 > 0.0), np.flatnonzero(d1 > 0.0)
    strength, force = np.sqrt(d0[wishes]), np.sqrt(d1[laws])
    rows = np.zeros((len(wishes) + len(laws), len(z_d)))
    rows[np.arange(len(wishes)), wishes] = strength
    rows[len(wishes) :] = force[:, None] * system.A[laws]
    right = np.concatenate([strength * z_d[wishes], -force * system.b[laws]])
    return linalg.lstsq(rows, right, lapack_driver="gelsy", check_finite=False)[0]
