"""The right side of a differential equation, counted and checked, and the errors that end an integration early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError, SimulationError
from surefoot.solvers.ode.manifold import Manifold

VectorField = Callable[[float, Array], ArrayLike]


class IntegrationError(SimulationError):
    """An integration could not go on; `so_far` is the `OdeResult` of the steps before, None if there is none."""

    so_far: Any = None


class FieldNotFiniteError(IntegrationError):
    """The field or an event function returned NaN or infinity."""


class StepTooSmallError(IntegrationError):
    """Error control asks for steps without end: the system is stiff, not smooth, or has a pole."""


class Field:
    """f(t, x) that counts its calls and whose values are finite vectors of one size.

    Args:
        function: f(t, x) -> (m,), the velocity of x.
    """

    def __init__(self, function: VectorField) -> None:
        self._function = function
        self._shape: tuple[int, ...] | None = None
        self.evaluations = 0

    def __call__(self, t: float, x: Array) -> Array:
        """The velocity (m,) at t, x.

        Raises:
            FieldNotFiniteError: NaN or infinity.
            ShapeError: Not a vector, or of another size than before.
        """
        self.evaluations += 1
        velocity = np.asarray(self._function(t, x), dtype=float)
        if velocity.shape != self._shape:
            self._check_shape(velocity)
        if not np.isfinite(velocity).all():
            raise FieldNotFiniteError(
                f"the field is not finite at t = {t:.9g}",
                evidence={"time": t, "state": x, "field": velocity},
                next_step="look at the field at this state; if the state itself has grown without bound, "
                "take smaller steps",
            )
        return velocity

    def _check_shape(self, velocity: Array) -> None:
        if velocity.ndim != 1 or self._shape is not None:
            expected = "a vector" if self._shape is None else f"shape {self._shape} as before"
            raise ShapeError(f"the field has shape {velocity.shape}, expected {expected}")
        self._shape = velocity.shape


class Chart:
    """The field in exponential coordinates u about a base point: x = base ⊕ u, du/dt = dexp⁻¹_u f(t, base ⊕ u).

    [ode.munthe-kaas]   Munthe-Kaas 1999; Iserles et al. 2000. In a vector space it is x = base + u.

    Args:
        field: f(t, x), (m,).
        manifold: Where x lives.
        base: (n,) the point at u = 0.
    """

    def __init__(self, field: Field, manifold: Manifold, base: Array) -> None:
        self._field = field
        self._manifold = manifold
        self._base = base

    def point(self, u: Array) -> Array:
        """The point x (n,) of the coordinates u (m,)."""
        return self._manifold.add(self._base, u)

    def velocity(self, t: float, u: Array) -> Array:
        """The velocity f (m,) at the point."""
        return self._field(t, self.point(u))

    def rate(self, u: Array, velocity: Array) -> Array:
        """du/dt (m,) that belongs to a velocity at the point."""
        return self._manifold.dexp_inverse(u, velocity)
