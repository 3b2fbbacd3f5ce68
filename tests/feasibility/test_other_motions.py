"""Good motions as other tools write them pass clean, and defects planted in them are found first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from surefoot.control import JointPd
from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.motion import State, Trajectory, World
from surefoot.motion.audit_result import AuditResult, Finding
from surefoot.sim import Settings, Simulation
from tests.feasibility.foot_motions import feet_motion, on_ground, smooth
from tests.feasibility.good_motions import loaded, squat
from tests.feasibility.stages import stages
from tests.feasibility.standing_motions import of_log

Change = Callable[[Trajectory], Trajectory]


def judged(name: str, motion: Trajectory, world: World | None = None) -> AuditResult:
    return audit(motion, loaded(name), world, replay=False, collisions=False)


def defects(result: AuditResult) -> list[str]:
    return [finding.message for finding in result.findings if finding.severity == "defect"]


def first(result: AuditResult) -> Finding:
    assert result.first is not None
    return result.first


# -- ways of writing a motion ------------------------------------------------------------------------------------------


def positions(motion: Trajectory) -> Trajectory:
    return replace(motion, v=None, a=None)


def with_encoder_noise(motion: Trajectory) -> Trajectory:
    q = np.array(motion.q)
    q[:, 7:] += np.random.default_rng(0).normal(0.0, 1e-4, q[:, 7:].shape)
    return replace(motion, q=q, v=None, a=None)


def with_four_digits(motion: Trajectory) -> Trajectory:
    q = np.array(motion.q)
    q[:, :3], q[:, 7:] = np.round(q[:, :3], 4), np.round(q[:, 7:], 4)
    return replace(motion, q=q, v=None, a=None)


def in_single_precision(motion: Trajectory) -> Trajectory:
    q, v, a = (np.float32(x).astype(float) for x in (motion.q, motion.v, motion.a))
    return replace(motion, q=q, v=v, a=a)


def with_six_digits_from_100_s(motion: Trajectory) -> Trajectory:
    q, v, a = (np.round(x, 6) for x in (motion.q, motion.v, motion.a))
    return replace(motion, time=np.round(motion.time + 100.0, 6), q=q, v=v, a=a)


def with_flipped_quaternions(motion: Trajectory) -> Trajectory:
    q = np.array(motion.q)
    q[:, 3:7] *= np.random.default_rng(1).choice([-1.0, 1.0], (len(q), 1))
    return replace(motion, q=q)


def at_uneven_times(motion: Trajectory) -> Trajectory:
    keep = np.sort(np.random.default_rng(2).choice(len(motion), len(motion) // 2, replace=False))
    fields = {name: getattr(motion, name)[keep] for name in ("time", "q", "v", "a")}
    return replace(motion, **fields)


WAYS: list[Change] = [
    positions, with_encoder_noise, with_four_digits, in_single_precision, with_six_digits_from_100_s,
    with_flipped_quaternions, at_uneven_times,
]  # fmt: skip


@pytest.mark.parametrize("name", ["g1", pytest.param("anymal", marks=pytest.mark.slow)])
@pytest.mark.parametrize("rate", [30.0, 1000.0])
@pytest.mark.parametrize("change", WAYS)
def test_a_good_motion_passes_however_it_is_written(name: str, rate: float, change: Change) -> None:
    assert defects(judged(name, change(squat(name, rate, 2.0)))) == []


def test_noise_does_not_count_as_motion_against_dry_friction() -> None:
    """The grippers of this robot have as much dry friction as torque."""
    assert defects(judged("talos", with_encoder_noise(squat("talos", 500.0, 2.0)))) == []


@pytest.mark.parametrize("name", ["g1", "anymal"])
@pytest.mark.parametrize("rate", [50.0, 1000.0])
def test_free_flight_passes(name: str, rate: float) -> None:
    robot = loaded(name)
    time = np.arange(0.02, 0.38, 1.0 / rate)
    q, v, a = (
        np.tile(on_ground(robot), (len(time), 1)),
        np.zeros((len(time), robot.nv)),
        np.zeros((len(time), robot.nv)),
    )
    q[:, 2] += 9.81 * (0.2 * time - 0.5 * time**2)
    v[:, 2], a[:, 2] = 9.81 * (0.2 - time), -9.81
    motion = Trajectory.of(robot, time, q, v, a=a)
    assert defects(judged(name, motion)) == []
    assert defects(judged(name, positions(motion))) == []


@pytest.mark.parametrize(
    "name", ["solo12", *(pytest.param(name, marks=pytest.mark.slow) for name in ("anymal", "go2"))]
)
def test_feet_that_planners_take_for_points_do_not_slip(name: str) -> None:
    """The origin of the foot's frame is held, and the ball turns about it with the leg."""
    robot = loaded(name)
    motion = feet_motion(robot, np.linspace(0.0, 2.0, 101), tilt=0.3)
    assert defects(judged(name, positions(motion))) == []


@cache
def _standing_log(engine: str) -> Trajectory:
    robot = loaded("anymal")
    state = State(0.0, on_ground(robot), np.zeros(robot.nv))
    settings = Settings(0.6, 0.001, 0.001, engine=engine)
    return of_log(robot, Simulation(robot, JointPd(robot), World(), settings, initial=state).run())


@pytest.mark.parametrize("engine", ["mujoco", "native"])
@pytest.mark.parametrize("step", [1, 5, 20])
def test_logs_of_engines_pass_at_any_rate(engine: str, step: int) -> None:
    log, rows = _standing_log(engine), slice(None, None, step)
    wrenches = {contact: values[rows] for contact, values in log.wrenches.items()}
    some = replace(log, time=log.time[rows], q=log.q[rows], v=log.v[rows], tau=log.tau[rows], wrenches=wrenches)
    for motion in (some, replace(some, wrenches={}), replace(some, tau=None), replace(some, tau=None, wrenches={})):
        assert defects(judged("anymal", motion)) == []


def test_a_step_passes_and_its_slow_lift_is_no_slip() -> None:
    """Three feet stand, the fourth goes 4 cm sideways, 1 cm high and slowly, and the base stays over the others."""
    robot = loaded("anymal")
    time = np.linspace(0.0, 3.0, 301)
    lift = 0.011 * smooth(time, 1.0, 1.5) * (1.0 - smooth(time, 1.7, 2.2))
    way = np.stack([np.zeros(301), 0.04 * smooth(time, 1.0, 2.2), lift], axis=1)
    result = judged("anymal", feet_motion(robot, time, {"LF_FOOT": way}))
    assert result.item("foot_slip").status == "passed"


def test_there_is_no_ground_under_an_arm_unless_told() -> None:
    robot = loaded("ur5")
    q = np.tile(robot.home, (30, 1))
    q[:, 1] += 0.5 * smooth(np.arange(30.0), 0.0, 29.0)
    motion = Trajectory.of(robot, np.arange(30) * 0.1, q)
    assert defects(audit(motion, robot, replay=False)) == []
    assert first(audit(motion, robot, World(), replay=False)).item == "obstacle_clearance"


# -- defects -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["g1", "anymal"])
def test_friction_violation_in_wrenches_without_torques(name: str) -> None:
    """Torques that such wrenches would need say nothing."""
    motion, robot = squat(name), loaded(name)
    efforts = stages(Case(robot, World(), motion)).efforts
    wrenches = {contact: np.array(efforts.wrenches[:, k]) for k, contact in enumerate(robot.contacts)}
    contact = list(wrenches)[-1]
    wrenches[contact][300:400, 0] = 1.3 * 0.7 * wrenches[contact][300:400, 2]
    found = first(judged(name, replace(motion, wrenches=wrenches)))
    assert (found.item, found.where) == ("friction", contact)
    assert (found.start, found.end) == pytest.approx((motion.time[300], motion.time[399]), abs=0.02)


@pytest.mark.parametrize(("name", "foot"), [("g1", "left_ankle_roll_link"), ("solo12", "HR_FOOT")])
@pytest.mark.parametrize("length", [0.15, 0.8])
def test_slip_of_one_foot(name: str, foot: str, length: float) -> None:
    robot = loaded(name)
    time = np.linspace(0.0, 3.0, 301)
    way = np.outer(smooth(time, 1.2, 1.2 + length), [0.02, 0.0224, 0.0])
    motion = feet_motion(robot, time, {foot: way}, tilt=0.03)
    for one in (motion, positions(motion)):
        found = first(judged(name, one))
        assert (found.item, found.where) == ("foot_slip", foot)
        assert found.value == pytest.approx(0.03, abs=6e-3)
        assert 1.2 - 0.1 <= found.start <= 1.2 + 0.5 * length
        assert 1.2 + 0.5 * length <= found.end <= 1.2 + 1.3 * length + 0.1


@pytest.mark.parametrize("name", ["g1", pytest.param("anymal", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("rate", "shift"), [(1000.0, 2), (100.0, 50), (100.0, -50), (50.0, 40)])
def test_velocities_of_all_joints_shifted(name: str, rate: float, shift: int) -> None:
    motion = squat(name, rate)
    v = np.array(motion.v)
    v[:, 6:] = np.roll(v[:, 6:], shift, axis=0)
    found = first(judged(name, replace(motion, v=v, a=None)))
    assert found.item == "column_shift"
    assert found.value == pytest.approx(shift, abs=1.0)


def test_quaternions_read_as_wxyz_though_they_were_xyzw() -> None:
    """Identity becomes a half turn about the vertical; only small tilts of flat feet tell."""
    robot = loaded("small-humanoid")
    motion = feet_motion(robot, np.linspace(0.0, 2.0, 101), tilt=0.05)
    assert defects(judged("small-humanoid", positions(motion))) == []
    q = np.array(motion.q)
    q[:, 3:7] = np.roll(q[:, 3:7], -1, axis=1)
    assert first(judged("small-humanoid", replace(motion, q=q, v=None))).item == "quaternion_order"
