"""Limits of the joints: position, velocity, acceleration, torque, and what motors can do at speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.case import Case, bodies_at, joint_rows, names_at, unit_at, units_at
from surefoot.feasibility.efforts import Efforts, doubtful_friction, drive_limits
from surefoot.feasibility.items import ITEMS
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.series import Series, look_at_sample, skipped
from surefoot.robot import Drive

_POSITIONS = {"revolute": 1, "prismatic": 1, "helical": 1, "translation": 3, "planar": 2, "free": 3}
"""Kinds of joints → leading entries of q that are positions, not parts of unit vectors."""


def check_limits(case: Case, rates: Rates, efforts: Efforts) -> list[Series]:
    """`joint_position`, `joint_velocity`, `joint_acceleration`, `joint_torque` and what motors can do."""
    return [
        *_with_between(case, rates, efforts),
        _acceleration(case, efforts),
        *motor_series(case, rates, efforts),
    ]


def _with_between(case: Case, rates: Rates, efforts: Efforts) -> list[Series]:
    """Positions, velocities and torques at the samples, and between them where their course there is known."""
    given = case.trajectory
    position, velocity, torque = _position(case), _velocity(case, rates), _torque(case, efforts)
    out = [position, velocity, torque]
    names = dict(zip(case.velocity_names, range(case.robot.nv), strict=True))
    if given.v is not None and position.parts:
        rows = [names[part] for part in position.parts]
        moved = [row not in rates.filled_rows for row in rows]
        found = cubic_extremes(case.time, position.value, np.where(moved, given.v[:, rows], np.nan))
        out.append(between_samples(position, case.time, found))
    if given.v is not None and given.a is not None and velocity.parts:
        rows = [names[part] for part in velocity.parts]
        found = cubic_extremes(case.time, velocity.value, given.a[:, rows])
        out.append(between_samples(velocity, case.time, found))
    if given.tau_rate is not None and given.control == "integrated" and torque.parts:
        driven = [case.velocity_names[row] for row in case.robot.driven]
        columns = [driven.index(part) for part in torque.parts]
        found = parabola_extremes(case.time, torque.value, given.tau_rate[:, columns])
        out.append(between_samples(torque, case.time, found))
    return out


def _position(case: Case) -> Series:
    """Positions between their limits; entries of quaternions and of (cos, sin) have none."""
    limits = case.robot.limits
    pairs = [
        pair for pair in _positions(case) if np.isfinite(limits.lower[pair[0]]) or np.isfinite(limits.upper[pair[0]])
    ]
    if not pairs:
        return skipped("joint_position", "no joint has position limits")
    q, v = (np.array(column) for column in zip(*pairs, strict=True))
    return Series(
        "joint_position", unit_at(case, v, "rad", "m"), case.time, names_at(case, v), case.q[:, q],
        limits.lower[q], limits.upper[q], case.tolerances.joint_position, 0.1, bodies_at(case, v),
        units=units_at(case, v, "rad", "m"),
        next_step="keep the joint within its range, or check the zero and sign of its column",
    )  # fmt: skip


def _velocity(case: Case, rates: Rates) -> Series:
    limits = case.robot.limits.velocity
    rows = np.flatnonzero(np.isfinite(limits) & (limits > 0.0))  # 0 is none
    if not len(rows):
        return skipped("joint_velocity", "no joint has a velocity limit")
    limit = limits[rows]
    return Series(
        "joint_velocity", unit_at(case, rows, "rad/s", "m/s"), case.time, names_at(case, rows), rates.v[:, rows],
        -limit, limit, case.tolerances.joint_velocity * limit, float(np.median(limit)) or 1.0, bodies_at(case, rows),
        units=units_at(case, rows, "rad/s", "m/s"),
        note="as given" if case.trajectory.v is not None else "differences of q",
        next_step="slow the motion down: `Trajectory.time_scaled`",
        spike_step="" if case.trajectory.v is None else look_at_sample("velocity"),
    )  # fmt: skip


def _acceleration(case: Case, efforts: Efforts) -> Series:
    """Robot files have no acceleration limits; without one in the tolerances, accelerations are only reported."""
    rows = joint_rows(case)
    if not len(rows):
        return skipped("joint_acceleration", "the robot has no joints")
    limit = case.tolerances.acceleration_limit
    source = "as given" if case.trajectory.a is not None else f"averaged over {1e3 * case.tolerances.window:.3g} ms"
    return Series(
        "joint_acceleration", unit_at(case, rows, "rad/s²", "m/s²"), case.time, names_at(case, rows),
        efforts.demand.a[:, rows], -limit, limit, 0.01 * limit if np.isfinite(limit) else 0.0,
        limit if np.isfinite(limit) and limit > 0.0 else 100.0, bodies_at(case, rows),
        units=units_at(case, rows, "rad/s²", "m/s²"),
        note=source if np.isfinite(limit) else f"{source}; no limit set",
        next_step="slow the motion down: `Trajectory.time_scaled`",
        spike_step="" if case.trajectory.a is None else look_at_sample("acceleration"),
    )  # fmt: skip


def _torque(case: Case, efforts: Efforts) -> Series:
    limits = drive_limits(case)
    rows = np.flatnonzero(np.isfinite(limits))
    if not len(rows):
        return skipped("joint_torque", "no drive has a torque limit")
    if np.isnan(efforts.tau).all():
        return skipped("joint_torque", efforts.note)
    limit, joints = limits[rows], case.robot.driven[rows]
    return Series(
        "joint_torque", unit_at(case, joints, "N m", "N"), case.time, names_at(case, joints), efforts.tau[:, rows],
        -limit, limit, case.tolerances.joint_torque * limit + doubtful_friction(case)[rows],
        float(np.median(limit)) or 1.0, bodies_at(case, joints), note=efforts.note,
        units=units_at(case, joints, "N m", "N"),
        next_step="slow the motion down, reduce the load, or change the posture in which the joint is loaded",
        spike_step=look_at_sample("torque") if efforts.tau_given else "",
    )  # fmt: skip


def _positions(case: Case) -> list[tuple[int, int]]:
    """Entries of q that are positions, each with its entry of v."""
    tree, out = case.robot.tree, []
    for i, kind in enumerate(tree.kinds):
        count = min(_POSITIONS.get(kind, 0), tree.nq_of(i))
        out += [(int(tree.q_index[i]) + k, int(tree.v_index[i]) + k) for k in range(count)]
    return out


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
        """Motors of drives, in their order."""
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


def motor_series(case: Case, rates: Rates, efforts: Efforts) -> list[Series]:
    """`motor_torque_speed` and `motor_power`."""
    robot, tau = case.robot, efforts.tau
    if np.isnan(tau).all():
        return [skipped(item, efforts.note) for item in ("motor_torque_speed", "motor_power")]
    drives = [d for d in robot.drives for _ in range(robot.tree.nv_of(robot.joint_index(d.joint)))]
    return [_torque_speed(case, rates, efforts, Motors.of(drives)), _power(case, rates, efforts, Motors.of(drives))]


def torque_bounds(motors: Motors, speed: Array) -> tuple[Array, Array]:
    """Least and largest torque (n, m) at joint speeds.

    Torque limit with a corner speed: `Drive.torque_at_speed` in both senses, braking with full torque. Known winding
    and supply: |R i + N k v| ≤ U with torque N k i, Koch (B.2) to (B.5) with a steady current; beyond the speed that
    the supply allows the motor may only brake. Both where both are known.
    """
    upper = np.minimum(_falling(motors, speed), _electric(motors, speed))
    lower = -np.minimum(_falling(motors, -speed), _electric(motors, -speed))
    return lower, upper


def power_bounds(motors: Motors) -> tuple[Array, Array]:
    """Least and largest mechanical power (m,) at the joint; infinite where nothing is known.

    Driving: the largest torque × speed below the line of the torque, T c or T s² / (4 (s − c)) with corner c and top
    speed s; T s where no corner is known; and at most U² / (4 R) with a known supply. Braking: T s.
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


def _spike_step(case: Case, efforts: Efforts) -> str:
    given = {"torque": efforts.tau_given, "velocity": case.trajectory.v is not None}
    names = [name for name, there in given.items() if there]
    return look_at_sample(" and the ".join(names)) if names else ""


def _torque_speed(case: Case, rates: Rates, efforts: Efforts, motors: Motors) -> Series:
    rows = np.flatnonzero(motors.falls | motors.electric)
    if not len(rows):
        return skipped("motor_torque_speed", "no drive has a known corner speed, or known winding and supply")
    some, joints = Motors(*(x[rows] for x in motors)), case.robot.driven[rows]
    lower, upper = torque_bounds(some, rates.v[:, joints])
    full = np.where(np.isfinite(some.torque), some.torque, _electric(some, np.zeros(len(rows))))
    return Series(
        "motor_torque_speed", "N m", case.time, names_at(case, joints), efforts.tau[:, rows], lower, upper,
        case.tolerances.joint_torque * full + doubtful_friction(case)[rows], float(np.median(full)) or 1.0,
        bodies_at(case, joints), note=efforts.note, next_step=_NEXT, spike_step=_spike_step(case, efforts),
    )  # fmt: skip


def _power(case: Case, rates: Rates, efforts: Efforts, motors: Motors) -> Series:
    lower, upper = power_bounds(motors)
    rows = np.flatnonzero(np.isfinite(upper) & (upper > 0.0))
    if not len(rows):
        return skipped("motor_power", "no drive has torque and speed limits, or known winding and supply")
    joints, limit = case.robot.driven[rows], upper[rows]
    known = motors.falls[rows] | motors.electric[rows]
    note = "" if known.all() else "torque limit × speed limit for drives with an unknown torque–speed line"
    return Series(
        "motor_power", "W", case.time, names_at(case, joints), efforts.tau[:, rows] * rates.v[:, joints],
        lower[rows], limit, case.tolerances.joint_torque * limit, float(np.median(limit)) or 1.0,
        bodies_at(case, joints), note=note, next_step=_NEXT, spike_step=_spike_step(case, efforts),
    )  # fmt: skip


# Extremes between samples, by the law by which a quantity runs there. Positions with given velocities, and velocities
# with given accelerations, are cubic between samples (Hermite); torques are what their control law says
# (`Trajectory.control`): with a rate that is piecewise linear they are parabolas, which may leave their limits between
# two samples that keep them.


def between_samples(series: Series, time: Array, extremes: Array) -> Series:
    """The same item between samples.

    Args:
        series: At the samples, with limits that do not change over time.
        time: (n,) of the samples [s].
        extremes: (n − 1, parts), NaN where none is beyond both ends of a step.
    """
    middle = 0.5 * (time[1:] + time[:-1])
    lower, upper, slack = (np.asarray(bound)[:1] for bound in (series.lower, series.upper, series.slack))
    texts = tuple(
        f"{ITEMS[series.item].title} of {part}: {{value}} between samples, limit {{limit}}, near {{time}}"
        for part in series.parts
    )
    return replace(
        series, time=middle, value=extremes, lower=lower, upper=upper, slack=slack, texts=texts, spike_step="",
        width=0.5 * float(np.median(np.diff(time))),
        note="; ".join(text for text in (series.note, "also between samples") if text),
    )  # fmt: skip


def parabola_extremes(time: Array, value: Array, rate: Array) -> Array:
    """(n − 1, k): extremes inside steps of values (n, k) whose rates (n, k) are linear there; NaN for none.

    y(s) = y₀ + r₀ s + (r₁ − r₀) s² / (2 h),  extreme y₀ + r₀² h / (2 (r₀ − r₁)) where r₀ r₁ < 0      [audit.parabola]
    """
    h = np.diff(time)[:, None]
    first, last = rate[:-1], rate[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(first * last < 0.0, value[:-1] + first**2 * h / (2.0 * (first - last)), np.nan)


def cubic_extremes(time: Array, value: Array, rate: Array) -> Array:
    """(n − 1, k): extremes beyond both ends of a step, of cubics with values (n, k) and rates (n, k); NaN for none."""
    h = np.diff(time)[:, None]
    y0, y1, m0, m1 = value[:-1], value[1:], h * rate[:-1], h * rate[1:]
    a, b = 2.0 * (y0 - y1) + m0 + m1, 3.0 * (y1 - y0) - 2.0 * m0 - m1  # y0 + m0 s + b s² + a s³
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(b * b - 3.0 * a * m0)
        straight = np.where(np.abs(a) < 1e-12 * (np.abs(b) + np.abs(m0)), -m0 / (2.0 * b), np.nan)
        found = []
        for s in ((-b + root) / (3.0 * a), (-b - root) / (3.0 * a), straight):
            inside = (s > 0.0) & (s < 1.0)
            y = y0 + s * (m0 + s * (b + s * a))
            beyond = (y > np.maximum(y0, y1)) | (y < np.minimum(y0, y1))
            found.append(np.where(inside & beyond, y, np.nan))
    far = [np.nan_to_num(np.abs(y - 0.5 * (y0 + y1)), nan=-1.0) for y in found]
    return np.take_along_axis(np.stack(found), np.argmax(np.stack(far), axis=0)[None], axis=0)[0]
