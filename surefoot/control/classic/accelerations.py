"""Controllers that find accelerations, then torques by inverse dynamics."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.control.classic.base import ClassicController
from surefoot.control.classic.body import StandingBody, prioritised

__all__ = ["MomentumDamping", "OperationalSpace", "WeightedInverse"]


class OperationalSpace(ClassicController):
    """Operational-space control: contacts, then CoM and base, then posture, dynamically consistent (5.12.2, 4.5.2)."""

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        select = np.eye(self.robot.nv)[6:]
        levels = [
            self.contact_level(body),
            (
                np.vstack([body.com_jacobian, body.base]),
                np.r_[
                    self.com_acceleration(body) - body.momentum_bias[:3] / body.stance.mass,
                    self.base_acceleration(body) - body.base_bias,
                ],
            ),
            (select, self.posture_acceleration(body)),
        ]
        return self.torque_of(body, prioritised(levels, body.mass_matrix))


class WeightedInverse(ClassicController):
    """All tasks in one least-squares problem with weights; contacts first by weight alone (Nenchev & Konno, 2.8.3)."""

    weights = (1e3, 3.0, 1.0, 0.03)
    """Of contacts, CoM, base and posture."""

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        parts = [
            self.contact_level(body),
            (body.com_jacobian, self.com_acceleration(body) - body.momentum_bias[:3] / body.stance.mass),
            (body.base, self.base_acceleration(body) - body.base_bias),
            (np.eye(self.robot.nv)[6:], self.posture_acceleration(body)),
        ]
        rows = np.vstack([np.sqrt(w) * J for w, (J, _) in zip(self.weights, parts, strict=True)])
        wanted = np.concatenate([np.sqrt(w) * b for w, (_, b) in zip(self.weights, parts, strict=True)])
        square = rows.T @ rows + 1e-8 * np.eye(self.robot.nv)
        return self.torque_of(body, np.linalg.solve(square, rows.T @ wanted))


class MomentumDamping(ClassicController):
    """RAA: contacts and CoM, then relative angular acceleration Δω̇ = −D Δω, then base and posture (5.142, 5.144).

    The base yields, as the book's gains let it during impacts (tables 7.4 to 7.6). Wrenches by VRP-GI.
    """

    distribution = "vrp"

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        contacts, rest = self.contact_level(body)
        first = np.vstack([contacts, body.com_jacobian])
        wanted = np.r_[rest, self.com_acceleration(body) - body.momentum_bias[:3] / body.stance.mass]
        drift = np.linalg.solve(body.inertia, body.momentum_bias[3:]) - body.base_bias
        damped = -self.gains.momentum * body.relative @ body.v - drift
        select = np.eye(self.robot.nv)[6:]
        upright = (body.base, self.base_acceleration(body) - body.base_bias)
        levels = [(first, wanted), (body.relative, damped), upright, (select, self.posture_acceleration(body))]
        return self.torque_of(body, prioritised(levels, body.mass_matrix))
