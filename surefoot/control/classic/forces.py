"""Controllers that find a wrench at the CoM, share it among the contacts and let the joints bear it."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.contact.distribution import distribute
from surefoot.control.classic.base import ClassicController
from surefoot.control.classic.body import StandingBody

__all__ = ["CentroidalPivot", "GravityCompensation", "MulticontactImpedance", "SimpleTorque"]


class _ForceController(ClassicController):
    """τ = g + J_comᵀ f − Jᵀ F + posture: as if a force acted at the CoM and a moment at the base.

    The wrenches F of the contacts balance the weight and these; nothing is inverted, and
    Coriolis forces are left alone, which keeps passivity.
    """

    def moment(self, body: StandingBody) -> Array:
        """(3,) wanted on the base beside what balances it: that of a spring and a damper [N m]."""
        return self.base_moment(body, self.base_acceleration(body))

    def point(self, body: StandingBody) -> Array | None:
        """Point that the distribution goes by; None for the CoP of the load."""
        return None

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        wanted = np.r_[body.stance.mass * self.com_acceleration(body), self.moment(body)]
        wanted[2] = max(wanted[2], -0.9 * body.stance.weight[2])
        load = body.stance.weight + wanted
        wrenches = distribute(self.distribution, body.stance, load, self.point(body))
        force = body.gravity + body.com_jacobian.T @ wanted[:3] - body.contacts.T @ wrenches.ravel()
        return np.asarray(force[6:] + self.resting(body))

    def resting(self, body: StandingBody) -> Array:
        """Torques of posture and damping (nv − 6,)."""
        return self.held_posture(body)

    def base_moment(self, body: StandingBody, acceleration: Array) -> Array:
        """(3,) on the base for its angular acceleration, by the inertia that it has while the contacts hold [N m]."""
        tasks = np.vstack([body.contacts, body.base])
        mobility = tasks @ np.linalg.solve(body.mass_matrix, tasks.T)
        k = len(body.contacts)
        held = mobility[k:, k:] - mobility[k:, :k] @ np.linalg.pinv(mobility[:k, :k]) @ mobility[:k, k:]
        return np.asarray(np.linalg.pinv(held, rcond=1e-6) @ acceleration)


class GravityCompensation(_ForceController):
    """Passivity-based: weight and a CoM force on the points of the feet, joint damping (Hyon, section 5.13.1)."""

    distribution = "points"

    def moment(self, body: StandingBody) -> Array:
        """(3,): none."""
        return np.zeros(3)

    def resting(self, body: StandingBody) -> Array:
        """Damping of every joint, by its own inertia."""
        return np.asarray(-self.gains.posture[1] * 0.2 * np.diag(body.mass_matrix)[6:] * body.v[6:])


class MulticontactImpedance(_ForceController):
    """Passivity-based: CoM and base impedance, wrenches within exact cones, posture impedance (Henze, 5.13.2)."""


class CentroidalPivot(_ForceController):
    """CMP stabiliser, horizontal force M ω² (r − r_cmp), r_cmp = x_ex + k (x_ex − x_d); VRP-GI (section 5.8.6)."""

    distribution = "vrp"


class SimpleTorque(_ForceController):
    """DCM-GI torque controller: DCM force, base damped only, wrenches by the place of the DCM (5.128)."""

    distribution = "dcm"

    def moment(self, body: StandingBody) -> Array:
        """(3,) of a damper [N m]."""
        return self.base_moment(body, -self.gains.base[1] * body.base @ body.v)

    def point(self, body: StandingBody) -> Array:
        """The DCM (2,) [m]."""
        return np.asarray((body.com + body.com_velocity / self.omega)[:2])
