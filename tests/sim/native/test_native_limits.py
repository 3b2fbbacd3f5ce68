"""Drives at their limits: the law tau = clip(f, lower, upper) at the end of every step, in all native steps."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.motion import State, World
from surefoot.robot.loading import load
from surefoot.sim.drives.actuation import Actuation, DrivenJoints
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.native.joints import Springs, held_at, next_sides, side_of
from surefoot.sim.rollouts.rollout import rollout

from ..native_examples import robot_named


def saturated(robot, stiffness, share, seed=0):
    """Stiff springs away from where the joints are, with a share of the torque limits."""
    joints, rng, n = DrivenJoints(robot), np.random.default_rng(seed), robot.nu
    limits = share * joints.torque_limits
    position = joints.positions(State.of(robot)) + 0.3 * rng.standard_normal(n)
    gains = np.full(n, float(stiffness))
    return Actuation(np.zeros(n), position, gains, np.zeros(n), 0.02 * gains, -limits, limits)


def wanted(robot, act, state):
    joints = DrivenJoints(robot)
    f = act.kp * (act.position - joints.positions(state)) - act.kd * joints.velocities(state)
    return np.clip(f, act.lower, act.upper)


CASES = [("arm4", 2000, 0.05, 2e-3, None), ("go1", 500, 0.3, 5e-4, None), ("g1", 5000, 0.1, 2e-3, "spring_damper")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stiffness", "share", "dt", "contact"), [*CASES, ("go1", 500, 0.3, 2e-3, "rigid")])
def test_torques_are_the_clipped_springs_at_the_end_of_the_step(name, stiffness, share, dt, contact):
    robot = robot_named(name)
    act = saturated(robot, stiffness, share)
    options = {} if contact is None else {"contact": contact}
    engine = NativeEngine(robot, None if contact is None else World.flat(), dt, **options)
    at_limit = within = 0
    for _ in range(60):
        engine.advance(act)
        tau = engine.torques()
        assert_allclose(tau, wanted(robot, act, engine.state), atol=1e-8 * act.upper.max())
        at_limit, within = at_limit + (np.abs(tau) == act.upper).sum(), within + (np.abs(tau) < act.upper).sum()
    assert at_limit > 50
    assert within > 50


def test_a_saturated_arm_moves_as_in_mujoco():
    robot = robot_named("arm4")
    act = saturated(robot, 2000, 0.05)
    engines = [kind(robot, None, 2e-3) for kind in (NativeEngine, MujocoEngine)]
    for _ in range(50):
        for engine in engines:
            engine.advance(act)
    ours, judge = engines
    assert_allclose(ours.state.q, judge.state.q, atol=1e-9)
    assert_allclose(ours.torques(), judge.torques(), atol=1e-6)
    assert ours.balance.energy_residual == pytest.approx(judge.balance.energy_residual, abs=1e-6)


def test_both_engines_begin_with_the_same_torques():
    """Those where joints are now: not yet those at the end of a step."""
    robot = robot_named("go1")
    rng = np.random.default_rng(4)
    state = State.of(robot, v=0.5 * rng.standard_normal(robot.nv))
    act = saturated(robot, 60, 0.5)
    for kind in (NativeEngine, MujocoEngine):
        engine = kind(robot, World.flat(), 2e-3)
        engine.reset(state)
        engine.begin(act)
        assert_allclose(engine.torques(), wanted(robot, act, state), atol=1e-9)
        assert (np.abs(engine.torques()) < act.upper).any()
        assert (np.abs(engine.torques()) == act.upper).any()


def test_a_drive_without_torque_gives_none():
    robot = robot_named("go1")
    act = saturated(robot, 60, 0.5)
    act.lower[:3] = act.upper[:3] = 0.0
    engine = NativeEngine(robot, World.flat(), 2e-3)
    with np.errstate(all="raise"):
        for _ in range(20):
            engine.advance(act)
            assert not engine.torques()[:3].any()


# -- rollouts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hexapod", pytest.param("go1", marks=pytest.mark.slow)])
def test_copies_with_position_drives_move_as_the_engine(name):
    robot = robot_named(name)
    joints, rng, n, steps = DrivenJoints(robot), np.random.default_rng(0), 3, 100
    q, v = np.tile(robot.home, (n, 1)), 0.1 * rng.standard_normal((n, robot.nv))
    target = joints.positions(State.of(robot)) + 0.5 * rng.standard_normal((n, steps // 10, robot.nu))
    found = rollout(robot, (q, v), target, world=World.flat(), mode="position", kp=50.0, kd=1.0, hold=10)
    nothing, limits, at_limit = np.zeros(robot.nu), joints.torque_limits, 0
    engine = NativeEngine(robot, World.flat(), 1e-3)
    for i in range(n):
        engine.reset(State.of(robot, q=q[i], v=v[i]))
        for t in range(steps):
            x = target[i, t // 10]
            engine.advance(Actuation(nothing, x, nothing + 50.0, nothing, nothing + 1.0, -limits, limits))
            at_limit += (np.abs(engine.torques()) == limits).any()
            assert_allclose(found.q[i, t], engine.state.q, atol=1e-9)
    assert at_limit > 20


def test_copies_keep_their_limits_whatever_the_springs():
    """By Pinocchio: the torques that the motion needed."""
    robot = load("arm4")
    joints, steps, dt = DrivenJoints(robot), 50, 2e-3
    target = np.tile(saturated(robot, 2000, 1.0).position, (steps, 1))
    found = rollout(robot, State.of(robot), target, dt=dt, mode="position", kp=2000.0, kd=40.0)
    q, v = np.vstack([robot.home, found.q[0]]), np.vstack([np.zeros(robot.nv), found.v[0]])
    data = robot.model.createData()
    tau = [pin.rnea(robot.model, data, q[t], v[t], (v[t + 1] - v[t]) / dt) for t in range(steps)]
    assert (np.abs(tau) <= joints.torque_limits + 1e-6).all()
    assert (np.abs(tau) > 0.999 * joints.torque_limits).sum() > 5


# -- sets ----------------------------------------------------------------------------------------------------------


def test_the_rules_of_the_set():
    ones = np.ones(6)
    springs = Springs(0.5 * ones, ones, 3.0 * ones, ones, 2.0 * ones, -ones, 4.0 * ones)
    force = np.array([5.0, 0.0, -2.0, 5.0, -2.0, 0.0])
    assert side_of(springs, force).tolist() == [1, 0, -1, 1, -1, 0]
    assert not side_of(springs, np.full(6, 4.0 + 1e-12)).any()
    held = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    assert next_sides(held, side_of(springs, force), release=True).tolist() == [1, 0, 0, 1, -1, 0]
    assert next_sides(held, side_of(springs, force), release=False).tolist() == [1, 1, 1, 1, -1, 0]
    found = held_at(springs, np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0]))
    assert found.torque.tolist() == [4.0, -1.0, 0.5, 0.5, 0.5, 0.5]
    assert found.kp.tolist() == [0, 0, 3, 3, 3, 3]
    assert found.kd.tolist() == [0, 0, 2, 2, 2, 2]
