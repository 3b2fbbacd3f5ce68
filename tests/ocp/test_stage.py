"""Stage functions: dynamics against Pinocchio, derivatives against differences, kernels against CasADi."""

from __future__ import annotations

import itertools

import casadi
import numpy as np
import pinocchio as pin
import pytest

from surefoot import ops
from surefoot.errors import NotSupportedError
from surefoot.ocp.chart import Chart
from surefoot.ocp.formulation import TABLES, Formulation
from surefoot.ocp.kernels import StageKernels
from surefoot.ocp.shape import Block, spot_data
from surefoot.ocp.stage import Structure
from surefoot.robot import load

FORMULATIONS = [
    pytest.param(Formulation("forward", "rk4", "plc"), marks=pytest.mark.slow),
    pytest.param(Formulation("idop", "rk4", "plci"), marks=pytest.mark.slow),
    Formulation("forward", "semi_implicit"),
    pytest.param(Formulation("forward", "hermite_simpson", "plc"), marks=pytest.mark.slow),
    Formulation("inverse", "semi_implicit"),
    Formulation("inverse", "radau"),
]


def _torque(node):
    return node.tau


def _sample(structure: Structure, seed: int = 0):
    rng = np.random.default_rng(seed)
    x, u, p, d = structure.sample()
    d[0] = 0.1
    return x + 0.3 * rng.normal(size=x.shape), u + 0.3 * rng.normal(size=u.shape), p, d


@pytest.mark.parametrize("name", ["g1", "humanoid", "pendulum", "cartpole:bearing"])
def test_charts_agree_with_pinocchio(name: str) -> None:
    """Velocity and acceleration are the rates of q along a path of coordinates."""
    robot = load(name)
    chart, rng, e = Chart(robot), np.random.default_rng(1), 1e-5
    y, dy, ddy = (0.4 * rng.normal(size=robot.nv) for _ in range(3))

    def q(t: float) -> np.ndarray:
        return np.asarray(chart.configuration(y + t * dy + 0.5 * t * t * ddy), dtype=float)

    v, a = chart.motion(y, dy, ddy)
    steps = [pin.difference(robot.model, q(0.0), q(s)) for s in (-e, e)]
    np.testing.assert_allclose(np.asarray(v, float), (steps[1] - steps[0]) / (2 * e), atol=1e-8)
    later = [chart.motion(y + t * dy + 0.5 * t * t * ddy, dy + t * ddy)[0] for t in (-e, e)]
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(later[1] - later[0], float) / (2 * e), atol=1e-7)
    np.testing.assert_allclose(chart.coordinates(q(0.0)), y, atol=1e-12)
    np.testing.assert_allclose(chart.rates(y, np.asarray(v, float)), dy, atol=1e-12)
    np.testing.assert_allclose(np.asarray(chart.second_rates(y, dy, a), float), ddy, atol=1e-10)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_derivatives_agree_with_differences(formulation: Formulation) -> None:
    structure = Structure(
        load("cartpole:bearing"), (), formulation, "interval", (Block("torque", _torque, "residual"),)
    )
    kernels, (x, u, p, d), e = StageKernels(structure), _sample(structure), 1e-6
    ends, z = np.cumsum([len(x), len(u)]), np.r_[x, u, p]
    m = np.random.default_rng(2).normal(size=kernels.count)

    def values(z):
        return kernels.values(*np.split(z, ends), d)

    def pushed(z):
        return m @ kernels.jacobian(*np.split(z, ends), d)

    J = np.column_stack([(values(z + e * c) - values(z - e * c)) / (2 * e) for c in np.eye(len(z))])
    H = np.column_stack([(pushed(z + e * c) - pushed(z - e * c)) / (2 * e) for c in np.eye(len(z))])
    np.testing.assert_allclose(kernels.jacobian(x, u, p, d), J, atol=1e-7 * (1 + np.abs(J).max()))
    np.testing.assert_allclose(kernels.hessian(x, u, p, d, m), H, atol=1e-6 * (1 + np.abs(H).max()))
    first, second = kernels.patterns
    assert (np.abs(J) < 1e-7)[~first].all()
    assert (np.abs(H) < 1e-5)[~second].all()


def test_stage_values_agree_with_casadi() -> None:
    structure = Structure(load("cartpole:bearing"), (), Formulation("idop", "rk4", "plc"), "interval")
    given = _sample(structure)
    symbols = [ops.symbols(name, len(x)) for name, x in zip("xupd", given, strict=True)]
    reference = ops.function("stage", symbols, [structure.parts(*symbols).all])
    expected = np.asarray(casadi.DM(reference(*given))).ravel()
    np.testing.assert_allclose(StageKernels(structure).values(*given), expected, rtol=1e-12, atol=1e-12)


def test_inverse_dynamics_rows_agree_with_pinocchio() -> None:
    """Undriven rows and torques of a humanoid on two feet, and what its contacts do after a step."""
    robot = load("g1")
    feet = tuple(robot.contacts)
    structure = Structure(robot, feet, Formulation(), "interval", (Block("torque", _torque, "residual"),))
    rng, n = np.random.default_rng(3), robot.nv
    x, u, p, d = structure.sample()
    x[:n] += 0.1 * rng.normal(size=n)
    x[n:], u, d[0] = 0.2 * rng.normal(size=n), 0.2 * rng.normal(size=len(u)), 0.05
    for k in range(2):
        d[1 + 18 * k : 19 + 18 * k] = spot_data(np.eye(4), dict.fromkeys(range(6), True))  # velocities only
    rows = {}
    groups: list = []
    parts = structure.parts(x, u, p, d, groups, [])
    for group in groups:
        rows[group.name] = np.asarray(parts.rows, float)[group.start : group.start + group.size]
    q = np.asarray(structure.chart.configuration(x[:n]), float)
    v, a = (np.asarray(r, float) for r in structure.chart.motion(x[:n], x[n:], u[:n]))
    model, data = robot.model, robot.model.createData()
    tau = pin.rnea(model, data, q, v, a) + model.damping * v
    new = np.asarray(structure.chart.motion(x[:n], x[n:] + 0.05 * u[:n])[0], float)
    for k, name in enumerate(feet):
        surface = robot.contacts[name]
        frame = model.addFrame(pin.Frame(f"sole{k}", *_at(robot, surface), pin.FrameType.OP_FRAME))
        data = model.createData()
        J = pin.computeFrameJacobian(model, data, q, frame, pin.ReferenceFrame.LOCAL)
        tau = tau - J.T @ (structure.scale * u[n + 6 * k : n + 6 * k + 6])
        np.testing.assert_allclose(rows[f"contact {name}"], J @ new, atol=1e-9)
    np.testing.assert_allclose(rows["motion"] * structure.scale / 10.0, tau[:6], atol=1e-8)
    np.testing.assert_allclose(np.asarray(parts.residuals, float) / np.sqrt(0.05), tau[robot.driven], atol=1e-8)


def _at(robot, surface):
    link = robot.model.frames[robot.frame_id(surface.frame)]
    return link.parentJoint, link.placement * pin.SE3(np.array(surface.placement))


@pytest.mark.parametrize("integrator", list(TABLES))
def test_collocation_tables_have_their_order(integrator: str) -> None:
    """∫ t^k dt is exact up to the order of the quadrature, and each row integrates polynomials up to its points."""
    A, b, c = TABLES[integrator]
    for k in range(4 if integrator == "hermite_simpson" else 5):
        assert b @ c**k == pytest.approx(1.0 / (k + 1), abs=1e-14)
    for k in range(3):
        np.testing.assert_allclose(A @ c**k, c ** (k + 1) / (k + 1), atol=1e-14)


def test_formulations_that_do_not_fit_are_refused() -> None:
    for integrator, control in itertools.product(("rk4",), ("constant", "plc")):
        with pytest.raises(NotSupportedError, match="inverse dynamics"):
            Formulation("inverse", integrator, control)
    with pytest.raises(NotSupportedError, match="semi-implicit"):
        Formulation("forward", "semi_implicit", "plc")
