"""Centroidal dynamics against Pinocchio's momentum and inverse dynamics, and as a guess for whole-body problems."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import NotSupportedError
from surefoot.ocp import Formulation, Problem, Solution, SolverOptions
from surefoot.ocp.centroidal import momentum_rate
from surefoot.ocp.kernels import StageKernels
from surefoot.ocp.node import Node, external_wrenches
from surefoot.ocp.stage import Structure
from surefoot.robot import Robot, load

CENTROIDAL = Formulation("centroidal")


@pytest.fixture(scope="module")
def solo() -> Robot:
    return load("solo12")


def _sway(robot: Robot, formulation: Formulation, intervals: int) -> Problem:
    """Sway forward and back within half a second; the references are smooth, so that steps can be compared."""
    problem = Problem(robot, formulation=formulation)
    problem.phase("sway", list(robot.contacts), intervals, 0.5)
    problem.start(robot.home)
    home = problem.chart.coordinates(robot.home)

    def ahead(t: float) -> np.ndarray:
        y = home.copy()
        y[0] += 0.015 * (1.0 - np.cos(4.0 * np.pi * t))
        y[4] += 0.05 * np.sin(2.0 * np.pi * t) ** 2
        return y

    problem.cost("posture", 100.0, reference=ahead)
    problem.cost("joint_speed", 0.1)
    problem.cost("contact_force", 1e-3)
    return problem


def _solved(robot: Robot, formulation: Formulation, intervals: int) -> Solution:
    solution = _sway(robot, formulation, intervals).solve(options=SolverOptions(tolerance=1e-8))
    assert solution.success
    return solution


def test_rate_of_momentum_is_that_of_inverse_dynamics(solo: Robot) -> None:
    """Base rows of inverse dynamics are the difference between the rate of momentum and what acts on the robot."""
    rng, n, data = np.random.default_rng(3), solo.nv, solo.model.createData()
    chart = _sway(solo, CENTROIDAL, 2).chart
    y = chart.coordinates(solo.home) + 0.2 * rng.normal(size=n)
    dy, ddy = rng.normal(size=n), rng.normal(size=n)
    wrenches = {name: np.r_[rng.normal(size=3), np.zeros(3)] for name in solo.contacts}
    node = Node(solo, chart, y, dy, accelerations=ddy, contact_wrenches=wrenches)
    q, v, a = (np.asarray(x, dtype=float) for x in (node.q, node.v, node.a))
    external = np.asarray(external_wrenches(solo, wrenches), dtype=float)
    forces = pin.StdVec_Force()
    for row in [np.zeros(6), *external]:
        forces.append(pin.Force(row[:3], row[3:]))
    residual = pin.rnea(solo.model, data, q, v, a, forces)[:6]
    pin.computeCentroidalMomentumTimeVariation(solo.model, data, q, v, a)
    missing = np.r_[data.dhg.linear, data.dhg.angular] - np.asarray(momentum_rate(node), dtype=float)
    R, p = data.oMi[1].rotation, data.oMi[1].translation - data.com[0]
    in_world = np.r_[R @ residual[:3], R @ residual[3:] + np.cross(p, R @ residual[:3])]
    np.testing.assert_allclose(in_world, missing, atol=1e-9)


@pytest.mark.slow
def test_momentum_of_a_solution_is_pinocchios(solo: Robot) -> None:
    solution, data = _solved(solo, CENTROIDAL, 20), solo.model.createData()
    sizes, n, q = solution.transcription.program.sizes, solo.nv, solution.nodes["q"]
    for k in range(20):
        h = pin.computeCentroidalMomentum(solo.model, data, q[k], solution.nodes["v"][k])
        after = solution.staged.w[sizes.starts[k + 1] + n : sizes.starts[k + 1] + n + 6]
        np.testing.assert_allclose(solo.mass * after, np.r_[h.linear, h.angular], atol=1e-7)
    assert np.abs(after).max() > 1e-4  # it moves


@pytest.mark.slow
def test_whole_body_dynamics_hold_as_steps_become_short(solo: Robot) -> None:
    """What inverse dynamics of the motion asks of the base vanishes with the step length (Pinocchio)."""
    worst = []
    for intervals in (20, 40):
        motion, data = _solved(solo, CENTROIDAL, intervals).trajectory, solo.model.createData()
        inner, asked = range(2, intervals - 2), []
        for k in inner:
            wrenches = {name: motion.wrenches[name][k] for name in motion.wrenches}
            forces = pin.StdVec_Force()
            for row in [np.zeros(6), *np.asarray(external_wrenches(solo, wrenches), dtype=float)]:
                forces.append(pin.Force(row[:3], row[3:]))
            asked.append(pin.rnea(solo.model, data, motion.q[k], motion.v[k], motion.a[k], forces)[:6])
        worst.append(np.abs(asked).max())
    assert worst[1] < 0.65 * worst[0]
    assert worst[1] < 0.05 * solo.mass * 9.81


@pytest.mark.slow
def test_a_centroidal_motion_is_a_guess_for_the_whole_body(solo: Robot) -> None:
    """Velocities, accelerations and wrenches are taken over: the guess is nearer to the optimum and to a motion."""
    centroidal, options = _solved(solo, CENTROIDAL, 20), SolverOptions(tolerance=1e-6)
    cold, warm = _sway(solo, Formulation(), 20), _sway(solo, Formulation(), 20)
    warm.guess(centroidal.trajectory)
    first, second = cold.solve(options=options), warm.solve(options=options)
    assert first.success
    assert second.success
    np.testing.assert_allclose(second.objective, first.objective, rtol=1e-4)
    np.testing.assert_allclose(second.objective, centroidal.objective, rtol=0.2)
    sizes, n = first.transcription.program.sizes, solo.nv
    each = np.arange(20)[:, None]
    for part, share in ((np.arange(2 * n), 0.6), (3 * n + np.arange(12), 1.0)):  # states; contact forces
        at = sizes.starts[each] + part
        far, near = (np.abs((s.transcription.program.w0 - s.staged.w)[at]).mean() for s in (first, second))
        assert near < share * far


def test_derivatives_agree_with_differences(solo: Robot) -> None:
    structure = Structure(solo, tuple(solo.contacts)[:2], CENTROIDAL, "interval")
    kernels, rng, e = StageKernels(structure), np.random.default_rng(4), 1e-6
    x, u, p, d = structure.sample()
    x, u = x + 0.2 * rng.normal(size=x.shape), u + 0.2 * rng.normal(size=u.shape)
    ends, z = np.cumsum([len(x), len(u)]), np.r_[x, u, p]
    direction, m = rng.normal(size=len(z)), rng.normal(size=kernels.count)

    def both(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return kernels.values(*np.split(z, ends), d), m @ kernels.jacobian(*np.split(z, ends), d)

    (up, slope_up), (down, slope_down) = both(z + e * direction), both(z - e * direction)
    J = kernels.jacobian(x, u, p, d)
    np.testing.assert_allclose(J @ direction, (up - down) / (2 * e), atol=1e-6 * (1 + np.abs(J).max()))
    H = kernels.hessian(x, u, p, d, m)
    np.testing.assert_allclose(H @ direction, (slope_up - slope_down) / (2 * e), atol=1e-6 * (1 + np.abs(H).max()))


def test_what_has_no_centroidal_model_is_refused() -> None:
    arm = Problem(load("panda"), formulation=CENTROIDAL)
    arm.phase("move")
    with pytest.raises(NotSupportedError, match="floating"):
        arm.solve()
    with pytest.raises(NotSupportedError, match="semi-implicit"):
        Formulation("centroidal", "rk4")
