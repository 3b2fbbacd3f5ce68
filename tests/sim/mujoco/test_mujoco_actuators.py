"""Drives in a step: the implicit law, asymmetric limits, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import State, World
from surefoot.robot import Drive, Joint, Link, Robot
from surefoot.robot.loading import load
from surefoot.sim.mujoco.engine import MujocoEngine

from ..examples import pendulum, wheel
from ..mujoco_runs import actuation


def angle(state):
    return np.arctan2(state.q[1], state.q[0])


def test_gains_are_the_implicit_drive_law():
    """One step against the closed form of I (v⁺ − v)/h = τ + kp (r − q − h v⁺) + kd (w − v⁺)."""
    robot = wheel()
    engine = MujocoEngine(robot, dt=0.01)
    q, v, h, kp, kd, tau, r, w, inertia = 0.3, -0.7, 0.01, 40.0, 3.0, 0.6, 1.1, 0.2, 0.5
    engine.reset(State.of(robot, [np.cos(q), np.sin(q)], [v]))
    engine.advance(actuation(robot, torque=tau, position=r, velocity=w, kp=kp, kd=kd))
    wanted = (inertia * v + h * (tau + kp * (r - q) + kd * w)) / (inertia + h * kd + h * h * kp)
    assert_allclose(engine.state.v, wanted, rtol=1e-12)
    assert_allclose(engine.torques(), inertia * (wanted - v) / h, rtol=1e-10)


@pytest.mark.parametrize(("start", "target"), [(3.0, -3.0), (-3.0, 3.0)])
def test_continuous_joint_goes_the_short_way(start, target):
    robot = wheel()
    engine = MujocoEngine(robot, dt=0.002)
    engine.reset(State.of(robot, [np.cos(start), np.sin(start)]))
    spring = actuation(robot, position=target, kp=50.0, kd=5.0)
    engine.advance(spring)
    assert np.sign(engine.state.v[0]) == np.sign(start)
    for _ in range(2000):
        engine.advance(spring)
    assert_allclose(angle(engine.state), target, atol=1e-3)


def test_limits_hold_also_for_stiff_gains():
    robot = wheel("revolute")
    engine = MujocoEngine(robot, dt=0.01)
    for kp, kd, v in ((1e5, 1e3, 0.0), (0.0, 1e4, 3.0), (10.0, 1e3, -3.0)):
        engine.reset(State.of(robot, v=[v]))
        engine.advance(actuation(robot, position=1.0, kp=kp, kd=kd, lower=-0.25, upper=0.25))
        assert abs(0.5 * (engine.state.v[0] - v) / 0.01) <= 0.25 * (1.0 + 1e-6)
        assert np.abs(engine.torques()).max() <= 0.25


@pytest.mark.parametrize("torque", [-5.0, -0.1, 0.0, 0.7, 4.0])
@pytest.mark.parametrize(("lower", "upper"), [(-1.0, 3.0), (0.5, 2.0), (-2.0, -1.0), (-np.inf, 1.0), (0.3, 0.3)])
def test_asymmetric_limits(torque, lower, upper):
    robot = wheel("revolute")
    engine = MujocoEngine(robot, dt=0.01)
    engine.advance(actuation(robot, torque=torque, lower=lower, upper=upper))
    wanted = min(max(torque, lower), upper)
    assert_allclose(engine.torques(), wanted, rtol=1e-12)
    assert_allclose(engine.state.v, 0.01 * wanted / 0.5, rtol=1e-9, atol=1e-15)
    assert_allclose(engine.acceleration(), wanted / 0.5, rtol=1e-9, atol=1e-13)


def test_a_spring_that_relaxes_within_the_step_is_not_held():
    """Beyond the limit where the step begins, within it where it ends: the law speaks of the end."""
    robot = wheel("revolute")
    engine = MujocoEngine(robot, dt=0.01)
    v, kd, limit = 1.0, 1000.0, 100.0
    engine.reset(State.of(robot, v=[v]))
    engine.advance(actuation(robot, kd=kd, lower=-limit, upper=limit))
    end = v * 0.5 / (0.5 + 0.01 * kd)
    assert kd * v > limit > kd * end
    assert_allclose(engine.state.v, end, rtol=1e-10)
    assert_allclose(engine.torques(), -kd * end, rtol=1e-10)


def test_every_drive_follows_the_law_when_many_are_at_their_limits():
    """τ = clip(f(q⁺, v⁺)) for each drive of a robot that is torn to a far posture."""
    robot = load("anymal")
    engine = MujocoEngine(robot, World(), dt=0.002)
    rows = robot.driven
    rng = np.random.default_rng(0)
    target = rng.uniform(-1.0, 1.0, robot.nu)
    kp, kd = 10.0 ** rng.uniform(2, 5, robot.nu), 10.0 ** rng.uniform(0, 3, robot.nu)
    lower, upper = -rng.uniform(1.0, 60.0, robot.nu), rng.uniform(1.0, 60.0, robot.nu)
    at_limit = 0
    for _ in range(100):
        engine.advance(actuation(robot, position=target, kp=kp, kd=kd, lower=lower, upper=upper))
        q, v = engine.state.q[rows + 1], engine.state.v[rows]
        springs = kp * (target - q) - kd * v
        tau = engine.torques()
        assert (tau >= lower).all()
        assert (tau <= upper).all()
        assert_allclose(tau, np.clip(springs, lower, upper), atol=1e-7 * np.abs(springs).max())
        at_limit += int(((tau == lower) | (tau == upper)).sum())
    assert 0 < at_limit < 100 * robot.nu


def test_limits_hold_at_a_stop():
    """A spring presses a joint against its stop with more than the drive can do."""
    joint = Joint("j", "revolute", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=0.2)
    body = Link("w", "a", joint, mass=1.0, inertia=0.001 * np.eye(3))
    robot = Robot.from_tree("stopped", [Link("a"), body], drives=(Drive("j"),))
    engine = MujocoEngine(robot, dt=0.002)
    for _ in range(300):
        engine.advance(actuation(robot, position=0.4, kp=400.0, kd=400.0, lower=-15.0, upper=8.0))
        assert -15.0 <= engine.torques()[0] <= 8.0
    assert_allclose(engine.state.q, 0.2, atol=0.03)


def test_work_of_limited_drives_is_that_of_the_acting_torque():
    robot = pendulum()
    engine = MujocoEngine(robot, World(ground=(), gravity=np.zeros(3)), dt=0.001)
    engine.reset(State.of(robot, [0.5]))
    for _ in range(100):
        engine.advance(actuation(robot, position=3.0, kp=1e4, kd=10.0, lower=-1.0, upper=2.0))
    # v stands for the middle of the step: so does the way
    way = engine.state.q[0] - 0.5 - 0.5 * 0.001 * engine.state.v[0]
    assert_allclose(engine.balance.drives, 2.0 * way, rtol=1e-9)


def test_wrong_actuations_are_refused_by_name():
    robot = load("panda")
    engine = MujocoEngine(robot)
    with pytest.raises(ShapeError, match="2 actuations for 1 robots"):
        engine.advance(actuation(robot), actuation(robot))
    with pytest.raises(ShapeError, match="0 actuations for 1 robots"):
        engine.begin()
    for name in ("torque", "position", "kp", "velocity", "kd"):
        wrong = actuation(robot)
        getattr(wrong, name)[2] = np.nan
        with pytest.raises(ShapeError, match=f"`{name}` of the actuation of robot 0 .`panda`. is not finite"):
            engine.advance(wrong)
        setattr(wrong, name, np.zeros(1))
        with pytest.raises(ShapeError, match=f"`{name}` .* has shape .1,., expected .{robot.nu},."):
            engine.advance(wrong)
    for lower in (np.nan, 2.0):
        with pytest.raises(ShapeError, match=r"`lower` .* is not below"):
            engine.advance(actuation(robot, lower=lower, upper=1.0))
    assert engine.time == 0.0


def test_balls_take_no_position():
    ball = Link("b", "a", Joint("j", "spherical"), mass=1.0, inertia=np.eye(3))
    robot = Robot.from_tree("ball joint", [Link("a"), ball], drives=(Drive("j"),))
    engine = MujocoEngine(robot, World(ground=(), gravity=np.zeros(3)))
    engine.advance(actuation(robot, torque=[1.0, 2.0, 3.0]))
    assert_allclose(engine.acceleration(), [1.0, 2.0, 3.0], rtol=1e-9)
    with pytest.raises(NotSupportedError, match="spherical"):
        engine.advance(actuation(robot, kp=1.0))
