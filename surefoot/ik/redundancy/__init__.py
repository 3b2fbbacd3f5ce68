"""Criteria in the null space, extended Jacobians, joint-space decomposition."""

from surefoot.ik.redundancy.extended_jacobian import algorithmic_rank_loss, extended_jacobian_rates
from surefoot.ik.redundancy.joint_space_decomposition import JointSpaceDecomposition, decompose_joint_space
from surefoot.ik.redundancy.null_space_criteria import (
    Cost,
    Criterion,
    DistanceCriterion,
    LimitCriterion,
    MomentumWeight,
    PostureCriterion,
    together,
)

__all__ = [
    "Cost",
    "Criterion",
    "DistanceCriterion",
    "JointSpaceDecomposition",
    "LimitCriterion",
    "MomentumWeight",
    "PostureCriterion",
    "algorithmic_rank_loss",
    "decompose_joint_space",
    "extended_jacobian_rates",
    "together",
]
