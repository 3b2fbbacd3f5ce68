import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.singular.path import PathProblem, follow_consistently, path_tangent
from tests.ik import planar_arm

LIMIT = 2.0


def problem(point, direction):
    return PathProblem(lambda q, s: point(s) - planar_arm.tip(q), planar_arm.jacobian, direction)


def line(start, way):
    return problem(lambda s: np.asarray(start) + s * np.asarray(way), lambda s: np.asarray(way))


def assert_sound(motion, dt=0.01):
    """On the path, within the rate limit, and rates belong to the positions."""
    assert motion.error.max() < 1e-9
    assert np.abs(motion.rates).max() <= LIMIT + 1e-9
    assert_allclose(np.diff(motion.q, axis=0) / dt, 0.5 * (motion.rates[1:] + motion.rates[:-1]), atol=0.02)


def test_the_elbow_passes_through_the_edge_of_the_reach():
    """Along y = 0.3 outwards: the tip stops at √(4 − 0.09), the elbow changes its side, the tip comes back."""
    start = np.array([1.0, 0.3])
    motion = follow_consistently(
        line(start, [1.0, 0.0]), planar_arm.elbow_angles(start, -1), 0.0, 0.5, 6.0, 0.01, LIMIT
    )
    assert_sound(motion)
    edge = np.sqrt(4.0 - 0.09) - 1.0
    assert motion.s.max() == pytest.approx(edge, abs=1e-4)
    top = int(np.argmax(motion.s))
    assert (motion.q[: top - 1, 1] < 0.0).all()
    assert (motion.q[top + 2 :, 1] > 0.0).all()
    assert (motion.speed[: top - 1] > 0.0).all()
    assert (motion.speed[top + 2 :] < 0.0).all()
    assert motion.speed[0] == pytest.approx(0.5)
    assert np.abs(motion.rates[top]).max() > 1.0  # joints move on where the tip rests
    assert motion.s[-1] < 0.0  # all the way back, beyond its start
    jumps = np.abs(np.diff(motion.rates, axis=0)).max()
    finer = follow_consistently(line(start, [1.0, 0.0]), motion.q[0], 0.0, 0.5, 6.0, 0.005, LIMIT)
    assert np.abs(np.diff(finer.rates, axis=0)).max() < 0.6 * jumps


def test_start_at_the_singular_posture():
    """Two stretched links pulled back: the tip goes inwards, the elbow out."""
    motion = follow_consistently(line([2.0, 0.0], [1.0, 0.0]), [0.0, 0.0], 0.0, -0.5, 1.0, 0.01, LIMIT)
    assert_sound(motion)
    assert_allclose(motion.rates[0] / motion.rates[0, 0], [1.0, -2.0], atol=1e-9)
    assert motion.s[-1] < -0.1


def test_along_what_is_left_at_the_edge():
    """On the circle of the reach Ŝ is attainable all the time: the stretched arm turns about its shoulder."""
    circle = problem(
        lambda s: 2.0 * np.array([np.cos(s), np.sin(s)]), lambda s: 2.0 * np.array([-np.sin(s), np.cos(s)])
    )
    motion = follow_consistently(circle, [0.0, 0.0], 0.0, 0.5, 4.0, 0.01, LIMIT)
    assert_sound(motion)
    assert motion.s[-1] == pytest.approx(2.0, rel=1e-3)
    assert_allclose(motion.q[-1], [motion.s[-1], 0.0], atol=1e-5)


def test_a_path_that_touches_the_edge_is_followed_on():
    """A circle inside the reach that touches its edge: Ŝ is attainable there, branches cross, the path goes on."""
    circle = problem(
        lambda s: np.array([1.5 - 0.5 * np.cos(s), -0.5 * np.sin(s)]),
        lambda s: 0.5 * np.array([np.sin(s), -np.cos(s)]),
    )
    start = planar_arm.elbow_angles([1.0, 0.0], 1)
    motion = follow_consistently(circle, start, 0.0, 1.0, 2.0 * np.pi, 0.01, LIMIT)
    assert_sound(motion)
    assert_allclose(motion.speed, 1.0, atol=1e-2)
    assert motion.q[-1, 1] == pytest.approx(-motion.q[0, 1], abs=0.05)  # straight through: the elbow changed its side


def test_through_the_shoulder_itself():
    motion = follow_consistently(
        line([1.0, 0.0], [-1.0, 0.0]), planar_arm.elbow_angles([1.0, 0.0], 1), 0.0, 0.5, 5.0, 0.01, LIMIT
    )
    assert_sound(motion)
    assert motion.s[-1] > 2.0
    assert_allclose(planar_arm.tip(motion.q[-1]), [1.0 - motion.s[-1], 0.0], atol=1e-9)


def test_a_redundant_arm_passes_too():
    q = np.array([0.8, -0.9, -0.3])
    start = planar_arm.tip(q)
    motion = follow_consistently(line(start, [1.0, 0.0]), q, 0.0, 0.5, 4.0, 0.01, LIMIT, slowest=0.3)
    assert motion.error.max() < 1e-9
    assert np.abs(motion.rates).max() <= LIMIT + 1e-9
    assert motion.s.max() + start[0] == pytest.approx(np.sqrt(9.0 - start[1] ** 2), abs=5e-3)
    assert motion.s[-1] < 0.0
    jumps = np.abs(np.diff(motion.rates, axis=0)).max()
    finer = follow_consistently(line(start, [1.0, 0.0]), q, 0.0, 0.5, 4.0, 0.005, LIMIT, slowest=0.3)
    assert np.abs(np.diff(finer.rates, axis=0)).max() < 0.7 * jumps


def test_redundant_arm_takes_least_rates_in_regular_postures():
    J, S = planar_arm.jacobian([0.4, -0.7, 0.9]), np.array([1.0, 0.0])
    expected = np.append(np.linalg.pinv(J) @ S, 1.0)
    found = path_tangent(J, S, -expected / np.linalg.norm(expected))
    assert_allclose(found, -expected / np.linalg.norm(expected), atol=1e-10)


def test_ends_where_the_path_does():
    start = np.array([1.0, 0.3])
    motion = follow_consistently(
        line(start, [1.0, 0.0]), planar_arm.elbow_angles(start, 1), 0.0, 0.5, 6.0, 0.01, LIMIT, span=(0.0, 0.4)
    )
    assert motion.t[-1] == pytest.approx(0.8, abs=0.02)


def test_start_beside_the_path_is_refused():
    with pytest.raises(ShapeError, match="start on its path"):
        follow_consistently(line([1.0, 0.3], [1.0, 0.0]), [0.1, 1.0], 0.0, 0.5, 1.0, 0.01, LIMIT)
    with pytest.raises(NotSupportedError, match="come back"):
        follow_consistently(line([0.0, 3.0], [1.0, 0.0]), [0.0, 1.0], 0.0, 0.5, 1.0, 0.01, LIMIT)
