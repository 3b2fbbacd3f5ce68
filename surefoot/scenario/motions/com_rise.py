"""`com_rise`: raise the centre of mass straight up over fixed feet, through straight knees, as far as the arms allow.

Nenchev & Konno 2019, experiment 2.15 (Fig. 2.15): the legs lift until the knees are straight and the height of the base
saturates; the arms go on, with bounded joint rates.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control import StaticBalance, standing_contacts
from surefoot.errors import NotSupportedError
from surefoot.ik.analysis import joints_between
from surefoot.ik.contacts import ContactSystem
from surefoot.ik.singular import ComRise, raise_com
from surefoot.motion import Log, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.schema import MotionTable

LARGEST_DRIFT = 1e-4
"""How far the feet may move in the plan [m] or [rad]."""
LARGEST_SLIP = 0.005
"""How far a foot may slide in the run [m]."""
LARGEST_OFFSET = 0.02
"""How far the centre of mass may be from its plan in the run [m]."""
_DURATION, _RATE = 3.0, float(np.pi)  # [s], [rad/s]
_STEP, _LONGER = 0.01, 1.6  # [s]; how many times its duration the motion may take where joint rates bound it
_SCOUT_STEP, _SCOUT_RISE, _SCOUT_SHARE = 0.03, 0.3, 0.6  # [s]; of the height of the robot; of what the arms can do
_NEARLY, _SINGULAR = 0.05, 0.2  # shares of the first singular value: of the way to its least; of a singular leg
_REACHED, _BOUND, _MORE = 0.98, 1.02, 0.05  # of the rise; of the joint rates; of the rise after the knees are straight
_ROWS = 10  # every how many rows static loads are looked at
_BALLS = ("point", "soft_finger")
_STRAIGHT = 2e-3  # of the height of the centre of mass: smallest singular value of a leg that is straight
_SATURATED = 0.5  # base against centre of mass, after the knees are straight


def com_rise(table: MotionTable, robot: Robot, world: World) -> Plan:
    """Raise the centre of mass.

    Args:
        table: rise [m]: if omitted, so far that knees get straight and arms then do the larger part of what they can;
            duration [s] at full pace; rate_limit [rad/s] of all joints together.
        robot: The robot; it stands on level ground with its contacts at home.
        world: Where it is; not looked at.
    """
    duration, limit = table.duration or _DURATION, table.rate_limit or _RATE
    if not robot.drives:
        raise NotSupportedError(f"`{robot.name}` has no drives", next_step="use a robot with drives")
    legs = Legs(robot)
    rise = table.rise or _possible_rise(robot, legs, limit)
    last = _LONGER * duration
    motion = raise_com(robot, rise, duration, contacts=legs.contacts, until=last, dt=_STEP, rate_limit=limit)
    found = _Climb(robot, motion, legs, rise, limit)
    return Plan(
        trajectory=Trajectory.of(robot, motion.t, motion.q, motion.v),
        metrics=found.metrics(),
        trouble=found.trouble(),
        curves=found.curves(),
        judge=found.judge,
    )


def _possible_rise(robot: Robot, legs: Legs, limit: float) -> float:
    """How far the legs lift [m], and a share of what the arms can add."""
    height = float(_centres(robot, robot.home[None])[0, 2])
    scout = raise_com(robot, _SCOUT_RISE * height, _DURATION, contacts=legs.contacts, dt=_SCOUT_STEP, rate_limit=limit)
    raised = scout.com[:, 2] - scout.com[0, 2]
    at = _straight_row(legs.singular_values(scout.q))
    return float(raised[at] + _SCOUT_SHARE * (raised.max() - raised[at]))


def _static_loads(robot: Robot, q: Array) -> list[tuple[float, str]]:
    """Torque / limit of the drive that has most to carry at rest, and its joint, in each posture (n, nq)."""
    balance = StaticBalance(robot, standing_contacts(robot, np.array(q[0])))
    limits = np.array([drive.torque_limit for drive in robot.drives])
    shares = [np.abs(balance.torques(np.array(row))) / limits for row in q]
    return [(float(share.max()), robot.drives[int(share.argmax())].joint) for share in shares]


def _straight_row(values: dict[str, Array]) -> int:
    """The first row in which every leg is as near to its singular posture as it gets."""
    rows = [int(np.argmax(line - line.min() <= _NEARLY * (line[0] - line.min()))) for line in values.values()]
    return max(rows)


class _Climb:
    """A planned rise, and how to judge it."""

    def __init__(self, robot: Robot, motion: ComRise, legs: Legs, rise: float, limit: float) -> None:
        self.robot, self.motion, self.rise, self.limit = robot, motion, rise, limit
        self.values = legs.singular_values(motion.q)
        self.row = _straight_row(self.values)
        self.raised = motion.com[:, 2] - motion.com[0, 2]
        base = robot.base_joint
        height = 0 if base is None else int(robot.tree.q_index[base]) + 2
        self.base = motion.q[:, height] - motion.q[0, height]
        self.rates = np.linalg.norm(np.delete(motion.v, robot.base_rows, axis=1), axis=1)
        self.loads = _static_loads(robot, motion.q[::_ROWS])
        self.knees = dict(_knee(robot, motion.q, chain) for chain in legs.joints.values())

    @property
    def _share(self) -> float:
        """What is left of the smallest singular value of the legs, of that at the start."""
        return max(float(line.min() / line[0]) for line in self.values.values())

    def metrics(self) -> dict[str, Any]:
        """Metrics of the plan."""
        m, row = self.motion, self.row
        return {
            "rise_wanted_m": self.rise,
            "rise_m": float(self.raised[-1]),
            "knees_straight_s": float(m.t[row]),
            "knee_bend_at_start_rad": max(float(abs(line[0])) for line in self.knees.values()),
            "knee_bend_straight_rad": max(float(abs(line[row])) for line in self.knees.values()),
            "least_leg_value_m": min(float(line.min()) for line in self.values.values()),
            "leg_value_share": self._share,
            "rise_until_straight_m": float(self.raised[row]),
            "rise_after_straight_m": float(self.raised[-1] - self.raised[row]),
            "base_rise_m": float(self.base.max()),
            "base_after_straight_m": float(self.base[-1] - self.base[row]),
            "largest_rates_rad_s": float(self.rates.max()),
            "rates_bound_rad_s": self.limit,
            "slowest_pace": float(m.pace.min()),
            "largest_static_load": max(self.loads)[0],
            "planned_foot_drift": float(m.drift.max()),
        }

    def trouble(self) -> str | None:
        """The first problem of the plan, or None."""
        m, row = self.motion, self.row
        after, base_after = self.raised[-1] - self.raised[row], abs(self.base[-1] - self.base[row])
        if min(float(line[0]) for line in self.values.values()) < _STRAIGHT * m.com[0, 2]:
            return "the knees are straight from the start"
        if not m.drift.max() <= LARGEST_DRIFT:
            return f"the feet move by {m.drift.max():.2g} m or rad in the plan"
        if not self.rates.max() <= _BOUND * self.limit:
            return f"joint rates reach {self.rates.max():.3g} rad/s, above the bound of {self.limit:.3g} rad/s"
        if not self._share <= _SINGULAR:
            return f"the knees do not straighten: {self._share:.0%} of the legs' smallest singular value is left"
        if after < _MORE * self.rise or base_after > _SATURATED * after:
            return f"the centre of mass rises only {after:.2g} m further once the knees are straight"
        load, joint = max(self.loads)
        if not load <= 1.0:
            return f"the weight is {load:.0%} of what the drive of joint `{joint}` can support"
        if self.raised[-1] < _REACHED * self.rise:
            return f"the centre of mass rises {self.raised[-1]:.3g} m of the planned {self.rise:.3g} m"
        return None

    def curves(self) -> tuple[Plot, ...]:
        """Plots of the plan."""
        m = self.motion
        bound = np.full(len(m.t), self.limit)
        return (
            Plot("plan: rise of centre of mass and base", "m", {"centre of mass": self.raised, "base": self.base}),
            Plot("plan: knee angles", "rad", self.knees),
            Plot("plan: norm of the joint rates", "rad/s", {"rates": self.rates, "bound": bound}),
            Plot("plan: smallest singular value of the legs", "m", self.values),
            Plot("plan: rise of the centre of mass per joint rate", "m/rad", {"rise": m.whole}),
            Plot("plan: speed along the path", "1", {"pace": m.pace}),
        )

    def judge(self, robot: Robot, log: Log) -> Findings:
        """What the run showed."""
        com = _centres(robot, log["q"])
        planned = np.column_stack([np.interp(log.time, self.motion.t, line) for line in self.motion.com.T])
        offset = float(np.linalg.norm(com - planned, axis=1).max())
        slip = max(float(log[f"contact.{name}.slip"][-1]) for name in robot.contacts)
        metrics = {
            "run_rise_m": float(com[-1, 2] - com[0, 2]),
            "run_com_error_m": offset,
            "run_foot_slip_m": slip,
            "run_largest_rates_rad_s": _largest_rates(robot, log),
        }
        return Findings(metrics, self._run_trouble(log, offset, slip))

    def _run_trouble(self, log: Log, offset: float, slip: float) -> str | None:
        end = float(self.motion.t[np.argmax(self.raised >= _REACHED * self.raised[-1])])
        if log.time[-1] < end:
            return f"the run ends at {log.time[-1]:.3g} s, before the motion ends at {end:.3g} s"
        if not slip <= LARGEST_SLIP:
            return f"a foot slid by {slip:.2g} m"
        if not offset <= LARGEST_OFFSET:
            return f"the centre of mass was {offset:.2g} m from its plan"
        return None


def _knee(robot: Robot, q: Array, chain: list[int]) -> tuple[str, Array]:
    """The joint of a leg that turns most, with its angles (n,)."""
    rows = {robot.tree.joint_names[i]: q[:, int(robot.tree.q_index[i])] for i in chain if robot.tree.nq_of(i) == 1}
    name = max(rows, key=lambda joint: float(np.ptp(rows[joint])))
    return name, rows[name]


def _centres(robot: Robot, q: Array) -> Array:
    """Centres of mass (n, 3) in world [m] over postures (n, nq)."""
    data = robot.model.createData()
    return np.array([pin.centerOfMass(robot.model, data, np.array(row)) for row in q])


def _largest_rates(robot: Robot, log: Log) -> float:
    return float(np.linalg.norm(np.delete(log["v"], robot.base_rows, axis=1), axis=1).max())


class Legs:
    """The limbs that end in contact surfaces. Each has the joints that no other one needs.

    Args:
        robot: The robot.

    Raises:
        NotSupportedError: Nothing can stand, or the base does not float.
    """

    def __init__(self, robot: Robot) -> None:
        if not robot.contacts:
            raise NotSupportedError(
                f"`{robot.name}` has no contact surface to stand on", next_step="use a robot with feet"
            )
        self.contacts = {name: "ball" if c.kind in _BALLS else "weld" for name, c in robot.contacts.items()}
        """Kind of contact (`CONTACT_JOINTS`) by contact surface."""
        self._system = ContactSystem(robot, self.contacts)
        chains = {name: joints_between(robot, contact.frame) for name, contact in robot.contacts.items()}
        first = {a: chain for a, chain in chains.items() if not any(_goes_on(chain, b) for b in chains.values())}
        shared = Counter(joint for chain in first.values() for joint in chain)
        self.joints = {name: [i for i in chain if shared[i] == 1] for name, chain in first.items()}
        """Indices in the tree of the joints of each limb, by its contact surface."""
        self._columns = {
            name: [int(robot.tree.v_index[i]) - 6 + k for i in own for k in range(robot.tree.nv_of(i))]
            for name, own in self.joints.items()
        }

    def singular_values(self, q: Array) -> dict[str, Array]:
        """Smallest singular value (n,) of the Jacobian of each leg: zero where it is stretched.

        Args:
            q: (n, nq) postures.
        """
        owner = np.repeat(list(self.contacts), 6)[self._system.held]
        jacobians = [self._system.at(row).J_c for row in q]
        return {
            name: np.array([np.linalg.svd(J[owner == name][:, own], compute_uv=False)[-1] for J in jacobians])
            for name, own in self._columns.items()
        }


def _goes_on(chain: list[int], other: list[int]) -> bool:
    """Whether a chain begins with another, shorter one."""
    return len(chain) > len(other) and chain[: len(other)] == other
