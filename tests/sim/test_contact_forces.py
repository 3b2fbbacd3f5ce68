import numpy as np
from numpy.testing import assert_allclose

from surefoot.geometry import Sphere
from surefoot.motion import Command, GroundPlane, MovableObject, State, World
from surefoot.robot import ContactSurface, Geometry, Link, Robot, placement
from surefoot.sim import Simulation, simulate
from surefoot.sim.simulate import Settings

from .examples import block


class Nothing:
    def command(self, t, state):
        return Command(torque=np.zeros(0))


def ball():
    shape = Geometry("g", "ball", Sphere(0.1))
    body = Link("ball", mass=1.0, inertia=0.4 * 0.01 * np.eye(3), collisions=(shape,))
    sole = ContactSurface("sole", "ball", "point", placement((0.0, 0.0, -0.1)), radius=0.1)
    return Robot.from_tree("ball", [body], "floating", contacts=(sole,))


def test_block_at_rest_carries_its_weight():
    robot = block(mass=2.0)
    log = simulate(robot, Nothing(), World(), 1.0)
    assert_allclose(log["contact.sole.wrench"][-1], [0.0, 0.0, 2.0 * 9.81, 0.0, 0.0, 0.0], atol=1e-3)
    assert log["contact.sole.slip"][-1] < 1e-4


def test_wrench_is_in_the_frame_of_the_contact():
    slope = np.deg2rad(15.0)
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    robot = block(mass=2.0)
    start = State.of(robot, [*(0.0999 * normal), 0.0, np.sin(0.5 * slope), 0.0, np.cos(0.5 * slope)])
    log = simulate(robot, Nothing(), World(ground=(GroundPlane(normal=normal),)), 1.0, initial=start)
    wrench = log["contact.sole.wrench"][-1]
    weight = 2.0 * 9.81
    assert_allclose(wrench[:3], [-weight * np.sin(slope), 0.0, weight * np.cos(slope)], atol=2e-2)
    assert_allclose(wrench[4], weight * np.sin(slope) * -0.1, atol=2e-2)  # about the middle of the sole


def test_slip_of_a_sliding_block_is_its_way():
    robot = block(mass=2.0)
    start = State.of(robot, v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    log = simulate(robot, Nothing(), World(friction=0.3), 0.6, initial=start)
    way = log["q"][-1, 0] - log["q"][0, 0]
    assert way > 0.1
    assert_allclose(log["contact.sole.slip"][-1], way, rtol=0.02)


def test_rolling_ball_does_not_slip():
    robot = ball()
    start = State.of(robot, v=[0.5, 0.0, 0.0, 0.0, 5.0, 0.0])
    log = simulate(robot, Nothing(), World(), 0.5, initial=start)
    assert log["q"][-1, 0] > 0.2
    assert log["contact.sole.slip"][-1] < 2e-3


def test_forces_of_objects_count_once():
    crate = MovableObject("crate", Sphere(0.05), 0.5, placement((0.0, 0.0, 0.251)))
    simulation = Simulation(block(), Nothing(), World(objects=(crate,)), Settings(0.3))
    log = simulation.run()
    assert_allclose(log["momentum.residual"], 0.0, atol=1e-6)
    assert log["contact.sole.wrench"][:, 2].max() > 2.2 * 9.81
