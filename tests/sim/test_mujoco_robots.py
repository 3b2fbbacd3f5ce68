"""Several robots in one world."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box
from surefoot.motion import Command, MovableObject, State, World
from surefoot.robot import Drive, Geometry, Joint, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.sim.measured import OBJECT, WORLD
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.mujoco.model import build_scene

from .examples import block
from .mujoco_runs import actuation


def shifted(robot, x):
    q = np.array(robot.home)
    q[0] += x
    return State.of(robot, q)


def drives(robot, k):
    """Some torques that change with time."""
    torque = 2.0 * np.sin(0.05 * k + np.arange(robot.nu))
    return actuation(robot, torque=torque, kp=60.0, kd=2.0, lower=-20.0, upper=15.0)


def test_far_apart_they_move_as_alone():
    robots, places = (load("anymal"), load("romeo"), load("anymal")), (0.0, 5.0, -4.0)
    together = MujocoEngine(robots, World())
    starts = [shifted(robot, x) for robot, x in zip(robots, places, strict=True)]
    together.reset(*starts)
    alone = [MujocoEngine(robot, World()) for robot in robots]
    for engine, start in zip(alone, starts, strict=True):
        engine.reset(start)
    for k in range(40):
        together.advance(*(drives(robot, k) for robot in robots))
        for engine in alone:
            engine.advance(drives(engine.robot, k))
    for i, engine in enumerate(alone):
        assert_allclose(together.states[i].q, engine.state.q, atol=1e-12)
        assert_allclose(together.torques(i), engine.torques(), atol=1e-8)
        assert_allclose(together.com(i), engine.com(), atol=1e-12)
        for contact in engine.robot.contacts:
            assert_allclose(together.wrench(contact, i), engine.wrench(contact), atol=1e-8)
            assert_allclose(together.slip(contact, i), engine.slip(contact), atol=1e-10)
    balances = [engine.balance for engine in alone]
    assert_allclose(together.balance.energy, sum(b.energy for b in balances), rtol=1e-12)
    assert_allclose(together.balance.drives, sum(b.drives for b in balances), atol=1e-9)


def test_without_contacts_they_move_exactly_as_alone():
    robots = (load("anymal"), load("anymal"))
    together, alone = MujocoEngine(robots, World(ground=())), MujocoEngine(robots[1], World(ground=()))
    together.reset(shifted(robots[0], 3.0), State.of(robots[1]))
    for k in range(30):
        together.advance(actuation(robots[0]), actuation(robots[1], torque=0.1 * np.sin(k)))
        alone.advance(actuation(robots[1], torque=0.1 * np.sin(k)))
    assert_allclose(together.states[1].q, alone.state.q, atol=1e-13)
    assert_allclose(together.acceleration(1), alone.acceleration(), atol=1e-10)


def test_one_runs_into_the_other():
    """Two equal blocks on ice: momentum passes from one to the other, and each knows whom it touches."""
    robots = (block(), block())
    engine = MujocoEngine(robots, World(friction=0.0))
    moving = State.of(robots[0], [0.0, 0.0, 0.0999, 0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    engine.reset(moving, shifted(robots[1], 0.25))
    seen = 0.0
    for _ in range(200):
        engine.advance(actuation(robots[0]), actuation(robots[1]))
        first, second = engine.touches(0), engine.touches(1)
        one, two = first.where(first.against == 1), second.where(second.against == 0)
        assert_allclose(one.force.sum(axis=0), -two.force.sum(axis=0), atol=1e-9)
        assert_allclose(one.normal.sum(axis=0), -two.normal.sum(axis=0), atol=1e-12)
        seen = max(seen, float(two.load.sum()))
    assert seen > 10.0
    speeds = [state.v[0] for state in engine.states]
    assert speeds[1] > speeds[0] + 0.01
    assert_allclose(sum(speeds), 1.0, atol=1e-6)
    assert_allclose(engine.balance.momentum_residual, 0.0, atol=1e-6)


def test_a_robot_pushes_an_object():
    """What the robot gives the crate and the ground it loses: m v of both, and the touches say OBJECT."""
    crate = MovableObject("crate", Box((0.2, 0.2, 0.2)), 3.0, placement((0.21, 0.0, 0.0999)))
    robot = block(mass=2.0)
    engine = MujocoEngine(robot, World(friction=0.0, objects=(crate,)))
    impulse = 0.0
    for _ in range(150):
        engine.release()
        engine.push("box", [5.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        engine.advance(actuation(robot))
        impulse += 5.0 * engine.dt
    touches = engine.touches()
    assert set(touches.against.tolist()) <= {WORLD, OBJECT}
    T, twist = engine.object_state("crate")
    assert T[0, 3] > 0.22
    assert_allclose(2.0 * engine.state.v[0] + 3.0 * twist[0], impulse, rtol=1e-3)
    assert np.abs(engine.balance.energy_residual) < 1e-3


def arm(x):
    """A fixed post with a bar that turns about z."""
    post = Link("post", collisions=(Geometry("post", "post", Box((0.1, 0.1, 0.5)), placement((x, 0.0, 0.25))),))
    joint = Joint("turn", "revolute", placement((x, 0.0, 0.4)), axis=(0.0, 0.0, 1.0))
    bar = Link("bar", "post", joint, mass=1.0, inertia=0.1 * np.eye(3),
               collisions=(Geometry("bar", "bar", Box((0.8, 0.05, 0.05)), placement((0.4, 0.0, 0.0))),))  # fmt: skip
    return Robot.from_tree("arm", [post, bar], drives=(Drive("turn"),))


@pytest.mark.parametrize("self_collision", [False, True])
def test_fixed_robots_touch_each_other_but_not_their_own_base(self_collision):
    robots = (arm(0.0), arm(0.6))
    engine = MujocoEngine(robots, World(ground=()), self_collision=self_collision)
    engine.reset(State.of(robots[0], [0.5]), State.of(robots[1], [0.0]))
    assert len(engine.touches(0).load) == 0
    for _ in range(500):
        engine.advance(actuation(robots[0], torque=-1.0, kd=0.2), actuation(robots[1], kd=1.0))
    touches = engine.touches(0)
    assert set(touches.against.tolist()) == {1}
    assert engine.state.q[0] > 0.02  # stopped by the other's post
    assert len(engine.touches(1).load) == 0  # what is fixed to the world has no body
    assert np.isnan(engine.balance.momentum_residual).all()
    assert_allclose(engine.placement("post", 1), np.eye(4))


def test_pushes_and_payloads_go_to_the_robot_meant():
    robots = (block(), block())
    engine = MujocoEngine(robots, World(ground=(), gravity=np.zeros(3)))
    engine.reset(State.of(robots[0]), shifted(robots[1], 2.0))
    engine.set_payload("box", 2.0, np.zeros(3), robot=1)
    engine.push("box", [0.0, 4.0, 0.0, 0.0, 0.0, 0.0], robot=1)
    engine.advance(actuation(robots[0]), actuation(robots[1]))
    assert_array_equal(engine.acceleration(0), 0.0)
    assert_allclose(engine.acceleration(1)[1], 4.0 / 4.0)


def test_commands_and_refusals():
    robots = (load("panda"), load("anymal"))
    engine = MujocoEngine(robots, World())
    state = engine.step(*(Command(torque=np.zeros(robot.nu)) for robot in robots))
    assert len(state.q) == robots[0].nq
    assert [len(each.q) for each in engine.states] == [robots[0].nq, robots[1].nq]
    with pytest.raises(ShapeError, match="1 actuations for 2 robots"):
        engine.advance(actuation(robots[0]))
    with pytest.raises(ShapeError, match=r"robot 1 .`anymal`. is not finite"):
        engine.advance(actuation(robots[0]), actuation(robots[1], torque=np.nan))
    with pytest.raises(ShapeError, match="1 states for 2 robots"):
        engine.reset(State.of(robots[0]))
    with pytest.raises(ShapeError, match="different times"):
        engine.reset(State.of(robots[0]), State.of(robots[1], t=1.0))
    with pytest.raises(NotSupportedError, match="30 robots"):
        build_scene([block()] * 31)


def test_one_robot_has_plain_names_several_have_prefixes():
    one, two = build_scene([load("anymal")], World()), build_scene([load("anymal")] * 2, World())
    assert one.mj.body(1).name == "base"
    assert [two.mj.body(model.tree_bodies[0]).name for model in two.models] == ["0/base", "1/base"]
    assert two.mj.nv == 2 * one.mj.nv
    assert two.models[1].qvel == slice(one.mj.nv, two.mj.nv)
    assert_array_equal(two.models[1].actuators, one.mj.nu + one.models[0].actuators)
