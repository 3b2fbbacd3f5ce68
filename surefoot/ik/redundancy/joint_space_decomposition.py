"""KD-JSD: joint rates as task rates and self-motion rates that do not disturb each other, for any weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.ik.textbook import self_motion_basis, weighted_inverse


@dataclass(frozen=True, eq=False)
class JointSpaceDecomposition:
    """Kinematically decoupled joint-space decomposition.

        θ' = J^{-W} V + Z_W^# b,  b = Z W θ'        [ik.kd-jsd]   Park, Chung & Youm 1999; Nenchev & Konno 2019, §2.7.5
        Z_W^# = Zᵀ (Z W Zᵀ)⁻¹,  J Z_W^# = 0,  Z W J^{-W} = 0

    Args:
        task_inverse: J^{-W} (n, m).
        basis: Z (r, n), J Zᵀ = 0.
        self_inverse: Z_W^# (n, r).
        self_jacobian: Z W (r, n): b = Z W θ'.
    """

    task_inverse: Array
    basis: Array
    self_inverse: Array
    self_jacobian: Array

    def rates(self, task_rate: ArrayLike, joint_rates: ArrayLike) -> Array:
        """Joint rates (n,) with that task rate, and the self-motion of the given joint rates.

        Args:
            task_rate: V (m,).
            joint_rates: θ'_a (n,): only b = Z W θ'_a of it counts.
        """
        rate = finite_array(task_rate, (self.task_inverse.shape[1],), "rate of the task")
        wanted = finite_array(joint_rates, (self.basis.shape[1],), "wanted joint rates")
        return self.task_inverse @ rate + self.self_inverse @ (self.self_jacobian @ wanted)


def decompose_joint_space(J: ArrayLike, W: ArrayLike | None = None) -> JointSpaceDecomposition:
    """The decomposition for J and weights.   [ik.kd-jsd].

    Where J loses rank, the lost directions go to the self-motion.

    Args:
        J: (m, n).
        W: (n, n) symmetric and positive definite: of kinetic energy the mass matrix; the identity if omitted.
    """
    J = finite_array(J, (None, None), "J")
    n = J.shape[1]
    W = np.eye(n) if W is None else finite_array(W, (n, n), "weights of the joints")
    Z = self_motion_basis(J)
    ZW = Z @ W
    self_inverse = np.array(np.linalg.solve(ZW @ Z.T, Z).T, dtype=float)
    return JointSpaceDecomposition(weighted_inverse(J, W), Z, self_inverse, ZW)
