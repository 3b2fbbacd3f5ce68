import numpy as np

from surefoot.motion import GroundBox, World
from surefoot.robot import placement
from surefoot.robot.load import load
from surefoot.sim.falls import FallDetector


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def test_low_or_tilted():
    robot = load("anymal")
    falls, height = FallDetector(robot, World()), float(robot.home[2])
    assert not falls.has_fallen(placement((0.0, 0.0, height)))
    assert not falls.has_fallen(placement((0.0, 0.0, 0.51 * height), turn(np.deg2rad(59.0))))
    assert falls.has_fallen(placement((0.0, 0.0, 0.49 * height)))
    assert falls.has_fallen(placement((0.0, 0.0, height), turn(np.deg2rad(61.0))))


def test_height_is_over_the_ground():
    robot = load("anymal")
    step = World(ground=(GroundBox((2.0, 2.0, 1.0), placement((0.0, 0.0, 0.5))),))
    low = 0.3 * float(robot.home[2])
    assert FallDetector(robot, step).has_fallen(placement((0.0, 0.0, 1.0 + low)))
    assert not FallDetector(robot, step).has_fallen(placement((0.0, 0.0, 1.0 + 3.0 * low)))
    assert FallDetector(robot, step).height(placement((5.0, 0.0, 2.0))) == 2.0


def test_tilt_is_against_home():
    robot = load("human")
    data = robot.placements(robot.home)[robot.tree.body_names[0]]
    assert FallDetector(robot, None).tilt(data) < 1e-6


def test_fixed_robots_never_fall():
    assert not FallDetector(load("panda"), World()).has_fallen(placement((0.0, 0.0, -5.0), turn(3.0)))
