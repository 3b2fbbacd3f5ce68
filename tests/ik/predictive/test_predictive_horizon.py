import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.ik.predictive.horizon import FreeStartProblem, HorizonProblem, SmoothProblem, Window
from surefoot.ik.predictive.study import harvester_study, predictive_ik
from surefoot.kinematics import frame_placement

STEPS, H = 25, 0.03


@pytest.fixture(scope="module")
def ik():
    return predictive_ik(harvester_study(), STEPS * H)


@pytest.fixture
def window(ik, rng):
    """A stretch of the motion, off the path at its start, in which obstacles move."""
    study = harvester_study()
    pose, twist = study.reference(1.2 + H * np.arange(STEPS))
    mast = study.repulsion.obstacle_vertices()
    moving = mast + np.linspace(0.0, 0.2, STEPS)[:, None, None] * [1.0, 0.5, 0.0]
    q = study.q0 + 0.05 * rng.normal(size=9)
    return Window(q, pose, twist, moving, np.array([1.0, 40.0, 3.0]), H)


def problem_of(kind, ik, window):
    if kind == "smooth":
        return SmoothProblem(ik.kernels, window, np.linspace(-0.2, 0.3, 9), change=0.01)
    return {"velocity": HorizonProblem, "free": FreeStartProblem}[kind](ik.kernels, window)


def unknowns(problem, rng):
    x = rng.normal(size=(len(problem.row_weights), 9))
    if isinstance(problem, FreeStartProblem):
        x[0] = problem.window.q
    return problem.settled(x)


def test_forward_is_the_plain_text_step_by_step(ik, window, rng):
    """The compiled loop over several inputs at once, against the algorithm on numbers."""
    u, direction = rng.normal(size=(2, STEPS, 9))
    trials = HorizonProblem(ik.kernels, window).try_sizes(u, direction, np.array([0.0, 0.3, -0.1]))
    for k, size in enumerate((0.0, 0.3, -0.1)):
        q, cost = window.q, np.zeros(1)
        for i in range(STEPS):
            given = (window.pose[i], window.twist[i], window.obstacles[i], window.weights, np.array([H]))
            q, cost = ik.kernels.model.advance(q, cost, u[i], direction[i], np.array([size]), *given)
            assert_allclose(trials.postures[k, i + 1], q, atol=1e-9)
        assert_allclose(trials.costs[k], cost[0], rtol=1e-9)


@pytest.mark.parametrize("kind", ["velocity", "smooth", "free"])
def test_gradient_against_differences_of_the_cost(kind, ik, window, rng):
    problem = problem_of(kind, ik, window)
    x = unknowns(problem, rng)
    at = problem.try_sizes(x, np.zeros_like(x), np.zeros(1))
    gradient = problem.gradient(x, at.postures[0])
    for _ in range(3):
        direction, h = rng.normal(size=x.shape), 1e-5
        up, down = problem.try_sizes(x, direction, np.array([h, -h])).costs
        assert_allclose(problem.inner(gradient, direction), (up - down) / (2.0 * h), rtol=2e-4, atol=1e-5 * at.costs[0])


@pytest.mark.parametrize("kind", ["velocity", "smooth", "free"])
def test_trials_side_by_side_are_those_one_by_one(kind, ik, window, rng):
    problem = problem_of(kind, ik, window)
    x = unknowns(problem, rng)
    direction, sizes = rng.normal(size=x.shape), 0.01 * np.arange(1.0, 9.0)
    together = problem.try_sizes(x, direction, sizes)
    for k, size in enumerate(sizes):
        alone = problem.try_sizes(x, direction, np.array([size]))
        assert_array_equal(alone.postures[0], together.postures[k])
        assert_allclose(alone.costs[0], together.costs[k], rtol=1e-14)


def test_smooth_velocities_start_from_the_given_one_and_integrate_the_rates(ik, window, rng):
    problem = problem_of("smooth", ik, window)
    rates = rng.normal(size=(STEPS, 9))
    u = problem.velocities(rates)
    assert_array_equal(u[0], problem.u)
    assert_allclose(np.diff(u, axis=0) / H, rates[:-1], atol=1e-12)


def test_costate_of_the_smooth_version_obeys_its_equation(ik, window, rng):
    """λ₂' = −φ_u − N λ₁ backwards (Buschmann 2014, (5.126)), so g = 2 w_a û + λ₂ steps by the gradient by u."""
    problem = problem_of("smooth", ik, window)
    rates = rng.normal(size=(STEPS, 9))
    postures = problem.try_sizes(rates, np.zeros_like(rates), np.zeros(1)).postures[0]
    by_rate = problem.gradient(rates, postures) - 2.0 * problem.change * rates
    by_u = HorizonProblem(ik.kernels, window).gradient(problem.velocities(rates), postures)
    assert_array_equal(by_rate[-1], np.zeros(9))
    assert_allclose(by_rate[:-1] - by_rate[1:], H * by_u[1:], atol=1e-9 * np.abs(by_u).max())


def test_free_start_stays_on_the_task(ik, window, rng):
    problem = problem_of("free", ik, window)
    x = unknowns(problem, rng)
    trials = problem.try_sizes(x, rng.normal(size=x.shape), np.array([0.0, 0.2]))
    robot, task = ik.robot, ik.kernels.model.task
    for q in (*trials.postures[:, 0], x[0]):
        assert_allclose(frame_placement(robot.tree, task.frame, q)[:3, 3], window.pose[0, :3, 3], atol=1e-8)


def test_a_motion_that_ends_in_no_number_costs_infinitely_much(ik, window):
    u = np.zeros((STEPS, 9))
    u[3] = np.nan
    assert HorizonProblem(ik.kernels, window).try_sizes(u, np.zeros_like(u), np.zeros(2)).costs.tolist() == [np.inf] * 2
