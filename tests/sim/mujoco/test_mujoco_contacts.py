import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import UnknownNameError
from surefoot.geometry import Box, Sphere
from surefoot.motion import GroundPlane, MovableObject, State, World
from surefoot.robot import ContactSurface, Geometry, Joint, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.sim.measured import OBJECT, WORLD
from surefoot.sim.mujoco.contacts import contact_forces
from surefoot.sim.mujoco.engine import MujocoEngine

from ..examples import block
from ..mujoco_runs import Run, actuation

WEIGHT = 2.0 * 9.81


def ball():
    shape = Geometry("g", "ball", Sphere(0.1))
    body = Link("ball", mass=1.0, inertia=0.4 * 0.01 * np.eye(3), collisions=(shape,))
    sole = ContactSurface("sole", "ball", "point", placement((0.0, 0.0, -0.1)), radius=0.1)
    return Robot.from_tree("ball", [body], "floating", contacts=(sole,))


def slope(angle, **world):
    """A tilted plane, and the state of a block that lies on it."""
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    q = [*(0.0999 * normal), 0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)]
    return World(ground=(GroundPlane(normal=normal),), **world), State.of(block(), q)


def test_forces_are_those_of_mj_contact_force():
    """Contacts with one, three and four directions."""
    heavy = load("anymal")
    contacts = {n: ContactSurface(c.name, c.frame, c.kind, c.placement, c.corners, 0.5, torsional_friction=0.02 * k,
                                  radius=c.radius) for k, (n, c) in enumerate(heavy.contacts.items())}  # fmt: skip
    things = (MovableObject("crate", Box((0.3, 0.3, 0.3)), 2.0, placement((2.0, 0.0, 0.149))),)
    for world in (World(objects=things), World(friction=0.0, objects=things)):
        engine, dims = MujocoEngine(heavy.replace(contacts=contacts), world), set()
        for _ in range(40):
            engine.advance(actuation(heavy, kd=3.0))
            dims |= set(engine.data.contact.dim.tolist())
            wanted = np.zeros((engine.data.ncon, 6))
            for k in range(engine.data.ncon):
                mujoco.mj_contactForce(engine.mj, engine.data, k, wanted[k])
            assert_array_equal(contact_forces(engine.data), wanted)
        assert dims == ({1} if world.friction == 0.0 else {3, 4})


def test_forces_without_contacts():
    engine = MujocoEngine(block(), World(ground=()))
    assert contact_forces(engine.data).shape == (0, 6)
    assert len(engine.touches().load) == 0
    assert_array_equal(engine.wrench("sole"), 0.0)


def test_block_at_rest_carries_its_weight():
    run = Run(block(), World(), 1.0)
    assert_allclose(run["sole.wrench"][-1], [0.0, 0.0, WEIGHT, 0.0, 0.0, 0.0], atol=1e-3)
    assert run["sole.slip"][-1] < 1e-4
    touches = run.engine.touches()
    assert_allclose(touches.load.sum(), WEIGHT, rtol=1e-4)
    assert_allclose(touches.normal, np.tile([0.0, 0.0, 1.0], (4, 1)), atol=1e-6)
    assert_array_equal(touches.against, WORLD)
    assert_array_equal(touches.surface, 0)
    assert_array_equal(touches.body, 0)
    assert_allclose(np.abs(touches.point[:, :2]), 0.1, atol=1e-3)


def test_wrench_is_in_the_frame_of_the_contact():
    angle = np.deg2rad(15.0)
    world, start = slope(angle)
    wrench = Run(block(), world, 1.0, initial=start)["sole.wrench"][-1]
    assert_allclose(wrench[:3], [-WEIGHT * np.sin(angle), 0.0, WEIGHT * np.cos(angle)], atol=2e-2)
    assert_allclose(wrench[4], WEIGHT * np.sin(angle) * -0.1, atol=2e-2)  # about the middle of the sole


def test_wrench_is_the_sum_of_the_touches():
    robot = load("g1")
    engine = MujocoEngine(robot, World())
    for _ in range(30):
        engine.advance(actuation(robot, kd=5.0))
    touches = engine.touches()
    for k, name in enumerate(robot.contacts):
        mine = touches.where(touches.surface == k)
        T = robot.contacts[name].placement
        body = engine.scene.models[0].tree_bodies[robot.body_of(robot.contacts[name].frame)]
        place = robot.model.frames[robot.frame_id(robot.contacts[name].frame)].placement.homogeneous @ T
        turn = engine.data.xmat[body].reshape(3, 3)
        origin, axes = engine.data.xpos[body] + turn @ place[:3, 3], turn @ place[:3, :3]
        moment = sum(m + np.cross(p - origin, f) for p, f, m in zip(mine.point, mine.force, mine.moment, strict=True))
        assert_allclose(engine.wrench(name), [*(axes.T @ mine.force.sum(axis=0)), *(axes.T @ moment)], atol=1e-9)
    assert touches.load.sum() > 10.0


@pytest.mark.parametrize("friction", [0.3, 0.0])
def test_slip_of_a_sliding_block_is_its_way(friction):
    start = State.of(block(), v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    run = Run(block(), World(friction=friction), 0.6, initial=start)
    way = run["q"][-1, 0] - run["q"][0, 0]
    assert way > 0.1
    assert_allclose(run["sole.slip"][-1], way, rtol=0.02)
    run.engine.reset(start)
    assert run.engine.slip("sole") == 0.0


def test_slip_goes_on_over_hops_but_not_over_jumps():
    """A block that is lifted for 10 ms slides on; one that is lifted for longer does not."""
    ways = []
    for lifted in (0.01, 0.05):

        def lift(engine, t, lifted=lifted):
            engine.release()
            if 0.1 <= t < 0.1 + lifted - 1e-9:
                engine.push("box", [0.0, 0.0, WEIGHT * 1.2, 0.0, 0.0, 0.0])

        run = Run(block(), World(friction=0.1), 0.3, initial=State.of(block(), v=[1.0, 0, 0, 0, 0, 0]), before=lift)
        ways.append(run["q"][-1, 0] - run["q"][0, 0] - run["sole.slip"][-1])
    assert abs(ways[0]) < 5e-3
    assert ways[1] > 0.02


def test_rolling_ball_does_not_slip():
    run = Run(ball(), World(), 0.5, initial=State.of(ball(), v=[0.5, 0.0, 0.0, 0.0, 5.0, 0.0]))
    assert run["q"][-1, 0] > 0.2
    assert run["sole.slip"][-1] < 2e-3


def test_forces_of_objects_count_once():
    crate = MovableObject("crate", Sphere(0.05), 0.5, placement((0.0, 0.0, 0.251)))
    run = Run(block(), World(objects=(crate,)), 0.3)
    assert_allclose(run["momentum_residual"], 0.0, atol=1e-6)
    assert run["sole.wrench"][:, 2].max() > 2.2 * 9.81
    touches = run.engine.touches()
    assert set(touches.against.tolist()) == {WORLD, OBJECT}
    on_top = touches.where(touches.against == OBJECT)
    assert (on_top.normal[:, 2] < -0.9).all()
    assert_allclose(on_top.force[:, 2].sum(), -0.5 * 9.81, rtol=0.05)


def folding():
    """Two plates on a hinge that can fold together."""

    def plate(name, parent, joint):
        shape = Geometry(name, name, Box((0.1, 0.2, 0.02)), placement((0.11, 0.0, 0.0)))
        return Link(name, parent, joint, mass=1.0, com=np.array([0.11, 0.0, 0.0]), inertia=0.01 * np.eye(3),
                    collisions=(shape,))  # fmt: skip

    middle = Link("middle", mass=0.5, inertia=0.01 * np.eye(3))
    first = plate("first", "middle", Joint("a", "revolute", axis=(0.0, 1.0, 0.0)))
    second = plate("second", "middle", Joint("b", "revolute", axis=(0.0, 1.0, 0.0)))
    return Robot.from_tree("folding", [middle, first, second], "floating", home={"b": 1.5}, contacts=())


def test_touching_itself_gives_a_row_to_each_body():
    robot = folding()
    engine = MujocoEngine(robot, World(ground=(), gravity=np.zeros(3)), self_collision=True)
    engine.reset(State.of(robot, robot.q_of({"a": 0.0, "b": 0.4})))
    for _ in range(300):
        engine.advance(actuation(robot, torque=[0.2, -0.2], kd=0.01))
    touches = engine.touches()
    assert set(touches.against.tolist()) == {0}
    assert set(touches.body.tolist()) == {1, 2}
    assert_allclose(touches.force.sum(axis=0), 0.0, atol=1e-12)
    assert touches.load.max() > 0.1
    assert_array_equal(touches.surface, -1)


def test_wrong_contact():
    engine = MujocoEngine(block(), World())
    with pytest.raises(UnknownNameError, match="sole"):
        engine.wrench("sol")
    with pytest.raises(UnknownNameError, match="sole"):
        engine.slip("sol")
