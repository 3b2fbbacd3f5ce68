"""Every quantity of this room against Pinocchio, for every robot that can be loaded."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.kinematics import (
    REFERENCES,
    body_placements,
    com,
    com_bias,
    com_jacobian,
    com_velocity,
    frame_acceleration,
    frame_jacobian,
    frame_placement,
    frame_velocity,
    total_mass,
)
from surefoot.kinematics.frames import frame_classical_acceleration, frame_of
from surefoot.robot.loading import load
from tests.kinematics.examples import KINDS, REFERENCE_OF_PINOCCHIO, assert_same, every_joint, robot_named, state
from tests.whole_zoo import WHOLE_ZOO


def check_bodies_and_com(robot, data, q, v) -> None:
    tree, rest = robot.tree, np.zeros(robot.nv)
    assert_same(com(tree, q), pin.centerOfMass(robot.model, data, q, v, rest))
    assert_same(com_velocity(tree, q, v), data.vcom[0])
    assert_same(com_bias(tree, q, v), data.acom[0])
    assert_same(com_jacobian(tree, q), pin.jacobianCenterOfMass(robot.model, data, q).reshape(3, -1))
    assert_same(total_mass(tree), pin.computeTotalMass(robot.model))
    for i, (R, p) in enumerate(body_placements(robot.tree, q)):
        assert_same(R, data.oMi[i + 1].rotation)
        assert_same(p, data.oMi[i + 1].translation)


def check_frame(robot, data, name, q, v, a, references) -> None:
    tree, frame, k = robot.tree, frame_of(robot, name), robot.frame_id(name)
    assert_same(frame_placement(tree, frame, q), data.oMf[k].homogeneous)
    for reference in references:
        theirs = (robot.model, data, k, REFERENCE_OF_PINOCCHIO[reference])
        assert_same(frame_jacobian(tree, frame, q, reference), pin.getFrameJacobian(*theirs).reshape(6, -1))
        assert_same(frame_velocity(tree, frame, q, v, reference), pin.getFrameVelocity(*theirs).vector)
        assert_same(frame_acceleration(tree, frame, q, v, a, reference), pin.getFrameAcceleration(*theirs).vector)
        assert_same(
            frame_classical_acceleration(tree, frame, q, v, a, reference),
            pin.getFrameClassicalAcceleration(*theirs).vector,
        )


def check(robot, seed, frames, references) -> None:
    q, v, a = state(robot, seed)
    data = robot.model.createData()
    check_bodies_and_com(robot, data, q, v)
    pin.forwardKinematics(robot.model, data, q, v, a)
    pin.computeJointJacobians(robot.model, data)
    pin.updateFramePlacements(robot.model, data)
    for name in frames:
        check_frame(robot, data, name, q, v, a, references)


@pytest.mark.parametrize("name", WHOLE_ZOO)
@pytest.mark.parametrize(
    "seeds", [range(3), pytest.param(range(3, 5), marks=pytest.mark.slow)], ids=["few states", "more states"]
)
def test_whole_zoo(name, seeds):
    robot = load(name)
    names = np.random.default_rng(len(name)).choice(robot.frame_names, 5)
    for seed in seeds:
        check(robot, seed, [str(names[seed])], [REFERENCES[seed % 3]])


@pytest.mark.parametrize("name", ["g1", "talos", "biped", "every joint"])
def test_all_references(name):
    robot = robot_named(name)
    check(robot, 7, ["universe", *robot.link_names[-2:], robot.joint_names[1]], REFERENCES)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_joint_alone(kind):
    robot = every_joint((kind,))
    for seed in range(2):
        check(robot, seed, ["l0"], REFERENCES)
