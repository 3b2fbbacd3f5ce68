"""Problems against closed forms, second formulations and refused input."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg

from surefoot import ops
from surefoot.errors import ShapeError, SurefootError, UnknownNameError
from surefoot.motion import Trajectory
from surefoot.ocp import Formulation, Problem, SolverOptions, check, check_derivatives, load_solution
from surefoot.ocp.kernels import _identity
from surefoot.ocp.motions import bound, jump, squat, swingup
from surefoot.ocp.transcription import stages_of, transcribe
from surefoot.robot import ContactSurface, Drive, Joint, Link, Robot, load

SIZES = [  # Koch, table 5.2; 627 of its first row is 610 by its own counting rule
    ("forward", "plc", "energy", 209, 610),
    ("idop", "plc", "energy", 209, 652),
    ("forward", "plci", "energy", 230, 672),
    ("idop", "plci", "energy", 230, 714),
    ("forward", "plc", "time", 210, 612),
    ("idop", "plc", "time", 210, 654),
]


def _slider(force: float = 2.0) -> Robot:
    """A mass of 1 kg on a rail: the double integrator."""
    joint = Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0), lower=-9.0, upper=9.0, velocity=50.0, effort=force)
    link = Link("mass", None, joint, 1.0, np.zeros(3), 0.01 * np.eye(3))
    return Robot.from_tree("slider", [link], "fixed", drives=(Drive("slide", torque_limit=force),))


@pytest.mark.parametrize(("dynamics", "control", "objective", "variables", "constraints"), SIZES)
def test_sizes_are_those_of_the_source(dynamics, control, objective, variables, constraints) -> None:
    problem = swingup(load("cartpole:bearing"), 21, objective, Formulation(dynamics, "rk4", control))
    found = transcribe(problem)
    assert (found.program.sizes.variables, found.constraints) == (variables, constraints)


@pytest.mark.parametrize("solver", ["riccati", "ipopt"])
def test_least_time_of_the_double_integrator(solver: str) -> None:
    """From rest to rest over s: T = 2 sqrt(s m / F), full force, then full brake."""
    robot = _slider()
    problem = Problem(robot, formulation=Formulation("forward", "semi_implicit"))
    problem.phase("go", (), 40, (0.2, 5.0))
    problem.start([0.0])
    problem.end([1.0])
    problem.cost("time")
    solution = problem.solve(solver)
    assert solution.success
    assert solution.durations["go"] == pytest.approx(np.sqrt(2.0), rel=2e-2)
    tau = solution.nodes["tau"][:-1, 0]
    np.testing.assert_allclose(tau[:18], 2.0, atol=1e-3)
    np.testing.assert_allclose(tau[-18:], -2.0, atol=1e-3)


def test_least_squares_is_linear_quadratic_regulation() -> None:
    """Cost and feedback of a long horizon are those of the discrete Riccati equation."""
    robot, h, count = _slider(1e3), 0.05, 200
    problem = Problem(robot, formulation=Formulation("forward", "semi_implicit"))
    problem.phase("regulate", (), count, h * count)
    problem.start([0.5])
    problem.cost("torque", 0.1)
    problem.cost("place", 1.0, lambda node: node.y)
    solution = problem.solve()
    A, B = np.array([[1.0, h], [0.0, 1.0]]), np.array([[h * h], [h]])
    P = scipy.linalg.solve_discrete_are(A, B, h * np.diag([1.0, 0.0]), h * np.array([[0.1]]))
    K = np.linalg.solve(h * 0.1 + B.T @ P @ B, B.T @ P @ A)
    assert solution.success
    assert solution.gains is not None
    assert solution.objective == pytest.approx(0.5 * P[0, 0] * 0.25, rel=1e-6)
    np.testing.assert_allclose(solution.gains.feedback[0], -K, rtol=1e-4)
    np.testing.assert_allclose(solution.nodes["tau"][0], -K @ [0.5, 0.0], rtol=1e-4)


@pytest.mark.slow
def test_swing_up_with_three_formulations() -> None:
    """Forward dynamics, IdOP and direct inverse dynamics find one optimum; the file restarts a solve."""
    robot = load("cartpole:bearing")
    forms = [Formulation("forward", "rk4", "plc"), Formulation("idop", "rk4", "plc"), Formulation("inverse", "radau")]
    found = [swingup(robot, 41, "energy", form).solve(options=SolverOptions(tolerance=1e-6)) for form in forms]
    assert all(solution.success for solution in found)
    costs = [solution.objective for solution in found]
    np.testing.assert_allclose(costs, costs[0], rtol=3e-3)
    assert check(found[0]).defect < 2e-3
    assert check(found[2]).defect < 2e-3  # forces through the collocation points, contacts of the bearing held
    ends = found[0].trajectory.q[[0, -1]]
    np.testing.assert_allclose(ends, [[0, 0, 0, -np.pi], [0, 0, 0, 0]], atol=1e-5)
    held = found[0].trajectory.q[:, 1:3]
    np.testing.assert_allclose(held, 0.0, atol=1e-6)  # the bearing


@pytest.mark.slow
def test_least_time_swing_up_is_bang_bang(tmp_path) -> None:
    problem = swingup(load("cartpole:bearing"), 21, "time")
    solution = problem.solve(options=SolverOptions(tolerance=1e-5))
    force = np.abs(solution.nodes["tau"][:, 0])
    assert solution.success
    assert (force > 49.0).mean() > 0.6
    assert force.max() <= 50.0 + 1e-6
    solution.save(tmp_path / "solution.npz")
    earlier, heading = load_solution(tmp_path / "solution.npz")
    assert heading["variables"] == 210
    again = problem.solve(warm=earlier, options=SolverOptions(tolerance=1e-5))
    assert again.success
    assert again.iterations < solution.iterations / 2
    assert again.objective == pytest.approx(solution.objective, rel=1e-4)


def test_slack_parameter_and_bound() -> None:
    """A soft wall costs what its violation costs; a free parameter takes the value that is best."""
    problem = Problem(_slider(100.0), formulation=Formulation("forward", "semi_implicit"))
    problem.phase("go", (), 20, 1.0)
    problem.start([0.0])
    problem.end([1.0])
    problem.parameter("goal", 0.0, 1.0)
    problem.cost("torque", 1e-3)
    problem.cost("goal", 1.0, lambda node: ops.stack([node.parameters["goal"] - 0.3]))
    problem.constrain("wall", lambda node: node.y, upper=0.8, slack=1e4)
    solution = problem.solve()
    assert solution.success
    assert solution.parameters["goal"] == pytest.approx(0.3, abs=1e-6)
    assert 0.8 < solution.trajectory.q[:, 0].max() <= 1.0 + 1e-9


def test_derivatives_of_own_blocks_are_checked() -> None:
    """A smooth block agrees with central differences; one that is not defined near the guess is named."""
    problem = Problem(_slider(), formulation=Formulation("forward", "semi_implicit"))
    problem.phase("go", (), 4, 1.0)
    problem.cost("torque")
    problem.cost("wave", 2.0, lambda node: ops.sin(3.0 * node.y) * node.dy)
    problem.constrain("root", lambda node: ops.sqrt(-node.y * node.y), 0.0)
    found = check_derivatives(problem)
    assert set(found) == {"scalar costs", "dynamics", "torque", "wave", "root"}
    assert found["wave"] < 1e-7
    assert found["dynamics"] < 1e-8
    assert np.isnan(found["root"])


@pytest.mark.slow
def test_stage_functions_as_c_code(tmp_path) -> None:
    """The C code, compiled, gives what the kernels give."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    problem = swingup(load("cartpole"), 5, "energy", Formulation("forward", "semi_implicit"))
    names = problem.export_c(tmp_path / "stages.c")
    assert len(names) == 5
    assert len(set(names)) == 2
    library = tmp_path / "stages.so"
    subprocess.run([compiler, "-shared", "-fPIC", tmp_path / "stages.c", "-o", library, "-lm"], check=True)
    import casadi

    kernels = transcribe(problem).functions.batches[0][1]
    given = [np.array(part) for part in ([0.1, -3.0, 0.2, 0.3], [2.0], [3.7], [0.25])]
    found = casadi.external(names[0], str(library))(*given)
    flat = np.concatenate([np.asarray(part).ravel() for part in found])
    np.testing.assert_allclose(flat, kernels.values(*(part[None] for part in given))[0], rtol=1e-12, atol=1e-12)


def _longer(tree, parameters):
    coms = ops.zeros(tree.coms.shape, like=parameters["length"]) + tree.coms
    coms[1, 2] = parameters["length"]
    return replace(tree, coms=coms)


def _swing_of(length: tuple[float, float], stiffness: float, dynamics: Formulation) -> Problem:
    robot = load("cartpole")
    problem = Problem(robot, formulation=dynamics)
    problem.phase("swing", (), 20, 2.0)
    problem.start(robot.q_of({"swing": -1.0}))
    problem.end(robot.q_of({"swing": 1.0}))
    problem.parameter("length", *length)
    problem.parameter("stiffness", stiffness, stiffness)
    spring = lambda node: ops.stack([0.0, -node.parameters["stiffness"] * node.y[1]])  # noqa: E731
    problem.design(_longer, spring, key=("length and spring",))
    problem.cost("torque")
    return problem


@pytest.mark.slow
def test_length_and_spring_are_free_and_their_gradients_right() -> None:
    """Forward and inverse dynamics choose one length; sensitivities are those of problems solved again."""
    options, forward = SolverOptions(tolerance=1e-9), Formulation("forward", "rk4", "plc")
    best = [
        _swing_of((0.2, 0.6), 0.3, form).solve(options=options) for form in (forward, Formulation("inverse", "radau"))
    ]
    assert all(solution.success for solution in best)
    assert best[0].parameters["length"] == pytest.approx(best[1].parameters["length"], rel=1e-3)
    assert best[0].tree.coms[1, 2] == best[0].parameters["length"]
    assert best[0].sensitivities["length"] == pytest.approx(0.0, abs=1e-6)

    def cost(length: float, stiffness: float) -> float:
        return _swing_of((length, length), stiffness, forward).solve(options=options).objective

    h, here = 1e-4, _swing_of((0.4, 0.4), 0.3, forward).solve(options=options)
    assert here.success
    assert here.sensitivities["length"] == pytest.approx((cost(0.4 + h, 0.3) - cost(0.4 - h, 0.3)) / (2 * h), rel=1e-3)
    slope = (cost(0.4, 0.3 + h) - cost(0.4, 0.3 - h)) / (2 * h)
    assert here.sensitivities["stiffness"] == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda p: p.cost("torqe"), "torqe"),
        (lambda p: p.phase("a", (), 5, -1.0), "duration of phase `a` must be positive"),
        (lambda p: p.phase("a", ["paw"], 5), "paw"),
        (lambda p: p.phase("a", (), 0), "at least one interval"),
        (lambda p: p.start([np.nan]), "finite"),
        (lambda p: p.cost("torque", np.nan), "weight of cost `torque`"),
        (lambda p: p.constrain("c", lambda n: n.y, 1.0, 0.0), "bounds of `c`"),
        (lambda p: p.bound("knee"), "knee"),
        (lambda p: p.solve(), "no phases"),
        (lambda p: p.phase("a", (), 5, "long"), "duration of phase `a`"),
        (lambda p: p.phase("a", (), 5, spots={"paw": np.eye(4)}), "paw"),
        (lambda p: p.phase("a", (), 5, transition="impact"), "begin with an impact"),
        (lambda p: p.phase("a", (), 5, friction=-1.0), "friction of phase `a`"),
        (lambda p: p.fix("middle", "slide", 1.0), "middle"),
        (lambda p: p.periodic(omit=["way"]), "way"),
        (lambda p: p.cost("torque", at="midway"), "midway"),
        (lambda p: p.constrain("c", lambda n: n.y, np.inf), "bounds of `c`"),
        (lambda p: p.constrain("torque limit", lambda n: n.y), "`torque limit` is a constraint of the problem itself"),
        (lambda p: p.bound("slide", np.nan), "bounds of `slide`"),
        (lambda p: p.parameter("h", 0.0, 1.0, 7.0), "guess of parameter `h`"),
        (lambda p: p.guess([0.0]), "guess must be a function"),
    ],
)
def test_bad_input_is_refused_by_name(act, words) -> None:
    with pytest.raises(SurefootError, match=words):
        act(Problem(_slider()))


@pytest.mark.parametrize(
    ("function", "others", "words"),
    [
        (lambda node: node.parameters["h"], {}, "parameter `h`"),
        (lambda node: node.wrenches["paw"], {}, "contact that holds here `paw`"),
        (lambda node: np.sin(node.y), {}, "`c` failed: TypeError.*\\n.*ops.sin"),
        (lambda node: None, {}, "`c` must return numbers"),
        (lambda node: node.y, {"lower": [0.0, 1.0, 2.0]}, "bounds of `c` do not fit its 1 value"),
        (lambda node: node.tau, {"of_posture": True}, "`c` acts nowhere"),
        (lambda node: node.y, {"at": "impact"}, "`c` acts nowhere"),
    ],
)
def test_own_blocks_that_cannot_work_are_refused_by_name(function, others, words) -> None:
    problem = Problem(_slider())
    problem.phase("go", (), 2, 1.0)
    problem.constrain("c", function, **others)
    with pytest.raises(SurefootError, match=words):
        problem.solve()


def test_trouble_names_values_that_are_not_finite_and_ends_outside_limits() -> None:
    problem = Problem(_slider())
    problem.phase("go", (), 2, 1.0)
    problem.cost("root", 1.0, lambda node: ops.sqrt(node.y - 1.0))
    assert "not finite where it stopped: root @ go" in str(problem.solve().trouble)
    problem = Problem(_slider())
    problem.phase("go", (), 2, 1.0)
    problem.start([100.0])
    assert "position at the start, position limit @ go" in str(problem.solve().trouble)


def test_bad_guess_is_refused_before_anything_is_compiled() -> None:
    problem = Problem(_slider())
    problem.phase("go", (), 5, 1.0)
    problem.guess(lambda t: [np.nan])
    with pytest.raises(ShapeError, match="guess"):
        transcribe(problem)
    with pytest.raises(UnknownNameError, match="flight"):
        problem.cost("torque", phases=["flight"])


def test_a_contact_may_hold_what_cannot_move_anyway() -> None:
    """A mass on a vertical rail stands on a point: sideways forces are undetermined, and forward dynamics is not."""
    joint = Joint("lift", "prismatic", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=1.0)
    foot = ContactSurface("foot", "mass", "point")
    robot = Robot.from_tree("post", [Link("mass", None, joint, 2.0, np.zeros(3), np.eye(3))], "fixed", contacts=[foot])
    problem = Problem(robot)
    problem.phase("stand", ["foot"], 3, 0.3)
    problem.start(robot.home)
    problem.cost("torque")
    problem.cost("contact_force", 1e-6)
    solution = problem.solve()
    assert solution.success
    np.testing.assert_allclose(solution.nodes["wrenches"][:-1, 0, 2], 2.0 * 9.81, rtol=1e-4)
    assert check(solution).defect < 1e-6


def test_a_trajectory_is_followed() -> None:
    """Cheap forces: the mass is where the trajectory is; costs without a place to compare are refused."""
    robot, times = _slider(1e3), np.linspace(0.0, 1.0, 11)
    motion = Trajectory.of(robot, times, 0.3 * np.sin(3.0 * times)[:, None])
    problem = Problem(robot, formulation=Formulation("forward", "semi_implicit"))
    problem.phase("go", (), 20, 1.0)
    problem.cost("posture", 1.0, reference=motion)
    problem.cost("torque", 1e-8)
    found = problem.solve().trajectory
    expected = 0.3 * np.sin(3.0 * found.time)
    np.testing.assert_allclose(found.q[1:-1, 0], expected[1:-1], atol=2e-3)
    with pytest.raises(UnknownNameError, match="speed"):
        problem.cost("speed", 1.0, reference=motion)


def test_too_little_time_is_named_and_how_much_is_missing() -> None:
    """From rest to rest over 1 m with 2 N and 1 kg takes √2 s: 1 s is too little, by 0.41 s, or by 2 N."""
    problem = Problem(_slider(), formulation=Formulation("forward", "semi_implicit"))
    problem.phase("go", (), 40, 1.0)
    problem.start([0.0])
    problem.end([1.0])
    problem.cost("torque")
    solution = problem.solve()
    found = solution.explain()
    assert not solution.success
    assert {"duration @ go", "force limit @ go", "position at the end"} <= set(found.names)
    alone = {member.name: member.alone for member in found.conflict}
    assert alone["duration @ go"].amount == pytest.approx(0.41, abs=0.1)
    assert alone["duration @ go"].unit == "s"
    assert alone["force limit @ go"].amount == pytest.approx(2.0, rel=0.1)
    assert alone["position at the end"].amount == pytest.approx(0.5, rel=0.1)  # F T² / 4m
    assert "duration @ go" in solution.trouble


def _pendulum(torque: float) -> Robot:
    """1 kg, 0.5 m from the hinge."""
    joint = Joint("hinge", "revolute", axis=(0.0, 1.0, 0.0), lower=-7.0, upper=7.0, velocity=20.0, effort=torque)
    link = Link("rod", None, joint, 1.0, np.array([0.0, 0.0, -0.5]), 0.02 * np.eye(3))
    return Robot.from_tree("pendulum", [link], "fixed", drives=(Drive("hinge", torque_limit=torque),))


@pytest.mark.parametrize("torque", [10.0, 2.0])
@pytest.mark.parametrize("form", [Formulation("forward", "rk4", "plc"), Formulation()], ids=str)
def test_a_guess_from_which_no_step_leads_is_left(torque: float, form: Formulation) -> None:
    """Hanging, the height of a pendulum is stationary; upright is feasible, with 2 N m by swinging."""
    problem = Problem(_pendulum(torque), formulation=form)
    problem.phase("swing", (), 40, 4.0)
    problem.start([0.0])
    problem.constrain("upright", lambda node: node.com[2:], 0.5, at="end")
    problem.cost("torque", 0.01)
    solution = problem.solve()
    assert solution.success, solution.trouble
    assert np.cos(solution.trajectory.q[-1, 0]) == pytest.approx(-1.0, abs=1e-6)


def test_own_functions_are_known_by_what_they_compute() -> None:
    """Machine code of a stage is found by the operations of its blocks, so that only these are traced again."""

    def key(factor: float, own: str | None = None) -> str:
        problem = Problem(_slider(), formulation=Formulation("forward", "semi_implicit"))
        problem.phase("go", (), 2, 1.0)
        problem.cost("place", 1.0, lambda node: factor * node.y, key=None if own is None else (own,))
        return repr(_identity(stages_of(problem)[0].structure))

    assert key(2.0) == key(2.0) != key(3.0)
    assert key(2.0, "mine") == key(3.0, "mine")


@pytest.mark.parametrize(
    "make",
    [squat, pytest.param(jump, marks=pytest.mark.slow), pytest.param(bound, marks=pytest.mark.slow)],
    ids=lambda make: make.__name__,
)
def test_a_file_restarts_a_motion(make, tmp_path) -> None:
    """In a new problem of the same kind, the solution of a file is optimal after a few steps."""
    robot, options = load("solo12"), SolverOptions(tolerance=1e-4)
    first = make(robot).solve(options=options)
    assert first.success
    first.save(tmp_path / "solution.npz")
    earlier, heading = load_solution(tmp_path / "solution.npz")
    again = make(robot).solve(warm=earlier, options=options)
    assert again.success
    assert again.iterations <= max(6, first.iterations // 3)
    assert again.objective == pytest.approx(heading["objective"], rel=1e-3)


@pytest.mark.slow
def test_squat_of_a_humanoid() -> None:
    robot = load("g1")
    found = [squat(robot).solve(solver, SolverOptions(tolerance=1e-4)) for solver in ("riccati", "ipopt")]
    assert all(solution.success for solution in found)
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-4)
    motion = found[0].trajectory
    assert np.abs(motion.tau / np.array([d.torque_limit for d in robot.drives])).max() <= 1.0 + 1e-6
