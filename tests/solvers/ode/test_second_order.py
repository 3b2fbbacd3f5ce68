import numpy as np
from numpy.testing import assert_allclose

from surefoot.solvers import ode


def swing(t, q, v):
    return -np.sin(q)


def run(step_function, h, count):
    q, v = np.array([1.2]), np.array([0.0])
    energies = []
    for i in range(count):
        q, v = step_function(i * h, q, v)
        energies.append(0.5 * v[0] ** 2 - np.cos(q[0]))
    return q, v, np.array(energies) + np.cos(1.2)


def test_semi_implicit_euler_keeps_the_energy_bounded_where_euler_does_not():
    h, count = 0.05, 4000
    _, _, energy = run(lambda t, q, v: ode.semi_implicit_euler_step(swing, t, q, v, h), h, count)
    _, _, explicit = run(lambda t, q, v: (q + h * v, v + h * swing(t, q, v)), h, count)
    first, last = energy[: count // 4], energy[-count // 4 :]
    assert np.abs(last).max() < 1.02 * np.abs(first).max() < 0.05
    assert abs(last.mean()) < 1e-3
    assert explicit[-1] > 1


def test_semi_implicit_euler_keeps_areas():
    """The map (q, v) -> (q⁺, v⁺) has determinant 1 where the acceleration depends on q alone."""
    h, d, x = 0.3, 1e-6, np.array([0.7, -0.4])

    def step(x):
        return np.concatenate(ode.semi_implicit_euler_step(swing, 0.0, x[:1], x[1:], h))

    J = np.array([(step(x + d * e) - step(x - d * e)) / (2 * d) for e in np.eye(2)])
    assert_allclose(np.linalg.det(J), 1, atol=1e-9)


def test_semi_implicit_euler_is_of_order_one():
    def error(h):
        q, v, _ = run(lambda t, q, v: ode.semi_implicit_euler_step(swing, t, q, v, h), h, round(2 / h))
        exact = ode.integrate(ode.second_order(swing, 1), [1.2, 0.0], 0.0, 2.0, tol=1e-12).x[-1]
        return np.linalg.norm(np.concatenate([q, v]) - exact)

    assert abs(np.log2(error(0.02) / error(0.01)) - 1) < 0.1


def test_second_order_puts_velocity_and_acceleration_together():
    field = ode.second_order(lambda t, q, v: np.array([t, q[2] + v[1]]), 3)
    assert_allclose(field(5.0, np.array([1.0, 2.0, 3.0, 4.0, 6.0])), [4, 6, 5, 9])
