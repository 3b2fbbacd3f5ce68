"""Layout: wrong orders, lengths, units and shifts are found; odd but legitimate motions are left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.feasibility.case import Case
from surefoot.feasibility.layout.layout import check_layout
from surefoot.feasibility.layout.shift import find_shift
from surefoot.feasibility.series import Series
from surefoot.motion import Trajectory, World
from surefoot.motion.reading.order import in_order, judge_order, turning
from tests.feasibility.foot_motions import central_rates, feet_motion, on_ground
from tests.feasibility.good_motions import loaded
from tests.feasibility.stages import judge, stages

ROBOTS = ("g1", "talos", "anymal", "hexapod")
_MOTIONS: dict[tuple[str, float], Trajectory] = {}


def _motion(name: str, rate: float = 200.0) -> Trajectory:
    if (name, rate) not in _MOTIONS:
        _MOTIONS[name, rate] = feet_motion(loaded(name), np.arange(round(2.0 * rate) + 1) / rate)
    return _MOTIONS[name, rate]


def _checked(name: str, motion: Trajectory, **more: object) -> dict[str, Series]:
    return {series.item: series for series in judge(check_layout, Case(loaded(name), World(), motion, **more))}  # type: ignore[arg-type]


def _failed(found: dict[str, Series]) -> list[tuple[str, str]]:
    return [(item, s.parts[k]) for item, s in found.items() for k in np.flatnonzero(s.failed.any(axis=0))]


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("rate", [30.0, 200.0])
def test_a_good_motion_passes(name: str, rate: float) -> None:
    motion = _motion(name, rate)
    assert _failed(_checked(name, motion)) == []
    assert _failed(_checked(name, replace(motion, v=None))) == []


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("meant", ["wxyz", "xyzw"])
@pytest.mark.parametrize("with_v", [True, False])
def test_a_wrong_order_is_found(name: str, meant: str, with_v: bool) -> None:
    motion = _motion(name)
    other = {"wxyz": "xyzw", "xyzw": "wxyz"}[meant]
    q = in_order(loaded(name), motion.q, other)  # rolled one way, so that rolling the other way makes it right
    found = _checked(name, replace(motion, q=q, v=motion.v if with_v else None))
    assert _failed(found)[:1] == [("quaternion_order", "root_joint")]
    series = found["quaternion_order"]
    assert f"is {meant} and was read as {other}" in series.texts[0]
    assert series.time[0] - series.width == pytest.approx(motion.start)
    assert series.time[0] + series.width == pytest.approx(motion.end)


def _posed(turns: np.ndarray, height: float, v: np.ndarray | None = None) -> Trajectory:
    """g1 at home in other attitudes: quaternions xyzw (n, 4)."""
    robot = loaded("g1")
    q = np.tile(robot.home, (len(turns), 1))
    q[:, 2], q[:, 3:7] = height, turns
    t = 0.005 * np.arange(len(turns))
    return Trajectory.of(robot, t, q, central_rates(robot, t, q) if v is None else v)


def _about(axis: tuple[float, float, float], angles: np.ndarray) -> np.ndarray:
    half = 0.5 * angles[:, None]
    return np.hstack([np.sin(half) * np.array(axis), np.cos(half)])


@pytest.mark.parametrize("with_v", [True, False])
@pytest.mark.parametrize(
    ("axis", "angles", "height"),
    [
        ((1.0, 0.0, 0.0), np.linspace(0.0, 6.0, 400), 1.0),  # rolls
        ((0.0, 1.0, 0.0), np.linspace(1.5, 1.6, 400), 0.15),  # lies
        ((1.0, 0.0, 0.0), np.linspace(3.0, 3.2, 400), 1.2),  # hangs upside down
        ((0.0, 0.0, 1.0), np.linspace(0.0, np.pi, 400), 0.78),  # turns about
        ((0.0, 0.0, 1.0), np.linspace(3.1, 3.2, 400), 0.78),  # looks back
    ],
)
def test_odd_attitudes_are_no_wrong_order(
    axis: tuple[float, float, float], angles: np.ndarray, height: float, with_v: bool
) -> None:
    motion = _posed(_about(axis, angles), height)
    assert _failed(_checked("g1", motion if with_v else replace(motion, v=None))) == []


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("meant", ["wxyz", "xyzw"])
@pytest.mark.parametrize("tilt", [0.0, 1e-4])
def test_an_upright_base_in_a_wrong_order_is_told_by_feet_that_slide(name: str, meant: str, tilt: float) -> None:
    robot = loaded(name)
    motion = feet_motion(robot, np.arange(101) / 50.0, tilt=tilt)
    assert not judge_order(robot, World(), motion.time, motion.q, None).meant
    wrong = in_order(robot, motion.q, {"wxyz": "xyzw", "xyzw": "wxyz"}[meant])
    assert judge_order(robot, World(), motion.time, wrong, None).meant == meant


def _standing(turned: float, way: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and q of g1 that stands turned about the vertical, or is drawn over the ground as it is."""
    robot, t = loaded("g1"), np.arange(101) / 50.0
    q = np.tile(on_ground(robot), (len(t), 1))
    q[:, 3:7] = _about((0.0, 0.0, 1.0), np.full(len(t), turned))
    q[:, 0] += way * np.sin(t)
    return t, q


@pytest.mark.parametrize("turned", [0.0, np.pi])
def test_feet_that_slide_in_any_order_tell_nothing(turned: float) -> None:
    time, q = _standing(turned, 0.05)
    assert judge_order(loaded("g1"), World(), time, q, None).meant == ""


@pytest.mark.parametrize("v", [None, np.zeros((101, 35))])
def test_a_robot_that_stands_the_wrong_way_round_is_doubted_only(v: np.ndarray | None) -> None:
    robot = loaded("g1")
    for turned, doubted in ((0.0, False), (np.pi, True), (2.0, False)):
        verdict = judge_order(robot, World(), *_standing(turned, 0.0), v)
        assert verdict.meant == ""
        assert ("faces backwards" in verdict.doubt) == doubted
    time, q = _standing(0.0, 0.0)
    q[:, 2] += 5.0
    hanging = judge_order(robot, World(), time, in_order(robot, q, "xyzw"), v)
    assert "upside down" in hanging.doubt


def test_a_velocity_that_fits_two_orders_leaves_it_to_the_ground() -> None:
    robot = loaded("g1")
    time, q = _standing(0.0, 0.0)
    q[:, 0] = time
    v = np.tile(np.eye(robot.nv)[0], (len(time), 1))  # half a turn about x leaves the way along x as it is
    wrong = in_order(robot, q, "xyzw")
    assert judge_order(robot, World(), time, wrong, v).meant == "wxyz"
    assert judge_order(robot, World(), time, q, v).meant == ""


def test_turning_is_the_logarithm_and_knows_no_signs(rng: np.random.Generator) -> None:
    for _ in range(20):
        a, step = pin.Quaternion(rng.standard_normal(4)).normalized(), rng.uniform(-1.5, 1.5, 3)
        b = pin.Quaternion(a.matrix() @ pin.exp3(step)).coeffs() * rng.choice([-1.0, 1.0])
        np.testing.assert_allclose(turning(np.array([a.coeffs(), b]))[0], step, atol=1e-12)


def test_the_verdict_needs_evidence() -> None:
    robot = loaded("g1")
    q = np.tile(robot.home, (10, 1))
    q[:, 2] = 5.0  # in the air, at rest
    verdict = judge_order(robot, World(), 0.1 * np.arange(10), q, None)
    assert not verdict.certain
    assert verdict.meant == ""


def test_lengths_of_quaternions_are_judged_as_they_were_given() -> None:
    motion = _motion("g1")
    length = np.where((motion.time > 0.5) & (motion.time < 0.8), 1.01, 1.0005)
    series = _checked("g1", motion, quaternion_norm={"root_joint": length})["quaternion_norm"]
    rows = np.flatnonzero(series.failed[:, 0])
    assert motion.time[rows[0]] == pytest.approx(0.505)
    assert motion.time[rows[-1]] == pytest.approx(0.795)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize(
    ("degrees_q", "degrees_v", "part"),
    [(True, False, "joint positions"), (True, True, "joint positions"), (False, True, "joint velocities")],
)
def test_degrees_are_found(name: str, degrees_q: bool, degrees_v: bool, part: str) -> None:
    motion = _motion(name)
    q, v = np.array(motion.q), np.array(motion.v)
    q[:, 7:] *= 180.0 / np.pi if degrees_q else 1.0
    v[:, 6:] *= 180.0 / np.pi if degrees_v else 1.0
    found = _checked(name, replace(motion, q=q, v=v))
    assert ("units", part) in _failed(found)
    assert "degrees" in found["units"].texts[found["units"].parts.index(part)]
    assert not found["column_shift"].failed.any()


@pytest.mark.parametrize("with_v", [True, False])
def test_millimetres_and_milliseconds_are_found(with_v: bool) -> None:
    motion = replace(_motion("g1"), v=_motion("g1").v if with_v else None)
    q = np.array(motion.q)
    q[:, :3] *= 1e3
    assert ("units", "base position") in _failed(_checked("g1", replace(motion, q=q)))
    q[:, :3] *= 0.1
    assert "centimetres" in _checked("g1", replace(motion, q=q))["units"].texts[3]
    late = _checked("g1", replace(motion, time=1e3 * motion.time))["units"]
    assert late.value[0, late.parts.index("time")] == 1e3
    assert "--rate 200" in late.next_step


@pytest.mark.parametrize("with_v", [True, False])
def test_a_robot_that_stands_for_minutes_is_in_no_other_unit(with_v: bool) -> None:
    robot, t = loaded("g1"), 2.0 * np.arange(40.0)
    v = np.zeros((40, robot.nv)) if with_v else None
    assert not _checked("g1", Trajectory.of(robot, t, np.tile(robot.home, (40, 1)), v))["units"].failed.any()


def _moved(column: np.ndarray, by: int) -> np.ndarray:
    """Later by so many samples, ends held."""
    return np.asarray(column[np.clip(np.arange(len(column)) - by, 0, len(column) - 1)])


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("by", [3, 12, -5, 40])
def test_a_shifted_column_is_found_with_its_joint_and_shift(name: str, by: int) -> None:
    motion, j = _motion(name), 8
    v = np.array(motion.v)
    v[:, j] = _moved(v[:, j], by)
    found = _checked(name, replace(motion, v=v))
    joint = Case(loaded(name), World(), motion).velocity_names[j]
    assert _failed(found) == [("column_shift", joint)]
    series = found["column_shift"]
    assert series.value[len(motion) // 3, j] == pytest.approx(by, abs=0.2)
    side = "lags" if by > 0 else "leads"
    assert series.texts[j] == f"velocity of `{joint}` {side} q by {5.0 * abs(by):.1f} ms ({abs(by)} samples)"
    assert series.next_step == f"shift the column by {'−' if by > 0 else '+'}{abs(by)} samples"


@pytest.mark.parametrize("name", ROBOTS)
def test_a_shift_of_all_columns_is_one_finding(name: str) -> None:
    motion = _motion(name)
    v = np.column_stack([_moved(column, 7) for column in np.asarray(motion.v).T])
    found = _checked(name, replace(motion, v=v))
    assert _failed(found) == [("column_shift", "v")]
    assert "lags q by 35.0 ms (7 samples)" in found["column_shift"].texts[0]


def test_a_shift_of_a_part_of_the_recording_is_found_where_it_is() -> None:
    motion, j = _motion("g1", 500.0), 9
    v = np.array(motion.v)
    v[400:700, j] = v[388:688, j]
    series = _checked("g1", replace(motion, v=v))["column_shift"]
    rows = np.flatnonzero(series.failed[:, j])
    assert rows[0] == pytest.approx(400, abs=15)
    assert rows[-1] == pytest.approx(700, abs=15)
    assert series.value[rows[0], j] == pytest.approx(12.0, abs=1.0)


@pytest.mark.parametrize("spoil", ["half a step", "noise", "flipped", "scaled", "constant", "tiny", "jump"])
def test_what_is_no_shift(spoil: str, rng: np.random.Generator) -> None:
    motion = _motion("g1")
    v = np.array(motion.v)
    case = Case(loaded("g1"), World(), motion)
    v = {
        "half a step": np.vstack([v[:1], stages(case).rates.mean]),  # as semi-implicit integration leaves them
        "noise": v + 0.02 * rng.standard_normal(v.shape),
        "flipped": -v,
        "scaled": 0.8 * v,
        "constant": v + 0.1,
        "tiny": v + 1e-6 * rng.standard_normal(v.shape),
        "jump": v + (np.abs(motion.time - 1.0) < 0.02)[:, None],
    }[spoil]
    assert not _checked("g1", replace(motion, v=v))["column_shift"].failed.any()


def test_shifts_are_exact_to_a_fraction_of_a_sample() -> None:
    t = np.linspace(0.0, 3.0, 601)
    for shift in (1.5, 4.3, -7.8):
        found = find_shift(np.sin(4.0 * t), np.sin(4.0 * (t - 0.005 * shift)), 50)
        assert found is not None
        assert found.samples == pytest.approx(shift, abs=0.05)
    assert find_shift(np.sin(4.0 * t), np.sin(4.0 * t), 50) is None
    assert find_shift(np.ones(600), np.ones(600), 50) is None


def test_uneven_times_do_not_hide_a_shift(rng: np.random.Generator) -> None:
    motion, j = _motion("g1", 500.0), 8
    keep = np.sort(rng.choice(len(motion), 700, replace=False))
    v = np.array(motion.v)
    late = np.column_stack([np.interp(motion.time - 0.04, motion.time, column) for column in v.T])
    v[:, j] = late[:, j]
    series = _checked("g1", Trajectory.of(loaded("g1"), motion.time[keep], motion.q[keep], v[keep]))["column_shift"]
    assert [series.parts[k] for k in np.flatnonzero(series.failed.any(axis=0))] == [series.parts[j]]
    assert "lags q by 4" in series.texts[j] or "lags q by 39" in series.texts[j]


def test_an_arm_has_no_base_to_judge() -> None:
    robot = loaded("panda")
    t = np.linspace(0.0, 2.0, 401)
    q = robot.home + 0.1 * np.sin(3.0 * t)[:, None]
    v = 0.3 * np.cos(3.0 * t)[:, None] * np.ones(robot.nv)
    found = _checked("panda", Trajectory.of(robot, t, q, v))
    assert _failed(found) == []
    assert found["quaternion_order"].note
    assert found["quaternion_norm"].note


@pytest.mark.parametrize(("name", "joint"), [("g1", "left_knee_joint"), ("hexapod", "left_front_femur")])
@pytest.mark.parametrize("given", [True, False])
def test_a_single_column_in_degrees_is_found_by_name(name: str, joint: str, given: bool) -> None:
    motion, robot = _motion(name), loaded(name)
    q = np.array(motion.q)
    q[:, robot.tree.q_index[robot.joint_names.index(joint)]] *= 180.0 / np.pi
    found = _checked(name, replace(motion, q=q, v=motion.v if given else None))
    assert ("units", joint) in _failed(found)
    assert joint in found["units"].next_step


@pytest.mark.parametrize(("name", "joint"), [("panda", "panda_finger_joint1"), ("harvester", "lift")])
def test_joints_that_slide_by_millimetres_are_found_by_name(name: str, joint: str) -> None:
    robot, t = loaded(name), np.linspace(0.0, 2.0, 201)
    row = int(robot.tree.q_index[robot.joint_names.index(joint)])
    q = np.tile(robot.home, (len(t), 1))
    middle, reach = 0.5 * (robot.limits.upper[row] + robot.limits.lower[row]), robot.limits.upper[row]
    q[:, row] = middle + 0.4 * (reach - middle) * np.sin(3.0 * t)
    assert _failed(_checked(name, Trajectory.of(robot, t, q))) == []
    q[:, row] *= 1e3
    found = _checked(name, Trajectory.of(robot, t, q))
    assert ("units", joint) in _failed(found)
    assert f"convert the positions of {joint} to metres" in found["units"].next_step


def test_a_joint_a_turn_off_is_not_taken_for_degrees() -> None:
    """Encoders that count turns."""
    motion, robot = _motion("g1"), loaded("g1")
    q = np.array(motion.q)
    q[:, robot.tree.q_index[robot.joint_names.index("left_knee_joint")]] += 2.0 * np.pi
    assert not _checked("g1", replace(motion, q=q, v=None))["units"].failed.any()


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("with_v", [True, False])
@pytest.mark.parametrize("part", [slice(160, None), slice(None, 300), slice(100, 250)])
def test_a_wrong_order_of_a_part_is_found_where_it_is(name: str, with_v: bool, part: slice) -> None:
    motion = _motion(name)
    q = np.array(motion.q)
    q[part] = in_order(loaded(name), q[part], "xyzw")  # so that wxyz makes it right
    found = _checked(name, replace(motion, q=q, v=motion.v if with_v else None))
    series = found["quaternion_order"]
    np.testing.assert_array_equal(np.flatnonzero(series.failed[:, 0]), np.arange(len(motion))[part])
    assert "is wxyz in part of the motion and was read as xyzw" in series.texts[0]
    assert series.next_step == "write the quaternion in one order throughout: xyzw"


def test_a_base_that_turns_at_once_does_not_change_its_order() -> None:
    motion = _posed(_about((0.0, 0.0, 1.0), np.where(np.arange(400) < 200, 0.0, 2.0)), 2.0)
    assert not _checked("g1", motion)["quaternion_order"].failed.any()


def test_the_order_that_was_read_is_no_remedy() -> None:
    motion = _motion("g1")
    q = in_order(loaded("g1"), motion.q, "wxyz")
    for read, advised in (("", True), ("wxyz", True), ("xyzw", False)):
        series = _checked("g1", replace(motion, q=q), quaternion_order=read)["quaternion_order"]
        assert series.failed.any()
        assert ("--quaternion xyzw" in series.next_step) == advised
        assert ("was read as xyzw, but its numbers are shifted by one place" in series.texts[0]) == (not advised)


def _swing(rate: float) -> Trajectory:
    robot, t = loaded("panda"), np.arange(round(2.5 * rate) + 1) / rate
    q = robot.home + 0.1 * np.sin(np.linspace(2.0, 5.0, robot.nv) * t[:, None]) * (np.arange(robot.nv) < 7)
    return Trajectory.of(robot, t, q)


@pytest.mark.parametrize("rate", [50.0, 100.0, 1000.0])
@pytest.mark.parametrize(("factor", "unit"), [(1e3, "milliseconds"), (1e6, "microseconds")])
def test_times_of_an_arm_in_another_unit_are_found_without_velocities(rate: float, factor: float, unit: str) -> None:
    motion = _swing(rate)
    units = _checked("panda", replace(motion, time=factor * motion.time))["units"]
    assert units.value[0, units.parts.index("time")] == factor
    assert unit in units.texts[units.parts.index("time")]
    assert f"--rate {rate:g}" in units.next_step


@pytest.mark.parametrize("seconds", [1.0, 5.0, 20.0])
def test_way_points_and_slow_motions_of_an_arm_are_not_taken_for_milliseconds(
    seconds: float, rng: np.random.Generator
) -> None:
    robot, t = loaded("panda"), seconds * np.arange(40)
    points = robot.home + 0.2 * rng.uniform(-1.0, 1.0, (40, robot.nv)) * (np.arange(robot.nv) < 7)
    slow = robot.home + 0.4 * np.sin(0.02 * t / seconds * np.ones((robot.nv, 1))).T * (np.arange(robot.nv) < 7)
    still = np.tile(robot.home, (40, 1))
    for q in (points, slow + 0.01 * (points - robot.home), still):
        units = _checked("panda", Trajectory.of(robot, t, q))["units"]
        assert not units.failed.any()


@pytest.mark.parametrize("of", ["q", "v"])
def test_one_column_in_degrees_is_told_by_its_rate(of: str) -> None:
    """A wrist whose degrees hardly leave its limits, and a velocity alone."""
    motion, robot = _swing(100.0), loaded("panda")
    q, v = np.array(motion.q), np.gradient(motion.q, motion.time, axis=0)
    j = 6
    q[:, j] -= robot.home[j]
    assert not _checked("panda", Trajectory.of(robot, motion.time, q, v))["units"].failed.any()
    q[:, j] *= 180.0 / np.pi if of == "q" else 1.0
    v[:, j] *= 180.0 / np.pi if of == "v" else 1.0
    found = _checked("panda", Trajectory.of(robot, motion.time, q, v))
    assert ("units", robot.joint_names[j]) in _failed(found)
    assert robot.joint_names[j] in found["units"].next_step
