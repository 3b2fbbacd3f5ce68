import numpy as np
import pinocchio as pin
import pytest

from surefoot.sim.native.manifold import body_motions, contact_points, points_by_body
from surefoot.sim.native.step import scale_of

from ..examples import block
from ..native_examples import robot_named


@pytest.mark.parametrize("name", ["g1", "hexapod"])
def test_points_are_the_corners_and_move_with_their_bodies(name):
    robot, rng = robot_named(name), np.random.default_rng(1)
    q = pin.integrate(robot.model, np.array(robot.home), 0.3 * rng.standard_normal(robot.nv))
    v = rng.standard_normal(robot.nv)
    points = contact_points(robot)
    groups = points_by_body(points)
    motions = body_motions(robot.tree, q, v, list(groups))
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v)
    frames = robot.placements(q)
    names = list(robot.contacts)
    corners = {name: list(rows) for name, rows in robot.contact_corners(q).items()}
    for k, point in enumerate(points):
        motion, surface = motions[point.body], robot.contacts[names[point.surface]]
        up = (frames[surface.frame] @ surface.placement)[:3, 2]
        expected = corners[surface.name].pop(0) + point.radius * up
        np.testing.assert_allclose(motion.p + motion.R @ point.position, expected, atol=1e-12)
        np.testing.assert_allclose(motion.twist, data.v[point.body + 1].vector, atol=1e-12)
        assert k in groups[point.body]
    assert not any(corners.values())


def test_the_lightest_direction_of_a_block():
    """Four corners of a cube with edge e: the hardest to move is found by hand for tilting, 1/m · 4 + …."""
    robot = block(mass=2.0, edge=0.2)
    found = scale_of(robot, contact_points(robot), 1e-3, explicit=False)
    J = np.vstack([np.hstack([np.eye(3), -pin.skew(p.position)]) for p in contact_points(robot)])
    M = np.diag([2.0] * 3 + [2.0 * 0.2**2 / 6.0] * 3)
    assert found.lightest == pytest.approx(1.0 / np.linalg.eigvalsh(J @ np.linalg.inv(M) @ J.T)[-1])
    assert (found.mass, found.points) == (pytest.approx(2.0), 4)
    assert scale_of(robot, (), 1e-3, explicit=False).lightest == pytest.approx(2.0)
