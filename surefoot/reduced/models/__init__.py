"""Pendulum models of balance, side by side: equations of motion, margins, regulators, admissible sets.

Nenchev & Konno 2019, sections 4.3 to 4.4 and 5.3 to 5.7, with the errata that the tests prove.
"""

from surefoot.reduced.models.admissible_set import AdmissibleSet, admissible_set, balance_set
from surefoot.reduced.models.margins import (
    Margin,
    balance_state,
    critical_time,
    extrapolated_com,
    recovery_strategy,
    stability_margin,
    time_to_edge,
    wheel_region,
)
from surefoot.reduced.models.pendulums import (
    CartTable,
    InclinedPendulum,
    InvertedPendulum,
    LinearPendulum,
    ReactionMassPendulum,
    ReactionWheelPendulum,
    move,
)
from surefoot.reduced.models.regulators import (
    Compliance,
    ankle_moment,
    clipped_regulator,
    compliance_poles,
    is_input_to_state_stable,
    lag_gains,
    manipulated_zmp,
    operating_region,
    regulator_gains,
)
from surefoot.reduced.models.zero_moment import cop_of_moment, multi_mass_zmp, sphere_moment

__all__ = [
    "AdmissibleSet",
    "CartTable",
    "Compliance",
    "InclinedPendulum",
    "InvertedPendulum",
    "LinearPendulum",
    "Margin",
    "ReactionMassPendulum",
    "ReactionWheelPendulum",
    "admissible_set",
    "ankle_moment",
    "balance_set",
    "balance_state",
    "clipped_regulator",
    "compliance_poles",
    "cop_of_moment",
    "critical_time",
    "extrapolated_com",
    "is_input_to_state_stable",
    "lag_gains",
    "manipulated_zmp",
    "move",
    "multi_mass_zmp",
    "operating_region",
    "recovery_strategy",
    "regulator_gains",
    "sphere_moment",
    "stability_margin",
    "time_to_edge",
    "wheel_region",
]
