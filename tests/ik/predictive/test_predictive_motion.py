import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.ik.predictive.motion import TaskRows, motion_by_posture, null_space_motion
from surefoot.kinematics import frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.robot.loading import load

CASES = [
    ("harvester", "gripper", (0, 1, 2), 0.0),
    ("harvester", "gripper", (0, 1, 2, 3, 4, 5), 0.02),
    ("harvester", "gripper", (2, 4), 0.0),
    ("arm4", "tip", (0, 2), 0.05),
]


class Case:
    """A robot somewhere, with an error, a wanted rate and a null-space velocity."""

    def __init__(self, name, frame, rows, damping, rng, gain=7.0):
        self.robot = load(name)
        self.task = TaskRows(frame_of(self.robot, frame), rows, gain, damping)
        self.q = self.robot.home + rng.uniform(-0.3, 0.3, self.robot.nq)
        self.u, self.twist = rng.normal(size=self.robot.nv), rng.normal(size=6)
        away = self.q + 0.2 * rng.normal(size=self.robot.nq)
        self.pose = frame_placement(self.robot.tree, self.task.frame, away)

    def motion(self, q=None, u=None):
        q, u = self.q if q is None else q, self.u if u is None else u
        return null_space_motion(self.robot.tree, self.task, q, u, self.pose, self.twist)

    def J(self, q=None):
        q = self.q if q is None else q
        return frame_jacobian(self.robot.tree, self.task.frame, q)[list(self.task.rows)]


def by_differences(function, x, h=1e-6):
    """∂function/∂x by central differences, one column for each entry of x."""
    units = np.eye(len(x))
    return np.stack([(function(x + h * e) - function(x - h * e)) / (2.0 * h) for e in units], axis=-1)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_against_differences(case, rng):
    c = Case(*case, rng)
    found = motion_by_posture(c.robot.tree, c.task, c.q, c.motion())
    assert_allclose(found, by_differences(lambda q: c.motion(q=q).rate, c.q), atol=1e-6 * (1.0 + np.abs(found).max()))
    assert_allclose(c.motion().projector, by_differences(lambda u: c.motion(u=u).rate, c.u), atol=1e-8)


def test_derivative_is_that_of_the_source(rng):
    """Buschmann 2014, (A.53) with (A.59), whose ∂J/∂q is taken by differences here; no drift feedback."""
    c = Case("harvester", "gripper", (0, 1, 2), 0.0, rng, gain=0.0)
    J, dJ = c.J(), by_differences(c.J, c.q)
    G = np.linalg.inv(J @ J.T)
    wanted, columns = c.twist[:3], []
    for i in range(c.robot.nv):
        d = dJ[..., i]
        inverse_rate = d.T @ G - J.T @ G @ (d @ J.T + J @ d.T) @ G
        columns.append(inverse_rate @ wanted - inverse_rate @ J @ c.u - J.T @ G @ d @ c.u)
    found = motion_by_posture(c.robot.tree, c.task, c.q, c.motion())
    assert_allclose(found, np.stack(columns, axis=1), atol=1e-6)


@pytest.mark.parametrize("case", [case for case in CASES if case[3] == 0.0])
def test_task_is_held_whatever_the_self_motion(case, rng):
    c = Case(*case, rng)
    J, motion = c.J(), c.motion()
    still = null_space_motion(c.robot.tree, c.task, c.q, np.zeros_like(c.u), c.pose, c.twist)
    assert_allclose(J @ motion.rate, J @ still.rate, atol=1e-10)
    assert_allclose(motion.rate - still.rate, (np.eye(len(c.q)) - np.linalg.pinv(J) @ J) @ c.u, atol=1e-10)
    assert_allclose(motion.inverse, np.linalg.pinv(J), atol=1e-9)


def test_errors_die_out(rng):
    """Position and orientation of the gripper reach the pose with the gain as rate."""
    c = Case("harvester", "gripper", (0, 1, 2, 3, 4, 5), 1e-4, rng, gain=20.0)
    q, still = c.q, np.zeros(6)
    for _ in range(200):
        q = q + 0.01 * null_space_motion(c.robot.tree, c.task, q, np.zeros_like(q), c.pose, still).rate
    assert_allclose(frame_placement(c.robot.tree, c.task.frame, q), c.pose, atol=1e-6)
