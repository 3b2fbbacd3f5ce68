import mujoco
import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, UnknownNameError
from surefoot.geometry import Box, Capsule, Cylinder, Mesh, Sphere
from surefoot.motion import Command, GroundBox, GroundPlane, HeightField, MovableObject, Obstacle, State, World
from surefoot.robot import placement
from surefoot.sim.engine import PhysicsEngine
from surefoot.sim.native.contact_laws import PenaltyPid, SpringDamper, ViscoElastic
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.native.touch import Regularised

from ..examples import block, every_joint, pendulum
from ..native_examples import feet, incline, on_incline, robot_named, run, springs

LAWS = [SpringDamper(), ViscoElastic(), PenaltyPid(), SpringDamper(friction=Regularised())]
G = 9.81


def manifold_distance(robot, a, b):
    return np.abs(pin.difference(robot.model, np.array(a), np.array(b))).max()


# -- rest and friction ---------------------------------------------------------------------------------------------


def test_it_is_a_physics_engine():
    engine = NativeEngine(block(), World.flat())
    assert isinstance(engine, PhysicsEngine)
    assert any("points" in note for note in engine.notes)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_block_comes_to_rest_under_its_weight(law):
    robot = block()
    engine = run(NativeEngine(robot, World.flat(), contact=law), 3.0, springs(robot))
    assert engine.touches().load.sum() == pytest.approx(robot.mass * G, rel=1e-6)
    np.testing.assert_allclose(engine.wrench("sole"), [0, 0, robot.mass * G, 0, 0, 0], atol=1e-4)
    assert np.abs(engine.state.v).max() < 1e-6
    depth = G / 300.0 if isinstance(law, PenaltyPid) else 1e-3  # of one link, whose points share the force
    assert 0.1 - engine.state.q[2] == pytest.approx(depth, rel=1e-4)
    assert (engine.modes() == 1.0).all()


@pytest.mark.parametrize(("count", "depth"), [(6, 5.45e-3), (5, 6.54e-3), (4, 8.175e-3), (3, 10.9e-3)])
def test_feet_settle_to_the_penetrations_of_the_source(count, depth):
    robot = feet(count)
    engine = run(NativeEngine(robot, World.flat(), contact="penalty_pid"), 6.0, springs(robot, 1e4, 100.0))
    sunk = [0.01 - engine.placement(f"foot{k}")[2, 3] for k in range(count)]
    np.testing.assert_allclose(sunk, depth, rtol=2e-3)


@pytest.mark.parametrize("law", LAWS[:2], ids=str)
def test_below_the_friction_angle_it_sticks_and_does_not_creep(law):
    friction, robot = 0.5, block()
    angle = 0.95 * np.arctan(friction)
    engine = NativeEngine(robot, incline(angle, friction), contact=law)
    engine.reset(on_incline(robot, angle, 0.099))
    run(engine, 1.0, springs(robot))
    place = engine.state.q
    run(engine, 2.0, springs(robot))
    assert np.linalg.norm(engine.state.q[:3] - place[:3]) < 1e-9
    assert (engine.modes() == 1.0).all()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_above_the_friction_angle_it_slides(law):
    friction, robot = 0.3, block()
    angle = np.arctan(friction) + 0.1
    engine = NativeEngine(robot, incline(angle, friction), contact=law)
    engine.reset(on_incline(robot, angle, 0.1))
    run(engine, 1.0, springs(robot))
    v, q = np.linalg.norm(engine.state.v[:3]), engine.state.q
    run(engine, 1.0, springs(robot))
    a = G * (np.sin(angle) - friction * np.cos(angle))
    tilts = isinstance(law, PenaltyPid)  # all points of a link share its integral, so the block pitches
    assert np.linalg.norm(engine.state.v[:3]) - v == pytest.approx(a, rel=0.05 if tilts else 1e-4)
    assert engine.slip("sole") == pytest.approx(0.5 * a * 4.0, rel=0.05)
    assert np.linalg.norm(engine.state.q[:3] - q[:3]) == pytest.approx(v + 0.5 * a, rel=0.05 if tilts else 1e-3)
    assert (engine.modes() != 1.0).all()


def test_a_ball_rolls_without_slipping():
    """On an incline a ball has 5/7 of the acceleration of a sliding body."""
    angle, radius = 0.1, 0.05
    pose = placement((radius * np.sin(angle), 0.0, radius * np.cos(angle)))
    world = World(
        ground=(GroundPlane(normal=np.array([np.sin(angle), 0.0, np.cos(angle)]), friction=0.7),),
        objects=(MovableObject("ball", Sphere(radius), 0.3, pose),),
    )
    engine = run(NativeEngine(block(), world, contact="spring_damper"), 1.0, springs(block()))
    _, twist = engine.object_state("ball")
    assert np.linalg.norm(twist[:3]) == pytest.approx(5.0 / 7.0 * G * np.sin(angle), rel=0.01)
    assert np.linalg.norm(twist[3:]) * radius == pytest.approx(np.linalg.norm(twist[:3]), rel=0.01)


# -- against MuJoCo, orders, books ---------------------------------------------------------------------------------


def sine(robot, share=0.02):
    limits = np.array([drive.torque_limit for drive in robot.drives])
    rng = np.random.default_rng(1)
    phase, rate = rng.uniform(0.0, 6.0, robot.nu), rng.uniform(3.0, 12.0, robot.nu)
    return lambda t: share * limits * np.sin(rate * t + phase)


def in_flight(robot, h, seconds, hold=1, integrator="rk4"):
    """Under torques that change every `hold` steps."""
    engine, torque = NativeEngine(robot, None, h, integrator=integrator, limits=False, friction=False), sine(robot)
    for i in range(round(seconds / h)):
        engine.advance(springs(robot, torque=torque(h * hold * (i // hold))))
    return engine


@pytest.mark.slow
@pytest.mark.parametrize(("integrator", "theirs"), [("rk4", "RK4"), ("semi_implicit", "EULER")])
def test_free_flight_is_that_of_mujoco(integrator, theirs):
    from surefoot.sim.mujoco.model import build_mujoco, q_v, qpos_qvel

    robot, h, steps = robot_named("talos"), 5e-4, 400
    engine, torque = in_flight(robot, h, steps * h, integrator=integrator), sine(robot)
    model = build_mujoco(robot, None, timestep=h)
    mj, flags = model.mj, mujoco.mjtDisableBit
    mj.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{theirs}")
    mj.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
    mj.dof_damping[:] = 0.0
    data = mujoco.MjData(mj)
    data.qpos[:], data.qvel[:] = qpos_qvel(model, robot.home, np.zeros(robot.nv))
    for i in range(steps):
        data.ctrl[:] = torque(i * h)[model.actuators >= 0]
        mujoco.mj_step(mj, data)
    q, v = q_v(model, data.qpos, data.qvel)
    assert manifold_distance(robot, engine.state.q, q) < 1e-9
    assert np.abs(engine.state.v - v).max() < 1e-8


@pytest.mark.slow
def test_the_method_of_runge_and_kutta_has_order_four():
    robot = robot_named("hexapod")
    exact = in_flight(robot, 1.25e-4, 0.1, hold=32)
    errors = [
        manifold_distance(robot, in_flight(robot, h, 0.1, hold).state.q, exact.state.q)
        for h, hold in ((4e-3, 1), (2e-3, 2))
    ]
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.25)


def test_the_semi_implicit_method_and_its_books_have_order_one():
    robot = robot_named("hexapod")
    exact = in_flight(robot, 1.25e-4, 0.1, hold=32)
    runs = [in_flight(robot, h, 0.1, hold, "semi_implicit") for h, hold in ((4e-3, 1), (2e-3, 2))]
    errors = [manifold_distance(robot, engine.state.q, exact.state.q) for engine in runs]
    residuals = [abs(engine.balance.energy_residual) for engine in runs]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.25)
    assert residuals[0] / residuals[1] == pytest.approx(2.0, rel=0.25)


def test_energy_and_momentum_in_free_flight():
    """Nothing acts but gravity: RK4 keeps the energy, and the centre of mass falls."""
    robot = every_joint()
    engine = NativeEngine(robot, None, 1e-3, integrator="rk4")
    v = np.random.default_rng(2).standard_normal(robot.nv)
    engine.reset(State.of(robot, v=v))
    energy, com = engine.balance.energy, engine.com()
    engine.native_steps(500, springs(robot))
    balance = engine.balance
    assert balance.energy == pytest.approx(energy, abs=1e-8 * abs(energy) + 1e-8)
    assert abs(balance.energy_residual) < 1e-7
    np.testing.assert_allclose(balance.momentum_residual, 0.0, atol=1e-8)
    assert engine.time == pytest.approx(0.5)
    assert (engine.com() - com)[2] < 0.0


@pytest.mark.parametrize("law", ["spring_damper", "visco_elastic", "penalty_pid", "rigid"])
def test_books_on_the_ground(law):
    """A hexapod dropped from 2 cm: what it lost, contacts and drives took."""
    robot = robot_named("hexapod")
    q = np.array(robot.home)
    q[2] += 0.02
    engine = NativeEngine(robot, World.flat(), contact=law)
    engine.reset(State.of(robot, q))
    run(engine, 1.0, springs(robot, 30.0, 1.0, limit=5.0))
    balance = engine.balance
    lost = robot.mass * G * 0.02
    assert balance.contacts + balance.drives < -0.5 * lost
    assert abs(balance.energy_residual) < 2e-3 * lost
    np.testing.assert_allclose(balance.momentum_residual, 0.0, atol=2e-3 * robot.mass)


def test_an_elastic_block_keeps_its_energy():
    """Without damping the springs give back what they store."""
    robot = block()
    law = SpringDamper(2e4, 0.0)
    q = np.array(robot.home)
    q[2] += 0.01
    residuals = []
    for h in (2e-4, 1e-4):
        engine = NativeEngine(robot, World.flat(), h, contact=law, integrator="rk4")
        engine.reset(State.of(robot, q))
        run(engine, 0.3, springs(robot))
        residuals.append(abs(engine.balance.contacts))
    assert residuals[1] < 1e-3 * robot.mass * G * 0.01


def test_the_same_run_gives_the_same_bits():
    robot = robot_named("hexapod")
    runs = []
    for _ in range(2):
        engine = NativeEngine(robot, World.flat(), contact="spring_damper")
        q = np.array(robot.home)
        q[2] += 0.01
        engine.reset(State.of(robot, q))
        for k in range(300):
            engine.advance(springs(robot, 30.0, 1.0, torque=0.1 * np.sin(0.1 * k) * np.ones(18)))
        runs.append((engine.state.q.tobytes(), engine.state.v.tobytes(), engine.balance.energy_residual))
    assert runs[0] == runs[1]


def test_many_steps_are_steps_one_by_one():
    robot = robot_named("hexapod")
    one, many = (NativeEngine(robot, World.flat()) for _ in range(2))
    act = springs(robot, 500.0, 5.0, limit=0.3)  # saturates
    for _ in range(100):
        one.advance(act)
    many.native_steps(100, act)
    assert one.state.q.tobytes() == many.state.q.tobytes()
    assert one.balance.drives == many.balance.drives
    assert one.time == many.time
    assert np.abs(one.torques()).max() <= 0.3 + 1e-9


# -- changes -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_push_gives_its_impulse():
    robot = robot_named("g1")
    engine = NativeEngine(robot, World(gravity=np.zeros(3), ground=()))
    engine.push("torso_link", [20.0, -10.0, 5.0, 0.0, 0.0, 0.0])
    engine.native_steps(100, springs(robot))
    engine.release()
    velocity = (engine.com(), engine.native_steps(1, springs(robot)), engine.com())
    got = robot.mass * (velocity[2] - velocity[0]) / engine.dt
    np.testing.assert_allclose(got, [2.0, -1.0, 0.5], atol=0.01)
    balance = engine.balance
    assert balance.pushes > 0.0
    assert abs(balance.energy_residual) < 1e-4
    np.testing.assert_allclose(balance.momentum_residual, 0.0, atol=0.01)


def test_the_point_of_a_push_turns():
    robot = block()
    engine = NativeEngine(robot, World(gravity=np.zeros(3), ground=()))
    engine.push("box", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0], point=engine.com() + np.array([0.0, 0.1, 0.0]))
    engine.advance(springs(robot))
    inertia = robot.tree.inertias[0][2, 2]
    np.testing.assert_allclose(engine.acceleration()[[0, 5]], [1.0 / robot.mass, -0.1 / inertia], rtol=1e-9)


def test_friction_changes():
    robot, angle = block(), 0.3
    engine = NativeEngine(robot, incline(angle, 0.5))
    engine.reset(on_incline(robot, angle, 0.099))
    run(engine, 0.2, springs(robot))
    assert (engine.modes() == 1.0).all()
    engine.set_friction(0.1, [0])
    run(engine, 0.2, springs(robot))
    assert (engine.modes() == 2.0).all()
    with pytest.raises(ShapeError, match="no such pieces"):
        engine.set_friction(0.1, [1])


def test_ground_changes():
    robot = block()
    engine = run(NativeEngine(robot, World.flat()), 0.2, springs(robot))
    engine.set_ground([GroundPlane(np.array([0.0, 0.0, -0.05]))])
    run(engine, 1.0, springs(robot))
    assert engine.state.q[2] == pytest.approx(0.05 - 1e-3, abs=1e-5)
    with pytest.raises(NotSupportedError, match="same kinds"):
        engine.set_ground([GroundPlane(), GroundPlane()])


def test_a_payload_weighs_until_the_reset():
    robot = block()
    engine = run(NativeEngine(robot, World.flat()), 0.5, springs(robot))
    engine.set_payload("box", 1.0, [0.0, 0.0, 0.05])
    assert engine.com()[2] - engine.state.q[2] == pytest.approx(0.05 / 3.0)
    run(engine, 2.0, springs(robot))
    assert engine.touches().load.sum() == pytest.approx(3.0 * G, rel=1e-5)
    assert 0.1 - engine.state.q[2] == pytest.approx(1.5e-3, rel=1e-3)
    assert abs(engine.balance.energy_residual) < 1e-4
    np.testing.assert_allclose(engine.balance.momentum_residual, 0.0, atol=1e-3)
    engine.reset(State.of(robot))
    run(engine, 1.0, springs(robot))
    assert engine.touches().load.sum() == pytest.approx(2.0 * G, rel=1e-5)


# -- worlds --------------------------------------------------------------------------------------------------------


def test_on_boxes_and_height_fields():
    robot = block()
    q = np.array(robot.home)
    q[2] += 0.3
    tread = GroundBox((1.0, 1.0, 0.2), placement((0.0, 0.0, 0.1)))
    hill = HeightField(np.full((5, 5), 0.2), 0.25, np.array([-0.5, -0.5, 0.0]))
    for piece in (tread, hill):
        engine = NativeEngine(robot, World(ground=(GroundPlane(), piece)))
        engine.reset(State.of(robot, q))
        run(engine, 1.0, springs(robot))
        assert engine.state.q[2] == pytest.approx(0.3 - 1e-3, abs=1e-5)


def test_a_riser_stops_a_sliding_block():
    robot = block()
    step = GroundBox((1.0, 1.0, 0.05), placement((0.8, 0.0, 0.025)))
    engine = NativeEngine(robot, World(ground=(GroundPlane(friction=0.0), step)))
    v = np.zeros(6)
    v[0] = 1.0
    engine.reset(State.of(robot, v=v))
    run(engine, 0.5, springs(robot))
    assert 0.1 < engine.state.q[0] < 0.3
    assert engine.state.v[0] < 0.05


def test_several_robots_and_objects():
    robots = (block(), robot_named("hexapod"))
    shapes = {"box": Box((0.1, 0.2, 0.3)), "drum": Cylinder(0.1, 0.2), "pill": Capsule(0.05, 0.2)}
    things = [
        MovableObject(name, shape, 0.5, placement((0, k + 1.0, 0.16))) for k, (name, shape) in enumerate(shapes.items())
    ]
    world = World(objects=tuple(things), obstacles=(Obstacle("post", Box((0.1, 0.1, 1.0))),))
    engine = NativeEngine(robots, world)
    assert sum("do not touch" in note or "not touched" in note for note in engine.notes) == 2
    acts = (springs(robots[0]), springs(robots[1], 30.0, 1.0))
    engine.native_steps(1500, *acts)
    assert [state.q.size for state in engine.states] == [7, 25]
    assert engine.touches(1).load.sum() == pytest.approx(robots[1].mass * G, rel=1e-3)
    for name, height in (("box", 0.15), ("drum", 0.1), ("pill", 0.15)):
        assert engine.object_state(name)[0][2, 3] == pytest.approx(height - 1e-3, abs=2e-3)
    assert abs(engine.balance.energy_residual) < 1e-2
    engine.reset(*(State.of(robot) for robot in robots))
    assert engine.object_state("box")[0][2, 3] == pytest.approx(0.16)


def test_a_fixed_robot_swings():
    robot = pendulum()
    engine = NativeEngine(robot, None, 1e-3, integrator="rk4")
    engine.reset(State.of(robot, [1.0]))
    engine.native_steps(1000, springs(robot))
    assert abs(engine.balance.energy_residual) < 1e-9
    assert np.isnan(engine.balance.momentum_residual).all()


# -- errors --------------------------------------------------------------------------------------------------------


def test_a_run_that_blows_up_names_time_and_joint():
    robot = robot_named("hexapod")
    engine = NativeEngine(robot, None)
    torque = np.zeros(18)
    torque[4] = 1e9
    with pytest.raises(SimulationError, match=r"t = 0\.001") as caught:
        engine.advance(springs(robot, torque=torque))
    assert robot.drives[4].joint.split("_")[0] in str(caught.value)
    engine.reset(State.of(robot))
    with pytest.raises(SimulationError, match="diverged"):
        engine.native_steps(5, springs(robot, torque=np.full(18, np.nan)))
    assert engine.time == 0.0


def test_bad_input_is_named():
    robot = block()
    engine = NativeEngine(robot, World.flat())
    with pytest.raises(UnknownNameError, match="contact surface"):
        engine.wrench("soul")
    with pytest.raises(UnknownNameError, match="contact surface"):
        engine.slip("soul")
    with pytest.raises(UnknownNameError, match="link"):
        engine.push("boks", np.zeros(6))
    with pytest.raises(UnknownNameError, match="link"):
        engine.placement("boks")
    with pytest.raises(UnknownNameError, match="object"):
        engine.object_state("ball")
    with pytest.raises(ShapeError, match="2 states"):
        engine.reset(State.of(robot), State.of(robot))
    with pytest.raises(ShapeError, match="no robot 1"):
        engine.torques(1)
    with pytest.raises(ShapeError, match="dt"):
        NativeEngine(robot, dt=0.0)
    with pytest.raises(ShapeError):
        NativeEngine(())
    rock = MovableObject("rock", Mesh(points=np.eye(3)), 1.0)
    with pytest.raises(NotSupportedError, match="mesh"):
        NativeEngine(robot, World(objects=(rock,)))
    hexapod = robot_named("hexapod")
    with pytest.raises(ShapeError, match="needs 18"):
        NativeEngine(hexapod).advance(springs(robot))
    with pytest.raises(ShapeError, match="needs 18"):
        NativeEngine(hexapod).step(Command(torque=np.zeros(3)))


def test_commands_are_for_ideal_drives():
    robot = robot_named("hexapod")
    engine = NativeEngine(robot, World.flat())
    state = engine.step(Command(torque=np.full(18, 100.0)))
    assert state.t == pytest.approx(engine.dt)
    np.testing.assert_allclose(engine.torques(), [drive.torque_limit for drive in robot.drives])


def test_begin_finds_the_forces_and_does_not_move():
    robot = robot_named("hexapod")
    engine = run(NativeEngine(robot, World.flat()), 1.0, springs(robot, 30.0, 1.0))
    before, wrench = engine.state, engine.wrench("left_front")
    engine.begin(springs(robot, 30.0, 1.0))
    assert engine.state.q.tobytes() == before.q.tobytes()
    assert engine.time == before.t
    np.testing.assert_allclose(engine.wrench("left_front"), wrench, atol=1e-3)
