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

    def wrench(self, body: StandingBody) -> Array:
        """(6,) wanted about the CoM beside the weight."""
        raise TypeError(f"{type(self).__name__} wants no wrench")

    def point(self, body: StandingBody) -> Array | None:
        """Point that the distribution goes by; None for the CoP of the load."""
        return None

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        wanted = self.wrench(body)
        wanted[2] = max(wanted[2], -0.9 * body.stance.weight[2])
        load = body.stance.weight + wanted
        wrenches = distribute(self.distribution, body.stance, load, self.point(body))
        force = body.gravity + body.com_jacobian.T @ wanted[:3] - body.contacts.T @ wrenches.ravel()
        return np.asarray(force[6:] + self.resting(body))

    def omega(self, body: StandingBody) -> float:
        """√(g / z); also while it falls and z is next to nothing [1/s]."""
        return float(np.sqrt(9.81 / max(body.com[2] - body.stance.points[:, 2].min(), 0.1 * self.start.com[2])))

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

    def wrench(self, body: StandingBody) -> Array:
        """(6,): a force only."""
        return np.r_[body.stance.mass * self.com_acceleration(body), np.zeros(3)]

    def resting(self, body: StandingBody) -> Array:
        """Damping of every joint, by its own inertia."""
        return np.asarray(-self.gains.posture[1] * 0.2 * np.diag(body.mass_matrix)[6:] * body.v[6:])


class MulticontactImpedance(_ForceController):
    """Passivity-based: CoM and base impedance, wrenches within exact cones, posture impedance (Henze, 5.13.2)."""

    def wrench(self, body: StandingBody) -> Array:
        """(6,) of both impedances."""
        return np.r_[
            body.stance.mass * self.com_acceleration(body), self.base_moment(body, self.base_acceleration(body))
        ]


class CentroidalPivot(_ForceController):
    """CMP stabiliser: r_cmp = x_ex + k (x_ex − x_d), horizontal force M ω² (r − r_cmp); VRP-GI (section 5.8.6)."""

    distribution = "vrp"

    def pivot(self, body: StandingBody) -> tuple[Array, float]:
        """CMP (2,) [m], and ω [1/s]."""
        omega = self.omega(body)
        ahead = (body.com + body.com_velocity / omega)[:2]
        return ahead + self.gains.dcm * (ahead - self.start.com[:2]), omega

    def wrench(self, body: StandingBody) -> Array:
        """(6,) force of the pivot, vertical spring, moment of the base's attitude."""
        pivot, omega = self.pivot(body)
        force = body.stance.mass * self.com_acceleration(body)
        force[:2] = body.stance.mass * omega**2 * (body.com[:2] - pivot)
        return np.r_[force, self.base_moment(body, self.base_acceleration(body))]


class SimpleTorque(_ForceController):
    """DCM-GI torque controller: DCM force, base damped only, wrenches by the place of the DCM (5.128)."""

    distribution = "dcm"

    def point(self, body: StandingBody) -> Array:
        """The DCM (2,) [m]."""
        omega = self.omega(body)
        return np.asarray((body.com + body.com_velocity / omega)[:2])

    def wrench(self, body: StandingBody) -> Array:
        """(6,): M ω (ẋ_X − ċ) with ẋ_X = −k ω (x_X − x_d), and a moment that damps the base."""
        omega = self.omega(body)
        ahead = body.com + body.com_velocity / omega
        rate = -self.gains.dcm * omega * (ahead - self.start.com)
        force = body.stance.mass * omega * (rate - body.com_velocity)
        return np.r_[force, self.base_moment(body, -self.gains.base[1] * body.base @ body.v)]
