"""`ClassicController`: the common base of the controllers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.contact.distribution import distribute
from surefoot.control.classic.body import StandingBody, prioritised, standing_body
from surefoot.control.static_balance import standing_contacts
from surefoot.errors import NotSupportedError, ShapeError, one_of
from surefoot.motion import Command, Quintic, State
from surefoot.robot import Robot

__all__ = ["ClassicController", "ClassicGains"]

_LEANING = 0.8  # [s]
_AHEAD, _ROUNDING = 0.02, 1e-9  # within which a joint may reach its largest speed [s]; share of that speed
_CARRIED = 1e-3  # load that may be missing, as a share of the weight
_SLOWING = 10.0  # largest speed of a joint towards a limit, over its distance from it [1/s]


@dataclass(frozen=True)
class ClassicGains:
    """Gains that all controllers share, by one rule, so that they can be compared: `pace` times as fast as a fall.

    With ω = √(g / z) of the CoM and k the pace, the CoM gets the poles −ω and −k ω, the base's attitude and the joints
    the double pole −k ω. Of all linear laws those with a pole at −ω bring the pendulum back from the largest region,
    all of |x_ex| < l (Sugihara 2009; Nenchev & Konno 2019, section 5.4.3), and a DCM stabiliser (5.76) and a CMP
    stabiliser (5.102) with the gain k are this same law. What is given replaces what the rule says.

    Args:
        pace: k, above 1.
        com: Stiffness and damping of the CoM [1/s²], [1/s]; by the rule k ω², (1 + k) ω.
        base: Of the base's attitude; by the rule k² ω², 2 k ω.
        posture: Of the joints; by the rule as the base.
        contact: Damping of contact velocities [1/s]; by the rule 2 k ω.
        momentum: Damping of angular momentum [1/s]; by the rule ω: no faster than the fall.
        rolling: Relative angular acceleration per angle by which the soles have rolled [1/s²], for `momentum_damping`.
        base_schedule: Times [s] with gains of the base's attitude, linear in between, in place of `base`.
        lean: Where the CoM shall be from its start [m]; it goes there within the first 0.8 s.
        speed_share: Of the joints' speed limits, which controllers with priorities then keep, as well as those of
            position; None: as in the literature, which ignores both.
        press: What contacts that do not stand press with, by name, for `motion_force`: rows of a time [s] and the
            normal force [N], or the wrench (6,) on the robot at the contact's centre, in world axes; linear in between.
    """

    pace: float = 3.0
    com: tuple[float, ...] = ()
    base: tuple[float, ...] = ()
    posture: tuple[float, ...] = ()
    contact: float = 0.0
    momentum: float = -1.0
    rolling: float = 0.0
    base_schedule: tuple[tuple[float, float, float], ...] = ()
    lean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    speed_share: float | None = None
    press: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    def of(self, omega: float) -> ClassicGains:
        """All gains, by the rule where none are given.

        Args:
            omega: ω [1/s].
        """
        fast = self.pace * omega
        return replace(
            self,
            com=self.com or (omega * fast, omega + fast),
            base=self.base or (fast**2, 2.0 * fast),
            posture=self.posture or (fast**2, 2.0 * fast),
            contact=self.contact or 2.0 * fast,
            momentum=self.momentum if self.momentum >= 0.0 else omega,
        )


class ClassicController(ABC):
    """Stands and keeps CoM, base and posture of its first moment.

    Args:
        robot: With a floating base and every joint driven.
        q0: (nq,) the posture to keep; home if omitted.
        dt: Control period [s].
        gains: The gains.

    Raises:
        NotSupportedError: The robot's base does not float, it has passive or coupled joints, or no contact stands; or
            the gains have a `press` that the controller cannot make.
        ShapeError: The rows of `press` are not times that increase with a force or a wrench.
        UnknownNameError: There is no contact that shall press.
    """

    distribution = "cones"
    """Which of `contact.distribution.METHODS` shares the load."""
    presses = False
    """Whether it can press with hands."""

    def __init__(
        self, robot: Robot, q0: ArrayLike | None = None, dt: float = 0.002, gains: ClassicGains | None = None
    ) -> None:
        q = np.array(robot.home if q0 is None else robot.checked_q(q0), dtype=float)
        self.robot, self.dt = robot, dt
        self.contacts = standing_contacts(robot, q)
        if robot.nv - 6 != robot.nu or robot.couplings or robot.loops or not self.contacts:
            raise NotSupportedError(
                f"classic controllers need a floating base, a drive at every joint and a contact; `{robot.name}` has "
                f"{robot.nv - 6} joints, {robot.nu} drives and {len(self.contacts)} contacts",
                next_step="use `balance` or `joint_pd`",
            )
        self.contacts += self._pressing((gains or ClassicGains()).press)
        self._data = robot.model.createData()
        self._limits = np.array([drive.torque_limit for drive in robot.drives])
        self.start = standing_body(robot, self._data, self.contacts, q, np.zeros(robot.nv))
        """Where it began."""
        height = float(self.start.com[2] - self.start.stance.points[:, 2].min())
        self.omega = float(np.sqrt(9.81 / height))
        """√(g / z) [1/s]."""
        self.gains = (gains or ClassicGains()).of(self.omega)
        self._now, self._lean = 0.0, Quintic.at_rest(np.zeros(3), self.gains.lean, _LEANING)

    def _pressing(self, press: Mapping[str, Sequence[Sequence[float]]]) -> tuple[str, ...]:
        """Names of the contacts that press, after a check of what they shall do."""
        if press and not self.presses:
            raise NotSupportedError(
                f"`{type(self).__name__}` has no hand forces", next_step="use `motion_force`, or omit `press`"
            )
        for name, rows in press.items():
            if name not in self.robot.contacts:
                raise one_of("contact", name, self.robot.contacts)
            if name in self.contacts:
                raise NotSupportedError(f"`{name}` stands, and cannot press", next_step="name a contact of a hand")
            if not rows or len({len(row) for row in rows}) > 1 or len(rows[0]) not in (2, 7):
                raise ShapeError(f"`press.{name}` needs rows of a time with a force, or of a time with a wrench (6,)")
            table = finite_array(rows, (len(rows), len(rows[0])), f"press.{name}")
            if (np.diff(table[:, 0]) <= 0.0).any():
                raise ShapeError(
                    f"the times of `press.{name}` do not increase", evidence={"times": table[:, 0].tolist()}
                )
        return tuple(press)

    def command(self, t: float, state: State) -> Command:
        """The command in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        body = standing_body(self.robot, self._data, self.contacts, np.array(state.q), np.array(state.v))
        self._now = t
        return self.drives(body)

    def drives(self, body: StandingBody) -> Command:
        """The command for a tick: torques within the limits of the drives.

        Args:
            body: The tick.
        """
        torque = self.torque(body)[self.robot.driven - 6]
        return Command(torque=np.clip(torque, -self._limits, self._limits))

    @abstractmethod
    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) [N m].

        Args:
            body: The tick.
        """

    def com_acceleration(self, body: StandingBody) -> Array:
        """(3,) wanted: k_p (c₀ − c) − k_d (ċ − ċ₀) [m/s²]."""
        (stiffness, damping), (way, rate, _) = self.gains.com, self._lean.sample(self._now)
        return np.asarray(stiffness * (self.start.com + way - body.com) - damping * (body.com_velocity - rate))

    def base_error(self, body: StandingBody) -> Array:
        """(3,) rotation vector to the wanted attitude, in world axes [rad]."""
        return np.array(pin.log3(self.start.rotation @ body.rotation.T))

    def base_acceleration(self, body: StandingBody) -> Array:
        """(3,) wanted angular acceleration [rad/s²]."""
        stiffness, damping = self.gains.base
        if self.gains.base_schedule:
            times, stiff, damp = np.array(self.gains.base_schedule).T
            stiffness, damping = float(np.interp(self._now, times, stiff)), float(np.interp(self._now, times, damp))
        return np.asarray(stiffness * self.base_error(body) - damping * body.base @ body.v)

    def rolled(self, body: StandingBody) -> Array:
        """(3,) rotation vector by which the soles have turned from their first attitude, on average [rad]."""
        turns = [pin.log3(now @ first.T) for now, first in zip(body.soles, self.start.soles, strict=True)]
        return np.asarray(np.mean(turns, axis=0))

    def posture_acceleration(self, body: StandingBody) -> Array:
        """(nv − 6,) wanted of the joints [rad/s²]."""
        stiffness, damping = self.gains.posture
        away = np.array(pin.difference(self.robot.model, body.q, self.start.q))[6:]
        return np.asarray(stiffness * away - damping * body.v[6:])

    def contact_level(self, body: StandingBody) -> tuple[Array, Array]:
        """The contacts stay where they are."""
        return body.contacts, -body.contact_bias - self.gains.contact * body.contacts @ body.v

    def levels(self, body: StandingBody) -> list[tuple[Array, Array]]:
        """Contacts; CoM and base; posture: J and the wanted J q̈ of each."""
        com = self.com_acceleration(body) - body.momentum_bias[:3] / body.stance.mass
        moved = np.vstack([body.com_jacobian, body.base])
        return [
            self.contact_level(body),
            (moved, np.r_[com, self.base_acceleration(body) - body.base_bias]),
            (np.eye(self.robot.nv)[6:], self.posture_acceleration(body)),
        ]

    def accelerations(
        self, body: StandingBody, levels: list[tuple[Array, Array]], metric: Array | None = None
    ) -> Array:
        """Q̈ (nv,) by priorities; joints that would leave their limits are held back, one by one (Flacco 2012).

        Args:
            body: The tick.
            levels: (J, b) in the order of priority.
            metric: (nv, nv) of the inverses; the unit matrix if omitted.
        """
        found = prioritised(levels, metric)
        if self.gains.speed_share is None:
            return found
        limits, speeds = self.robot.limits, self.gains.speed_share * self.robot.limits.velocity[6:]
        lowest = np.clip(_SLOWING * (limits.lower[7:] - body.q[7:]), -speeds, 0.0)
        highest = np.clip(_SLOWING * (limits.upper[7:] - body.q[7:]), 0.0, speeds)
        held: dict[int, float] = {}
        while len(held) < len(speeds):
            ahead = body.v[6:] + _AHEAD * found[6:]
            beyond = np.maximum(ahead - highest, lowest - ahead) / speeds
            beyond[list(held)] = 0.0
            worst = int(np.argmax(beyond))
            if beyond[worst] <= _ROUNDING:
                break
            held[worst] = (np.clip(ahead[worst], lowest[worst], highest[worst]) - body.v[6 + worst]) / _AHEAD
            rows = np.eye(self.robot.nv)[[6 + joint for joint in held]]
            found = prioritised([(rows, np.array(list(held.values()))), *levels], metric)
        return found

    def wrenches(self, body: StandingBody, load: Array, at: Array | None = None) -> Array:
        """Wrenches (k, 6) of the contacts that carry a load.

        Args:
            body: The tick.
            load: (6,) about the CoM.
            at: Point of `dcm` and `vrp`.
        """
        return distribute(self.distribution, body.stance, load, at)

    def torque_of(self, body: StandingBody, acceleration: Array, at: Array | None = None) -> Array:
        """Joint torques (nv − 6,) for accelerations: wrenches by the distribution, then M q̈ + h − Jᵀ F (5.111).

        Where the distribution does not carry the whole load, the momentum cannot change as wanted: q̈ is the nearest
        one, by Gauss's measure, with the contacts at rest and the momentum that the wrenches give (section 5.9).

        Args:
            body: The tick.
            acceleration: (nv,) q̈.
            at: Point of `dcm` and `vrp`.
        """
        load = body.momentum @ acceleration + body.momentum_bias + body.stance.weight
        load[2] = max(load[2], 0.1 * body.stance.weight[2])
        wrenches = self.wrenches(body, load, at)
        missing = body.stance.map @ wrenches.ravel() - load
        if np.abs(missing).max() > _CARRIED * body.stance.weight[2]:
            rows = np.vstack([body.contacts, body.momentum])
            through = np.linalg.solve(body.mass_matrix, rows.T)
            change = np.linalg.pinv(rows @ through, rcond=1e-9, hermitian=True)
            acceleration = acceleration + through @ change @ np.r_[np.zeros(len(body.contacts)), missing]
        full = body.mass_matrix @ acceleration + body.bias - body.contacts.T @ wrenches.ravel()
        return np.asarray(full[6:])

    def held_posture(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) of posture springs that disturb neither contacts, CoM nor base.

        A generalised force of the posture, with the dynamically consistent null space of these tasks; wrenches of the
        contacts take what of it would act on the base.
        """
        tasks = np.vstack([body.contacts, body.com_jacobian, body.base])
        M = body.mass_matrix
        wanted = np.r_[np.zeros(6), M[6:, 6:] @ self.posture_acceleration(body)]
        through = np.linalg.solve(M, tasks.T)
        inertia = np.linalg.pinv(tasks @ through, rcond=1e-6, hermitian=True)
        force = wanted - tasks.T @ (inertia @ (through.T @ wanted))
        carried = np.linalg.lstsq(body.contacts[:, :6].T, force[:6], rcond=None)[0]
        return np.asarray(force[6:] - body.contacts[:, 6:].T @ carried)
