"""Samples that leave the path and come back: found at their joint and time, before what follows; motion is not."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.collision.model import CollisionModel
from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.feasibility.rates.rates import check_jumps, jumps
from surefoot.motion import Trajectory, World
from surefoot.motion.audit_result import AuditResult
from surefoot.motion.reading import GivenMotion
from tests.feasibility.good_motions import loaded, squat
from tests.feasibility.stages import judge
from tests.motion.reading.walks import walk


def judged(name: str, motion: Trajectory) -> AuditResult:
    return audit(motion, loaded(name), replay=False, collisions=False)


def spiked(name: str, motion: Trajectory, joint: str, size: float, width: int = 1) -> tuple[Trajectory, float]:
    """The motion with a few samples of a joint off, and when."""
    robot, at = loaded(name), int(0.6 * len(motion))
    q = np.array(motion.q)
    q[at : at + width, robot.tree.q_index[robot.joint_names.index(joint)]] += size
    return replace(motion, q=q), float(motion.time[at])


@pytest.mark.parametrize("rate", [100.0, 1000.0])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize(("name", "joint"), [("g1", "left_knee_joint"), ("anymal", "LF_KFE")])
def test_a_spike_of_a_leg_is_the_only_finding_and_explains_the_slip(
    name: str, joint: str, given: bool, rate: float
) -> None:
    good = squat(name, rate, 2.0)
    motion, t = spiked(name, good if given else replace(good, v=None, a=None), joint, -0.2)
    result = judged(name, motion)
    assert [(f.item, f.where) for f in result.findings] == [("joint_jump", joint)]
    found = result.findings[0]
    assert found.start - 1e-9 <= t <= found.end + 1e-9
    assert found.end - found.start < 2.0 / rate
    assert found.covers


def test_the_slip_would_be_the_finding_without_it() -> None:
    """The same spike, wide enough to be a motion: the foot slides."""
    motion, _ = spiked("anymal", replace(squat("anymal", 200.0, 2.0), v=None, a=None), "LF_KFE", -0.2, 60)
    result = judged("anymal", motion)
    assert result.item("joint_jump").status == "passed"
    assert not result.passed


@pytest.mark.parametrize("width", [1, 2, 3])
def test_dropouts_of_a_few_samples_are_jumps(width: int) -> None:
    motion, t = spiked("g1", squat("g1", 200.0, 2.0), "left_elbow_joint", 0.1, width)
    series = judge(check_jumps, Case(loaded("g1"), World(), motion))[0]
    rows, parts = np.nonzero(series.failed)
    assert {series.parts[k] for k in parts} == {"left_elbow_joint"}
    np.testing.assert_allclose(series.time[rows], t + np.arange(width) / 200.0)


def test_a_step_that_stays_is_no_jump_and_back() -> None:
    motion = squat("g1", 200.0, 2.0)
    q = np.array(motion.q)
    q[200:, 0] += 0.03
    q[200:, 20] += 0.5
    assert not judge(check_jumps, Case(loaded("g1"), World(), replace(motion, q=q)))[0].failed.any()


def test_turns_of_a_fast_motion_are_none() -> None:
    """Coarse samples of a sine, uneven in time; and an impact that throws a joint back."""
    robot, rng = loaded("panda"), np.random.default_rng(0)
    t = np.cumsum(rng.uniform(0.002, 0.06, 200))
    for wave in (0.5 * np.sin(9.0 * t), 0.2 * np.abs(np.sin(6.0 * t))):
        motion = Trajectory.of(robot, t, robot.home + wave[:, None])
        assert not judge(check_jumps, Case(robot, World(ground=()), motion))[0].failed.any()


def test_sizes_and_surroundings() -> None:
    time = np.arange(8.0)
    value, around = jumps(time, np.array([0.1, 0.1, 1.0, -0.9, 0.15, 0.1, 0.1])[:, None])
    assert value[3, 0] == pytest.approx(0.9)
    assert around[3, 0] == pytest.approx(0.15)
    assert np.flatnonzero(value[:, 0] > 5.0 * around[:, 0]).tolist() == [3]


def test_a_tolerance_is_not_shown_as_a_margin() -> None:
    """At rest nothing explains any jump: what is left is ours, and is called a tolerance."""
    robot, time = loaded("g1"), np.arange(40) / 100.0
    q = np.tile(robot.home, (40, 1))
    q[20, 9] += 1e-3
    item = judged("g1", Trajectory.of(robot, time, q)).item("joint_jump")
    assert item.status == "passed"
    assert item.margin_text.startswith("off by 0.001 rad, tolerance ")
    assert judged("g1", Trajectory.of(robot, time, np.tile(robot.home, (40, 1)))).item("joint_jump").margin_text == "ok"


def test_a_garbage_sample_is_one_finding_and_passed_margins_have_their_tolerance(rng: np.random.Generator) -> None:
    """Every joint of a robot that stands jumps at once: all that follows is folded in, collisions too."""
    robot, time = loaded("g1"), np.arange(45) / 30.0
    q = np.tile(robot.home, (45, 1))
    q[31, 7:] = rng.standard_normal(29)
    result = audit(Trajectory.of(robot, time, q), robot, replay=False)
    defects = [one for one in result.findings if one.severity == "defect"]
    assert [one.item for one in defects] == ["joint_jump"], defects
    assert "other entries: the sample seems to be garbage" in defects[0].message
    assert {"joint_position", "self_collision"} <= set(result.groups[0].consequences)
    for item in result.items:
        below = item.status == "passed" and item.least_margin < -1e-9
        assert not below or (item.tolerance > 0.0 and "tolerance" in item.margin_text)


@pytest.mark.slow
def test_postures_without_a_motion_between_them_cost_little(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All in collision, all jumps: distances are computed at a bounded number of postures, whatever is between them."""
    robot, looked, count = loaded("g1"), [], 50
    measured = CollisionModel.distances
    monkeypatch.setattr(
        CollisionModel, "distances", lambda self, q, *more: looked.append(len(q)) or measured(self, q, *more)
    )
    q = np.tile(robot.home, (count, 1))
    q[:, 7:] = rng.uniform(robot.limits.lower[7:], robot.limits.upper[7:], (count, robot.nq - 7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = audit(Trajectory.of(robot, np.arange(count) / 30.0, q), robot, replay=False)
    assert not result.passed
    assert 0 < sum(looked) < 30 * count


def test_a_quaternion_of_a_garbage_sample_is_not_to_be_normalised() -> None:
    motion = walk("g1")
    q, lengths = np.array(motion.q), np.ones(len(motion))
    q[31, 7:] = np.arange(29)
    lengths[31] = 9.3
    given = GivenMotion(Trajectory.of(loaded("g1"), motion.time, q), {"root_joint": lengths})
    first = audit(given, loaded("g1"), replay=False, collisions=False).first
    assert first is not None
    assert first.item == "quaternion_norm"
    assert "omit the sample at 1.033 s" in first.next_step


def test_the_unit_of_an_item_is_that_of_its_worst_part() -> None:
    """The base turns by jumps and flies evenly."""
    robot, time = loaded("g1"), np.arange(30) / 30.0
    q = np.tile(robot.home, (30, 1))
    q[15:, 3:7] = pin.Quaternion(pin.exp3(np.array([0.0, 0.0, 0.5]))).coeffs()
    assert judged("g1", Trajectory.of(robot, time, q)).item("velocity_jump").unit == "rad/s"
