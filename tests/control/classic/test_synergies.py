"""Synergies by command: what is commanded moves, the rest keeps still (Nenchev & Konno 2019, section 7.5)."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.control.classic import SYNERGIES, Synergies, SynergyCommand
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.robot import Robot, anatomy, load

WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED


def motion(robot: Robot, q: np.ndarray, v: np.ndarray, frame: str) -> np.ndarray:
    return pin.computeFrameJacobian(robot.model, robot.model.createData(), q, robot.frame_id(frame), WORLD) @ v


@pytest.mark.parametrize("name", ["small-humanoid", "talos"])
@pytest.mark.parametrize("moved", SYNERGIES)
def test_what_is_commanded_moves_and_the_rest_keeps_still(name: str, moved: tuple[bool, bool, bool]) -> None:
    robot = load(name, base="floating")
    hands, q = anatomy(robot).hands, np.array(robot.home)
    body = Synergies(robot, hands)
    whole, ends, joints = moved
    com, turn = np.array([0.0, 0.01, -0.02]) * whole, np.array([0.0, 0.05, 0.02]) * whole
    hand = np.array([0.02, 0.0, 0.03]) * ends
    shoulder = robot.tree.joint_names[max(robot.body_of(hands[0]) - 2, 1)]
    command = SynergyCommand(com, turn, dict.fromkeys(hands, hand), {shoulder: 0.3} if joints else {})
    assert command.name == SYNERGIES[moved]
    v = body.rates(q, command)
    data = robot.model.createData()
    np.testing.assert_allclose(pin.jacobianCenterOfMass(robot.model, data, q) @ v, com, atol=1e-9)
    np.testing.assert_allclose(pin.XYZQUATToSE3(q[:7]).rotation @ v[3:6], turn, atol=1e-9)
    for link in hands:
        np.testing.assert_allclose(motion(robot, q, v, link)[:3], hand, atol=1e-4)
    for contact in body.contacts:
        np.testing.assert_allclose(motion(robot, q, v, robot.contacts[contact].frame), 0.0, atol=1e-4)
    assert np.abs(v).max() > 1e-3


def test_straight_knees_do_not_blow_up() -> None:
    robot = load("small-humanoid", base="floating")
    q = np.array(robot.home)
    q[7:] = 0.0
    v = Synergies(robot).rates(q, SynergyCommand(com=(0.0, 0.0, 0.05)))
    assert np.abs(v[6:]).max() < 10.0


def test_refusals() -> None:
    robot = load("small-humanoid", base="floating")
    with pytest.raises(UnknownNameError):
        Synergies(robot).rates(robot.home, SynergyCommand(ends={"tail": (1.0, 0.0, 0.0)}))
    with pytest.raises(NotSupportedError):
        Synergies(load("pendulum"))
