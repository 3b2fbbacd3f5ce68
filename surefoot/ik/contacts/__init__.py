"""Kinematics of robots that are held by contacts."""

from surefoot.ik.contacts.kinematics import (
    CONTACT_JOINTS,
    ContactKinematics,
    ContactSystem,
    constraint_basis,
    motion_basis,
)
from surefoot.ik.contacts.rates import (
    SplitVelocity,
    base_twist_of_joints,
    joint_rates_of_base,
    joint_rates_of_mixed,
    split_velocity,
)

__all__ = [
    "CONTACT_JOINTS",
    "ContactKinematics",
    "ContactSystem",
    "SplitVelocity",
    "base_twist_of_joints",
    "constraint_basis",
    "joint_rates_of_base",
    "joint_rates_of_mixed",
    "motion_basis",
    "split_velocity",
]
