import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.control import ForceSchedule, JointPath, JointPd, JointWaves
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import Controller, State
from surefoot.robot.loading import load
from tests.control.following import assert_smooth, run

KEYFRAMES = [(0.5, {"joint1": 0.4}), (1.2, {"joint1": 1.0, "joint3": -1.0}), (1.5, {"joint2": -0.5})]
START = {"left_shoulder_roll": 0.8, "right_shoulder_roll": -0.8}
PITCH, ROLL = ["left_shoulder_pitch", "right_shoulder_pitch"], ["left_shoulder_roll", "right_shoulder_roll"]


def test_runs_straight_from_point_to_point():
    robot = load("arm4")
    schedule = ForceSchedule(robot, [(1.0, {"joint1": 2.0}), (2.0, {"joint3": -4.0}), (4.0, {"joint1": 0.0})])
    assert isinstance(schedule, Controller)
    want = {0.0: [2, 0, 0, 0], 1.5: [2, 0, -2, 0], 2.0: [2, 0, -4, 0], 3.0: [1, 0, -4, 0], 9.0: [0, 0, -4, 0]}
    for t, torque in want.items():
        command = schedule.command(t, State.of(robot))
        assert_allclose(command.torque, torque)
        assert command.position is None
        assert command.kd is None


@pytest.mark.parametrize("name", ["block", "v-support"])
def test_no_points_no_force(name):
    robot = load(name)
    assert_array_equal(ForceSchedule(robot, []).command(1.0, State.of(robot)).torque, np.zeros(robot.nu))


def test_wrong_points():
    robot = load("arm4")
    with pytest.raises(UnknownNameError):
        ForceSchedule(robot, [(0.0, {"joint": 1.0})])
    with pytest.raises(ShapeError):
        ForceSchedule(robot, [(1.0, {}), (0.5, {})])
    with pytest.raises(ShapeError):
        ForceSchedule(robot, [(1.0, {"joint1": np.inf})])


@pytest.fixture(scope="module")
def path():
    return JointPath(load("arm4"), KEYFRAMES)


def test_keyframes_are_reached_at_rest_and_the_others_keep_their_value(path):
    want = dict(zip(path.robot.joint_names, path.robot.home, strict=True))
    for time, positions in KEYFRAMES:
        want |= positions
        q, v, a = path.reference(time)
        assert_allclose(q, list(want.values()), atol=1e-12)
        assert_allclose([v, a], 0.0, atol=1e-9)
    assert_allclose(path.reference(9.0)[0], list(want.values()), atol=1e-12)
    assert_allclose(path.reference(-1.0)[0], path.robot.home, atol=1e-12)


def test_is_smooth(path):
    assert_smooth(path, [-0.1, 0.0, 0.2, 0.5, 0.9, 1.2, 1.33, 1.5, 2.0])


def test_commands_the_reference_with_gains_and_gravity(path):
    assert isinstance(path, Controller)
    state = State.of(path.robot, [0.3, 0.1, -0.2, 0.4])
    command, hold = path.command(0.8, state), JointPd(path.robot).command(0.8, state)
    q, v, _ = path.reference(0.8)
    assert_allclose(command.position, q)
    assert_allclose(command.velocity, v)
    for name in ("torque", "kp", "kd"):
        assert_allclose(getattr(command, name), getattr(hold, name))


def test_follows_in_exact_dynamics():
    robot = load("arm4")
    q, v, _ = run(JointPath(robot, [(0.3, {"joint1": 0.9})]), 2.0, dt=2e-3, weight=True)
    assert_allclose(q, [0.9, *robot.home[1:]], atol=5e-3)
    assert_allclose(v, 0.0, atol=2e-2)


def test_keyframe_at_zero_and_start_by_name():
    robot = load("arm4")
    path = JointPath(robot, [(0.0, {"joint2": -0.3}), (1.0, {"joint2": 0.1})], q0={"joint1": 0.5})
    assert_allclose(path.reference(0.0)[0], [0.5, -0.3, *robot.home[2:]], atol=1e-12)
    assert_allclose(path.reference(1.0)[0], [0.5, 0.1, *robot.home[2:]], atol=1e-12)


def test_continuous_joints_turn_on():
    robot = load("double_pendulum_continuous")
    joint = robot.drives[0].joint
    path = JointPath(robot, [(2.0, {joint: 7.0})], q0={joint: 1.0})
    assert_allclose(path.command(2.0, State.of(robot)).position[0], 7.0)
    q = path.reference(2.0)[0]
    row = robot.tree.q_index[robot.joint_index(joint)]
    assert_allclose(q[row : row + 2], [np.cos(7.0), np.sin(7.0)], atol=1e-12)


def test_followers_go_with_their_leaders():
    robot = load("talos_full")
    coupling = next(c for c in robot.couplings if c.source in {d.joint for d in robot.drives})
    low, high = (getattr(robot.limits, side) for side in ("lower", "upper"))
    leader, follower = (int(robot.tree.q_index[robot.joint_index(n)]) for n in (coupling.source, coupling.joint))
    goal = 0.5 * (low[leader] + high[leader])
    q = JointPath(robot, [(1.0, {coupling.source: goal})]).reference(1.0)[0]
    moved = q - robot.home
    assert abs(moved[leader]) > 1e-3
    assert_allclose(moved[follower], coupling.ratio * moved[leader])


def test_weightless_robot_floats_without_feedforward():
    robot = load("small-humanoid")
    path = JointPath(robot, [(1.0, {"left_elbow": -1.0})], gravity=False)
    assert_allclose(path.command(0.5, State.of(robot)).torque, 0.0, atol=1e-12)
    with pytest.raises(NotSupportedError, match="contact"):
        JointPath(robot.replace(contacts={}), [(1.0, {"left_elbow": -1.0})])


@pytest.mark.parametrize(
    ("keyframes", "kind", "word"),
    [
        ([(1.0, {"joint9": 0.0})], UnknownNameError, "joint9"),
        ([(1.0, {"joint1": 0.0}), (1.0, {"joint1": 1.0})], ShapeError, "increase"),
        ([(-1.0, {"joint1": 0.0})], ShapeError, "before"),
        ([(1.0, {"joint1": 9.0})], ShapeError, "joint1"),
        ([(1.0, {"joint1": np.nan})], ShapeError, "joint1"),
        ([], ShapeError, "empty"),
    ],
)
def test_wrong_keyframes(keyframes, kind, word):
    with pytest.raises(kind, match=word):
        JointPath(load("arm4"), keyframes)


def arm_circles(sense):
    """Both arms, stretched out sideways, run round in phase: the body pitches the other way."""
    waves = dict.fromkeys(PITCH, (0.6, 2.0, 0.0))
    waves |= {joint: (side * 0.4, 2.0, sense * np.pi / 2) for joint, side in zip(ROLL, (1.0, -1.0), strict=True)}
    return JointWaves(load("small-humanoid"), waves, cycles=2.0, q0=START, bandwidth=60.0)


def test_swings_about_the_start_posture():
    robot = load("arm4")
    waves = JointWaves(robot, {"joint2": (0.3, 2.0, 0.4), "joint4": (-0.1, 1.0, 0.0)}, start=0.5, cycles=3.0)
    for t in (0.0, 0.5, 3.5, 5.0):
        q, v, a = waves.reference(t)
        assert_allclose(q, robot.home, atol=1e-12)
        assert_allclose([v, a], 0.0, atol=1e-12)
    t = 1.3  # in the middle the envelope is one
    moved = waves.reference(0.5 + t)[0] - robot.home
    assert_allclose(moved[1], 0.3 * (np.sin(4.0 * np.pi * t + 0.4) - np.sin(0.4)), atol=1e-12)
    assert_allclose(moved[3], -0.1 * np.sin(2.0 * np.pi * t), atol=1e-12)
    assert_allclose(moved[[0, 2]], 0.0)


def test_waves_are_smooth():
    waves = JointWaves(load("arm4"), {"joint2": (0.3, 1.5, 0.4), "joint4": (0.1, 1.0, 0.0)}, start=0.5, cycles=2.5)
    assert_smooth(waves, [0.3, 0.5, 0.7, 1.0, 1.6, 2.5, 2.8, 3.0, 3.4])


def test_circles_of_the_arms_turn_a_floating_robot():
    """Momentum stays zero, the joints come back, the base has turned; round the other way it has turned back."""
    turns = []
    for sense in (1.0, -1.0):
        controller = arm_circles(sense)
        q, v, _ = run(controller, 1.1, dt=2e-3)
        robot = controller.robot
        hg = pin.computeCentroidalMomentum(robot.model, robot.model.createData(), q, v)
        assert_allclose(hg.vector, 0.0, atol=1e-4)
        assert_allclose(q[7:], controller.q0[7:], atol=2e-3)
        turns.append(pin.log3(pin.Quaternion(q[3:7]).matrix()))
    assert np.abs(turns[0]).argmax() == 1
    assert abs(turns[0][1]) > 0.01
    assert_allclose(turns[0][1], -turns[1][1], rtol=0.2)


@pytest.mark.parametrize(
    ("waves", "options", "kind"),
    [
        ({}, {}, ShapeError),
        ({"joint2": (0.1, 0.0, 0.0)}, {}, ShapeError),
        ({"joint2": (0.1, 1.0)}, {}, ShapeError),
        ({"joint2": (9.0, 1.0, 0.0)}, {}, ShapeError),
        ({"joint2": (0.1, 1.0, 0.0)}, {"cycles": 0.5}, ShapeError),
        ({"elbow": (0.1, 1.0, 0.0)}, {}, UnknownNameError),
    ],
)
def test_wrong_waves(waves, options, kind):
    with pytest.raises(kind):
        JointWaves(load("arm4"), waves, **options)
