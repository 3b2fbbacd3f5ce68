import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.contact import row_lengths


@pytest.mark.parametrize("name", ["humanoid", "cartpole", "biped", "g1"])
def test_rows_that_do_work_by_moving_without_turning_are_forces(name):
    """By Pinocchio: a row is a force if its unit velocity moves the joint's body without turning it."""
    robot = sf.load(name)
    lengths, data = row_lengths(robot, 0.25), robot.model.createData()
    q = pin.neutral(robot.model)
    for i in range(1, robot.model.njoints):
        joint = robot.model.joints[i]
        for row in range(joint.idx_v, joint.idx_v + joint.nv):
            pin.forwardKinematics(robot.model, data, q, np.eye(robot.nv)[row])
            assert lengths[row] == (1.0 if not np.any(data.v[i].angular) else 0.25)
