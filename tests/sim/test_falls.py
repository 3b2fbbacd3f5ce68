import numpy as np
import pinocchio as pin
import pytest

from surefoot.motion import Command, GroundBox, World
from surefoot.robot import ContactSurface, Joint, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.sim import simulate
from surefoot.sim.incidents import FallDetector

from .examples import block


class Slack:
    """Drives without torque."""

    def __init__(self, robot):
        self.command_ = Command(torque=np.zeros(robot.nu))

    def command(self, t, state):
        return self.command_


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def com_of(robot, q=None):
    return pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home if q is None else q))


def with_footprint(height=0.5):
    """A block on a stick, whose root frame lies below the ground at home."""
    root = Link("base_footprint")
    hold = Joint("hold", "fixed", placement((0.0, 0.0, height)))
    body = Link("body", "base_footprint", hold, mass=2.0, inertia=0.02 * np.eye(3))
    corners = 0.1 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    sole = ContactSurface("sole", "base_footprint", "rectangle", placement((0.0, 0.0, 0.05)), corners)
    return Robot.from_tree("stick", [root, body], "floating", contacts=(sole,))


def test_low_or_tilted():
    robot = load("anymal")
    falls, base, com = FallDetector(robot, World()), placement(robot.home[:3]), com_of(robot)
    assert not falls.has_fallen(com, base)
    assert not falls.has_fallen(0.51 * com, placement(rotation=turn(np.deg2rad(59.0))))
    assert falls.has_fallen(0.49 * com, base)
    assert falls.has_fallen(com, placement(rotation=turn(np.deg2rad(61.0))))


def test_height_is_over_the_ground():
    robot = load("anymal")
    step = World(ground=(GroundBox((2.0, 2.0, 1.0), placement((0.0, 0.0, 0.5))),))
    falls, low = FallDetector(robot, step), 0.3 * com_of(robot)[2]
    assert falls.has_fallen((0.0, 0.0, 1.0 + low), np.eye(4))
    assert not falls.has_fallen((0.0, 0.0, 1.0 + 3.0 * low), np.eye(4))
    assert falls.height((5.0, 0.0, 2.0)) == 2.0


def test_root_at_or_below_the_ground():
    robot = with_footprint()
    assert robot.home[2] < 0.0
    falls, base = FallDetector(robot, World()), placement(robot.home[:3])
    assert not falls.has_fallen(com_of(robot), base)
    assert falls.has_fallen((0.0, 0.0, 0.2), base)
    log = simulate(robot, Slack(robot), World(), 0.05)
    assert log.metadata["fall_time_s"] is None


def test_turned_root():
    robot = load("human")
    foot = ContactSurface("foot", robot.tree.body_names[-1], "point")
    robot = robot.replace(contacts={"foot": foot}, home=robot.neutral)
    base, com = robot.placements(robot.home)[robot.tree.body_names[0]], com_of(robot)
    falls = FallDetector(robot, World())
    assert falls.tilt(base) < 1e-6
    sole = robot.contact_corners(robot.home)["foot"][0, 2]
    standing = com - [0.0, 0.0, sole]
    assert not falls.has_fallen(standing, base)
    assert falls.has_fallen(standing, placement(rotation=turn(1.1)) @ base)
    assert falls.has_fallen(0.4 * standing, base)


def test_planar_robots_fall():
    robot = load("biped")
    log = simulate(robot, Slack(robot), World(), 3.0)
    assert 0.1 < log.metadata["fall_time_s"] < 2.0
    assert log["com.height"][0] == pytest.approx(com_of(robot)[2])
    assert log["base.tilt"][0] < 1e-6


@pytest.mark.parametrize("robot", [load("panda"), load("talos", base="fixed"), block().replace(contacts={})])
def test_what_does_not_stand_never_falls(robot):
    assert not FallDetector(robot, World()).has_fallen((0.0, 0.0, -5.0), placement(rotation=turn(3.0)))
