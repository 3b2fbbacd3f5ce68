"""Friction, ground and payload while a simulation runs."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import GroundBox, GroundPlane, HeightField, State, World
from surefoot.robot import placement
from surefoot.robot.loading import load
from surefoot.sim.mujoco.engine import MujocoEngine

from ..examples import block, lifted_model
from ..mujoco_runs import actuation


def go_on(engine, duration):
    for _ in range(round(duration / engine.dt)):
        engine.advance(actuation(engine.robot))


def on_slope(angle, friction):
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    engine = MujocoEngine(block(), World(ground=(GroundPlane(normal=normal),), friction=friction))
    q = [*(0.0999 * normal), 0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)]
    engine.reset(State.of(engine.robot, q))
    return engine


def test_block_slides_when_friction_falls():
    """With µ above tan it stays, below it slides with g (sin − µ cos), with 0 with g sin, and it stops again."""
    angle = np.deg2rad(15.0)
    engine = on_slope(angle, 0.5)
    go_on(engine, 0.3)
    assert engine.slip("sole") < 1e-3
    for mu in (0.1, 0.0):
        engine.set_friction(mu)
        go_on(engine, 0.02)
        before = engine.state.v[0]
        go_on(engine, 0.1)
        assert_allclose((engine.state.v[0] - before) / 0.1, 9.81 * (np.sin(angle) - mu * np.cos(angle)), rtol=0.03)
    engine.set_friction(0.6)
    go_on(engine, 1.0)
    assert np.abs(engine.state.v).max() < 0.01


def test_the_slipperier_surface_still_decides():
    engine = MujocoEngine(block(), World(friction=0.3))
    go_on(engine, 0.05)
    own = engine.robot.contacts["sole"].friction
    for wanted, effective in ((0.2, 0.2), (2.0, own)):
        engine.set_friction(wanted)
        go_on(engine, 0.01)
        assert_allclose(engine.data.contact.friction[:, 0], effective)


def test_friction_of_single_pieces():
    pieces = (GroundPlane(), GroundBox((1.0, 1.0, 1.0), placement((9.0, 0.0, 0.0))))
    engine = MujocoEngine(block(), World(ground=pieces, friction=0.4))
    engine.set_friction(0.1, [1])
    assert_allclose(engine.mj.geom("ground 0").friction[0], 0.4)
    assert_allclose(engine.mj.geom("ground 1").friction[0], 0.1)
    engine.set_payload("box", 1.0, np.zeros(3))
    assert_allclose(engine.mj.geom("ground 1").friction[0], 0.1)
    with pytest.raises(ShapeError, match="no ground"):
        MujocoEngine(block()).set_friction(0.1)
    with pytest.raises(ShapeError, match="no such pieces"):
        engine.set_friction(0.1, [2])
    with pytest.raises(ShapeError, match="friction"):
        engine.set_friction(-0.1)
    with pytest.raises(ShapeError, match="friction"):
        engine.set_friction(np.nan)


def test_payload_adds_its_weight():
    engine = MujocoEngine(block(mass=2.0), World())
    go_on(engine, 0.3)
    engine.set_payload("box", 0.7, [0.03, -0.02, 0.1])
    assert_allclose(engine.com() - engine.placement("box")[:3, 3], 0.7 / 2.7 * np.array([0.03, -0.02, 0.1]), atol=1e-6)
    go_on(engine, 0.5)
    loaded = engine.wrench("sole")
    assert_allclose(loaded, [0.0, 0.0, 2.7 * 9.81, -0.02 * 0.7 * 9.81, -0.03 * 0.7 * 9.81, 0.0], atol=4e-3)
    engine.set_payload("box", 0.0, np.zeros(3))
    go_on(engine, 0.5)
    assert_allclose(engine.wrench("sole"), [0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0], atol=2e-3)


def test_robot_with_payloads_moves_as_pinocchio_says():
    """Two payloads on links of one body, one elsewhere: accelerations in free fall under torques."""
    robot = load("anymal")
    engine = MujocoEngine(robot, World(ground=()), dt=1e-3)
    reference = lifted_model(engine.scene.models[0])
    links = ["base", "imu_link", "LF_HIP"]
    for k, link in enumerate(links):
        place = np.array([0.1, 0.05 * k, -0.2])
        engine.set_payload(link, 1.0 + k, place)
        frame = robot.model.frames[robot.frame_id(link)]
        point = pin.Inertia(1.0 + k, frame.placement.act(place), np.zeros((3, 3)))
        reference.inertias[frame.parentJoint] = reference.inertias[frame.parentJoint] + point
    assert robot.body_of(links[0]) == robot.body_of(links[1]) != robot.body_of(links[2])
    torque = np.linspace(-3.0, 3.0, robot.nu)
    engine.advance(actuation(robot, torque=torque))
    full = np.zeros(robot.nv)
    full[robot.driven] = torque
    wanted = pin.aba(reference, reference.createData(), np.array(robot.home), np.zeros(robot.nv), full)
    assert_allclose(engine.acceleration(), wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())


def test_state_stays_and_reset_takes_payloads_away():
    robot = load("anymal")
    engine = MujocoEngine(robot, World())
    fresh = {name: np.array(getattr(engine.mj, name)) for name in ("body_mass", "body_inertia", "dof_invweight0")}
    engine.reset(State.of(robot, v=0.1 * np.ones(robot.nv)))
    for _ in range(10):
        engine.advance(actuation(robot, kd=2.0))
    before = engine.state
    engine.set_payload("base", 5.0, np.zeros(3))
    assert engine.time == before.t
    assert_array_equal(engine.state.q, before.q)
    assert_array_equal(engine.state.v, before.v)
    assert len(engine.touches().load) > 0
    engine.advance(actuation(robot, kd=2.0))
    assert_allclose(engine.mj.body_mass.sum(), fresh["body_mass"].sum() + 5.0)
    engine.reset(State.of(robot))
    for name, values in fresh.items():
        assert_array_equal(getattr(engine.mj, name), values)


def test_pushes_go_on_after_a_change():
    engine = MujocoEngine(block(mass=2.0), World(ground=(), gravity=np.zeros(3)))
    engine.push("box", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    engine.set_payload("box", 2.0, np.zeros(3))
    engine.advance(actuation(engine.robot))
    assert_allclose(engine.acceleration()[0], 2.0 / 4.0)


def test_wrong_payloads():
    engine = MujocoEngine(load("panda"))
    with pytest.raises(UnknownNameError, match="panda_hand"):
        engine.set_payload("panda_hnad", 1.0, np.zeros(3))
    with pytest.raises(NotSupportedError, match="fixed"):
        engine.set_payload("panda_link0", 1.0, np.zeros(3))
    with pytest.raises(ShapeError, match="mass"):
        engine.set_payload("panda_hand", -1.0, np.zeros(3))
    with pytest.raises(ShapeError, match="position"):
        engine.set_payload("panda_hand", 1.0, np.zeros(2))


def rest_height(engine, x, y):
    """Height of the ground on which the block comes to rest."""
    engine.reset(State.of(engine.robot, [x, y, 0.8, 0.0, 0.0, 0.0, 1.0]))
    go_on(engine, 0.8)
    return engine.state.q[2] - 0.1


def test_ground_moves():
    """Plane, box and height field, with one another far away so that bounds matter."""
    flat = HeightField(np.zeros((4, 3)), cell=0.5, origin=np.array([4.0, 0.0, 0.1]))
    before = (GroundPlane(), GroundBox((0.5, 0.5, 0.2), placement((-30.0, 0.0, 0.1))), flat)
    engine = MujocoEngine(block(), World(ground=before))
    assert_allclose(rest_height(engine, 2.0, 0.0), 0.0, atol=2e-3)
    assert_allclose(rest_height(engine, 4.7, 0.5), 0.1, atol=2e-3)
    raised = HeightField(np.full((4, 3), 0.3), cell=0.5, origin=np.array([4.0, 0.0, 0.1]))
    lower = GroundPlane(np.array([0.0, 0.0, -0.2]))
    engine.set_ground((lower, GroundBox((1.5, 1.5, 0.4), placement((2.0, 0.0, 0.2))), raised))
    assert_allclose(rest_height(engine, 2.0, 0.0), 0.4, atol=2e-3)
    assert_allclose(rest_height(engine, 4.7, 0.5), 0.4, atol=5e-3)
    assert_allclose(rest_height(engine, -3.0, 0.0), -0.2, atol=2e-3)
    assert engine.scene.world.ground[0] is lower


def test_boxes_alone_move_too():
    engine = MujocoEngine(block(), World(ground=(GroundBox((0.5, 0.5, 0.2), placement((-30.0, 0.0, 0.1))),)))
    engine.set_ground((GroundBox((1.5, 1.5, 0.4), placement((20.0, 0.0, 0.2)), friction=0.05),))
    assert_allclose(rest_height(engine, 20.0, 0.0), 0.4, atol=2e-3)
    assert_allclose(engine.data.contact.friction[:, 0], 0.05)


def test_ground_of_other_kinds_is_refused():
    field = HeightField(np.zeros((4, 3)), cell=0.5)
    engine = MujocoEngine(block(), World(ground=(GroundPlane(), field)))
    for ground in ((GroundPlane(),), (field, GroundPlane()), (GroundPlane(), HeightField(np.zeros((3, 4)), cell=0.5))):
        with pytest.raises(NotSupportedError, match="same kinds"):
            engine.set_ground(ground)
    with pytest.raises(NotSupportedError, match="same kinds"):
        MujocoEngine(block()).set_ground((GroundPlane(),))


def test_a_change_that_changes_nothing_changes_no_step():
    robot, ends = load("g1"), []
    for change in (False, True):
        engine = MujocoEngine(robot, World())
        for k in range(20):
            if change and k == 10:
                engine.set_ground(engine.scene.world.ground)
            engine.advance(actuation(robot, kd=5.0))
        ends.append(engine.state.q)
    assert_allclose(ends[0], ends[1], atol=1e-9)  # a forward in between improves the solver's first guess
