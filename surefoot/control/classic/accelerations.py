"""Controllers that find accelerations, then torques by inverse dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.contact.distribution import hand_tracking
from surefoot.control.classic.base import ClassicController
from surefoot.control.classic.body import StandingBody
from surefoot.solvers import HierarchySolver, Level

__all__ = ["CompositeBody", "DirectControl", "MomentumDamping", "MotionForce", "OperationalSpace", "WeightedInverse"]

_NEAR = 0.1  # distance from a joint limit at which it begins to brake [rad]


class OperationalSpace(ClassicController):
    """Operational-space control: contacts, then CoM and base, then posture, dynamically consistent (5.12.2, 4.5.2)."""

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        return self.torque_of(body, self.accelerations(body, self.levels(body), body.mass_matrix))


class WeightedInverse(ClassicController):
    """All tasks in one least-squares problem with weights; contacts first by weight alone (Nenchev & Konno, 2.8.3)."""

    weights = (1e3, 3.0, 1.0, 0.03)
    """Of contacts, CoM, base and posture."""

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        levels = self.levels(body)
        rows, wanted = _stacked(*levels)
        counts = (len(body.contacts), 3, 3, len(levels[-1][0]))
        weights = np.repeat(self.weights, counts)[:, None]
        square = rows.T @ (weights * rows) + 1e-8 * np.eye(self.robot.nv)
        found: Array = np.array(np.linalg.solve(square, rows.T @ (weights[:, 0] * wanted)), dtype=float)
        return self.torque_of(body, found)


class MomentumDamping(ClassicController):
    """RAA: contacts, CoM and base, then relative angular acceleration Δω̇ = −D Δω, then posture (5.142, 5.144).

    The springs of the posture act on Δω as well: damping alone lets the arms drift. Where soles roll, Δω̇ gets a term
    in the direction of rolling, whose reaction turns them back (5.8.4). Wrenches by VRP-GI.
    """

    distribution = "vrp"

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        contacts, moved, posture = self.levels(body)
        drift = np.linalg.solve(body.inertia, body.momentum_bias[3:]) - body.base_bias
        damped = body.relative[:, 6:] @ posture[1] - self.gains.momentum * body.relative @ body.v - drift
        damped = damped + self.gains.rolling * self.rolled(body)
        levels = [_stacked(contacts, moved), (body.relative, damped), posture]
        return self.torque_of(body, self.accelerations(body, levels, body.mass_matrix))


class CompositeBody(ClassicController):
    """CRB tracker: joints follow the wanted motion of CoM and base as one rigid body, pseudoinverse alone (5.141).

    What is left damps the joints; nothing returns them to their posture.
    """

    distribution = "vrp"

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        contacts, moved, (joints, _) = self.levels(body)
        damped = (joints, -self.gains.posture[1] * body.v[6:])
        return self.torque_of(body, self.accelerations(body, [_stacked(contacts, moved), damped]))


class MotionForce(ClassicController):
    """Multicontact motion/force control: contacts and the whole momentum, then base, then posture (5.150 to 5.153).

    The rate of the angular momentum is damped at the CoM; wrenches within exact cones. Hands get the wrenches of
    `ClassicGains.press` through the null space of the contact map (3.66), and are held before all else but along their
    first normals, where they are only damped: in the air a hand goes on until it meets something.
    """

    presses = True

    def hand_wrenches(self, body: StandingBody) -> dict[str, Array]:
        """(6,) by contact that presses: wanted on the robot at the origin of its link, world axes [N], [N m]."""
        found = {}
        for name, rows in self.gains.press.items():
            k = body.stance.names.index(name)
            times, *columns = np.array(rows, dtype=float).T
            wanted = np.array([np.interp(self._now, times, column) for column in columns])
            wrench = np.r_[wanted[0] * self._normal(k), np.zeros(3)] if len(wanted) == 1 else wanted
            arm = _centre(body, k) - body.stance.points[k]
            found[name] = wrench + np.r_[np.zeros(3), np.cross(arm, wrench[:3])]
        return found

    def _normal(self, k: int) -> Array:
        """(3,) of contact k at the start, into the robot."""
        return np.asarray(self.start.soles[k] @ self.robot.contacts[self.contacts[k]].placement[:3, 2])

    def wrenches(self, body: StandingBody, load: Array, at: Array | None = None) -> Array:
        """Those of the hands as wanted; the feet share the rest within their cones."""
        return hand_tracking(body.stance, self.hand_wrenches(body), load, self.distribution)

    def contact_level(self, body: StandingBody) -> tuple[Array, Array]:
        """Feet stay where they are; so do the centres of the contacts that press, but along their normals."""
        feet = 6 * (len(self.contacts) - len(self.gains.press))
        rows, wanted = [body.contacts[:feet]], [super().contact_level(body)[1][:feet]]
        for k in range(feet // 6, len(self.contacts)):
            J, bias = body.contacts[6 * k : 6 * k + 6], body.contact_bias[6 * k : 6 * k + 6]
            arm, spin, normal = _centre(body, k) - body.stance.points[k], J[3:] @ body.v, self._normal(k)
            point = J[:3] - pin.skew(arm) @ J[3:]
            drift = bias[:3] + np.cross(bias[3:], arm) + np.cross(spin, np.cross(spin, arm))
            away = _centre(self.start, k) - _centre(body, k)
            back = (0.5 * self.gains.contact) ** 2 * (away - normal * (normal @ away))
            rows.append(point)
            wanted.append(back - drift - self.gains.contact * point @ body.v)
        return np.vstack(rows), np.concatenate(wanted)

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        contacts, (moved, wanted), posture = self.levels(body)
        force = body.stance.mass * self.com_acceleration(body)
        moment = -self.gains.momentum * body.momentum[3:] @ body.v
        scale = np.r_[np.full(3, 1.0 / body.stance.mass), 1.0 / np.diag(body.inertia)]
        whole = (scale[:, None] * body.momentum, scale * (np.r_[force, moment] - body.momentum_bias))
        levels = [_stacked(contacts, whole), (moved[3:], wanted[3:]), posture]
        if self.gains.press:  # friction of a hand is a lasting moment: arms that damp it before all else drift
            linear, angular = ((whole[0][rows], whole[1][rows]) for rows in (slice(3), slice(3, 6)))
            levels = [_stacked(contacts, linear), levels[1], _stacked(angular, posture)]
        return self.torque_of(body, self.accelerations(body, levels))


class DirectControl(ClassicController):
    """Direct control: base goals (contacts), primary (CoM and base link), secondary (joints), as quadratic programs.

    Joints brake before their limits: q̈ ≤ −q̇² / (2 (q_U − q)) (Wimmer 2016, chapter 3).
    """

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m]."""
        lower, upper = self._braking(body)
        found = HierarchySolver().solve([Level(A, b, b, damping=1e-3) for A, b in self.levels(body)], lower, upper)
        return self.torque_of(body, np.array(found.x))

    def _braking(self, body: StandingBody) -> tuple[Array, Array]:
        """Bounds (nv,) of the accelerations."""
        lower, upper = np.full(self.robot.nv, -np.inf), np.full(self.robot.nv, np.inf)
        q, v, limits = body.q[7:], body.v[6:], self.robot.limits
        below, above = q - limits.lower[7:], limits.upper[7:] - q
        stop = 0.5 * v * v / np.maximum(np.where(v > 0.0, above, below), 1e-3)
        up, down = (above < _NEAR) & (v > 0.0), (below < _NEAR) & (v < 0.0)
        upper[6:][up], lower[6:][down] = -stop[up], stop[down]
        return lower, upper


def _stacked(*levels: tuple[Array, Array]) -> tuple[Array, Array]:
    """Several levels as one."""
    return np.vstack([J for J, _ in levels]), np.concatenate([b for _, b in levels])


def _centre(body: StandingBody, k: int) -> Array:
    """(3,) of the surface of contact k [m]."""
    return np.asarray(body.stance.corners[k].mean(axis=0))
