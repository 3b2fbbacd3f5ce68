"""Limits that may yield, torque–speed lines, and blocks for head, ankles and zero-moment point, on small robots."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from surefoot.errors import SurefootError
from surefoot.ocp import Formulation, Problem, ankle_excitation, head_stabilisation, zmp_inside
from surefoot.robot import Drive, Joint, Link, Robot, load
from tests.ocp.problems import stand

PUSH, MASS = 2.0, 1.0  # N, kg


def _slider(corner: float = np.inf, top: float = 50.0, reach: float = 9.0) -> Robot:
    joint = Joint("slide", "prismatic", axis=(1.0, 0.0, 0.0), lower=-reach, upper=reach, velocity=top, effort=PUSH)
    link = Link("mass", None, joint, MASS, np.zeros(3), 0.01 * np.eye(3))
    drive = Drive("slide", torque_limit=PUSH, speed_limit=top, corner_speed=corner)
    return Robot.from_tree("slider", [link], "fixed", drives=(drive,))


def _go(robot: Robot, way: float, duration: float | tuple[float, float], dynamics: str = "inverse") -> Problem:
    problem = Problem(robot, formulation=Formulation(dynamics, "semi_implicit"))  # type: ignore[arg-type]
    problem.phase("go", (), 20, duration)
    problem.start([0.0])
    problem.end([way])
    problem.cost("torque", 1e-6)
    return problem


@pytest.mark.parametrize("dynamics", ["inverse", "forward"])
def test_a_torque_limit_yields_by_a_slack(dynamics: str) -> None:
    """1 m in 1 s needs 4 N at least: hard limits of 2 N conflict; with a slack, the force is what is needed."""
    problem = _go(_slider(), 1.0, 1.0, dynamics)
    assert not problem.solve().success
    problem.limits(slack={"torques": 1e3})
    solution = problem.solve()
    assert solution.success, solution.trouble
    assert np.abs(solution.nodes["tau"]).max() > 4.0
    assert solution.trajectory.q[-1, 0] == pytest.approx(1.0, abs=1e-6)


def test_a_slack_that_is_not_needed_changes_nothing() -> None:
    problem = _go(_slider(), 0.1, 1.0)
    hard = problem.solve()
    problem.limits(slack={"torques": 1e3, "positions": 1e3, "velocities": 1e3})
    soft = problem.solve()
    np.testing.assert_allclose(soft.nodes["tau"], hard.nodes["tau"], atol=1e-3)


@pytest.mark.parametrize(("kind", "robot"), [("positions", _slider(reach=0.5)), ("velocities", _slider(top=0.6))])
def test_limits_of_joints_yield_by_a_slack(kind: str, robot: Robot) -> None:
    """1 m with a reach of 0.5 m; 1 m in 1.5 s at 0.6 m/s at most."""
    problem = _go(robot, 1.0, 1.5)
    problem.end()
    problem.constrain("far", lambda node: node.y, 1.0, at="end")
    assert not problem.solve().success
    problem.limits(slack={kind: 1e3})
    solution = problem.solve()
    assert solution.success, solution.trouble
    assert solution.trajectory.q[-1, 0] > 1.0 - 1e-6


def test_cones_yield_by_a_slack() -> None:
    """Feet that are to pull: hard cones conflict, soft ones yield."""
    problem = stand(4)
    problem.constrain("pull", lambda node: node.wrenches["FL_foot"][2:3], upper=-1.0)
    problem.limits(slack={"cones": 1e3})
    solution = problem.solve()
    assert solution.success, solution.trouble
    at = list(problem.robot.contacts).index("FL_foot")
    assert solution.nodes["wrenches"][0, at, 2] <= -1.0 + 1e-5


def test_torque_falls_with_speed() -> None:
    """The force keeps the line of `Drive.torque_at_speed`; without the line it is beyond it."""
    robot = _slider(corner=0.5, top=1.5)
    drive, excess = robot.drives[0], {}
    for line in (False, True):
        problem = _go(robot, 1.0, (0.5, 5.0))
        problem.cost("time")
        problem.limits(torque_speed=line)
        solution = problem.solve()
        assert solution.success, solution.trouble
        tau, speed = solution.nodes["tau"][:-1, 0], solution.trajectory.v[:-1, 0]
        most = [drive.torque_at_speed(v * np.sign(f)) for f, v in zip(tau, speed, strict=True)]
        excess[line] = float((np.abs(tau) - most).max())
    assert excess[True] < 1e-5
    assert excess[False] > 0.3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"torque_speed": True}, "no drive of `slider` has a torque that falls"),
        ({"slack": {"torque": 1.0}}, "limit with a slack `torque`"),
        ({"slack": {"torques": -1.0}}, "slack of `torques`"),
        ({"slack": {"torque_speed": 1.0}}, "`torque_speed`, which do not hold"),
        ({"slack": ["torques"]}, "slacks go by limit"),
    ],
)
def test_bad_limits_are_refused(given, words) -> None:
    with pytest.raises(SurefootError, match=words):
        _go(_slider(), 1.0, 1.0).limits(**given)


def test_the_zero_moment_point_is_inside_a_polygon() -> None:
    """Two feet with the same vertical force: the point is half-way; rows are distances to the edges."""
    robot = load("go2")
    half, links = 0.5 * robot.mass * float(np.linalg.norm(robot.tree.gravity)), robot.placements(robot.home)
    feet = {name: robot.contacts[name] for name in ("FL_foot", "RR_foot")}
    T = {name: links[foot.frame] @ foot.placement for name, foot in feet.items()}
    wrenches = {name: np.r_[half * pose[2, :3], 0.0, 0.0, 0.0] for name, pose in T.items()}  # up in world
    node: Any = SimpleNamespace(wrenches=wrenches, mass=robot.mass, robot=robot, placement=T.__getitem__)
    middle = 0.5 * sum(pose[:2, 3] for pose in T.values())
    square = middle + np.array([[-0.1, -0.2], [0.1, -0.2], [0.1, 0.2], [-0.1, 0.2]])
    rows = zmp_inside(square, margin=0.01)(node)
    np.testing.assert_allclose(np.sort(rows), [0.09, 0.09, 0.19, 0.19], atol=1e-9)
    assert zmp_inside(square + np.array([0.15, 0.0]))(node).min() == pytest.approx(-0.05, abs=1e-9)
    with pytest.raises(SurefootError, match="polygon has no area"):
        zmp_inside([[0, 0], [1, 1], [2, 2]])


def test_a_polygon_holds_in_a_solve_and_objectives_make_small_what_they_name() -> None:
    """The zero-moment point stays in a strip beside home; the trunk stays level, and calves hardly accelerate."""
    problem = stand(6)
    home = problem.robot.placements(problem.robot.home)
    feet = np.array([home[foot.frame][:2, 3] for foot in problem.robot.contacts.values()])
    low, high = feet.min(axis=0), feet.max(axis=0)
    x = 0.5 * (low[0] + high[0]) + 0.03
    strip = [[x, low[1]], [x + 0.1, low[1]], [x + 0.1, high[1]], [x, high[1]]]
    problem.constrain("zmp", zmp_inside(strip), 0.0)
    problem.cost("acceleration", 1e-3)
    costs = {"head": head_stabilisation("base"), "ankles": ankle_excitation(["FL_calf_joint", "FR_calf_joint"])}
    plain = problem.solve()
    assert plain.success, plain.trouble
    for name, function in costs.items():
        problem.cost(name, 10.0, function)
    weighted = problem.solve()
    assert weighted.success, weighted.trouble
    names = problem.chart.names
    turn, calves = slice(3, 6), [names.index("FL_calf_joint"), names.index("FR_calf_joint")]
    assert np.abs(weighted.trajectory.v[:, turn]).max() < 0.5 * np.abs(plain.trajectory.v[:, turn]).max()
    assert np.abs(weighted.trajectory.a[:-1, calves]).max() < 0.5 * np.abs(plain.trajectory.a[:-1, calves]).max()


def test_coordinates_of_ankles_must_exist() -> None:
    problem = stand(2)
    problem.cost("ankles", 1.0, ankle_excitation(["ankle"]))
    with pytest.raises(SurefootError, match="coordinate `ankle`"):
        problem.solve()
