"""Contact forces that do not move the robot: contacts that push against each other through it.

    P Jᵀ λ = 0        [dyn.internal-forces]   Nenchev & Konno 2019, (3.62) and (4.241)

For a floating robot with driven joints, P Jᵀ is the contact map to the base, and N(P Jᵀ) holds all contact forces
whose sum at the base is nothing. The drives take them up: with tau = -S Jᵀ λ added, the accelerations are the same.
Among them are those with Jᵀ λ = 0, of hyperstatic contacts, which not even a drive feels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.algebra import null_basis, size_of
from surefoot.dynamics.checked_arguments import checked_configuration, checked_vector
from surefoot.dynamics.constraints import Constraint, Constraints, held_constraints
from surefoot.robot import Robot


class InternalForces(NamedTuple):
    """Orthonormal bases of contact forces that leave all accelerations as they are.

    Args:
        held: (m, k) forces that the drives feel: P Jᵀ λ = 0.
        torques: (nu, k) -S Jᵀ λ: the torques that take them up, column by column [N m] or [N] for unit forces.
        unfelt: (m, u) forces that nothing feels: Jᵀ λ = 0. Together with `held` they span N(P Jᵀ).
    """

    held: Array
    torques: Array
    unfelt: Array


class ForceParts(NamedTuple):
    """λ = resultant + held + unfelt, orthogonal to each other (newtons and newton metres counted alike).

    Args:
        resultant: (m,) the least forces that do the same to the passive joints.
        held: (m,) internal forces that the drives feel.
        unfelt: (m,) internal forces that nothing feels.
    """

    resultant: Array
    held: Array
    unfelt: Array


def internal_forces(
    robot: Robot, q: ArrayLike, constraints: Sequence[Constraint] | Constraints | None
) -> InternalForces:
    """The internal forces of a robot that is held.   [dyn.internal-forces].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        constraints: The active constraints; the robot's own loops and couplings if None.
    """
    return internal_force_basis(_jacobian(robot, q, constraints), robot.driven)


def split_forces(
    robot: Robot, q: ArrayLike, constraints: Sequence[Constraint] | Constraints | None, multipliers: ArrayLike
) -> ForceParts:
    """Contact forces, split into what moves the robot and what does not.   [dyn.internal-forces].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        constraints: The active constraints; the robot's own loops and couplings if None.
        multipliers: (m,) forces in the directions of the constraints.
    """
    J = _jacobian(robot, q, constraints)
    forces = checked_vector("multipliers", multipliers, len(J))
    basis = internal_force_basis(J, robot.driven)
    held, unfelt = (part @ (part.T @ forces) for part in (basis.held, basis.unfelt))
    return ForceParts(forces - held - unfelt, held, unfelt)


def internal_force_basis(J: ArrayLike, driven: ArrayLike) -> InternalForces:
    """The internal forces of constraints J (numbers).   [dyn.internal-forces].

    Args:
        J: (m, nv).
        driven: (nu,) driven degrees of freedom.
    """
    J, rows = np.asarray(J, dtype=float), np.asarray(driven, dtype=np.int64)
    passive = np.setdiff1d(np.arange(J.shape[1]), rows)
    unfelt, internal = null_basis(J.T), null_basis(J[:, passive].T, size_of(J))
    rest = null_basis(unfelt.T @ internal)  # of N(P Jᵀ), what is orthogonal to N(Jᵀ)
    held = internal @ rest
    return InternalForces(held, -J[:, rows].T @ held, unfelt)


def _jacobian(robot: Robot, q: ArrayLike, constraints: Sequence[Constraint] | Constraints | None) -> Array:
    held = held_constraints(robot, constraints)
    return np.asarray(held.jacobian(robot.tree, checked_configuration(robot, q)), dtype=float)
