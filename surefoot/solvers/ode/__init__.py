"""Initial value problems dx/dt = f(t, x): Runge-Kutta methods as data, error control, dense output, events.

    result = ode.integrate(field, x0, 0.0, 2.0, tol=1e-9, events=[ode.Event(height, direction=-1, terminal=True)])
    result.t, result.x, result.events, result.sample(times)

Fixed steps: give `step` only. Adaptive steps: give `tol`; methods without an embedded pair then use step doubling.
States may live on a manifold (`Manifold`): each step then runs in exponential coordinates about the state where it
begins (Munthe-Kaas 1999), so every method here, with its error control, dense output and events, is also a method on
the group, of the same order. `PhaseSpace` makes the states (q, v) of a mechanical system out of its configurations.
One step at a time, for simulations with their own clock: `runge_kutta_step` and `semi_implicit_euler_step`.
"""

from surefoot.solvers.ode.events import Event, Occurrence
from surefoot.solvers.ode.field import FieldNotFiniteError, IntegrationError, StepTooSmallError
from surefoot.solvers.ode.integrate import integrate
from surefoot.solvers.ode.manifold import VECTOR_SPACE, Manifold, PhaseSpace, VectorSpace
from surefoot.solvers.ode.methods import (
    CASH_KARP,
    DORMAND_PRINCE,
    EULER,
    HEUN,
    KUTTA_MERSON,
    METHODS,
    MIDPOINT,
    RK4,
    Tableau,
)
from surefoot.solvers.ode.result import OdeResult
from surefoot.solvers.ode.runge_kutta import runge_kutta_step
from surefoot.solvers.ode.second_order import second_order, semi_implicit_euler_step

__all__ = [
    "CASH_KARP",
    "DORMAND_PRINCE",
    "EULER",
    "HEUN",
    "KUTTA_MERSON",
    "METHODS",
    "MIDPOINT",
    "RK4",
    "VECTOR_SPACE",
    "Event",
    "FieldNotFiniteError",
    "IntegrationError",
    "Manifold",
    "Occurrence",
    "OdeResult",
    "PhaseSpace",
    "StepTooSmallError",
    "Tableau",
    "VectorSpace",
    "integrate",
    "runge_kutta_step",
    "second_order",
    "semi_implicit_euler_step",
]
