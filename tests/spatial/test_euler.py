import math

import numpy as np
import pytest
from numpy import cos, sin
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from surefoot import ops
from surefoot.errors import UnknownNameError
from surefoot.spatial import SingularParametersError, euler, so3

from .examples import ANGLES, AXES, difference, trace

RNG = np.random.default_rng(23)
SEQUENCES = list(euler.SEQUENCES)
MIDDLE = [1e-12, 1e-9, 1e-6, 1e-3, 0.5, 1.0, math.pi / 2 - 1e-3, math.pi / 2 - 1e-9, math.pi / 2]


def regular(sequence):
    """Angles away from the singularity."""
    angles = RNG.uniform(-1.2, 1.2, 3)
    return angles + np.array([0, 1.5, 0]) if sequence[0] == sequence[2] else angles


def test_there_are_twelve_sequences():
    assert len({s for s in SEQUENCES if s[0] != s[1] != s[2]}) == 12  # Buschmann 2014, section 2.2.3


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_matrix_equals_scipy(sequence):
    for _ in range(5):
        angles = RNG.uniform(-4, 4, 3)
        expected = Rotation.from_euler(sequence.upper(), angles).as_matrix()
        assert_allclose(euler.to_matrix(sequence, angles), expected, atol=1e-15)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_angles_give_the_matrix_again_also_at_the_singularity(sequence):
    for vector in [angle * axis for angle in ANGLES[::2] for axis in AXES[:8]]:
        R = so3.exp(vector)
        assert_allclose(euler.to_matrix(sequence, euler.from_matrix(sequence, R)), R, atol=2e-15)
    for middle in MIDDLE:
        for angles in ([0.3, middle, -2.0], [-3.0, -middle, 1.0], [1.0, math.pi - middle, 0.2]):
            R = euler.to_matrix(sequence, angles)
            assert_allclose(euler.to_matrix(sequence, euler.from_matrix(sequence, R)), R, atol=2e-15)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_regular_angles_come_back(sequence):
    for _ in range(10):
        angles = regular(sequence)
        assert_allclose(euler.from_matrix(sequence, euler.to_matrix(sequence, angles)), angles, atol=1e-14)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("frame", ["body", "world"])
def test_rate_map_is_the_derivative_and_has_its_inverse(sequence, frame):
    angles, rate = regular(sequence), RNG.standard_normal(3)
    R = euler.to_matrix(sequence, angles)
    dR = difference(lambda t: euler.to_matrix(sequence, angles + t * rate), 1e-3)
    omega = so3.unskew(R.T @ dR if frame == "body" else dR @ R.T)
    E = euler.rate_map(sequence, angles, frame)
    assert_allclose(E @ rate, omega, atol=1e-10)
    assert_allclose(euler.rate_map_inverse(sequence, angles, frame) @ E, np.eye(3), atol=1e-14)
    assert abs(np.linalg.det(E)) == pytest.approx(euler.singularity_distance(sequence, angles))


def test_cardan_angles_as_printed():
    a, b, g = angles = regular("xyz")
    A = euler.to_matrix("xyz", angles).T  # A_BI
    printed = [  # Buschmann 2014, (2.42)
        [cos(g) * cos(b), sin(g) * cos(a) + cos(g) * sin(b) * sin(a), sin(g) * sin(a) - cos(g) * sin(b) * cos(a)],
        [-sin(g) * cos(b), cos(g) * cos(a) - sin(g) * sin(b) * sin(a), cos(g) * sin(a) + sin(g) * sin(b) * cos(a)],
        [sin(b), -cos(b) * sin(a), cos(b) * cos(a)],
    ]
    assert_allclose(A, printed, atol=1e-15)
    forward = [[cos(g) * cos(b), sin(g), 0], [-sin(g) * cos(b), cos(g), 0], [sin(b), 0, 1]]  # (2.48)
    assert_allclose(euler.rate_map("xyz", angles), forward, atol=1e-15)
    back = [
        [cos(g), -sin(g), 0],
        [sin(g) * cos(b), cos(g) * cos(b), 0],
        [-cos(g) * sin(b), sin(g) * sin(b), cos(b)],
    ]
    assert_allclose(euler.rate_map_inverse("xyz", angles), np.array(back) / cos(b), atol=1e-14)  # (2.49)
    gamma = np.arctan2(-A[1, 0], A[0, 0])  # (2.43)-(2.45)
    beta = np.arctan2(A[2, 0], cos(gamma) * A[0, 0] - sin(gamma) * A[1, 0])
    assert_allclose(euler.from_matrix("xyz", A.T), [np.arctan2(-A[2, 1], A[2, 2]), beta, gamma], atol=1e-15)


def test_euler_angles_as_printed_with_errata():
    psi, theta, phi = angles = regular("zxz")
    A = euler.to_matrix("zxz", angles).T  # A_BI, Buschmann 2014, (2.50), rows 3 and column 3
    assert_allclose(A[2], [sin(theta) * sin(psi), -sin(theta) * cos(psi), cos(theta)], atol=1e-15)
    assert_allclose(A[:, 2], [sin(phi) * sin(theta), cos(phi) * sin(theta), cos(theta)], atol=1e-15)
    forward = [
        [sin(phi) * sin(theta), cos(phi), 0],
        [cos(phi) * sin(theta), -sin(phi), 0],
        [cos(theta), 0, 1],
    ]
    assert_allclose(euler.rate_map("zxz", angles), forward, atol=1e-15)  # (2.56)
    back = [
        [sin(phi), cos(phi), 0],
        [cos(phi) * sin(theta), -sin(phi) * sin(theta), 0],
        [-sin(phi) * cos(theta), -cos(theta) * cos(phi), sin(theta)],
    ]
    assert_allclose(euler.rate_map_inverse("zxz", angles), np.array(back) / sin(theta), atol=1e-14)  # (2.57)
    right, printed = np.arctan2(A[2, 0], -A[2, 1]), np.arctan2(-A[2, 0], A[2, 1])
    assert right == pytest.approx(psi)  # (2.51) corrected
    assert abs(printed - psi) > 1  # as printed it is half a turn off


def test_yaw_pitch_roll_as_printed():
    yaw, pitch, _ = angles = regular("zyx")
    printed = [  # Nenchev & Konno 2019, section 2.4
        [0, -sin(yaw), cos(yaw) * cos(pitch)],
        [0, cos(yaw), sin(yaw) * cos(pitch)],
        [1, 0, -sin(pitch)],
    ]
    E = euler.rate_map("zyx", angles, "world")
    assert_allclose(E, printed, atol=1e-15)
    assert np.linalg.det(E) == pytest.approx(-cos(pitch))  # erratum: the book prints +cos
    assert_allclose(euler.to_matrix("zyx", [0.5, 0, 0]) @ [1, 0, 0], [cos(0.5), sin(0.5), 0])


@pytest.mark.parametrize(
    ("sequence", "middle"), [("xyz", math.pi / 2), ("zxz", 0.0), ("zyx", -math.pi / 2), ("yxz", math.pi / 2)]
)
def test_rates_at_the_singularity_are_refused(sequence, middle):
    angles = [0.3, middle, 0.2]
    assert euler.singularity_distance(sequence, angles) < 1e-15
    for frame in ("body", "world"):
        with pytest.raises(SingularParametersError, match=f"{sequence} angles") as caught:
            euler.rate_map_inverse(sequence, angles, frame)
        assert caught.value.evidence[euler.SEQUENCES[sequence][1]] == middle
        assert "quaternion" in caught.value.next_step
    euler.rate_map_inverse(sequence, ops.symbols("angle", 3))  # symbols pass
    euler.rate_map_inverse(sequence, [0.3, middle + 1e-6, 0.2])  # near is allowed


def test_a_wrong_sequence_is_named():
    with pytest.raises(UnknownNameError, match="axis sequence"):
        euler.to_matrix("xxz", [0, 0, 0])


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_symbols_equal_numbers(sequence):
    angles = regular(sequence)
    R = euler.to_matrix(sequence, angles)
    assert_allclose(trace(lambda x: euler.to_matrix(sequence, x), angles)(angles), R, atol=1e-15)
    assert_allclose(trace(lambda x: euler.from_matrix(sequence, x), R)(R), euler.from_matrix(sequence, R), atol=1e-15)
    for f in (euler.rate_map, euler.rate_map_inverse):
        assert_allclose(trace(lambda x, f=f: f(sequence, x), angles)(angles), f(sequence, angles), atol=1e-14)
