"""Receding horizons: steps against full solves, gains against differences, windows of a tape, closed loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import World
from surefoot.ocp import Formulation, Problem, SolverOptions, motions
from surefoot.ocp.postures import stage_kernels
from surefoot.ocp.receding import Horizon, Mpc
from surefoot.ocp.receding.tape import Tape
from surefoot.robot import Robot, load
from surefoot.sim import Push, simulate
from surefoot.solvers.staged import RealTime, solve_staged


@pytest.fixture(scope="module")
def solo() -> Robot:
    return load("solo12")


@pytest.fixture(scope="module")
def tape(solo: Robot) -> Tape:
    return Tape(motions.stand(solo), 6)


def _disturbed(tape: Tape) -> np.ndarray:
    rng, n = np.random.default_rng(5), tape.problem.robot.nv
    x = np.r_[tape.problem.chart.coordinates(tape.problem.robot.home), np.zeros(n)]
    x[:6] += 0.01 * rng.normal(size=6)
    return x + np.r_[np.zeros(n), 0.1 * rng.normal(size=n)]


def _controls(tape: Tape, x: np.ndarray, mu: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """w, first controls and first gains after many Newton steps from a state."""
    program = tape.window(0).transcription.program
    solver = RealTime(program, mu)
    start = program.w0.copy()
    start[: len(x)] = x
    found = solver.step(solver.start(start), 25, gains=1)
    assert found.violation < 1e-9
    sizes = program.sizes
    return found.point.w, found.point.w[sizes.states[0] : sizes.starts[1]], found.feedback[0]


def test_steps_converge_to_the_optimum(tape: Tape) -> None:
    """With a small barrier parameter, many steps end where the filter method ends."""
    x, program = _disturbed(tape), tape.window(0).transcription.program
    lower, upper = program.lower.copy(), program.upper.copy()
    lower[: len(x)] = upper[: len(x)] = x
    full = solve_staged(replace(program, lower=lower, upper=upper), options=SolverOptions(tolerance=1e-9))
    assert full.success
    w, _, _ = _controls(tape, x, 1e-8)
    np.testing.assert_allclose(w, full.w, atol=1e-4 * (1.0 + np.abs(full.w).max()))


def test_gains_are_derivatives_of_the_optimal_control(tape: Tape) -> None:
    x, e, mu = _disturbed(tape), 1e-5, 1e-3
    _, _, K = _controls(tape, x, mu)
    for direction in np.random.default_rng(6).normal(size=(3, len(x))):
        up, down = (_controls(tape, x + s * e * direction, mu)[1] for s in (1.0, -1.0))
        expected = (up - down) / (2.0 * e)
        np.testing.assert_allclose(K @ direction, expected, atol=2e-4 * np.abs(expected).max())


@pytest.mark.slow
def test_a_tape_repeats_and_new_contacts_arrive(solo: Robot) -> None:
    tape = Tape(motions.trot(solo, step=0.04), 4, "first pair", gauss_newton=True)
    last = tape.period
    first = next(k for k in range(last) if len(tape.stage(k).structure.contacts) == 2)
    assert tape.place(last) == first
    assert tape.stage(last + 1).structure is tape.stage(first + 1).structure
    assert tape.stage(last).time == pytest.approx(last * 0.04)
    down = next(k for k in range(first, last) if len(tape.stage(k).structure.contacts) == 4)
    names = [name for name in tape.window(down - 2).transcription.program.row_names if name.startswith("position")]
    assert len(names) == 2  # two point feet come down, in one direction each


def test_a_warm_start_is_moved_on(solo: Robot) -> None:
    """A tick from where the plan said the robot would be finds the same plan again, but for its end."""
    horizon = Horizon(motions.stand(solo), 10, iterations=12, barrier=1e-4)
    q, v = np.array(solo.home), np.zeros(solo.nv)
    v[1] = 0.1
    plan = horizon.update(0.0, q, v)
    n, chart = solo.nv, horizon.problem.chart
    y, dy = plan.x[1][:n], plan.x[1][n:]
    later = horizon.update(plan.step, np.asarray(chart.configuration(y), float), np.asarray(chart.motion(y, dy)[0]))
    assert later.number == 1
    np.testing.assert_allclose(later.x[0], plan.x[1], atol=1e-9)
    np.testing.assert_allclose(later.x[3, :6], plan.x[4, :6], atol=2e-4)
    assert np.abs(plan.x[1] - plan.x[0]).max() > 1e-3


class _Clock:
    """CPU time that a test lets pass: so much at each Newton step."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, of_step: list[float]) -> None:
        self.now, self.steps, step = 0.0, 0, RealTime.step

        def slow(solver: RealTime, *given: Any, **others: Any) -> Any:
            self.now, self.steps = self.now + of_step[min(self.steps, len(of_step) - 1)], self.steps + 1
            return step(solver, *given, **others)

        monkeypatch.setattr(RealTime, "step", slow)

    def __call__(self) -> float:
        return self.now


def test_a_late_plan_is_used_an_interval_later(solo: Robot, monkeypatch) -> None:
    """Ticks of 5, 1, 5, 5 and 1 ms with a budget of 3 ms: two plans wait, and each time the one before goes on."""
    clock = _Clock(monkeypatch, [0.005, 0.001, 0.005, 0.005, 0.001])
    controller = Mpc(motions.stand(solo), 6, budget_s=0.003, clock=clock)
    horizon, q, v = controller.horizon, np.array(solo.home), np.zeros(solo.nv)
    used = [horizon.plan(k * horizon.tape.step, q, v).number for k in range(5)]
    assert used == [0, 1, 1, 2, 4]  # the motion waits for the first
    assert [channel.read() for channel in controller.channels if channel.name == "late"] == [2]
    with pytest.raises(ShapeError, match="budget_s"):
        Horizon(motions.stand(solo), 6, budget_s=0.0)


def test_no_step_is_begun_that_would_exceed_the_budget(solo: Robot, monkeypatch) -> None:
    """Steps of 1 ms with a budget of 3.5 ms: three of eight are made, and no plan is late."""
    clock = _Clock(monkeypatch, [0.001])
    horizon = Horizon(motions.stand(solo), 6, iterations=8, budget_s=0.0035, clock=clock)
    q, v = np.array(solo.home), np.zeros(solo.nv)
    horizon.plan(0.0, q, v)
    first = clock.steps
    assert horizon.plan(horizon.tape.step, q, v).number == 1
    assert clock.steps - first == 3
    assert horizon.late == 0


@pytest.mark.slow
def test_a_push_is_taken_and_runs_repeat(solo: Robot) -> None:
    logs = []
    for _ in range(2):
        controller = Mpc(motions.stand(solo), 12, latency=0.01)
        push = [Push(0.1, 0.1, "base_link", np.array([0.0, 6.0, 0.0, 0.0, 0.0, 0.0]))]
        logs.append(simulate(solo, controller, World(), 0.6, dt=0.001, control_dt=0.001, events=push))
    log = logs[0]
    assert np.abs(log["q"][:, 1]).max() > 1e-3  # it was pushed
    assert np.rad2deg(log["base.tilt"].max()) < 6.0
    assert abs(log["q"][-1, 1]) < 0.5 * np.abs(log["q"][:, 1]).max()
    np.testing.assert_array_equal(logs[0]["q"], logs[1]["q"])


def test_feedback_stays_within_cones(solo: Robot) -> None:
    """However large the error, feet do not pull and torques keep their limits, if they do so without feedback."""
    controller = Mpc(motions.stand(solo), 8)
    q, v = np.array(solo.home), np.zeros(solo.nv)
    plan = controller.horizon.update(0.0, q, v)
    x, rows = controller.horizon.state(q, v), plan.rows[0]
    x[1] += 0.5
    planned, wished = plan.control(0.0), plan.control(0.0, x)
    assert (wished[solo.nv + 2 :: 3] < 0.0).any()  # gains alone would pull
    share = rows.share(*[_rows(plan, x, u) for u in (planned, wished)])
    assert 0.0 <= share < 1.0
    kept = _rows(plan, x, planned + share * (wished - planned))
    first = _rows(plan, x, planned)
    held = (first >= rows.lower) & (first <= rows.upper)
    assert (kept[held] >= rows.lower[held] - 1e-9).all()
    assert (kept[held] <= rows.upper[held] + 1e-9).all()


def _rows(plan, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    kernels = stage_kernels(plan.structures[0])
    return kernels.values(x[None], u[None], np.full((1, 1), plan.step), plan.data[0][None])[0, plan.rows[0].places]


def test_what_cannot_recede_is_refused(solo: Robot) -> None:
    for formulation, duration, transition in (
        (Formulation(), (0.1, 0.2), "continuous"),
        (Formulation("forward", "rk4", "plc"), 0.2, "continuous"),
    ):
        problem = Problem(solo, formulation=formulation)
        problem.phase("stand", list(solo.contacts), 5, duration, transition=transition)
        with pytest.raises(NotSupportedError, match="receding horizon"):
            Tape(problem, 5)
    with pytest.raises(NotSupportedError, match="torques"):
        Mpc(motions.stand(solo, formulation=Formulation("centroidal")))
    with pytest.raises(NotSupportedError, match="four feet"):
        motions.trot(load("g1"))


@pytest.mark.slow
def test_a_robot_with_many_corners_plans_to_stand_still() -> None:
    """The barrier of all faces of its soles does not outweigh the costs: from rest at home, `talos` stays there."""
    robot = load("talos")
    horizon = Horizon(motions.stand(robot), 20)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    plan = horizon.plan(0.0, q, v)
    moved = np.abs(plan.x - horizon.state(q, v))
    assert moved[:, : robot.nv].max() < 0.03
    assert moved[:-1, robot.nv :].max() < 0.5
