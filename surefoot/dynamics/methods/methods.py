"""The methods of constrained forward dynamics by name: those that need only matrices.

All give the same accelerations and the same constraint force, also where rows of J depend on each other; where such
rows contradict each other, all come as near to J a + drift = 0 as can be (least squares over the rows).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.dynamics.constraints import ConstrainedEquations
from surefoot.dynamics.methods.elimination import (
    ScaledEquations,
    by_aghili,
    by_elimination,
    by_gauss,
    by_lagrange,
    by_maggi_qr,
    by_maggi_svd,
    by_range_space,
    by_udwadia_kalaba,
    scaled_equations,
)

__all__ = ["ELIMINATIONS", "METHODS", "Elimination"]

Elimination = Callable[[ConstrainedEquations], tuple[Array, Array]]


_Scaled = Callable[[ScaledEquations], tuple[Array, Array]]


def _elimination(method: _Scaled) -> Elimination:
    """A method on equations in their own unknowns."""

    def solve(equations: ConstrainedEquations) -> tuple[Array, Array]:
        scaled = scaled_equations(equations)
        a, multipliers = _refined(method, scaled, *method(scaled))
        return a / scaled.scale, multipliers

    solve.__doc__ = method.__doc__
    return solve


def _refined(method: _Scaled, equations: ScaledEquations, a: Array, multipliers: Array) -> tuple[Array, Array]:
    """One step of iterative refinement (Wilkinson 1963) where rounding has left more than it must.

    Free accelerations can be much larger than those that constraints leave; what cancels is lost to methods that begin
    with them. All methods are linear in force and drift.
    """
    force = equations.force + equations.J.T @ multipliers - equations.M @ a
    drift = equations.drift + equations.J @ a
    along = equations.along + equations.Q @ a
    lost = np.abs(along).max(initial=0.0) + np.abs(force).max(initial=0.0)
    if lost <= _ROUNDING * np.abs(a).max(initial=0.0):
        return a, multipliers
    more, further = method(replace(equations, force=force, drift=drift, along=along))
    return a + more, multipliers + further


_ROUNDING = 1e-14


ELIMINATIONS: dict[str, Elimination] = {
    "lagrange": _elimination(by_lagrange),
    "gauss": _elimination(by_gauss),
    "elimination": _elimination(by_elimination),
    "maggi_svd": _elimination(by_maggi_svd),
    "maggi_qr": _elimination(by_maggi_qr),
    "aghili": _elimination(by_aghili),
    "range_space": _elimination(by_range_space),
    "udwadia_kalaba": _elimination(by_udwadia_kalaba),
}
"""(a, λ) of M, force, J and drift, by method: a (nv,) and the least multipliers (m,)."""

METHODS: tuple[str, ...] = (*ELIMINATIONS, "recursive", "iterative", "minimal", "pinocchio", "auto")
"""What `constrained_acceleration` takes as method."""
