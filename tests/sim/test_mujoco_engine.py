import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, UnknownNameError
from surefoot.motion import Command, Engine, State, World
from surefoot.robot import Drive, Joint, Link, Robot
from surefoot.robot.load import load
from surefoot.sim import MujocoEngine

from .examples import block, pendulum


def wheel(kind="continuous", limit=np.inf):
    joint = Joint("j", kind, axis=(0.0, 0.0, 1.0))
    body = Link("w", "a", joint, mass=1.0, inertia=0.5 * np.eye(3))
    return Robot.from_tree("wheel", [Link("a"), body], drives=(Drive("j", torque_limit=limit),))


def angle(state):
    return np.arctan2(state.q[1], state.q[0])


def test_is_an_engine():
    assert isinstance(MujocoEngine(pendulum()), Engine)


def test_torque_accelerates():
    engine = MujocoEngine(wheel(), dt=0.001)
    for _ in range(1000):
        state = engine.step(Command(torque=np.array([0.2])))
    assert_allclose(state.v, 0.2 / 0.5, rtol=1e-9)
    assert_allclose(state.t, 1.0, rtol=1e-15)


def test_gains_are_the_implicit_drive_law():
    """One step against the closed form of I (v⁺ − v)/h = τ + kp (r − q − h v⁺) + kd (w − v⁺)."""
    engine = MujocoEngine(wheel(), dt=0.01)
    q, v, h, kp, kd, tau, r, w, inertia = 0.3, -0.7, 0.01, 40.0, 3.0, 0.6, 1.1, 0.2, 0.5
    engine.reset(State.of(engine.robot, [np.cos(q), np.sin(q)], [v]))
    one = np.ones(1)
    state = engine.step(Command(torque=tau * one, position=r * one, velocity=w * one, kp=kp * one, kd=kd * one))
    wanted = (inertia * v + h * (tau + kp * (r - q) + kd * w)) / (inertia + h * kd + h * h * kp)
    assert_allclose(state.v, wanted, rtol=1e-12)
    assert_allclose(engine.acting_forces(np.array([v])), inertia * (wanted - v) / h, rtol=1e-10)


@pytest.mark.parametrize(("start", "target"), [(3.0, -3.0), (-3.0, 3.0)])
def test_continuous_joint_goes_the_short_way(start, target):
    engine = MujocoEngine(wheel(), dt=0.002)
    engine.reset(State.of(engine.robot, [np.cos(start), np.sin(start)]))
    one = np.ones(1)
    first = engine.step(Command(position=target * one, kp=50.0 * one, kd=5.0 * one))
    assert np.sign(first.v[0]) == np.sign(start)
    for _ in range(2000):
        state = engine.step(Command(position=target * one, kp=50.0 * one, kd=5.0 * one))
    assert_allclose(angle(state), target, atol=1e-3)


def test_torque_limit_holds_also_for_stiff_gains():
    engine = MujocoEngine(wheel("revolute", limit=0.25), dt=0.01)
    one = np.ones(1)
    for kp, kd, v in ((1e5, 1e3, 0.0), (0.0, 1e4, 3.0), (10.0, 1e3, -3.0)):
        engine.reset(State.of(engine.robot, v=[v]))
        before = np.array(engine.data.qvel)
        state = engine.step(Command(position=one, kp=kp * one, kd=kd * one))
        assert abs(0.5 * (state.v[0] - v) / 0.01) <= 0.25 * (1.0 + 1e-6)
        assert np.abs(engine.acting_forces(before)).max() <= 0.25 * (1.0 + 1e-6)


def test_push_changes_momentum():
    robot = block(mass=2.0)
    engine = MujocoEngine(robot, World(ground=(), gravity=np.zeros(3)), dt=0.002)
    engine.push("box", [3.0, 0.0, 0.0, 0.0, 0.0, 0.1])
    nothing = Command(torque=np.zeros(0))
    for _ in range(100):
        state = engine.step(nothing)
    engine.release()
    later = engine.step(nothing)
    speed = 3.0 * 0.2 / 2.0
    turned = 0.1 * 0.2 / (2.0 * 0.2**2 / 6.0)
    assert_allclose(np.linalg.norm(state.v[:3]), speed, rtol=1e-9)
    assert_allclose(later.v[5], turned, rtol=1e-9)
    assert_allclose(np.linalg.norm(later.v[:3]), speed, rtol=1e-6)


def test_wrong_links_and_sizes():
    engine = MujocoEngine(load("panda"))
    with pytest.raises(UnknownNameError, match="panda_link3"):
        engine.push("panda_lnik3", np.zeros(6))
    with pytest.raises(NotSupportedError, match="fixed"):
        engine.push("panda_link0", np.zeros(6))
    with pytest.raises(ShapeError, match="entries"):
        engine.step(Command(torque=np.zeros(3)))


@pytest.mark.parametrize("torque", [1e300, 1e9])
def test_divergence_is_an_error_and_leaves_no_file(tmp_path, monkeypatch, torque):
    monkeypatch.chdir(tmp_path)
    engine = MujocoEngine(wheel(), dt=0.01)

    def go_on():
        for _ in range(2000):
            engine.step(Command(torque=np.array([torque])))

    with pytest.raises(SimulationError, match="diverged"):
        go_on()
    assert os.listdir(tmp_path) == []


def test_locked_joints_take_no_command():
    robot = load("romeo")
    engine = MujocoEngine(robot, World())
    state = engine.step(Command(torque=np.zeros(robot.nu)))
    assert state.q.shape == (robot.nq,)
    row = robot.tree.q_index[robot.joint_index("LThumb1")]
    assert state.q[row] == robot.home[row]


def test_reset_turns_the_drives_off():
    engine = MujocoEngine(wheel("revolute"), dt=0.01)
    one = np.ones(1)
    engine.step(Command(position=one, kp=500.0 * one, kd=one))
    engine.reset(State.of(engine.robot, [0.5]))
    assert_array_equal(engine.data.actuator_force, 0.0)
    assert_array_equal(engine.data.qacc, 0.0)


def test_begin_gives_the_forces_and_does_not_move():
    engine = MujocoEngine(wheel("revolute", limit=3.0), dt=0.01)
    one = np.ones(1)
    engine.reset(State.of(engine.robot, [0.5], [0.2]))
    assert_allclose(engine.begin(Command(torque=0.1 * one, position=one, kp=4.0 * one, kd=one)), 0.1 + 4.0 * 0.5 - 0.2)
    assert_allclose(engine.begin(Command(torque=9.0 * one)), 3.0)
    assert_array_equal([engine.state.t, *engine.state.q, *engine.state.v], [0.0, 0.5, 0.2])
