"""Inverse kinematics for control loops: tracking, strict priorities through singularities, limits, fades."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.ik import stopping_velocity_bounds
from surefoot.ik.stepper.fade import MOST_GROUPS
from surefoot.ik.stepper.stepper import Stepper
from surefoot.solvers import HierarchySolver
from surefoot.solvers.hierarchy.problem import StackedHierarchy
from surefoot.tasks import (
    CenterOfMass,
    FrameOrientation,
    FramePose,
    FramePosition,
    JointAccelerations,
    JointLimits,
    JointSpeeds,
    Posture,
)

DT = 1e-3
HAND = "panda_hand"


@pytest.fixture(scope="module")
def panda():
    return sf.load("panda")


@pytest.fixture(scope="module")
def talos():
    return sf.load("talos")


def position(robot, q, frame: str):
    return sf.compile(robot).frames(q, [frame])[0][:3, 3]


def panda_tasks(panda, **options):
    start = position(panda, panda.home, HAND)
    return [FramePosition(HAND, start, name="hand", gain=20.0, **options), Posture(panda, priority=1)]


def standing_tasks(talos):
    """Feet; then centre of mass, trunk and hands; then posture."""
    k, q = sf.compile(talos), talos.home
    left, right, trunk, hand, other = k.frames(
        q, ["left_sole_link", "right_sole_link", "torso_2_link", "gripper_left_base_link", "gripper_right_base_link"]
    )
    return [
        FramePose("left_sole_link", left, name="left foot", gain=20.0),
        FramePose("right_sole_link", right, name="right foot", gain=20.0),
        CenterOfMass(k.com(q), priority=1, gain=10.0),
        FrameOrientation("torso_2_link", trunk[:3, :3], name="trunk", priority=1, gain=10.0),
        FramePose("gripper_left_base_link", hand, name="hand", priority=1, gain=10.0),
        FramePosition("gripper_right_base_link", other[:3, 3], name="other", priority=1, gain=10.0),
        Posture(talos, priority=2, weight=0.01),
    ]


# -- tracking ---------------------------------------------------------------------------------------------------------


def test_it_goes_where_it_is_told(panda) -> None:
    stepper = Stepper(panda, panda_tasks(panda), DT)
    goal = position(panda, panda.home, HAND) + np.array([0.1, -0.1, 0.05])
    stepper.set_target("hand", goal)
    for _ in range(600):
        found = stepper.step()
    np.testing.assert_allclose(position(panda, found.q_next, HAND), goal, atol=1e-5)


def test_rates_of_targets_leave_no_lag(panda) -> None:
    start, errors = position(panda, panda.home, HAND), {}
    for feed in (0.0, 1.0):
        stepper = Stepper(panda, panda_tasks(panda), DT)
        for i in range(400):
            rate = np.array([0.1, 0.1, 0.0])
            found = stepper.step()
            stepper.set_target("hand", start + (i + 1) * DT * rate, rate=feed * rate)
        errors[feed] = np.linalg.norm(position(panda, found.q_next, HAND) - (start + 400 * DT * rate))
    assert errors[0.0] == pytest.approx(np.linalg.norm(rate) / 20.0, rel=0.1)
    assert errors[1.0] < 2e-4


def test_a_step_is_the_velocity_times_dt(panda) -> None:
    stepper, goal = Stepper(panda, panda_tasks(panda), DT), position(panda, panda.home, HAND) + 0.01
    stepper.set_target("hand", goal)
    found = stepper.step()
    np.testing.assert_allclose(found.q_next, panda.home + DT * found.v, atol=1e-15)
    np.testing.assert_allclose(found.violation("hand"), 0.0, atol=1e-12)
    J = sf.compile(panda).jacobian(panda.home, HAND)[:3]
    np.testing.assert_allclose(J @ found.v, np.full(3, 20.0 * 0.01), rtol=1e-9)


def test_two_runs_are_the_same_to_the_bit(talos) -> None:
    def run():
        stepper = Stepper(talos, standing_tasks(talos), DT, acceleration=30.0)
        stepper.set_target("other", [0.7, -0.5, 1.3])
        return np.array([stepper.step().v for _ in range(60)])

    assert (run() == run()).all()


def test_what_is_refused_changes_nothing(panda) -> None:
    """The same ticks with and without calls that are refused between them, to the last bit."""

    def run(disturbed: bool):
        stepper, v = Stepper(panda, panda_tasks(panda), DT, acceleration=20.0), []
        stepper.set_target("hand", [0.4, 0.3, 0.5])
        for _ in range(50):
            if disturbed:
                with pytest.raises(ShapeError):
                    stepper.step(np.full(panda.nq, np.nan))
                with pytest.raises(ShapeError):
                    stepper.set_target("hand", np.full(3, np.nan))
            v.append(stepper.step().v)
        return np.array(v)

    assert (run(disturbed=False) == run(disturbed=True)).all()


def test_a_restless_loop_keeps_limits(talos) -> None:
    """Targets that jump, also out of reach, and tasks that fade at any time: limits hold, quaternions stay unit."""
    rng, stepper = np.random.default_rng(0), Stepper(talos, standing_tasks(talos), 0.005, acceleration=40.0)
    low, high, speed = talos.limits.lower[7:], talos.limits.upper[7:], talos.limits.velocity[6:]
    start, last = position(talos, talos.home, "gripper_right_base_link"), np.zeros(talos.nv)
    for i in range(600):
        if i % 20 == 0:
            stepper.set_target("other", start + rng.choice([0.1, 0.5, 3.0]) * rng.normal(size=3))
        if i % 50 == 0:
            stepper.fade(str(rng.choice(["hand", "trunk", "com"])), float(rng.integers(2)), 0.1)
        found = stepper.step()
        assert (found.q_next[7:] >= low).all()
        assert (found.q_next[7:] <= high).all()
        assert (np.abs(found.v[6:]) <= speed).all()
        assert np.abs(found.v - last)[6:].max() <= 40.0 * 0.005 + 1e-9
        last = found.v
    assert abs(np.linalg.norm(stepper.q[3:7]) - 1.0) < 1e-14


# -- priorities and singularities -------------------------------------------------------------------------------------


def truncated(problem: StackedHierarchy, levels: int) -> StackedHierarchy:
    """The same without lower levels."""
    rows = problem.starts[levels]
    ends = [np.concatenate([end[:rows], end[problem.rows :]]) for end in (problem.lower, problem.upper)]
    return StackedHierarchy(problem.A[:rows], *ends, problem.starts[: levels + 1], problem.damping[:levels])


def outside(problem: StackedHierarchy, x, rows: int):
    values = problem.A[:rows] @ x
    return values - np.clip(values, problem.lower[:rows], problem.upper[:rows])


@pytest.mark.parametrize(
    ("damping", "acceleration"),
    [(0.0, 50.0), *(pytest.param(*x, marks=pytest.mark.slow) for x in ((0.01, np.inf), (0.02, 50.0)))],
)
def test_priorities_are_strict_through_singularities(talos, damping: float, acceleration: float) -> None:
    """Knees are stretched, an arm is sent out of reach; what is below never changes what is above, and limits hold."""
    stepper = Stepper(talos, standing_tasks(talos), DT, damping=damping, acceleration=acceleration)
    com, hand = sf.compile(talos).com(talos.home), position(talos, talos.home, "gripper_right_base_link")
    low, high, speed = talos.limits.lower[7:], talos.limits.upper[7:], talos.limits.velocity[6:]
    damped, straight, last = 0, np.inf, np.zeros(talos.nv)
    for i in range(700):
        part = 0.5 - 0.5 * np.cos(2.0 * np.pi * i / 700)
        stepper.set_target("com", com + np.array([0.0, 0.0, 0.12 * part]))
        stepper.set_target("other", hand + part * np.array([0.7, -0.3, 0.3]))
        found = stepper.step()
        for levels in (1, 2):
            alone = HierarchySolver().solve_stacked(truncated(found.problem, levels))
            rows = found.problem.starts[levels]
            mine, theirs = (outside(found.problem, x, rows) for x in (found.optimum.x, alone.x))
            np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-9)
        assert (found.q_next[7:] >= low).all()
        assert (found.q_next[7:] <= high).all()
        assert (np.abs(found.v[6:]) <= speed).all()
        assert np.abs(found.v - last)[6:].max() <= acceleration * DT + 1e-9
        damped, straight, last = damped + found.damped, min(straight, found.q_next[10]), found.v
    assert straight < 0.35
    assert (damped > 0) == (damping > 0.0)


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acceleration", [5.0, 40.0])
def test_joints_brake_in_time(panda, acceleration: float) -> None:
    """A joint that is driven at full speed towards its limit stops at it, without braking harder than it may."""
    speed = np.zeros(panda.nv)
    speed[0] = 10.0
    stepper = Stepper(panda, [JointSpeeds(panda, speed, name="run")], DT, acceleration=acceleration)
    upper, velocities = panda.limits.upper[0], []
    for _ in range(6000):
        found = stepper.step()
        velocities.append(found.v[0])
        assert found.q_next[0] <= upper
    change = np.diff(velocities) / DT
    assert max(velocities) > 0.5 * panda.limits.velocity[0]
    assert np.abs(change).max() <= acceleration * (1.0 + 1e-9)
    assert change.min() < -0.9 * acceleration
    assert upper - found.q_next[0] < 1e-3


def test_margins_are_kept(panda) -> None:
    joints = panda.joint_names[:7]
    stepper = Stepper(panda, [JointSpeeds(panda, 10.0, joints, name="run")], DT, joints=joints, margin=0.1)
    for _ in range(3000):
        found = stepper.step()
    np.testing.assert_allclose(found.q_next[:7], panda.limits.upper[:7] - 0.1, atol=1e-9)
    assert (found.bounds_active == 1).all()
    with pytest.raises(ShapeError, match="finger"):
        Stepper(panda, [JointSpeeds(panda, 10.0, name="run")], DT, margin=0.1)


def test_beyond_a_limit_there_is_only_the_way_back(panda) -> None:
    stepper = Stepper(panda, [JointSpeeds(panda, 1.0, name="run")], DT)
    q = panda.home.copy()
    q[0] = panda.limits.upper[0] + 0.2
    assert stepper.step(q).v[0] == 0.0
    back = Stepper(panda, [JointSpeeds(panda, -1.0, name="run")], DT)
    assert back.step(q).v[0] == pytest.approx(-1.0)


def test_bounds_are_those_of_the_parabola(panda) -> None:
    """The compiled bounds on the first velocity, against the formula for one joint at a time."""
    q = 0.5 * (panda.limits.lower + panda.limits.upper) + 0.49 * (panda.limits.upper - panda.limits.lower)
    run = JointSpeeds(panda, 100.0, name="run")
    found = Stepper(panda, [run], DT, acceleration=1e4).step(q)
    _, most = stopping_velocity_bounds(q, panda.limits.lower, panda.limits.upper, 1e4, DT, panda.limits.velocity)
    np.testing.assert_allclose(found.v[:7], np.minimum(most, 1e4 * DT)[:7], rtol=1e-12)
    assert found.v[7] == found.v[8]  # the fingers are coupled


def test_a_tolerance_is_no_wish(panda) -> None:
    """Inside its margins a task asks for nothing; outside, for the way to the nearer end."""
    start = position(panda, panda.home, HAND)
    task = FramePosition(HAND, start, name="hand", gain=10.0, below=0.02, above=0.02)
    stepper = Stepper(panda, [task], DT)
    stepper.set_target("hand", start + 0.019)
    assert np.abs(stepper.step(panda.home).v).max() < 1e-12
    stepper.reset(panda.home)
    stepper.set_target("hand", start + np.array([0.03, 0.0, 0.0]))
    found = stepper.step()
    assert (sf.compile(panda).jacobian(panda.home, HAND) @ found.v)[0] == pytest.approx(10.0 * 0.01, rel=1e-9)


def test_only_the_named_joints_move(panda) -> None:
    names = panda.joint_names[:3]
    stepper = Stepper(panda, panda_tasks(panda), DT, joints=names)
    stepper.set_target("hand", [0.4, 0.2, 0.5])
    v = stepper.step().v
    assert (v[3:] == 0.0).all()
    assert np.abs(v[:3]).max() > 0.1


def test_limits_of_position_speed_and_acceleration_go_together(panda) -> None:
    """As tasks, without bounds of the stepper: all three hold while a joint runs to its limit and stops there."""
    joints = panda.joint_names[:7]
    tasks = [
        JointLimits(panda, 0.05, joints, name="positions", gain=5.0),
        JointSpeeds.limits(panda, 0.4, name="speeds", joints=joints),
        JointAccelerations.limits(panda, 8.0, name="accelerations", joints=joints),
        JointSpeeds(panda, 10.0, joints, name="run", priority=1),
    ]
    stepper = Stepper(panda, tasks, DT, joints=joints, limits=False, speed_share=np.inf)
    last, fastest, hardest = np.zeros(7), 0.0, 0.0
    for _ in range(6000):
        found = stepper.step()
        v = found.v[:7]
        assert (found.q_next[:7] <= panda.limits.upper[:7] - 0.05 + 1e-9).all()
        assert (np.abs(v) <= 0.4 * panda.limits.velocity[:7] + 1e-9).all()
        assert (np.abs(v - last) <= 8.0 * DT + 1e-9).all()
        fastest, hardest = max(fastest, v[0]), max(hardest, np.abs(v - last).max() / DT)
        last = v
    assert fastest == pytest.approx(0.4 * panda.limits.velocity[0])
    assert hardest == pytest.approx(8.0)
    np.testing.assert_allclose(found.q_next[:7], panda.limits.upper[:7] - 0.05, atol=1e-5)


def test_an_acceleration_is_the_change_since_the_last_tick(panda) -> None:
    stepper = Stepper(panda, [JointAccelerations(panda, 0.5, panda.joint_names[:2], name="lift")], DT)
    for k in range(1, 50):
        np.testing.assert_allclose(stepper.step().v[:2], 0.5 * k * DT, rtol=1e-9)
    stepper.set_target("lift", 0.0)
    np.testing.assert_allclose(stepper.step().v[:2], 0.5 * 49 * DT, rtol=1e-9)


def test_accelerations_as_a_task_are_those_of_the_bounds(panda) -> None:
    """Far from position limits, the task before all others and the bound of the stepper give the same motion."""
    goal = position(panda, panda.home, HAND) + np.array([0.1, -0.1, 0.05])
    hand = FramePosition(HAND, goal, name="hand", gain=20.0, priority=1)
    rest = Posture(panda, priority=2)
    task = Stepper(panda, [JointAccelerations.limits(panda, 30.0, name="gently"), hand, rest], DT)
    bound = Stepper(panda, [hand, rest], DT, acceleration=30.0)
    for _ in range(100):
        np.testing.assert_allclose(task.step().v, bound.step().v, atol=1e-9)


# -- fades ------------------------------------------------------------------------------------------------------------


def jumps(stepper: Stepper, ticks: int) -> float:
    """Largest change of v from tick to tick."""
    v = np.array([stepper.step().v for _ in range(ticks)])
    return float(np.abs(np.diff(v, axis=0)).max())


def test_tasks_fade_without_jumps(panda) -> None:
    """Switched on at once, a task jumps; faded in and out again, it does not, and it ends where it should."""
    goal = position(panda, panda.home, HAND) + np.array([0.05, 0.1, 0.05])
    largest = {}
    for duration in (0.0, 0.3):
        stepper = Stepper(panda, panda_tasks(panda), DT)
        stepper.set_target("hand", goal)
        stepper.fade("hand", 0.0, 0.0)
        assert np.abs(stepper.step().v).max() < 1e-12
        stepper.fade("hand", 1.0, duration)
        largest[duration] = jumps(stepper, 600)
        assert stepper.activation("hand") == 1.0
        np.testing.assert_allclose(position(panda, stepper.q, HAND), goal, atol=1e-3)
        stepper.fade("hand", 0.0, duration)
        largest[duration] = max(largest[duration], jumps(stepper, 400))
        assert np.linalg.norm(position(panda, stepper.q, HAND) - goal) > 0.01
    assert largest[0.0] > 0.5
    assert largest[0.3] < 0.05


def test_fades_of_different_times_overlap_without_jumps(panda) -> None:
    start = position(panda, panda.home, HAND)
    tasks = [
        FramePosition(HAND, start + np.array([0.1, 0.0, 0.0]), name="reach", gain=5.0),
        FramePosition(HAND, start - np.array([0.1, 0.1, 0.0]), name="against", gain=5.0, mask="xy"),
        FramePosition("panda_link4", (0.0, 0.05, 0.0), name="elbow", mask="y", priority=1, gain=5.0),
        Posture(panda, priority=2),
    ]
    stepper = Stepper(panda, tasks, DT)
    for name in ("reach", "against", "elbow"):
        stepper.fade(name, 0.0, 0.0)
    stepper.step()
    v = [stepper.step().v]
    for i in range(900):
        if i % 100 == 0 and i < 900:
            name = ("reach", "against", "elbow")[i // 100 % 3]
            stepper.fade(name, 0.0 if i >= 300 and i < 600 else 1.0, 0.25)
        v.append(stepper.step().v)
    assert np.abs(np.diff(v, axis=0)).max() < 0.05
    assert np.abs(v).max() > 0.2


def test_a_faded_task_is_as_if_it_were_not_there(panda) -> None:
    tasks = [*panda_tasks(panda), FrameOrientation(HAND, np.eye(3), name="turn", gain=5.0)]
    for method in ("hierarchy", "weighted"):
        off, without = Stepper(panda, tasks, DT, method=method), Stepper(panda, tasks[:2], DT, method=method)
        off.fade("turn", 0.0, 0.0)
        for stepper in (off, without):
            stepper.set_target("hand", [0.4, 0.2, 0.5])
        for _ in range(20):
            np.testing.assert_allclose(off.step().v, without.step().v, atol=1e-10)


def test_too_many_fades_are_refused(panda) -> None:
    tasks = [Posture(panda, name=f"p{k}", priority=k) for k in range(MOST_GROUPS + 1)]
    stepper = Stepper(panda, tasks, DT)
    for k in range(MOST_GROUPS + 1):
        stepper.fade(f"p{k}", 0.0, 1.0 + k)
    stepper.time = 0.5
    with pytest.raises(NotSupportedError, match="overlap"):
        stepper.step()


# -- the weighted method, errors --------------------------------------------------------------------------------------


def test_weights_come_near_the_hierarchy_as_softness_falls(panda) -> None:
    start = position(panda, panda.home, HAND)
    tasks = [FramePosition(HAND, start + 0.05, name="a"), FramePosition(HAND, start - 0.05, name="b", priority=1)]
    strict = Stepper(panda, tasks, DT).step()
    assert np.abs(strict.violation("a")).max() < 1e-12
    misses = []
    for softness in (1e-2, 1e-4, 1e-6):
        found = Stepper(panda, tasks, DT, method="weighted", softness=softness).step()
        misses.append(float(np.abs(found.violation("a")).max()))
        np.testing.assert_allclose(found.violation("a"), -softness / (1.0 + softness) * 0.1, rtol=1e-6)
    assert misses[0] > misses[1] > misses[2] > 0.0


def test_wrong_calls_are_refused(panda) -> None:
    stepper = Stepper(panda, panda_tasks(panda), DT)
    with pytest.raises(UnknownNameError, match="hand"):
        stepper.set_target("hnd", np.zeros(3))
    with pytest.raises(UnknownNameError, match="hierarchy"):
        Stepper(panda, panda_tasks(panda), DT, method="hierarchie")
    with pytest.raises(ShapeError):
        stepper.step(np.zeros(3))
    with pytest.raises(ShapeError, match="finite"):
        stepper.step(np.full(panda.nq, np.nan))
    with pytest.raises(ShapeError, match="between 0 and 1"):
        stepper.fade("hand", 1.5, 0.1)
    with pytest.raises(ShapeError, match="rate itself"):
        Stepper(panda, [JointSpeeds(panda, name="run")], DT).set_target("run", 1.0, rate=np.zeros(panda.nv))
    with pytest.raises(ShapeError, match="accelerations"):
        Stepper(panda, panda_tasks(panda), DT, acceleration=-1.0)
    with pytest.raises(ShapeError):
        Stepper(panda, panda_tasks(panda), 0.0)
    with pytest.raises(UnknownNameError):
        stepper.step().violation("foot")
