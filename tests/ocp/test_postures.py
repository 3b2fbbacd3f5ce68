"""Rows of postures: own kernels, distances and free parameters, against second formulations and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.collision import CollisionModel
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.geometry import Sphere
from surefoot.motion import Obstacle, World
from surefoot.ocp import Formulation, Problem, SolverOptions
from surefoot.ocp.kernels import StageKernels
from surefoot.ocp.motions import Overstep, overstep
from surefoot.ocp.postures import JoinedKernels, distances, leg_volumes, obstacle_rows
from surefoot.ocp.shape import Block
from surefoot.ocp.stage import Structure
from surefoot.ocp.transcription import transcribe
from surefoot.robot import Drive, Geometry, Joint, Link, Robot, load


def _slider(axes: str = "x", force: float = 2.0) -> Robot:
    """A ball of 1 kg and 10 cm that is driven along axes."""
    vectors = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0)}
    links, parent = [], None
    for k, axis in enumerate(axes):
        is_last = k + 1 == len(axes)
        name = f"slide_{axis}"
        joint = Joint(name, "prismatic", axis=vectors[axis], lower=-9.0, upper=9.0, velocity=50.0, effort=force)
        name = "ball" if is_last else f"rail_{axis}"
        mass = 1.0 if is_last else 1e-3
        shapes = (Geometry("ball", "ball", Sphere(0.1)),) if is_last else ()
        links.append(Link(name, parent, joint, mass, np.zeros(3), 1e-2 * mass * np.eye(3), collisions=shapes))
        parent = name
    drives = tuple(Drive(f"slide_{axis}", torque_limit=force) for axis in axes)
    return Robot.from_tree("slider", links, "fixed", drives=drives)


@pytest.mark.slow
def test_joined_kernels_are_those_of_one_function() -> None:
    """Values, derivatives and patterns are the same as if the rows were part of the stage."""

    def tip(node, most):
        p = node.placement("pole")[:3, 3] - node.placement("pole")[:3, 2]
        return np.array([p[0] * node.parameters["reach"] - most[0], p[2] + node.parameters["reach"] ** 2])

    blocks = (
        Block("torque", lambda node: node.tau, "residual"),
        Block("tip", tip, "row", data=1, of_posture=True),
    )
    structure = Structure(
        load("cartpole:bearing"), (), Formulation("forward", "rk4", "plc"), "interval", blocks, ("reach",)
    )
    rng = np.random.default_rng(4)
    given = [np.tile(x, (5, 1)) + 0.3 * rng.normal(size=(5, len(x))) for x in structure.sample()]
    one, two = StageKernels(structure), JoinedKernels(structure)
    m = rng.normal(size=(5, one.count))
    assert one.count == two.count
    np.testing.assert_allclose(two.values(*given), one.values(*given), atol=1e-12)
    np.testing.assert_allclose(two.jacobian(*given), one.jacobian(*given), atol=1e-11)
    np.testing.assert_allclose(two.hessian(*given, m), one.hessian(*given, m), atol=1e-9)
    for joined, single in zip(two.patterns, one.patterns, strict=True):
        assert (joined | ~single).all()


def test_a_parameter_is_made_as_large_as_the_motion_allows() -> None:
    """From rest with a force F for N steps of h: x = F h² N (N + 1) / 2 for 1 kg."""
    robot, h, count = _slider(), 0.05, 20
    problem = Problem(robot, formulation=Formulation("forward", "semi_implicit"))
    problem.phase("go", (), count, h * count)
    problem.start(np.zeros(1))
    problem.parameter("mark", 0.0, 5.0)
    problem.constrain(
        "beyond", lambda node: node.y - node.parameters["mark"], 0.0, at="end", key=("beyond",), of_posture=True
    )
    problem.maximise("mark")
    solution = problem.solve(options=SolverOptions(tolerance=1e-8))
    assert solution.success
    assert solution.parameters["mark"] == pytest.approx(2.0 * h * h * count * (count + 1) / 2.0, rel=1e-5)
    with pytest.raises(UnknownNameError, match="parameter"):
        problem.maximise("height")
    with pytest.raises(NotSupportedError, match="slack"):
        problem.constrain("soft", lambda node: node.y, 0.0, of_posture=True, slack=1.0)


def test_the_way_leads_around_an_obstacle() -> None:
    """Without the rows the ball goes through the obstacle; with them it keeps its distance, and the cost is higher."""
    pose = np.eye(4)
    pose[:3, 3] = 0.5, 0.02, 0.0
    robot, world = _slider("xy", 20.0), World(obstacles=(Obstacle("post", Sphere(0.15), pose),))

    def solved(apart: bool):
        problem = Problem(robot, world, Formulation("forward", "semi_implicit"))
        problem.phase("go", (), 30, 1.0)
        problem.start(np.zeros(2))
        problem.end(np.array([1.0, 0.0]))
        problem.cost("torque")
        if apart:
            problem.keep_apart([("ball", "post")], margin=0.02)
            problem.guess(lambda t: np.array([t, -0.3 * np.sin(np.pi * t)]))
        return problem.solve()

    free, around = solved(False), solved(True)
    ways = [np.linalg.norm(s.nodes["q"] - pose[:2, 3], axis=1) for s in (free, around)]
    assert free.success
    assert around.success
    assert ways[0].min() < 0.05
    assert ways[1].min() == pytest.approx(0.1 + 0.15 + 0.02, abs=2e-3)
    assert around.objective > free.objective
    assert any(name.startswith("apart ball|post") for name in around.transcription.program.row_names)


@pytest.mark.slow
def test_distances_are_those_of_the_collision_model() -> None:
    robot = load("humanoid")
    model, rng = CollisionModel(robot, fuse=False), np.random.default_rng(5)
    pairs = [pair for pair in model.self_pairs if len(pair[0].volume.vertices) + len(pair[1].volume.vertices) < 6][:12]
    columns = [model.self_pairs.index(pair) for pair in pairs]
    for _ in range(3):
        q = np.array(robot.home)
        q[7:] += 0.3 * rng.normal(size=len(q) - 7)
        exact = model.distances(q)[columns]
        smooth = np.asarray(distances(robot.tree, q, pairs), dtype=float)
        apart = exact > 0.0
        assert apart.any()
        assert (smooth[apart] <= exact[apart] + 1e-9).all()
        np.testing.assert_allclose(smooth[apart], exact[apart], atol=2e-3)


def test_rows_of_an_obstacle_measure_the_profile() -> None:
    """The foot at home is as far before the wall of the box as the tips of its volumes."""
    robot = load("humanoid")
    problem = overstep(robot, Overstep(height=0.2, distance=0.355))
    node = (
        transcribe(problem).stages[0].structure.posture(problem.chart.coordinates(robot.home), np.array([0.2, 0.355]))
    )
    foot = leg_volumes(robot, "left_foot")["left_foot"]
    rows = np.asarray(obstacle_rows(foot, 0.11, ("obstacle distance", "obstacle height"))(node), dtype=float)
    T = robot.placements(robot.home)["left_foot"]
    front = max(float((v.volume.vertices @ T[:3, :3].T + T[:3, 3])[:, 0].max()) + v.volume.radius for v in foot)
    assert rows.min() == pytest.approx(0.355 - 0.055 - front, abs=1.5e-3)
    names = set(transcribe(problem).program.row_names)
    assert {"obstacle left_shank[0] @ lead", "beyond right_foot[0] @ straddle"} <= names
