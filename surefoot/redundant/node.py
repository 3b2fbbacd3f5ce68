"""A node: the minimum of one weighted least-squares index over wishes and laws (Busenhart 1994, section 4.2.3).

    J(z) = ½ (z - z_d)ᵀ D₀ (z - z_d) + ½ (A z + b)ᵀ D₁ (A z + b)        [red.index]   Busenhart 1994, (4.18)

Weights say what is known, what is wished and what is law; the same system then answers different questions.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.redundant.constraints import System
from surefoot.redundant.layout import Model
from surefoot.redundant.patterns import Level, pattern
from surefoot.solvers.dyadic_plan import DyadicPlan

__all__ = ["Solver", "minimise"]

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
            A, b = (np.where(kept, given, 0.0) for kept, given in _within(plan, system))  # rounding outside the pattern
            return plan.solve(A, b, z_d, d0, d1).z
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


def _within(plan: DyadicPlan, system: System) -> tuple[tuple[NDArray[np.bool_], Array], ...]:
    """A and b, each with the part of the pattern that belongs to it."""
    return (plan.pattern[:, :-1], system.A), (plan.pattern[:, -1], system.b)


def _dense(system: System, z_d: Array, d0: Array, d1: Array) -> Array:
    """The rows with weight, stacked, by a complete orthogonal factorisation."""
    wishes, laws = np.flatnonzero(d0 > 0.0), np.flatnonzero(d1 > 0.0)
    strength, force = np.sqrt(d0[wishes]), np.sqrt(d1[laws])
    rows = np.zeros((len(wishes) + len(laws), len(z_d)))
    rows[np.arange(len(wishes)), wishes] = strength
    rows[len(wishes) :] = force[:, None] * system.A[laws]
    right = np.concatenate([strength * z_d[wishes], -force * system.b[laws]])
    return linalg.lstsq(rows, right, lapack_driver="gelsy", check_finite=False)[0]
