from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.estimation import EncodedJoints
from surefoot.estimation.state_layout import BaseLayout
from tests.estimation.examples import arm, robot_of
from tests.motion.examples import every_kind


def test_positions_and_put_are_inverse():
    robot = arm("floating")
    joints = EncodedJoints(robot)
    q = np.array(robot.neutral)
    joints.put(np.array([0.4, 3.0, -0.2]), q)
    assert joints.names == ("swing", "spin", "slide")
    assert q == pytest.approx(robot.q_of({"swing": 0.4, "spin": 3.0, "slide": -0.2}))
    assert joints.positions(q) == pytest.approx([0.4, 3.0, -0.2])
    assert joints.velocities(np.arange(9.0)) == pytest.approx([6.0, 7.0, 8.0])


def test_continuous_joints_go_the_short_way_round_and_others_do_not():
    joints = EncodedJoints(arm("fixed"))
    assert joints.shortest(np.array([6.0, 6.0, 6.0])) == pytest.approx([6.0, 6.0 - 2 * np.pi, 6.0])


def test_joints_with_several_axes_have_no_encoder():
    robot = every_kind()
    joints = EncodedJoints(robot)
    kinds = dict(zip(robot.tree.joint_names, robot.tree.kinds, strict=True))
    assert joints.others
    assert all(kinds[name] in ("spherical", "planar", "translation", "free") for name in joints.others)
    assert all(kinds[name] not in ("spherical", "planar", "translation", "free") for name in joints.names)


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
