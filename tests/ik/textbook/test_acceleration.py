import numpy as np
from numpy.testing import assert_allclose

from surefoot.ik.textbook.acceleration import closed_loop_acceleration, integrable_acceleration, resolved_acceleration
from tests.ik import planar_arm

LENGTHS = (0.3, 0.25, 0.2, 0.25)


def state(rng):
    q, rates = rng.uniform(-1.0, 1.0, 4), rng.normal(size=4)
    return q, rates, planar_arm.jacobian(q, LENGTHS), planar_arm.jacobian_rate(q, rates, LENGTHS)


def test_jacobian_rate_of_the_oracle(rng):
    q, rates, _, J_rate = state(rng)
    h = 1e-6
    change = planar_arm.jacobian(q + h * rates, LENGTHS) - planar_arm.jacobian(q - h * rates, LENGTHS)
    assert_allclose(J_rate, change / (2 * h), atol=1e-9)


def test_resolved_acceleration_holds_the_task(rng):
    _, rates, J, J_rate = state(rng)
    wanted, rest = rng.normal(size=2), rng.normal(size=4)
    found = resolved_acceleration(J, J_rate @ rates, wanted, rest)
    assert_allclose(J @ found + J_rate @ rates, wanted, atol=1e-10)
    inverse = np.linalg.pinv(J)
    assert_allclose(found, inverse @ (wanted - J_rate @ rates) + (np.eye(4) - inverse @ J) @ rest, atol=1e-10)
    assert_allclose(resolved_acceleration(J, J_rate @ rates, wanted), inverse @ (wanted - J_rate @ rates), atol=1e-10)


def test_integrable_form_is_the_derivative_of_the_velocity(rng):
    """Central differences of q' = J⁺ V + N u along the motion, with all four inputs moving."""
    for _ in range(5):
        q, u, V, du, dV = rng.uniform(-1, 1, 4), *(rng.normal(size=k) for k in (4, 2, 4, 2))

        def velocity(h, q=q, u=u, V=V, du=du, dV=dV, direction=None):
            J = planar_arm.jacobian(q if direction is None else q + h * direction, LENGTHS)
            inverse = np.linalg.pinv(J)
            return inverse @ (V + h * dV) + (np.eye(4) - inverse @ J) @ (u + h * du)

        rates = velocity(0.0)
        h = 1e-6
        expected = (velocity(h, direction=rates) - velocity(-h, direction=rates)) / (2 * h)
        J_rate = planar_arm.jacobian_rate(q, rates, LENGTHS)
        J = planar_arm.jacobian(q, LENGTHS)
        found = integrable_acceleration(J, J_rate, u, du, V, dV)
        assert_allclose(found, expected, atol=1e-6 * (1.0 + np.abs(expected).max()))
        assert_allclose(J @ found + J_rate @ rates, dV, atol=1e-8 * (1.0 + np.abs(found).max()))


def test_book_form_for_a_task_at_rest(rng):
    q, u, du = rng.uniform(-1, 1, 4), rng.normal(size=4), rng.normal(size=4)
    J = planar_arm.jacobian(q, LENGTHS)
    inverse = np.linalg.pinv(J)
    N = np.eye(4) - inverse @ J
    J_rate = planar_arm.jacobian_rate(q, N @ u, LENGTHS)
    book = -inverse @ J_rate @ N @ u + N @ (du - J_rate.T @ inverse.T @ u)
    assert_allclose(integrable_acceleration(J, J_rate, u, du), book, atol=1e-10)


def test_closed_loop_acceleration():
    found = closed_loop_acceleration([1.0, 0.0], [0.5, 0.0], [0.1, -0.1], 2.0, [4.0, 9.0])
    assert_allclose(found, [1.0 + 1.0 + 0.4, -0.9])
