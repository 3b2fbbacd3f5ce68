from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.estimation import EncodedJoints, EstimatorSettings
from surefoot.estimation.filter_kernels import filter_kernels
from surefoot.estimation.footholds import ContactPoints, FootholdBook, TippingSoles, spread_corners
from surefoot.kinematics import Frame
from surefoot.kinematics.frames import frame_of
from tests.estimation.examples import robot_of
from tests.estimation.test_invariant_filter import COUNT, SIZE, some_filter

SETTINGS = EstimatorSettings()
DT = 0.005
JACOBIANS, VARIANCE = np.zeros((COUNT, 3, 2)), np.zeros(2)


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


def standing_book():
    """A filter with four points on the ground, sure of everything to a tenth of a millimetre."""
    kalman = some_filter()
    kalman.P = 1e-8 * np.eye(SIZE)
    book = FootholdBook(kalman, np.arange(COUNT), SETTINGS)
    points = (kalman.footholds - kalman.position) @ kalman.rotation
    book.update(DT, points, JACOBIANS, VARIANCE, np.ones(COUNT))
    return kalman, book, points


def test_footholds_come_and_go_with_the_probability():
    _, book, points = standing_book()
    grip = []
    for likely in (1.0, 0.5, 0.2, 0.5, 0.8):
        probability = np.array([likely, 1.0, 1.0, 1.0])
        book.update(DT, points, JACOBIANS, VARIANCE, probability)
        grip.append(book.grip(probability)[0])
    assert grip == pytest.approx([1.0, 0.5, 0.0, 0.0, 0.8])


def test_a_point_beyond_the_gate_moves_nothing_and_gets_a_new_foothold_after_a_while():
    kalman, book, points = standing_book()
    place, slid = kalman.position.copy(), points.copy()
    slid[0] += 0.05
    for k in range(6):
        book.update(DT, slid, JACOBIANS, VARIANCE, np.ones(COUNT))
        held = np.linalg.norm(kalman.residuals(slid)[0]) > 0.04
        assert held == (k * DT < SETTINGS.patience)
    assert kalman.position == pytest.approx(place, abs=1e-6)
    assert book.grip(np.ones(COUNT)).all()


def test_when_no_point_fits_the_velocity_is_doubted():
    kalman, book, points = standing_book()
    before = kalman.covariance[3, 3]
    for _ in range(6):
        book.update(DT, points + 0.05, JACOBIANS, VARIANCE, np.ones(COUNT))
    assert kalman.covariance[3, 3] > before + 0.5 * SETTINGS.slip_speed**2


def test_an_unsure_touch_corrects_less():
    moves = []
    for likely in (1.0, 0.4):
        kalman, book, points = standing_book()
        kalman.P[6:9, 6:9] += 1e-9 * np.eye(3)
        before = kalman.position.copy()
        book.update(DT, points + 1e-4, JACOBIANS, VARIANCE, np.full(COUNT, likely))
        moves.append(np.linalg.norm(kalman.position - before))
    assert 0.0 < moves[1] < 0.5 * moves[0]


def test_reset_forgets_all_footholds():
    _, book, _ = standing_book()
    book.reset()
    assert not book.grip(np.ones(COUNT)).any()


def test_the_grip_of_points_is_that_of_the_formula(rng):
    """A sole is doubted as far as its centre of pressure is at an edge; loads fade; silent forces count in full."""
    robot = robot_of("g1")
    surfaces = list(robot.contacts.values())
    contact_of = np.repeat(np.arange(len(surfaces)), 3)
    probability, share, wrenches = np.array([1.0, 0.8]), np.array([0.6, 0.1]), np.zeros((2, 6))
    out = np.zeros(6)
    bound = TippingSoles(surfaces, contact_of).grip(4.0, probability, share, wrenches, out)
    corner = spread_corners(surfaces[0])[0]
    for at, held in (
        (surfaces[0].corners.mean(axis=0), [1.0, 1.0, 1.0]),
        (corner, None),
        (np.full(3, np.nan), [1, 1, 1]),
    ):
        wrenches[:] = [0.0, 0.0, 300.0, 300.0 * at[1], -300.0 * at[0], 0.0]
        bound.run()
        if held is None:  # the corner itself holds, what is across the sole does not
            assert out[0] == pytest.approx(1.0)
            assert out[:3].min() < 1e-12
        else:
            np.testing.assert_allclose(out, np.r_[held, 0.8 * 4.0 * 0.1 * np.array(held)], rtol=1e-12)
    share[1] = np.nan
    bound.run()
    np.testing.assert_allclose(out[3:], 0.8)
