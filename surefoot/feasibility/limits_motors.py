"""What motors can do: torque that falls with speed, and power."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.efforts_joints import doubtful_friction
from surefoot.feasibility.limits_parts import bodies_at, names_at
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.spikes import look_at_sample
from surefoot.robot import Drive

if TYPE_CHECKING:
    from surefoot.feasibility.case import Case

__all__ = ["Motors", "motor_series", "power_bounds", "torque_bounds"]

_NEXT = "slow the joint down where it is loaded"


class Motors(NamedTuple):
    """Numbers of m drives; infinite or 0 where unknown, as in `Drive`.

    Args:
        torque: (m,) limit.
        top: (m,) speed limit.
        corner: (m,) speed up to which the full torque is there.
        gain: (m,) torque at the joint per current, and voltage per joint speed: gear ratio × torque constant.
        resistance: (m,) [ohm].
        voltage: (m,) [V].
    """

    torque: Array
    top: Array
    corner: Array
    gain: Array
    resistance: Array
    voltage: Array

    @classmethod
    def of(cls, drives: Sequence[Drive]) -> Motors:
        """Of drives, in their order."""
        rows = [
            (d.torque_limit, d.speed_limit, d.corner_speed, d.gear_ratio * d.torque_constant, d.resistance, d.voltage)
            for d in drives
        ]
        return cls(*np.array(rows, dtype=float).reshape(-1, 6).T)

    @property
    def falls(self) -> NDArray[np.bool_]:
        """(m,) whether the torque falls before the top speed, by a line that is known."""
        return (self.corner < self.top) & np.isfinite(self.top) & np.isfinite(self.torque)

    @property
    def electric(self) -> NDArray[np.bool_]:
        """(m,) whether winding and supply are known."""
        return (self.gain != 0.0) & (self.resistance > 0.0) & (self.voltage > 0.0)


def motor_series(case: Case) -> list[Series]:
    """`motor_torque_speed` and `motor_power`."""
    robot, tau = case.robot, case.efforts.tau
    if np.isnan(tau).all():
        return [skipped(item, case.efforts.note) for item in ("motor_torque_speed", "motor_power")]
    drives = [d for d in robot.drives for _ in range(robot.tree.nv_of(robot.joint_index(d.joint)))]
    return [_torque_speed(case, Motors.of(drives)), _power(case, Motors.of(drives))]


def torque_bounds(motors: Motors, speed: Array) -> tuple[Array, Array]:
    """Least and largest torque (n, m) at joint speeds.

    Torque limit with a corner speed: `Drive.torque_at_speed` in both senses, braking with full torque. Known winding
    and supply: |R i + N k v| ≤ U with torque N k i, Koch (B.2) to (B.5) with a steady current; beyond the speed that
    the supply allows the motor may only brake. Both where both are known.

    Args:
        motors: m drives.
        speed: (n, m).
    """
    upper = np.minimum(_falling(motors, speed), _electric(motors, speed))
    lower = -np.minimum(_falling(motors, -speed), _electric(motors, -speed))
    return lower, upper


def power_bounds(motors: Motors) -> tuple[Array, Array]:
    """Least and largest mechanical power (m,) at the joint; infinite where nothing is known.

    Driving: the largest torque × speed below the line of the torque, T c or T s² / (4 (s − c)) with corner c and top
    speed s; T s where no corner is known; and at most U² / (4 R) with a known supply. Braking: T s.

    Args:
        motors: m drives.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        box = np.where(np.isfinite(motors.torque) & np.isfinite(motors.top), motors.torque * motors.top, np.inf)
        beyond = motors.torque * motors.top**2 / (4.0 * (motors.top - motors.corner))
        line = np.where(motors.top > 2.0 * motors.corner, beyond, motors.torque * motors.corner)
        supply = np.where(motors.electric, motors.voltage**2 / (4.0 * motors.resistance), np.inf)
    return -box, np.minimum(np.where(motors.falls, line, box), supply)


def _falling(motors: Motors, along: Array) -> Array:
    """Largest torque at a speed in its direction, by the corner speed."""
    falls = motors.falls
    with np.errstate(invalid="ignore", divide="ignore"):
        line = motors.torque * (motors.top - along) / (motors.top - motors.corner)
    most = np.where(falls & (along > motors.corner), line, motors.torque)
    return np.where(along > motors.top, 0.0, most)


def _electric(motors: Motors, along: Array) -> Array:
    """Largest torque at a speed in its direction, by the supply; none beyond the speed that the supply allows."""
    known = motors.electric
    gain, R = np.where(known, np.abs(motors.gain), 1.0), np.where(known, motors.resistance, 1.0)
    return np.where(known, gain * np.maximum(motors.voltage - gain * along, 0.0) / R, np.inf)


def _spike_step(case: Case) -> str:
    given = {"torque": case.efforts.tau_given, "velocity": case.trajectory.v is not None}
    names = [name for name, there in given.items() if there]
    return look_at_sample(" and the ".join(names)) if names else ""


def _torque_speed(case: Case, motors: Motors) -> Series:
    rows = np.flatnonzero(motors.falls | motors.electric)
    if not len(rows):
        return skipped("motor_torque_speed", "no drive has a corner speed, or winding and supply")
    some, joints = Motors(*(x[rows] for x in motors)), case.robot.driven[rows]
    lower, upper = torque_bounds(some, case.v[:, joints])
    full = np.where(np.isfinite(some.torque), some.torque, _electric(some, np.zeros(len(rows))))
    return Series(
        "motor_torque_speed", "N m", case.time, names_at(case, joints), case.efforts.tau[:, rows], lower, upper,
        case.tolerances.joint_torque * full + doubtful_friction(case)[rows], float(np.median(full)) or 1.0,
        bodies_at(case, joints), note=case.efforts.note, next_step=_NEXT, spike_step=_spike_step(case),
    )  # fmt: skip


def _power(case: Case, motors: Motors) -> Series:
    lower, upper = power_bounds(motors)
    rows = np.flatnonzero(np.isfinite(upper) & (upper > 0.0))
    if not len(rows):
        return skipped("motor_power", "no drive has limits of torque and speed, or winding and supply")
    joints, limit = case.robot.driven[rows], upper[rows]
    known = motors.falls[rows] | motors.electric[rows]
    note = "" if known.all() else "torque limit × speed limit for drives whose torque–speed line is not known"
    return Series(
        "motor_power", "W", case.time, names_at(case, joints), case.efforts.tau[:, rows] * case.v[:, joints],
        lower[rows], limit, case.tolerances.joint_torque * limit, float(np.median(limit)) or 1.0,
        bodies_at(case, joints), note=note, next_step=_NEXT, spike_step=_spike_step(case),
    )  # fmt: skip
