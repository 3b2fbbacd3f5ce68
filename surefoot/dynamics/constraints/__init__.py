"""Contacts, closed chains and gears as constraints: rows, equations, projections, contradictions."""

from surefoot.dynamics.constraints.constraints import (
    Constraint,
    ConstraintPart,
    Constraints,
    CoupledJoints,
    Tie,
    constraints_of,
    contact,
    held_constraints,
    own_constraints,
    require_owner,
    tilt_of,
)
from surefoot.dynamics.constraints.distance import Distance, distance
from surefoot.dynamics.constraints.equations import (
    Baumgarte,
    ConstrainedEquations,
    ConstrainedMotion,
    checked_gains,
    constrained_equations,
    drift_of,
)
from surefoot.dynamics.constraints.inertia import require_inertia
from surefoot.dynamics.constraints.measured_rows import (
    energy_factor,
    impulses_of,
    measured_rows,
    outside,
    shortest_step,
)
from surefoot.dynamics.constraints.projection import (
    close,
    closed_state,
    closure_findings,
    project_velocity,
    refuse_contradictions,
)

__all__ = [
    "Baumgarte",
    "ConstrainedEquations",
    "ConstrainedMotion",
    "Constraint",
    "ConstraintPart",
    "Constraints",
    "CoupledJoints",
    "Distance",
    "Tie",
    "checked_gains",
    "close",
    "closed_state",
    "closure_findings",
    "constrained_equations",
    "constraints_of",
    "contact",
    "distance",
    "drift_of",
    "energy_factor",
    "held_constraints",
    "impulses_of",
    "measured_rows",
    "outside",
    "own_constraints",
    "project_velocity",
    "refuse_contradictions",
    "require_inertia",
    "require_owner",
    "shortest_step",
    "tilt_of",
]
