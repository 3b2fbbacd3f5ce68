"""Were the numbers read correctly? Lengths and order of quaternions, units, and columns that lead or lag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.case import Case
from surefoot.feasibility.layout.readings import OtherReading
from surefoot.feasibility.layout.shift import check_shift
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.series import Series, skipped
from surefoot.motion.reading import OrderVerdict, judge_joint_order, judge_order_over_time, other_order

_QUATERNIONS = {"free": slice(3, 7), "spherical": slice(0, 4)}


def check_layout(case: Case, rates: Rates, readings: Sequence[OtherReading]) -> list[Series]:
    """Length and order of quaternions, units, and shifts of columns of v."""
    order = _order(case)
    joints = skipped("joint_order", "the quaternion order is wrong") if order.failed.any() else _joint_order(case)
    return [_norm(case), order, joints, _units(case, rates), check_shift(case, rates, readings)]


def _joint_order(case: Case) -> Series:
    verdict = judge_joint_order(case.robot_on_feet, case.world, case.time, case.q)
    text = f"the joints seem to be in {verdict.meant} order: as read, {verdict.reason}"
    return Series(
        "joint_order", "", np.array([0.5 * (case.trajectory.start + case.trajectory.end)]), ("joints",),
        np.array([[float(bool(verdict.meant))]]), upper=0.0, width=0.5 * case.trajectory.duration, texts=(text,),
        next_step=f"give --joint-order {verdict.meant}, or the names of the joints in `joint_names`",
    )  # fmt: skip


def _norm(case: Case) -> Series:
    lengths = {**_own_lengths(case), **case.quaternion_norm}
    if not lengths:
        return skipped("quaternion_norm", "the robot has no quaternions")
    slack = case.tolerances.quaternion_norm
    tree = case.robot.tree
    return Series(
        "quaternion_norm", "", case.time, tuple(lengths), np.column_stack(list(lengths.values())), lower=1.0, upper=1.0,
        slack=slack, scale=0.01, bodies=tuple(case.subtree(tree.joint_names.index(joint)) for joint in lengths),
        texts=tuple(f"the quaternion of `{joint}` has length {{value}}, not 1, at {{time}}" for joint in lengths),
        next_step="normalise quaternions when recording or interpolating them",
        spike_step="repair or omit the sample at {time}: all of it may be wrong",
    )  # fmt: skip


def _own_lengths(case: Case) -> dict[str, Array]:
    """(n,) lengths of the quaternions of the trajectory by joint."""
    tree = case.robot.tree
    out = {}
    for i, kind in enumerate(tree.kinds):
        if kind in _QUATERNIONS:
            at, part = int(tree.q_index[i]), _QUATERNIONS[kind]
            out[tree.joint_names[i]] = np.linalg.norm(case.q[:, at + part.start : at + part.stop], axis=1)
    return out


def _order(case: Case) -> Series:
    base = case.robot.base_joint
    if base is None or case.robot.tree.kinds[base] != "free":
        return skipped("quaternion_order", "the base has no quaternion")
    name = case.robot.joint_names[base]
    told = None if name in case.filled else case.trajectory.v
    found = judge_order_over_time(case.robot_on_feet, case.world, case.time, case.q, told)
    verdict, part = found.verdict, found.wrong
    middle = np.array([0.5 * (case.trajectory.start + case.trajectory.end)])
    text, next_step = _order_text(name, verdict, part is not None, case.quaternion_order)
    return Series(
        "quaternion_order", "", middle if part is None else case.time, (name,),
        np.array([[float(bool(verdict.meant))]]) if part is None else part[:, None].astype(float), upper=0.0,
        width=0.5 * case.trajectory.duration if part is None else 0.0, note=verdict.doubt or verdict.reason,
        texts=(text,), next_step=next_step,
    )  # fmt: skip


def _order_text(name: str, verdict: OrderVerdict, partly: bool, read: str) -> tuple[str, str]:
    """A finding about the order of a quaternion, and the remedy."""
    meant, other = verdict.meant, other_order(verdict.meant)
    if meant and meant == read:
        text = (
            f"the quaternion of `{name}` was read as {read}, but its numbers are shifted by one place: {verdict.reason}"
        )
        return text, f"write the numbers of the quaternion in the order {read}, as declared by the file"
    if partly:
        text = f"the quaternion of `{name}` is {meant} in part of the motion and was read as {other}: {verdict.reason}"
        return text, f"write the quaternion in one order throughout: {other}"
    text = f"the quaternion of `{name}` is {meant} and was read as {other}: {verdict.reason}"
    layout = "mujoco" if meant == "wxyz" else "pinocchio"
    return text, f"give the right order: --quaternion {meant or 'xyzw'}, or --layout {layout}"


_POSITIONS = "joint positions"
_VELOCITIES = "joint velocities"
_SLIDES = "joints that slide"
_DEGREES = 180.0 / np.pi
_BEYOND = 1.0  # [rad]: angles beyond their limits by that are far beyond
_TURN = 2.0 * np.pi
_LARGE = 10.0  # degrees that a motion reaches; radians that none does
_MANY = 0.3  # of the joints
_ALIKE = 0.9  # correlation of v and the rate of q
_NEAR = 1.15  # factors that are this near are the same
_TIMES = {1e3: "milliseconds", 1e6: "microseconds", 1e9: "nanoseconds"}
_SLOW = 1.0  # [s] between samples
_SMOOTH = 0.2  # of their length: steps that change by less from one to the next are those of a dense recording,
_ROUGH = 0.6  # and perhaps those that change by less than this
_FAR_OUT = 10.0  # ranges of a joint that slides
_STRAYS = 3  # samples
_UNEVEN = 0.5  # of the usual step between times
_CREEPS = 0.01  # of the largest velocity of a joint
_FAST = 10.0  # [rad/s], [m/s]: largest velocity where the robot tells none


@dataclass(frozen=True)
class _Unit:
    """What a quantity seems to be in: by which factor it is too large, why, what to do, and where if not all of it."""

    part: str
    factor: float
    text: str
    next_step: str
    where: str = ""


def _units(case: Case, rates: Rates) -> Series:
    """Factors by which positions, velocities, the base and times seem too large; 1 for none."""
    slope = _slope(case, rates)
    found = [
        _angles(case, rates, slope),
        _velocities(case, rates, slope),
        _slides(case),
        _base(case),
        _times(case, rates, slope),
    ]
    wrong = [unit for unit in found if unit is not None]
    parts = (_POSITIONS, _VELOCITIES, _SLIDES, "base position", "time")
    factors = {unit.part: unit.factor for unit in wrong}
    texts = {unit.part: unit.text for unit in wrong}
    places = {unit.part: unit.where for unit in wrong}
    return Series(
        "units", "×", np.array([0.5 * (case.trajectory.start + case.trajectory.end)]),
        tuple(places.get(part) or part for part in parts), np.array([[factors.get(part, 1.0) for part in parts]]),
        upper=1.0, width=0.5 * case.trajectory.duration, scale=10.0, note=_doubt(case, rates, wrong),
        texts=tuple(texts.get(part, "") for part in parts), next_step="; ".join(unit.next_step for unit in wrong),
    )  # fmt: skip


def _turning(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Entries of q and of v of the joints that turn about one axis and have an angle in q."""
    tree = case.robot.tree
    joints = [i for i in range(tree.n) if tree.kinds[i] == "revolute" and tree.nq_of(i)]
    return tree.q_index[joints].astype(int), tree.v_index[joints].astype(int)


def _slope(case: Case, rates: Rates) -> float:
    """Rate of q over given v, for the joints that turn; NaN where they are not alike, or nothing moves."""
    v, at = case.trajectory.v, np.setdiff1d(_turning(case)[1], rates.filled_rows).astype(int)
    if v is None or not len(at) or case.n < 3:
        return float("nan")
    rate, mean = rates.mean[:, at].ravel(), (0.5 * (v[1:, at] + v[:-1, at])).ravel()
    sizes = float(np.linalg.norm(rate)), float(np.linalg.norm(mean))
    if min(sizes) == 0.0 or float(rate @ mean) < _ALIKE * sizes[0] * sizes[1]:
        return float("nan")
    return sizes[0] / sizes[1]


def _slopes(case: Case, rates: Rates) -> Array:
    """(k,) the same for each joint that turns by itself."""
    v, at = case.trajectory.v, _turning(case)[1]
    out = np.full(len(at), np.nan)
    if v is None or case.n < 3:
        return out
    rate, mean = rates.mean[:, at], 0.5 * (v[1:, at] + v[:-1, at])
    sizes = np.linalg.norm(rate, axis=0), np.linalg.norm(mean, axis=0)
    alike = (np.sum(rate * mean, axis=0) >= _ALIKE * sizes[0] * sizes[1]) & (np.minimum(*sizes) > 0.0)
    alike &= ~np.isin(at, rates.filled_rows)
    out[alike] = sizes[0][alike] / sizes[1][alike]
    return out


def _is(factor: float, wanted: float) -> bool:
    return wanted / _NEAR < factor < wanted * _NEAR


def _angles(case: Case, rates: Rates, slope: float) -> _Unit | None:
    """Angles far beyond their limits that lie within them if they are degrees: all of them, or single columns."""
    at, _ = _turning(case)
    if not len(at):
        return None
    lower, upper = case.robot.limits.lower[at], case.robot.limits.upper[at]
    lower, upper = np.where(np.isfinite(lower), lower, -_TURN), np.where(np.isfinite(upper), upper, _TURN)
    q = _without_strays(case.q[:, at])
    excess = _excess(q, lower, upper)
    far = excess > _BEYOND
    inside = _excess(q / _DEGREES, lower, upper) < 0.1
    many = far.sum() >= max(2.0, _MANY * len(at)) or (far.sum() > 0 and _is(slope, _DEGREES))
    whole = bool(many and inside.all() and np.abs(q).max() > _LARGE)
    by_rate = np.array([_is(one, _DEGREES) for one in _slopes(case, rates)]) & (excess > 0.0)
    some = far if whole else ((excess > _TURN) | by_rate) & inside
    if not some.any():
        return None
    worst = int(np.argmax(np.where(some, excess, -np.inf)))
    names = [_joint_at(case, int(row)) for row in at[some]]
    reading = (
        f"read as degrees, all {len(at)} joints are within limits" if whole else "read as degrees, it is within limits"
    )
    text = (
        f"joint positions look like degrees: `{_joint_at(case, int(at[worst]))}` reaches"
        f" {np.abs(q[:, worst]).max():.1f}, its limits are {lower[worst]:.2f} … {upper[worst]:.2f} rad; {reading}"
    )
    which = "the angles" if whole else "the angles of " + ", ".join(names)
    part = _POSITIONS if whole else ", ".join(names)
    return _Unit(_POSITIONS, _DEGREES, text, f"convert {which} to radians (numpy.deg2rad)", part)


def _without_strays(q: Array) -> Array:
    """Columns in order of size, less the few largest and smallest numbers: a garbage row says nothing about units."""
    return np.sort(q, axis=0)[_STRAYS:-_STRAYS] if len(q) > 10 * _STRAYS else q


def _joint_at(case: Case, row: int) -> str:
    """Name of the joint at an entry of q."""
    return case.robot.joint_names[int(np.flatnonzero(case.robot.tree.q_index == row)[-1])]


def _excess(q: Array, lower: Array, upper: Array) -> Array:
    """(k,) how far each column leaves its limits."""
    return np.asarray(np.maximum(q.max(axis=0) - upper, lower - q.min(axis=0)))


def _velocities(case: Case, rates: Rates, slope: float) -> _Unit | None:
    step = "convert the velocities{} to rad/s (numpy.deg2rad)"
    if _is(slope, 1.0 / _DEGREES):
        text = f"joint velocities look like degrees per second: they are {1.0 / slope:.1f} times the rate of q"
        return _Unit(_VELOCITIES, _DEGREES, text, step.format(""))
    slopes = _slopes(case, rates)
    some = [k for k, one in enumerate(slopes) if _is(one, 1.0 / _DEGREES)]
    if not some:
        return None
    names = ", ".join(_joint_at(case, int(row)) for row in _turning(case)[0][some])
    times = f"{1.0 / slopes[some[0]]:.1f} times the rate of q"
    text = f"velocities of {names} look like degrees per second: they are {times}"
    return _Unit(_VELOCITIES, _DEGREES, text, step.format(f" of {names}"), names)


def _slides(case: Case) -> _Unit | None:
    """Joints that slide far beyond their limits, and lie within them if they are millimetres."""
    tree, limits = case.robot.tree, case.robot.limits
    at = tree.q_index[[i for i in range(tree.n) if tree.kinds[i] == "prismatic" and tree.nq_of(i)]].astype(int)
    at = at[np.isfinite(limits.lower[at]) & np.isfinite(limits.upper[at]) & (limits.upper[at] > limits.lower[at])]
    lower, upper, q = limits.lower[at], limits.upper[at], case.q[:, at]
    inside = _excess(q / 1e3, lower, upper) < case.tolerances.joint_position
    some = np.flatnonzero((_excess(q, lower, upper) > _FAR_OUT * (upper - lower)) & inside)
    if not len(some):
        return None
    k, names = int(some[0]), ", ".join(_joint_at(case, int(row)) for row in at[some])
    reaches = f"{np.abs(q[:, k]).max():.1f}, its limits are {lower[k]:.3g} … {upper[k]:.3g} m"
    text = f"positions look like millimetres: `{_joint_at(case, int(at[k]))}` reaches {reaches}"
    return _Unit(_SLIDES, 1e3, text, f"convert the positions of {names} to metres", names)


def _base(case: Case) -> _Unit | None:
    """A base a hundred or a thousand times as high as at home."""
    base = case.robot.base_joint
    if base is None or case.robot.tree.kinds[base] != "free":
        return None
    at = int(case.robot.tree.q_index[base]) + 2
    home, height = abs(float(case.robot.home[at])), float(np.median(np.abs(case.q[:, at])))
    if home < 0.02 or not 60.0 * home < height < 5000.0 * home:  # lower ones may fly or climb
        return None
    factor = 1e3 if height > 200.0 * home else 1e2
    unit = {1e3: "millimetres", 1e2: "centimetres"}[factor]
    text = f"the base position looks like {unit}: its height is {height:.0f}, in the home posture {home:.2f} m"
    return _Unit("base position", factor, text, "convert the position of the base to metres")


def _times(case: Case, rates: Rates, slope: float) -> _Unit | None:
    """Times in which everything is a thousand times as slow as v says; or seconds between samples of a recording."""
    step = float(np.median(np.diff(case.time)))
    factor = next((factor for factor in _TIMES if _is(slope, 1.0 / factor)), None)
    if factor is None and np.isnan(slope) and step >= _SLOW and case.n > 20:
        guess, v = _unit_of_steps(step), case.trajectory.v
        rests = not np.any(rates.steps) or (v is not None and not np.any(v))
        told = case.robot.contacts or (v is None and _roughness(case, rates, guess) < _SMOOTH)
        factor = guess if told and not rests else None
    if factor is None:
        return None
    text = f"times look like {_TIMES[factor]}: samples are {step:g} apart"
    return _Unit("time", factor, text, f"divide the times by {factor:g}, or give --rate {factor / step:g}")


def _unit_of_steps(step: float) -> float:
    """What steps of a recording are in: 5 … 1000 Hz."""
    return 1e3 if step < 200.0 else 1e6 if step < 2e5 else 1e9


def _roughness(case: Case, rates: Rates, factor: float) -> float:
    """How much steps of the joints change from one to the next, if times are in that unit; inf if that cannot be.

    Of a dense recording they change little, of way points as much as they are long. It cannot be where times are
    uneven, where a joint would be faster than it can, or where none would do more than creep.
    """
    dt, sizes = np.diff(case.time), float(np.linalg.norm(rates.steps))
    top = case.robot.limits.velocity
    speed = factor * np.abs(rates.mean).max(axis=0) / np.where(np.isfinite(top) & (top > 0.0), top, _FAST)
    uneven = float(np.quantile(np.abs(dt / np.median(dt) - 1.0), 0.9)) > _UNEVEN
    if uneven or not _CREEPS < float(speed.max()) <= 1.0:
        return float("inf")
    return float(np.linalg.norm(np.diff(rates.steps, axis=0))) / sizes


def _doubt(case: Case, rates: Rates, wrong: list[_Unit]) -> str:
    """A remark that times may be in another unit, if that is likely but not certain; else ""."""
    step = float(np.median(np.diff(case.time)))
    if wrong or case.trajectory.v is not None or step < _SLOW or case.n <= 20:
        return ""
    unit = _unit_of_steps(step)
    likely = _roughness(case, rates, unit) < _ROUGH
    return (
        f"samples are {step:g} s apart; if the times are {_TIMES[unit]}, give --rate {unit / step:g}" if likely else ""
    )
