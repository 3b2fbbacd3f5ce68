"""Speeds and accelerations of joints: what they ask for at every level, and odd input."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.textbook import resolved_acceleration
from surefoot.robot import Robot
from surefoot.tasks import JointAccelerations, JointSpeeds, TaskSet


@pytest.fixture(scope="module")
def panda() -> Robot:
    return sf.load("panda")


def state(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = pin.integrate(robot.model, robot.home, 0.3 * rng.normal(size=robot.nv))
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def test_the_value_is_the_acceleration_of_the_joints() -> None:
    robot = sf.load("g1")
    q, v, a = state(robot)
    names = ["left_knee_joint", "right_elbow_joint"]
    task = JointAccelerations(robot, [2.0, -1.0], names, name="bend")
    (terms,) = TaskSet(robot, [task]).evaluate(q, v)
    assert terms.bias is not None
    at = [robot.tree.v_index[robot.joint_index(name)] for name in names]
    np.testing.assert_array_equal(terms.jacobian @ a + terms.bias, a[at])
    np.testing.assert_array_equal(terms.error, [2.0, -1.0])
    assert task.order == 2
    assert task.measures == (("rad/s²", 2),)


def test_torques_give_the_accelerations_that_it_asks_for(panda: Robot) -> None:
    q, v, _ = state(panda)
    task = JointAccelerations(panda, [0.5, -1.0], panda.joint_names[1:3], name="wave")
    (terms,) = TaskSet(panda, [task]).evaluate(q, v)
    assert terms.bias is not None
    wanted = resolved_acceleration(terms.jacobian, terms.bias, terms.error)
    data = panda.model.createData()
    tau = pin.rnea(panda.model, data, q, v, wanted)
    np.testing.assert_allclose(pin.aba(panda.model, data, q, v, tau)[1:3], [0.5, -1.0], atol=1e-9)


def test_limits_are_margins_on_both_sides(panda: Robot) -> None:
    most = np.array([3.0, np.inf])
    task = JointAccelerations.limits(panda, most, name="gently", joints=panda.joint_names[:2], priority=2)
    np.testing.assert_array_equal(task.margins, [most, most])
    assert task.priority == 2
    assert not task.is_equation


def test_a_posture_has_no_rates(panda: Robot) -> None:
    for task in (JointSpeeds(panda, name="speeds"), JointAccelerations(panda, name="accelerations")):
        with pytest.raises(NotSupportedError, match=task.name):
            sf.ik.solve(panda, [task])


@pytest.mark.parametrize("target", [np.nan, [1.0, 2.0], "fast", None])
def test_odd_targets_are_refused(panda: Robot, target: object) -> None:
    for kind in (JointSpeeds, JointAccelerations):
        with pytest.raises(ShapeError):
            kind(panda, target, name="odd")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="below"):
        JointAccelerations.limits(panda, -1.0, name="odd")
