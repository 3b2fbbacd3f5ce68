"""The textbook methods as functions of matrices."""

from surefoot.ik.textbook.acceleration import closed_loop_acceleration, integrable_acceleration, resolved_acceleration
from surefoot.ik.textbook.ccd import CcdResult, CyclicDescent
from surefoot.ik.textbook.clik import closed_loop_rate, liegeois_rates, momentum_weight_inverse
from surefoot.ik.textbook.inverses import (
    RANK,
    clamped_error,
    damped_inverse,
    filtered_inverse,
    restrict,
    selectively_damped_step,
    transpose_step,
    truncated_inverse,
    weighted_inverse,
)
from surefoot.ik.textbook.priority_change import (
    RowByRow,
    full_decomposition_rates,
    intermediate_value_rates,
    scaled_projector_rates,
    shaped_projector,
)
from surefoot.ik.textbook.self_motion import cofactor_basis, self_motion_basis
from surefoot.ik.textbook.task_priority import TaskRate, task_priority_rates

__all__ = [
    "RANK",
    "CcdResult",
    "CyclicDescent",
    "RowByRow",
    "TaskRate",
    "clamped_error",
    "closed_loop_acceleration",
    "closed_loop_rate",
    "cofactor_basis",
    "damped_inverse",
    "filtered_inverse",
    "full_decomposition_rates",
    "integrable_acceleration",
    "intermediate_value_rates",
    "liegeois_rates",
    "momentum_weight_inverse",
    "resolved_acceleration",
    "restrict",
    "scaled_projector_rates",
    "selectively_damped_step",
    "self_motion_basis",
    "shaped_projector",
    "task_priority_rates",
    "transpose_step",
    "truncated_inverse",
    "weighted_inverse",
]
