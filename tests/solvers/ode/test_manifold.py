"""Munthe-Kaas methods: on the manifold, of the order of the table, against closed forms."""

import itertools

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.solvers import ode
from surefoot.spatial import se3, so3

from .examples import PinocchioManifold, free_body, observed_order

AXIAL, ROUND = np.array([0.6, 0.6, 0.2]), np.array([0.3, 0.5, 0.9])
METHODS = pytest.mark.parametrize("method", ode.METHODS.values(), ids=ode.METHODS)


def start():
    q = np.concatenate([[0.3, -0.2, 1.0], pin.Quaternion(so3.exp([0.4, -1.0, 0.7])).coeffs()])
    return np.concatenate([q, [1.0, -0.5, 0.3], [0.8, -1.1, 2.0]])


def exact_axial_body(t):
    """R = exp(L t/A) R₀ exp(ω₃ (1 - C/A) t e₃) for moments (A, A, C); the origin moves on a line (Euler, Poinsot)."""
    x = start()
    R0, v, omega = pin.Quaternion(x[3:7]).matrix(), x[7:10], x[10:]
    A, C = AXIAL[0], AXIAL[2]
    spin = np.array([0, 0, omega[2] * (1 - C / A)])
    R = so3.exp(R0 @ (AXIAL * omega) * t / A) @ R0 @ so3.exp(spin * t)
    return se3.make(R, x[:3] + R0 @ v * t), R.T @ R0 @ v, R.T @ (R0 @ (AXIAL * omega)) / AXIAL


def pose(x):
    return se3.make(pin.Quaternion(x[3:7]).matrix(), x[:3])


def solve(inertia, duration=1.0, **options):
    space, field = free_body(inertia)
    return ode.integrate(field, start(), 0.0, duration, manifold=space, **options)


@METHODS
def test_every_method_keeps_its_order_on_se3(method):
    def error(step):
        T, v, omega = exact_axial_body(1.0)
        x = solve(AXIAL, method=method, step=step).x[-1]
        return np.linalg.norm(np.concatenate([(pose(x) - T).ravel(), x[7:10] - v, x[10:] - omega]))

    assert abs(np.log2(error(0.05) / error(0.025)) - method.order) < 0.35


def test_a_large_turn_stays_on_the_manifold():
    result = solve(ROUND, 20.0, method=ode.RK4, step=0.1)
    assert_allclose(np.linalg.norm(result.x[:, 3:7], axis=1), 1, atol=1e-13)
    times = np.linspace(0, 20, 77)
    assert_allclose(np.linalg.norm(result.sample(times)[:, 3:7], axis=1), 1, atol=1e-13)


@pytest.mark.parametrize("options", [{"method": ode.RK4}, {"method": ode.DORMAND_PRINCE}, {"method": ode.CASH_KARP}])
def test_error_control_on_the_group(options):
    result = solve(AXIAL, 3.0, tol=1e-10, **options)
    T, v, omega = exact_axial_body(3.0)
    assert_allclose(pose(result.x[-1]), T, atol=1e-7)
    assert_allclose(result.x[-1, 7:], np.concatenate([v, omega]), atol=1e-7)
    middle, _, _ = exact_axial_body(1.23)
    assert_allclose(pose(result.sample(1.23)[0]), middle, atol=1e-5)


def momentum_and_energy(x):
    R, v, omega = pin.Quaternion(x[3:7]).matrix(), x[7:10], x[10:]
    linear = 2.0 * R @ v
    angular = R @ (ROUND * omega) + np.cross(x[:3], linear)
    return np.concatenate([linear, angular, [v @ v + 0.5 * omega @ (ROUND * omega)]])


def test_momentum_and_energy_of_a_free_body_are_kept_to_the_order():
    def drift(step):
        return np.abs(momentum_and_energy(solve(ROUND, step=step, method=ode.RK4).x[-1]) - momentum_and_energy(start()))

    coarse, fine = drift(0.1), drift(0.05)
    assert coarse.max() < 3e-4
    assert np.log2(np.linalg.norm(coarse) / np.linalg.norm(fine)) > 3.7


def test_leaving_out_dexp_costs_the_order():
    """The test of the tests: with the identity in place of dexp⁻¹ only order 2 is left or less."""
    space, field = free_body(AXIAL)
    space.configurations.dexp_inverse = lambda step, velocity: velocity

    def final(step):
        return pose(ode.integrate(field, start(), 0.0, 1.0, manifold=space, method=ode.RK4, step=step).x[-1])

    assert observed_order(final, 0.1) < 3


def test_our_jacobians_do_the_same_as_pinocchios():
    """A caller's own SE(3): exp and the right Jacobian of `surefoot.spatial`."""

    class Placements:
        def add(self, point, step):
            return se3.to_pose(se3.from_pose(point) @ se3.exp(step))

        def dexp_inverse(self, step, velocity):
            return se3.right_jacobian_inverse(step) @ velocity

    space, field = free_body(ROUND)
    other = ode.PhaseSpace(Placements(), 7)
    a, b = (ode.runge_kutta_step(field, 0.0, start(), 0.2, manifold=m) for m in (space, other))
    assert_allclose(pose(a), pose(b), atol=1e-12)
    assert_allclose(a[7:], b[7:], atol=1e-12)


def two_bodies():
    """A floating body with a ball joint and a hinge: a product of SE(3), SO(3) and R."""
    model = pin.Model()
    parent = 0
    for name, joint in (("base", pin.JointModelFreeFlyer()), ("ball", pin.JointModelSpherical())):
        parent = model.addJoint(parent, joint, pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), name)
        model.appendBodyToJoint(parent, pin.Inertia(1.5, np.array([0.1, 0, -0.2]), np.diag(ROUND)), pin.SE3.Identity())
    hinge = model.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([0, 0.2, -0.4])), "hinge")
    model.appendBodyToJoint(hinge, pin.Inertia(0.7, np.array([0, 0, -0.2]), np.diag(ROUND / 9)), pin.SE3.Identity())
    return model


def test_a_tree_of_groups_has_order_four_and_keeps_its_energy():
    model = two_bodies()
    data = model.createData()
    space = ode.PhaseSpace(PinocchioManifold(model), model.nq)
    field = ode.second_order(lambda t, q, v: pin.aba(model, data, q, v, np.zeros(model.nv)), model.nq)
    rng = np.random.default_rng(3)
    x0 = np.concatenate([pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv)), rng.normal(size=10)])

    def energy(x):
        q, v = x[: model.nq], x[model.nq :]
        return pin.computeKineticEnergy(model, data, q, v) + pin.computePotentialEnergy(model, data, q)

    runs = [
        ode.integrate(field, x0, 0.0, 0.5, manifold=space, method=ode.RK4, step=0.05 / 2**i).x[-1] for i in range(4)
    ]
    nq = model.nq
    differences = [(pin.difference(model, a[:nq], b[:nq]), a[nq:] - b[nq:]) for a, b in itertools.pairwise(runs)]
    gaps = [np.linalg.norm(np.concatenate(difference)) for difference in differences]
    assert abs(np.log2(gaps[-2] / gaps[-1]) - 4) < 0.25
    assert abs(energy(runs[-1]) - energy(x0)) < 1e-6


def test_an_event_on_the_group():
    """A body that turns about z with 1 rad/s: its x axis crosses the world's y axis at π/2."""
    space, field = free_body(ROUND)
    x0 = np.zeros(13)
    x0[6], x0[12] = 1.0, 1.0
    event = ode.Event(lambda t, x: pin.Quaternion(x[3:7]).matrix()[0, 0], direction=-1, terminal=True)
    result = ode.integrate(field, x0, 0.0, 3.0, manifold=space, tol=1e-9, events=[event])
    assert_allclose(result.t[-1], np.pi / 2, atol=1e-9)


def test_semi_implicit_euler_on_the_group_is_of_order_one():
    space, field = free_body(AXIAL)

    def error(h):
        x = start()
        for i in range(round(1 / h)):
            q, v = ode.semi_implicit_euler_step(
                lambda t, q, v: field(t, np.concatenate([q, v]))[6:], i * h, x[:7], x[7:], h, space.configurations
            )
            x = np.concatenate([q, v])
        return np.linalg.norm(pose(x) - exact_axial_body(1.0)[0])

    assert abs(np.log2(error(0.01) / error(0.005)) - 1) < 0.2
