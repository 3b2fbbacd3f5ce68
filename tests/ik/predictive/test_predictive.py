from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.ik.predictive.cost import state_cost
from surefoot.ik.predictive.descent import DescentSettings
from surefoot.ik.predictive.horizon import FreeStartProblem, HorizonProblem
from surefoot.ik.predictive.predictive import Following, LocalIk, PredictiveIk, PredictiveWeights, _shifted
from surefoot.ik.predictive.study import StraightLine, arm4_study, follow, predictive_ik
from surefoot.ik.textbook.clik import liegeois_rates
from surefoot.kinematics import frame_jacobian, frame_placement
from surefoot.robot.loading import load

ROWS = [0, 2]


@pytest.fixture(scope="module")
def study():
    return arm4_study()


@pytest.fixture(scope="module")
def ik(study):
    return predictive_ik(study, 1.0)


def test_local_method_is_that_of_liegeois(study, rng):
    """Against Alg. 10 (with its erratum) on numbers, with the drift feedback in the task's rate."""
    local = LocalIk(
        study.robot, "tip", study.reference, study.local, study.repulsion, replace(study.following, damping=0.0)
    )
    q = study.q0 + np.array([-0.9, 0.4, 0.1, 0.0])
    tree, model = study.robot.tree, local.kernels.model
    pose, twist = (x[0] for x in study.reference(np.array([0.8])))
    error = pose[:3, 3] - frame_placement(tree, model.task.frame, q)[:3, 3]
    J = frame_jacobian(tree, model.task.frame, q)[ROWS]
    weights = (study.local.velocity, study.local.collision, study.local.limits)
    push = state_cost(tree, study.repulsion, model.band, q, study.repulsion.obstacle_vertices(), weights).gradient
    assert np.abs(push).max() > 0.5
    expected = liegeois_rates(J, twist[ROWS] + study.following.gain * error[ROWS], push)
    assert_allclose(local.step(0.8, q), expected, atol=1e-9)


def test_plan_is_the_optimum_that_another_optimiser_finds(study):
    """Five steps near the obstacle, by quasi-Newton with the cost alone."""
    exact = replace(study.following, damping=0.0)
    ik = PredictiveIk(
        study.robot, "tip", study.reference, 0.5, 0.01, study.predictive, study.repulsion, exact, sampling=0.1
    )
    q = follow(replace(study, duration=0.6), LocalIk(study.robot, "tip", study.reference, following=exact)).q[-1]
    problem = ik._problem(0.6, q, None)
    nothing = np.zeros((5, 4))

    def cost(x):
        return problem.try_sizes(x.reshape(5, 4), nothing, np.zeros(1)).costs[0]

    other = minimize(cost, nothing.ravel(), method="BFGS", options={"maxiter": 300})
    plan = ik.plan(0.6, q, settings=DescentSettings(300, 1e-12, refine=True))
    assert_allclose(plan.costs[-1], other.fun, rtol=1e-6)
    assert plan.costs[0] > 1.05 * plan.costs[-1]


def test_prediction_is_the_motion_of_its_velocities(study, ik):
    plan = ik.plan(0.2, study.q0, settings=DescentSettings(5))
    assert plan.time[0] == 0.2
    assert_allclose(plan.time[-1], 1.2)
    assert_allclose(np.diff(plan.q, axis=0), ik.h * plan.v, atol=1e-14)
    problem = HorizonProblem(ik.kernels, ik._window(0.2, study.q0, None))
    assert_allclose(problem.try_sizes(plan.u, 0.0 * plan.u, np.zeros(1)).costs[0], plan.costs[-1], rtol=1e-12)


def test_free_start_fulfils_transversality(study):
    """N λ(t_b) = 0 (Buschmann 2014, (5.109)), and the cost is below that of the given start."""
    ik = predictive_ik(study, study.duration)
    fixed = ik.plan(0.0, study.q0)
    free = ik.plan(0.0, study.q0, free_start=True)
    assert free.costs[-1] < 0.7 * fixed.costs[-1]
    window = ik._window(0.0, study.q0, None)
    slopes = []
    for plan in (fixed, free):
        x = np.concatenate([plan.q[:1], plan.u])
        slopes.append(np.abs(FreeStartProblem(ik.kernels, window).gradient(x, plan.q)[0]).max())
    assert slopes[1] < 0.05 * slopes[0]


def test_nothing_moves_where_nothing_has_to(study):
    q = np.array([0.9, -0.7, -0.7, -0.4])
    T = study.robot.placements(q)["tip"]
    ik = PredictiveIk(study.robot, "tip", StraightLine(T, T[:3, 3], 1.0), 0.5, 0.01, following=study.following)
    assert_allclose(ik.step(0.0, q), np.zeros(4), atol=1e-12)


def test_first_velocities_of_a_smooth_motion_have_no_self_motion(study, ik):
    """Continuous velocities: the null-space velocity starts where it was, at zero; without `smooth` it jumps."""
    weights = replace(study.predictive, change=0.01)
    smooth = PredictiveIk(
        study.robot, "tip", study.reference, 1.0, 0.01, weights, study.repulsion, study.following, smooth=True
    )
    ik.reset()
    q = study.q0
    assert_allclose(smooth.step(0.0, q), np.zeros(4), atol=1e-9)
    assert np.abs(ik.step(0.0, q)).max() > 0.1
    second = smooth.step(0.01, q)
    assert 0.0 < np.abs(second).max() < 0.2


def test_an_obstacle_that_comes_is_given_way_to_before_it_is_there(study):
    """The reference rests; a ball flies through the second link a second later."""
    q = study.q0
    T = study.robot.placements(q)["tip"]
    ik = PredictiveIk(
        study.robot, "tip", StraightLine(T, T[:3, 3], 1.0), 1.0, 0.01,
        replace(study.predictive, collision=20.0), study.repulsion, study.following, settings=DescentSettings(20),
    )  # fmt: skip
    elbow = study.robot.placements(q)["link3"][:3, 3]
    now = elbow + np.array([0.5, 0.0, 0.3])
    coming = np.linspace(now, elbow, ik.steps)[:, None]
    assert np.abs(ik.step(0.0, q, now[None])).max() < 1e-6
    ik.reset()
    assert np.abs(ik.step(0.0, q, coming)).max() > 0.02


def test_solution_is_carried_on_to_the_next_cycle(study, ik):
    """From the second cycle on the first guess is good: the descent starts below where it starts from nothing."""
    ik.reset()
    q = study.q0 + ik.dt * ik.step(0.0, study.q0)
    for k in range(1, 5):
        v = ik.step(k * ik.dt, q)
        warm = ik.costs[0]
        cold = ik.plan(k * ik.dt, q, settings=DescentSettings(1)).costs[0]
        assert warm < 0.8 * cold
        q = q + ik.dt * v


def test_shift_of_a_straight_line():
    x = np.arange(6.0)[:, None] * [1.0, -2.0]
    assert_allclose(_shifted(x, 0.5)[:5], x[:5] + 0.5 * (x[1] - x[0]))
    assert_allclose(_shifted(x, 2.0)[:, 0], [2.0, 3.0, 4.0, 5.0, 5.0, 5.0])
    assert_array_equal(_shifted(x, 0.0), x)


@pytest.mark.parametrize("smooth", [False, True])
def test_task_is_followed(study, smooth):
    shown = replace(study, predictive=replace(study.predictive, change=0.001))
    history = follow(shown, predictive_ik(shown, 0.7, smooth=smooth))
    assert history.error.max() < 3e-3
    assert history.distances.min() > 0.0


def test_what_cannot_be_is_refused(study):
    arm, line = study.robot, study.reference
    with pytest.raises(NotSupportedError, match="neither turn nor slide"):
        LocalIk(load("g1"), "pelvis", line)
    with pytest.raises(UnknownNameError):
        LocalIk(arm, "nose", line)
    for rows in ((), (0, 0), (6,)):
        with pytest.raises(ShapeError, match="rows"):
            LocalIk(arm, "tip", line, following=Following(rows=rows))
    with pytest.raises(ShapeError, match="gain is too large"):
        PredictiveIk(arm, "tip", line, 1.0, 0.01, following=Following(gain=50.0), sampling=0.05)
    with pytest.raises(ShapeError, match="weight of change"):
        PredictiveIk(arm, "tip", line, 1.0, 0.01, smooth=True)
    with pytest.raises(ShapeError, match="negative"):
        PredictiveWeights(collision=-1.0)


def test_wrong_arrays_are_refused(study, ik):
    with pytest.raises(ShapeError, match="posture"):
        ik.step(0.0, np.zeros(3))
    with pytest.raises(ShapeError, match="vertices of the obstacles"):
        ik.step(0.0, study.q0, np.zeros((2, 3)))
    bad = LocalIk(study.robot, "tip", lambda times: (np.eye(4), np.zeros(6)), following=study.following)
    with pytest.raises(ShapeError, match="reference"):
        bad.step(0.0, study.q0)
    smooth = PredictiveIk(
        study.robot, "tip", study.reference, 1.0, 0.01, replace(study.predictive, change=0.1), smooth=True
    )
    with pytest.raises(NotSupportedError, match="smooth"):
        smooth.plan(0.0, study.q0, free_start=True)
