import math

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation, Slerp

from surefoot.errors import UnknownNameError
from surefoot.spatial import SingularParametersError, so3
from surefoot.spatial import quaternion as quat

from .examples import VECTORS, difference, trace

RNG = np.random.default_rng(7)
UNITS = [quat.random(RNG) for _ in range(20)]


def test_product_is_a_group_and_matches_matrices():
    p, q, r = UNITS[:3]
    assert_allclose(quat.product(quat.product(p, q), r), quat.product(p, quat.product(q, r)), atol=1e-15)
    assert_allclose(quat.product(p, quat.identity()), p)
    assert_allclose(quat.product(quat.conjugate(p), p), quat.identity(), atol=1e-15)
    assert_allclose(quat.to_matrix(quat.product(p, q)), quat.to_matrix(p) @ quat.to_matrix(q), atol=1e-15)
    assert_allclose(quat.product(p, q), (Rotation.from_quat(p) * Rotation.from_quat(q)).as_quat(), atol=1e-15)
    assert_allclose(quat.product([0, 0, 2.0, 0], [3.0, 0, 0, 0]), [0, 6, 0, 0])  # k i = j


def test_matrix_and_rotation_match_scipy():
    for q in UNITS:
        assert_allclose(quat.to_matrix(q), Rotation.from_quat(q).as_matrix(), atol=1e-15)
        assert_allclose(quat.rotate(q, [1, 2, 3]), quat.to_matrix(q) @ [1, 2, 3], atol=2e-15)


def test_from_matrix_in_all_four_branches_and_on_their_borders():
    border = [np.array(s) * 0.5 for s in ([1, 1, 1, 1], [1, -1, 1, 1], [-1, 1, 1, 1], [1, 1, -1, 1])]
    corner = [e for k in range(4) for e in (np.eye(4)[k], np.eye(4)[k] + 1e-9, np.eye(4)[k] + [0.1, -0.2, 0.15, 0.05])]
    for q in [*border, *map(quat.normalise, corner), *UNITS]:
        back = quat.from_matrix(quat.to_matrix(q))
        assert_allclose(back * np.sign(back @ q), q, atol=1e-15)
        assert back[3] >= 0


def test_from_matrix_returns_unit_quaternions_of_slightly_wrong_matrices():
    R = quat.to_matrix(UNITS[0]) * (1 + 1e-6)
    q = quat.from_matrix(R)
    assert np.linalg.norm(q) == pytest.approx(1, abs=1e-15)
    assert_allclose(q, UNITS[0], atol=2e-6)


def test_exp_and_log():
    for vector in VECTORS:
        q = quat.exp(vector)
        assert_allclose(q, Rotation.from_rotvec(vector).as_quat(), atol=1e-15)
        assert_allclose(quat.to_matrix(q), so3.exp(vector), atol=2e-15)
        assert_allclose(quat.exp(quat.log(q)) * np.sign(q[3]), q, rtol=0, atol=1e-15)
        if np.linalg.norm(vector) < math.pi - 1e-15:
            assert_allclose(quat.log(q), vector, rtol=1e-14, atol=1e-14 * np.linalg.norm(vector) + 1e-320)
            assert_allclose(quat.log(-3.0 * q), quat.log(q), rtol=1e-15)


def test_log_has_the_sign_of_exp_at_pi_minus_little():
    vector = (math.pi - 1e-9) * np.array([0.6, 0.0, -0.8])
    assert_allclose(quat.log(quat.exp(vector)), vector, atol=1e-15)


@pytest.mark.parametrize("frame", ["body", "world"])
def test_rates_are_derivatives_and_invert(frame):
    q, omega = UNITS[3], np.array([0.3, -1.2, 0.7])

    def path(t):
        turn = quat.exp(t * omega)
        return quat.product(q, turn) if frame == "body" else quat.product(turn, q)

    rate = quat.rates(q, omega, frame)
    assert_allclose(rate, difference(path, 1e-3), atol=1e-12)
    assert_allclose(quat.omega(q, rate, frame), omega, atol=1e-15)
    assert abs(q @ rate) < 1e-16


def test_body_and_world_angular_velocity_differ_by_the_rotation():
    q, rate = UNITS[4], np.array([0.3, -0.2, 0.5, 0.0])
    rate = rate - q * (q @ rate)
    assert_allclose(quat.omega(q, rate, "world"), quat.to_matrix(q) @ quat.omega(q, rate, "body"), atol=1e-15)


def test_a_wrong_frame_is_named():
    with pytest.raises(UnknownNameError, match="did you mean `body`"):
        quat.rates(UNITS[0], [1, 0, 0], "boddy")  # type: ignore[arg-type]


def test_slerp_matches_scipy_and_takes_the_short_way():
    p, q = UNITS[5], UNITS[6]
    between = Slerp([0, 1], Rotation.from_quat([p, q]))
    for s in (0.0, 0.2, 0.5, 1.0):
        expected = between(s).as_matrix()
        assert_allclose(quat.to_matrix(quat.slerp(p, q, s)), expected, atol=1e-14)
        assert_allclose(quat.to_matrix(quat.slerp(p, -q, s)), expected, atol=1e-14)
    assert_allclose(quat.slerp(p, p, 0.3), p, atol=1e-15)


def test_orders_and_normalisation():
    assert_allclose(quat.to_wxyz([1, 2, 3, 4]), [4, 1, 2, 3])
    assert_allclose(quat.from_wxyz(quat.to_wxyz([1, 2, 3, 4])), [1, 2, 3, 4])
    assert_allclose(quat.normalise([0, 0, 3, 4]), [0, 0, 0.6, 0.8])
    assert_allclose(pin.Quaternion(UNITS[0]).coeffs(), UNITS[0])
    with pytest.raises(SingularParametersError):
        quat.normalise(np.zeros(4))


def test_symbols_equal_numbers():
    p, q = UNITS[:2]
    cases = [
        (quat.product, (p, q)),
        (quat.to_matrix, (p,)),
        (quat.rotate, (p, np.arange(3.0))),
        (quat.rates, (p, np.arange(3.0))),
        (quat.omega, (p, q)),
        (quat.slerp, (p, q, 0.3)),
        (quat.normalise, (3 * p,)),
        (quat.canonical, (-p,)),
    ]
    for f, arguments in cases:
        assert_allclose(trace(f, *arguments)(*arguments), f(*arguments), atol=1e-15)


def test_traced_from_matrix_exp_and_log_everywhere():
    from_matrix, exp, log = (
        trace(quat.from_matrix, np.eye(3)),
        trace(quat.exp, np.zeros(3)),
        trace(quat.log, np.zeros(4)),
    )
    for vector in VECTORS:
        R, q = so3.exp(vector), quat.exp(vector)
        assert_allclose(from_matrix(R), quat.from_matrix(R), atol=2e-15)
        assert_allclose(exp(vector), q, atol=1e-15)
        assert_allclose(log(q), quat.log(q), atol=2e-15)
