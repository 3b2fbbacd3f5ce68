import numpy as np

from surefoot.kinematics.recursion.motion import ACCELERATIONS, acceleration_matrix
from surefoot.kinematics.recursion.recursion import run
from surefoot.spatial.so3 import skew
from tests.kinematics.examples import assert_same, robot_named, state


def test_acceleration_matrix(rng):
    omega, alpha = rng.standard_normal(3), rng.standard_normal(3)
    assert_same(acceleration_matrix(omega, alpha), skew(alpha) + skew(omega) @ skew(omega))


def test_both_sweeps_find_the_same_angular_velocity():
    robot = robot_named("every joint")
    q, v, a = state(robot, 1)
    fields, _ = run(ACCELERATIONS, robot.tree, {"q": q, "v": v, "a": a})
    for body in fields[:-1]:
        assert np.array_equal(body["omega"], body["twist"][3:])
