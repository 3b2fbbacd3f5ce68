import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.control import JointPath, JointPd
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import Controller, State
from surefoot.robot.load import load
from tests.control.following import assert_smooth, run

KEYFRAMES = [(0.5, {"joint1": 0.4}), (1.2, {"joint1": 1.0, "joint3": -1.0}), (1.5, {"joint2": -0.5})]


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
    path = JointPath(robot, [(0.0, {"joint2": -0.3}), (1.0, {"joint2": 0.1})], q_start={"joint1": 0.5})
    assert_allclose(path.reference(0.0)[0], [0.5, -0.3, *robot.home[2:]], atol=1e-12)
    assert_allclose(path.reference(1.0)[0], [0.5, 0.1, *robot.home[2:]], atol=1e-12)


def test_continuous_joints_turn_on():
    robot = load("double_pendulum_continuous")
    joint = robot.drives[0].joint
    path = JointPath(robot, [(2.0, {joint: 7.0})], q_start={joint: 1.0})
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
