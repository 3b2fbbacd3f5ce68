import os

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, UnknownNameError
from surefoot.geometry import Box, Mesh
from surefoot.motion import Command, MovableObject, Obstacle, State, World
from surefoot.motion.protocols import Engine
from surefoot.robot import placement
from surefoot.robot.loading import load
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.mujoco.engine import MujocoEngine

from ..examples import block, every_joint, lifted_model, pendulum, some_state, wheel
from ..mujoco_runs import actuation

NOWHERE = World(ground=(), gravity=np.zeros(3))


def test_is_an_engine():
    engine = MujocoEngine(pendulum())
    assert isinstance(engine, Engine)
    assert isinstance(engine, PhysicsEngine)


def test_torque_accelerates():
    engine = MujocoEngine(wheel(), dt=0.001)
    for _ in range(1000):
        state = engine.step(Command(torque=np.array([0.2])))
    assert_allclose(state.v, 0.2 / 0.5, rtol=1e-9)
    assert_allclose([state.t, engine.time], 1.0, rtol=1e-15)


def test_ideal_drives_of_commands_keep_the_torque_limits():
    engine = MujocoEngine(wheel("revolute", limit=3.0), dt=0.01)
    engine.step(Command(torque=np.array([9.0])))
    assert_allclose(engine.torques(), 3.0)
    assert_allclose(engine.state.v, 0.01 * 3.0 / 0.5)


def test_push_changes_momentum():
    engine = MujocoEngine(block(mass=2.0), NOWHERE, dt=0.002)
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


def test_pushes_add_up_and_act_at_points():
    """Two forces at two points are one force and one moment about the centre of mass."""
    robot, states = block(mass=2.0), []
    for pushes in (
        [([3.0, 0.0, 0.0, 0, 0, 0], [0.0, 0.5, 5.0]), ([0.0, 0.0, 2.0, 0, 0, 0], [0.3, 0.0, 5.0])],
        [([3.0, 0.0, 2.0, 0.0, -0.6, -1.5], None)],
    ):
        engine = MujocoEngine(robot, NOWHERE)
        engine.reset(State.of(robot, [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0]))
        for wrench, point in pushes:
            engine.push("box", wrench, point=point)
        engine.advance(actuation(robot))
        states.append(engine.state.v)
    assert np.abs(states[0]).min(where=[True, False, True, False, True, True], initial=1.0) > 1e-4
    assert_allclose(states[0], states[1], atol=1e-14)


def test_acceleration_is_that_of_pinocchio():
    """Without contacts: ABA with the torques and the push, in the state at the start of the step."""
    for robot in (every_joint(("revolute", "spherical", "prismatic", "planar", "continuous")), load("anymal")):
        engine = MujocoEngine(robot, World(ground=()), dt=1e-3)
        model = engine.scene.models[0]
        reference = lifted_model(model)
        q, v = some_state(model, 1)
        engine.reset(State.of(robot, q, v))
        wrench = np.array([3.0, -2.0, 1.0, 0.4, 0.3, -0.2])
        link = robot.link_names[-1]
        body = robot.body_of(link)
        engine.push(link, wrench)
        torque = np.linspace(-1.0, 1.0, robot.nu)
        engine.begin(actuation(robot, torque=torque))
        forces = [pin.Force.Zero() for _ in range(reference.njoints)]
        data = reference.createData()
        pin.forwardKinematics(reference, data, q)
        at_com = data.oMi[body + 1] * pin.SE3(np.eye(3), reference.inertias[body + 1].lever)
        there = pin.SE3(np.eye(3), at_com.translation).act(pin.Force(wrench))
        forces[body + 1] = data.oMi[body + 1].actInv(there)
        full = np.zeros(robot.nv)
        full[robot.driven] = torque
        assert not reference.upperDryFrictionLimit.any()
        assert not reference.damping.any()
        wanted = pin.aba(reference, data, q, v, full, forces)
        assert_allclose(engine.acceleration(), wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
        engine.advance(actuation(robot, torque=torque))
        assert_allclose(engine.acceleration(), wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())


def test_acceleration_is_the_difference_of_velocities():
    robot, errors = every_joint(), []
    for dt in (2e-4, 1e-4):
        engine = MujocoEngine(robot, World(ground=()), dt=dt)
        engine.reset(State.of(robot, robot.neutral, np.random.default_rng(3).standard_normal(robot.nv)))
        before = engine.state.v
        engine.advance(actuation(robot))
        errors.append(np.abs(engine.acceleration() - (engine.state.v - before) / dt).max())
    assert errors[0] < 0.05
    assert 1.8 < errors[0] / errors[1] < 2.2


def test_placement_and_com_are_those_of_the_state_now():
    robot = load("anymal")
    engine = MujocoEngine(robot, World())
    engine.reset(State.of(robot, v=0.3 * np.random.default_rng(0).standard_normal(robot.nv)))
    for _ in range(20):
        engine.advance(actuation(robot, kd=1.0))
        q = np.array(engine.state.q)
        places = robot.placements(q)
        for link in ("base", robot.link_names[-1]):
            assert_allclose(engine.placement(link), places[link], atol=1e-9)
        data = robot.model.createData()
        assert_allclose(engine.com(), pin.centerOfMass(robot.model, data, q), atol=1e-9)


def test_wrong_links_sizes_and_numbers():
    robot = load("panda")
    engine = MujocoEngine(robot)
    with pytest.raises(UnknownNameError, match="panda_link3"):
        engine.push("panda_lnik3", np.zeros(6))
    with pytest.raises(NotSupportedError, match="fixed"):
        engine.push("panda_link0", np.zeros(6))
    with pytest.raises(ShapeError, match="wrench"):
        engine.push("panda_link3", [0.0, np.nan, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(ShapeError, match="entries"):
        engine.step(Command(torque=np.zeros(3)))
    with pytest.raises(ShapeError, match="2 commands for 1 robots"):
        engine.step(*2 * [Command(torque=np.zeros(robot.nu))])
    with pytest.raises(ShapeError, match="0 states for 1 robots"):
        engine.reset()
    with pytest.raises(ShapeError, match="v of `panda`"):
        engine.reset(State(0.0, robot.home, np.zeros(3)))
    with pytest.raises(ShapeError, match="no robot 1"):
        engine.torques(1)
    with pytest.raises(ShapeError, match="dt is"):
        MujocoEngine(robot, dt=0.0)
    with pytest.raises(ShapeError, match="needs a robot"):
        MujocoEngine([])


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
    engine.reset(State.of(engine.robot))
    engine.step(Command(torque=np.zeros(1)))


def test_locked_joints_take_no_command():
    robot = load("romeo")
    engine = MujocoEngine(robot, World())
    state = engine.step(Command(torque=np.ones(robot.nu)))
    assert state.q.shape == (robot.nq,)
    row = robot.tree.q_index[robot.joint_index("LThumb1")]
    assert state.q[row] == robot.home[row]
    torques = engine.torques()
    joints = [drive.joint for drive in robot.drives]
    locked = [k for k, name in enumerate(joints) if name in engine.locked]
    assert locked
    assert_array_equal(torques[locked], 0.0)
    assert (torques != 0.0).sum() == robot.nu - len(locked)


def test_reset_turns_the_drives_off():
    engine = MujocoEngine(wheel("revolute"), dt=0.01)
    one = np.ones(1)
    engine.step(Command(position=one, kp=500.0 * one, kd=one))
    engine.reset(State.of(engine.robot, [0.5]))
    assert_array_equal(engine.data.actuator_force, 0.0)
    assert_array_equal(engine.data.qacc, 0.0)
    assert_array_equal(engine.torques(), 0.0)


def test_begin_gives_the_forces_and_does_not_move():
    robot = wheel("revolute")
    engine = MujocoEngine(robot, dt=0.01)
    engine.reset(State.of(robot, [0.5], [0.2]))
    engine.begin(actuation(robot, torque=0.1, position=1.0, kp=4.0, kd=1.0))
    assert_allclose(engine.torques(), 0.1 + 4.0 * 0.5 - 0.2)
    engine.begin(actuation(robot, torque=9.0, upper=3.0))
    assert_allclose(engine.torques(), 3.0)
    assert_allclose(engine.acceleration(), 6.0)
    assert_array_equal([engine.state.t, *engine.state.q, *engine.state.v], [0.0, 0.5, 0.2])


def test_same_run_twice_bit_by_bit():
    robot, ends = load("anymal"), []
    for _ in range(2):
        engine = MujocoEngine(robot, World())
        for _ in range(2):
            engine.reset(State.of(robot))
            for k in range(60):
                engine.advance(actuation(robot, torque=np.sin(0.1 * k), kp=80.0, kd=2.0, lower=-9.0, upper=6.0))
            ends.append(np.concatenate([engine.state.q, engine.state.v, engine.balance.momentum_residual]).tobytes())
    assert len(set(ends)) == 1


def test_objects_are_carried_back_and_reported():
    crate = MovableObject(
        "crate", Box((0.2, 0.2, 0.2)), 3.0, placement((1.0, 0.0, 0.5), pin.exp3(np.array([0.1, 0.2, 0.3])))
    )
    engine = MujocoEngine(load("panda"), World(objects=(crate,)))
    for _ in range(50):
        engine.advance(actuation(engine.robot, kd=5.0))
    T, twist = engine.object_state("crate")
    assert_allclose(T[:3, :3] @ twist[:3], [0.0, 0.0, -9.81 * 0.1], atol=1e-9)
    assert_allclose(T[:3, 3], [1.0, 0.0, 0.5 - 0.5 * 9.81 * 0.1 * 0.102], atol=1e-9)
    engine.reset(State.of(engine.robot))
    assert_allclose(engine.object_state("crate")[0], crate.pose, atol=1e-12)
    with pytest.raises(UnknownNameError, match="crate"):
        engine.object_state("crte")


def test_hulls_of_meshes_in_the_world_are_noted():
    mesh = Mesh(points=np.random.default_rng(0).standard_normal((20, 3)))
    world = World(obstacles=(Obstacle("rock", mesh), Obstacle("wall", Box((1.0, 1.0, 1.0)))))
    assert [note for note in MujocoEngine(pendulum(), world).notes if "hull" in note] == [
        "obstacle `rock` touches by the convex hull of its mesh"
    ]
