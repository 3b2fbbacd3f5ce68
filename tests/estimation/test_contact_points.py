from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.estimation import EncodedJoints
from surefoot.estimation.filter_kernels import filter_kernels
from surefoot.estimation.footholds import ContactPoints, spread_corners
from surefoot.kinematics import Frame, frame_of
from tests.estimation.examples import robot_of


@pytest.mark.parametrize("name", ["solo12", "g1", "lola", "biped"])
def test_points_and_jacobians_agree_with_pinocchio(name, rng):
    """Oracle: positions of the corners from Pinocchio's placements; Jacobians by differences of them."""
    robot = robot_of(name)
    joints = EncodedJoints(robot)
    imu = frame_of(robot, robot.tree.body_names[robot.base_joint])
    offset = pin.SE3(pin.exp3(rng.standard_normal(3)), rng.standard_normal(3))
    seat = Frame(imu.body, imu.R @ offset.rotation, imu.p + imu.R @ offset.translation)
    points = ContactPoints(robot, joints, seat)
    q = pin.integrate(robot.model, np.array(robot.home), 0.3 * rng.standard_normal(robot.nv))

    def seen(q: np.ndarray) -> np.ndarray:
        frames = robot.placements(q)
        T_imu = pin.SE3(frames[robot.tree.body_names[robot.base_joint]]) * offset
        out = []
        for contact in robot.contacts.values():
            T = T_imu.actInv(pin.SE3(frames[contact.frame]) * pin.SE3(np.array(contact.placement)))
            out += [T.act(corner) for corner in spread_corners(contact)]
        return np.array(out)

    found, jacobians = filter_kernels(robot, points).contact_points(q)
    assert found == pytest.approx(seen(q), abs=1e-12)
    h = 1e-6
    for k, row in enumerate(joints.v_rows):
        step = h * np.eye(robot.nv)[row]
        ahead, behind = (seen(pin.integrate(robot.model, q, sign * step)) for sign in (1.0, -1.0))
        assert jacobians[:, :, k] == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)


def test_areas_have_three_points_that_span_them_and_points_one():
    for contact in robot_of("g1").contacts.values():
        corners = spread_corners(contact)
        assert corners.shape == (3, 3)
        area = np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0])) / 2
        assert area > 1e-3
        assert all((corner == contact.corners).all(axis=1).any() for corner in corners)
    for contact in robot_of("solo12").contacts.values():
        assert spread_corners(contact).shape == (1, 3)
