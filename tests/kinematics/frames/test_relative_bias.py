import numpy as np
import pinocchio as pin
import pytest

from surefoot.kinematics import Frame, frame_bias_acceleration, integrate, relative_jacobian
from surefoot.kinematics.frames import WORLD
from surefoot.kinematics.frames.path import relative_bias
from surefoot.spatial import so3
from tests.dynamics.examples import armed, robot_named, two_roots

STEP = 1e-6
ROBOTS = [armed(), armed("fixed"), two_roots(), robot_named("hexapod")]


def random_frame(rng, tree):
    return Frame(int(rng.integers(-1, tree.n)), so3.random(rng), rng.normal(size=3))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_it_is_the_rate_of_the_jacobian_times_the_velocity(robot):
    rng, tree = np.random.default_rng(3), robot.tree
    for _ in range(5):
        first, second = random_frame(rng, tree), random_frame(rng, tree)
        q = pin.integrate(robot.model, np.array(robot.neutral), rng.normal(size=robot.nv))
        v = rng.normal(size=robot.nv)
        ahead, behind = (relative_jacobian(tree, first, second, integrate(tree, q, s * STEP * v)) for s in (1, -1))
        expected = (ahead - behind) @ v / (2.0 * STEP)
        found = relative_bias(tree, first, second, q, v)
        np.testing.assert_allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_seen_from_the_world_it_is_the_bias_of_the_frame(robot):
    rng, tree = np.random.default_rng(4), robot.tree
    q = pin.integrate(robot.model, np.array(robot.neutral), rng.normal(size=robot.nv))
    v, frame = rng.normal(size=robot.nv), Frame(tree.n - 1, so3.random(rng), rng.normal(size=3))
    seen = relative_bias(tree, WORLD, frame, q, v)
    np.testing.assert_allclose(seen, frame_bias_acceleration(tree, frame, q, v), atol=1e-9)
