"""Inverse kinematics: positions at once, velocities in control loops, redundancy, avoidance, prediction, analysis."""

from surefoot.ik.acceleration import closed_loop_acceleration, integrable_acceleration, resolved_acceleration
from surefoot.ik.analysis_manipulability import Manipulability, ManipulabilityEllipsoid, manipulability_ellipsoid
from surefoot.ik.analysis_posture import PostureClass, classify_posture
from surefoot.ik.analysis_singularity import SingularityReport, singularity
from surefoot.ik.analysis_workspace import Workspace, sample_workspace
from surefoot.ik.avoidance_damper import DamperRows, VelocityDamper
from surefoot.ik.avoidance_potential import (
    Potential,
    cubic_potential,
    limit_potential,
    quadratic_potential,
    smooth_potential,
)
from surefoot.ik.avoidance_sphere import InfluenceSphere
from surefoot.ik.avoiding_stepper import AvoidingStepper
from surefoot.ik.ccd import CcdResult, CyclicDescent
from surefoot.ik.clik import closed_loop_rate, liegeois_rates, momentum_weight_inverse
from surefoot.ik.com_rise import ComRise, raise_com
from surefoot.ik.consistent_path import ConsistentMotion, PathProblem, follow_consistently, path_tangent
from surefoot.ik.contact_kinematics import (
    CONTACT_JOINTS,
    ContactKinematics,
    ContactSystem,
    constraint_basis,
    motion_basis,
)
from surefoot.ik.contact_rates import (
    SplitVelocity,
    base_twist_of_joints,
    joint_rates_of_base,
    joint_rates_of_mixed,
    split_velocity,
)
from surefoot.ik.explain_tasks import explain_posture, explain_step
from surefoot.ik.extended_jacobian import algorithmic_rank_loss, extended_jacobian_rates
from surefoot.ik.inverses import (
    clamped_error,
    damped_inverse,
    filtered_inverse,
    selectively_damped_step,
    transpose_step,
    truncated_inverse,
    weighted_inverse,
)
from surefoot.ik.joint_space_decomposition import JointSpaceDecomposition, decompose_joint_space
from surefoot.ik.limit_parabola import stopping_acceleration_bounds, stopping_velocity_bounds
from surefoot.ik.newton import newton
from surefoot.ik.null_space_criteria import (
    Cost,
    Criterion,
    DistanceCriterion,
    LimitCriterion,
    MomentumWeight,
    PostureCriterion,
    together,
)
from surefoot.ik.position_solver import TOLERANCES, PositionSolver, solve, solve_batch
from surefoot.ik.predictive import Following, LocalIk, Prediction, PredictiveIk, PredictiveWeights
from surefoot.ik.predictive_cost import Repulsion
from surefoot.ik.predictive_descent import DescentSettings
from surefoot.ik.predictive_reference import StraightLine
from surefoot.ik.priority_change import (
    RowByRow,
    full_decomposition_rates,
    intermediate_value_rates,
    scaled_projector_rates,
    shaped_projector,
)
from surefoot.ik.reactive_avoidance import Deviation, ReactiveAvoidance, avoiding_rate, deviated_pose, deviated_twist
from surefoot.ik.reactive_return import Return, return_duration
from surefoot.ik.reactive_swing import SWINGS, SwingHistory, swing_over
from surefoot.ik.result import BatchResult, IkResult
from surefoot.ik.self_motion import cofactor_basis, self_motion_basis
from surefoot.ik.singularity_consistent import (
    ArmAndPath,
    adjugate,
    attainable_motion,
    consistent_gain,
    consistent_motion,
)
from surefoot.ik.stepper import Stepper, StepResult
from surefoot.ik.swing_step import SwingStep
from surefoot.ik.task_priority import TaskRate, task_priority_rates

__all__ = [
    "CONTACT_JOINTS",
    "SWINGS",
    "TOLERANCES",
    "ArmAndPath",
    "AvoidingStepper",
    "BatchResult",
    "CcdResult",
    "ComRise",
    "ConsistentMotion",
    "ContactKinematics",
    "ContactSystem",
    "Cost",
    "Criterion",
    "CyclicDescent",
    "DamperRows",
    "DescentSettings",
    "Deviation",
    "DistanceCriterion",
    "Following",
    "IkResult",
    "InfluenceSphere",
    "JointSpaceDecomposition",
    "LimitCriterion",
    "LocalIk",
    "Manipulability",
    "ManipulabilityEllipsoid",
    "MomentumWeight",
    "PathProblem",
    "PositionSolver",
    "PostureClass",
    "PostureCriterion",
    "Potential",
    "Prediction",
    "PredictiveIk",
    "PredictiveWeights",
    "ReactiveAvoidance",
    "Repulsion",
    "Return",
    "RowByRow",
    "SingularityReport",
    "SplitVelocity",
    "StepResult",
    "Stepper",
    "StraightLine",
    "SwingHistory",
    "SwingStep",
    "TaskRate",
    "VelocityDamper",
    "Workspace",
    "adjugate",
    "algorithmic_rank_loss",
    "attainable_motion",
    "avoiding_rate",
    "base_twist_of_joints",
    "clamped_error",
    "classify_posture",
    "closed_loop_acceleration",
    "closed_loop_rate",
    "cofactor_basis",
    "consistent_gain",
    "consistent_motion",
    "constraint_basis",
    "cubic_potential",
    "damped_inverse",
    "decompose_joint_space",
    "deviated_pose",
    "deviated_twist",
    "explain_posture",
    "explain_step",
    "extended_jacobian_rates",
    "filtered_inverse",
    "follow_consistently",
    "full_decomposition_rates",
    "integrable_acceleration",
    "intermediate_value_rates",
    "joint_rates_of_base",
    "joint_rates_of_mixed",
    "liegeois_rates",
    "limit_potential",
    "manipulability_ellipsoid",
    "momentum_weight_inverse",
    "motion_basis",
    "newton",
    "path_tangent",
    "quadratic_potential",
    "raise_com",
    "resolved_acceleration",
    "return_duration",
    "sample_workspace",
    "scaled_projector_rates",
    "selectively_damped_step",
    "self_motion_basis",
    "shaped_projector",
    "singularity",
    "smooth_potential",
    "solve",
    "solve_batch",
    "split_velocity",
    "stopping_acceleration_bounds",
    "stopping_velocity_bounds",
    "swing_over",
    "task_priority_rates",
    "together",
    "transpose_step",
    "truncated_inverse",
    "weighted_inverse",
]
