"""`raise_com`: lift the centre of mass straight up over fixed feet, through straight knees, with all joints.

Nenchev & Konno 2019, experiment 2.15 (section 2.11.4): feet and attitude of the base held, V_M vertical, θ'_u = 0.
The legs lift until the knees are straight and the height of the base saturates; the arms go on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.optimize import lsq_linear

from surefoot.arrays import Array, number
from surefoot.errors import NotSupportedError
from surefoot.ik.contacts import ContactKinematics, ContactSystem
from surefoot.ik.stepper import stopping_velocity_bounds
from surefoot.ik.textbook import restrict
from surefoot.motion import Quintic
from surefoot.robot import Robot

_PULL = 10.0  # [1/s]: how fast drift is taken back
_SOFT = 1e-4  # [m]: singular values of 𝒥_cM far above it are inverted exactly
_ROOM = 1e-12  # between bounds that have met


@dataclass(frozen=True, eq=False)
class ComRise:
    """How the robot went up.

    Args:
        t: (k,) times [s].
        q: (k, nq) configurations.
        v: (k, nv) velocities.
        com: (k, 3) centre of mass in world [m].
        pace: (k,) share of the wanted speed that the joints could do, 1 while nothing bounds them.
        legs: (k,) smallest singular value of 𝒥_cB: zero where a limb in contact is singular.
        whole: (k,) vertical speed of the centre of mass for |θ'| = 1 [m/rad]: zero at the singular posture of all.
        drift: (k,) largest displacement of the contacts since the start [m] or [rad].
    """

    t: Array
    q: Array
    v: Array
    com: Array
    pace: Array
    legs: Array
    whole: Array
    drift: Array


def raise_com(
    robot: Robot,
    rise: float,
    duration: float,
    q0: ArrayLike | None = None,
    contacts: Mapping[str, str] | None = None,
    until: float | None = None,
    dt: float = 0.01,
    rate_limit: float = np.pi,
    braking: float = 20.0,
) -> ComRise:
    """Raise the centre of mass by `rise` in `duration`, or as far as the robot can.

        𝒥_cM θ' = V̄ᶜ − C_cCᵀ V_M,  V_M = (0, 0, p z', 0, 0, 0)        [ik.com-rise]   Nenchev & Konno 2019, (2.132)
        |θ'|² + (2 L (1 − p))² smallest, p in 0 … 1: the path is one more joint, as in [ik.singularity-consistent]

    For p = 1 this is the pseudoinverse: knees that straighten slow down, and the arms take over. p = 1 / (1 + |θ'_1|² /
    4 L²) for the rates θ'_1 of full speed, so that |θ'| ≤ L in every posture: where the whole robot is singular, the
    motion ends along its path, with the feet where they are. Each joint stops before its limits
    (`stopping_velocity_bounds`), and the others do its share.

    Args:
        robot: The robot; its base floats.
        rise: How far up [m], ≥ 0.
        duration: How long it takes at full pace, from rest to rest [s].
        q0: (nq,) start posture; home if omitted.
        contacts: Kind of contact (`CONTACT_JOINTS`) by frame; all contact surfaces as welds if omitted.
        until: When to stop looking [s]; one and a half times the duration if omitted.
        dt: Step [s].
        rate_limit: L: largest length of the vector of joint rates [rad/s].
        braking: With which joints stop before their limits [rad/s²].

    Raises:
        NotSupportedError: The base does not float, or joints follow others.
    """
    if robot.couplings:
        raise NotSupportedError(
            f"joints of `{robot.name}` follow others, which this motion does not support",
            evidence={"couplings": len(robot.couplings)},
            next_step='load it with mimic="reduce"',
        )
    system = ContactSystem(robot, dict.fromkeys(robot.contacts, "weld") if contacts is None else contacts)
    climb = _Climb(system, robot.home if q0 is None else robot.checked_q(q0), rise, duration, dt, rate_limit, braking)
    last = number(1.5 * duration if until is None else until, "end of the motion")
    rows = []
    for k in range(int(np.ceil(last / dt)) + 1):
        now = system.at(climb.q)
        v, pace = climb.velocity(now, climb.q, climb.clock)
        rows.append((k * dt, climb.q, v, now.com, pace, *_conditioning(now), climb.drift(now)))
        climb.advance(v, pace)
    t, *series = (np.array(column) for column in zip(*rows, strict=True))
    return ComRise(t, *series)


class _Climb:
    """The state of the motion: the posture, and how much of the time law has passed."""

    def __init__(
        self, system: ContactSystem, q: Array, rise: float, duration: float, dt: float, limit: float, braking: float
    ) -> None:
        self.system, self.q, self.clock, self.dt = system, q, 0.0, number(dt, "step", positive=True)
        self.start = system.at(q)
        self._timing = Quintic.at_rest(0.0, number(rise, "rise"), number(duration, "duration", positive=True))
        robot = system.robot
        one_axis = [i for i in range(1, robot.tree.n) if robot.tree.nv_of(i) == 1 and robot.tree.nq_of(i) == 1]
        self._positions, self._rates = robot.tree.q_index[one_axis], robot.tree.v_index[one_axis]
        self._limit = np.minimum(robot.limits.velocity[6:], limit)
        self._slack = 0.5 / number(limit, "largest joint rates", positive=True)
        self._braking = number(braking, "braking", positive=True)

    def velocity(self, now: ContactKinematics, q: Array, clock: float) -> tuple[Array, float]:
        """Velocity (nv,), and the share of the wanted speed in it."""
        C, J, _, _ = now.mixed()
        back = self._pull_back(now)
        lift = np.array([0.0, 0.0, float(self._timing.sample(clock)[1]), 0.0, 0.0, 0.0])
        rates, pace = _paced_rates(J, self._held(now) - C.T @ back, -C.T @ lift, self._bounds(q), self._slack)
        return now.velocity(now.base_twist(back + pace * lift, rates), rates), pace

    def advance(self, v: Array, pace: float) -> None:
        """One step by the midpoint rule."""
        model = self.system.robot.model
        middle = np.array(pin.integrate(model, np.array(self.q), 0.5 * self.dt * v))
        v, pace = self.velocity(self.system.at(middle), middle, self.clock + 0.5 * self.dt * pace)
        self.q = np.array(pin.integrate(model, np.array(self.q), self.dt * v))
        self.clock += self.dt * pace

    def drift(self, now: ContactKinematics) -> float:
        """Largest displacement of the contacts since the start."""
        return float(np.abs(self._held(now)).max(initial=0.0)) / _PULL

    def _held(self, now: ContactKinematics) -> Array:
        """V̄ᶜ (c,): takes the contacts back to where they were."""
        R, aside = now.placements[:, :3, :3].transpose(0, 2, 1), self.start.placements - now.placements
        turned = _small_turn(R @ self.start.placements[:, :3, :3])
        twists = np.concatenate([(R @ aside[:, :3, 3:])[..., 0], turned], axis=1)
        return _PULL * twists.ravel()[self.system.held]

    def _pull_back(self, now: ContactKinematics) -> Array:
        """(v_C, ω_B) that takes the centre of mass back to its vertical line and the base to its attitude."""
        R, aside = now.R_base, (self.start.com - now.com) * [1.0, 1.0, 0.0]
        return _PULL * np.concatenate([aside, R @ _small_turn(R.T @ self.start.R_base)])

    def _bounds(self, q: Array) -> tuple[Array, Array]:
        """Least and largest joint rates (n,)."""
        low, high = -np.array(self._limit), np.array(self._limit)
        limits, at = self.system.robot.limits, self._rates - 6
        low[at], high[at] = stopping_velocity_bounds(
            q[self._positions], limits.lower[self._positions], limits.upper[self._positions],
            self._braking, self.dt, self._limit[at],
        )  # fmt: skip
        return low, high


def _small_turn(R: Array) -> Array:
    """Rotation vectors (…, 3) of small rotations (…, 3, 3): sin φ in place of φ."""
    return 0.5 * np.stack([R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]], -1)


def _paced_rates(J: Array, back: Array, lift: Array, bounds: tuple[Array, Array], slack: float) -> tuple[Array, float]:
    """θ' with J θ' = back + p lift within bounds, and p: |θ'|² + ((1 − p) / slack)² smallest.

    Contacts are missed by a part in 1 / `_SOFT`² of what a singular limb cannot do; bounded least squares (Stark &
    Parker 1995) make the rates continuous.
    """
    n = J.shape[1]
    matrix = np.vstack([np.column_stack([J, slack * lift]) / _SOFT, np.eye(n + 1)])
    wanted = np.concatenate([(back + lift) / _SOFT, np.zeros(n + 1)])
    low, high = np.append(bounds[0], 0.0), np.append(bounds[1], 1.0 / slack)
    found = lsq_linear(matrix, wanted, (low - _ROOM, high + _ROOM), method="bvls", tol=1e-14)
    if not found.success:
        raise NotSupportedError("bounded least squares found no joint rates", evidence={"reason": found.message})
    return found.x[:n], float(1.0 - slack * found.x[n])


def _conditioning(now: ContactKinematics) -> tuple[float, float]:
    """Smallest singular value of 𝒥_cB, and the vertical speed of the centre of mass per unit of |θ'|."""
    C, J, _, _ = now.mixed()
    legs = np.linalg.svd(now.J_c, compute_uv=False)
    effort = restrict(J, np.eye(J.shape[1])).inverse @ C[2]
    length = float(np.linalg.norm(effort))
    return float(legs[-1]), 1.0 / length if length > 0.0 else 0.0
