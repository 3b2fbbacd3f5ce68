"""Nenchev & Konno 2019, experiment 2.15 (Fig. 2.15): the centre of mass is raised through straight knees."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError
from surefoot.ik.singular.com_rise import raise_com
from surefoot.robot.loading import load

LIMIT = 3.0
ARMS = {"shoulder_pitch": -0.6, "elbow": -1.0}
RISES = {"small-humanoid": 0.031, "humanoid": 0.071}


def start_posture(robot):
    q = np.array(robot.home)
    for side in ("left", "right"):
        for joint, value in ARMS.items():
            q[robot.tree.q_index[robot.joint_index(f"{side}_{joint}")]] = value
    return q


def joint(robot, motion, name):
    return motion.q[:, robot.tree.q_index[robot.joint_index(name)]]


@pytest.fixture(scope="module", params=RISES)
def climb(request):
    robot = load(request.param)
    rise = RISES[request.param]
    return robot, rise, raise_com(robot, rise, 3.0, start_posture(robot), dt=0.02, rate_limit=LIMIT, until=5.0)


@pytest.fixture(scope="module")
def too_high():
    robot = load("small-humanoid")
    return robot, raise_com(robot, 0.06, 3.0, start_posture(robot), dt=0.02, rate_limit=LIMIT, until=5.0)


def test_knees_become_straight_while_the_centre_of_mass_goes_on(climb):
    robot, rise, motion = climb
    knee, base, height = joint(robot, motion, "left_knee"), motion.q[:, 2], motion.com[:, 2]
    assert knee[0] > 0.6
    straight = int(np.argmax(knee < 0.02))
    assert 0 < straight < len(knee) - 10
    assert height[-1] - height[straight] > 0.1 * rise  # the arms go on
    assert np.ptp(base[straight:]) < 0.02 * rise  # the base does not
    assert height[-1] - height[0] == pytest.approx(rise, rel=2e-3)
    assert (np.diff(height) > -1e-9).all()


def test_joint_rates_are_bounded_and_smooth(climb):
    _, _, motion = climb
    assert np.linalg.norm(motion.v[:, 6:], axis=1).max() <= LIMIT * (1.0 + 1e-6)
    assert np.abs(np.diff(motion.v, axis=0)).max() < 0.3
    assert motion.legs.min() < 1e-3  # through the singular posture of the legs
    assert motion.whole.min() > 5e-4  # which is not one of the whole robot
    assert (motion.pace > 0.05).all()


def test_feet_attitude_and_vertical_line_are_held(climb):
    robot, _, motion = climb
    assert motion.drift.max() < 1e-5
    first = robot.contact_corners(motion.q[0])
    for q in motion.q[::10]:
        for name, corners in robot.contact_corners(q).items():
            assert_allclose(corners, first[name], atol=1e-5)
        assert_allclose(q[3:7], motion.q[0, 3:7], atol=1e-5)
    assert_allclose(motion.com[:, :2] - motion.com[0, :2], 0.0, atol=1e-5)


def test_velocities_and_limits(climb):
    robot, _, motion = climb
    data = robot.model.createData()
    for k in range(0, len(motion.t), 20):
        q, v = np.array(motion.q[k]), motion.v[k]
        assert_allclose(pin.jacobianCenterOfMass(robot.model, data, q) @ v, [0, 0, v @ _vertical(robot, q)], atol=1e-4)
        assert (q >= robot.limits.lower - 1e-4).all()
        assert (q <= robot.limits.upper + 1e-4).all()
    step = [pin.difference(robot.model, np.array(a), np.array(b)) for a, b in zip(motion.q, motion.q[1:], strict=False)]
    assert_allclose(np.array(step) / 0.02, 0.5 * (motion.v[1:] + motion.v[:-1]), atol=0.05)


def _vertical(robot, q):
    return pin.jacobianCenterOfMass(robot.model, robot.model.createData(), q)[2]


def test_both_sides_do_the_same(climb):
    robot, _, motion = climb
    for name in ("hip_pitch", "knee", "shoulder_pitch", "elbow"):
        assert_allclose(joint(robot, motion, f"left_{name}"), joint(robot, motion, f"right_{name}"), atol=1e-4)


def test_ends_at_the_singular_posture_of_the_whole_robot(too_high):
    """Asked for more than it has, it comes to rest with knees and arms straight, and the feet where they were."""
    robot, motion = too_high
    assert np.linalg.norm(motion.v[:, 6:], axis=1).max() <= LIMIT * (1.0 + 1e-6)
    assert motion.pace[-1] < 0.02
    assert motion.whole[-1] < 5e-4
    assert motion.drift.max() < 1e-5
    assert np.abs(joint(robot, motion, "left_knee")[-1]) < 1e-2
    assert joint(robot, motion, "left_shoulder_pitch")[-1] < -2.5  # arms up
    assert motion.com[-1, 2] - motion.com[0, 2] < 0.05


def test_nothing_to_do():
    robot = load("small-humanoid")
    motion = raise_com(robot, 0.0, 0.1, dt=0.05)
    assert_allclose(motion.q, np.tile(robot.home, (len(motion.t), 1)), atol=1e-12)
    assert_allclose(motion.pace, 1.0)


def test_fixed_robots_are_refused():
    with pytest.raises(NotSupportedError):
        raise_com(load("arm4"), 0.1, 1.0)
