from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.estimation.state_layout import BaseLayout
from tests.estimation.examples import robot_of


@pytest.mark.parametrize("name", ["solo12", "biped"])
def test_pose_and_twist_are_those_of_pinocchio_and_come_back(name, rng):
    robot = robot_of(name)
    layout, data = BaseLayout(robot), robot.model.createData()
    q = pin.integrate(robot.model, np.array(robot.home), rng.standard_normal(robot.nv))
    v = rng.standard_normal(robot.nv)
    pin.forwardKinematics(robot.model, data, q, v)
    joint = robot.base_joint + 1
    assert layout.pose(q).homogeneous == pytest.approx(data.oMi[joint].homogeneous, abs=1e-12)
    assert layout.twist(v) == pytest.approx(data.v[joint].vector, abs=1e-12)
    q2, v2 = np.array(robot.neutral), np.zeros(robot.nv)
    layout.put(layout.pose(q), layout.twist(v), q2, v2)
    assert layout.pose(q2).homogeneous == pytest.approx(layout.pose(q).homogeneous, abs=1e-12)
    assert v2[robot.base_rows] == pytest.approx(v[robot.base_rows])


def test_what_is_outside_the_plane_is_left_out(rng):
    robot = robot_of("biped")
    layout = BaseLayout(robot)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    tilted = layout.pose(q) * pin.SE3(pin.exp3(np.array([0.1, -0.1, 0.3])), np.array([0.1, 0.2, 5.0]))
    layout.put(tilted, np.arange(6.0), q, v)
    assert v[robot.base_rows] == pytest.approx([0.0, 1.0, 5.0])
    pin.normalize(robot.model, q)
    assert q == pytest.approx(robot.checked_q(q))
