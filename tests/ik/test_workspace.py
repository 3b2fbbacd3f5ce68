"""Workspaces by sampling against closed forms."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.analysis.workspace import sample_workspace
from surefoot.robot import Joint, Link, Robot
from surefoot.robot.model.links import NamedFrame, placement


def two_links(a=1.0, b=0.6):
    """A planar arm that turns without limits, in a plane that is tilted in the world."""
    mass = {"mass": 1.0, "inertia": 0.01 * np.eye(3)}
    first = Link("upper", None, Joint("j1", "continuous", placement((0.1, 0.2, 0.3)), (0, 0, 1)), **mass)
    second = Link("lower", "upper", Joint("j2", "revolute", placement((a, 0, 0)), (0, 0, 1)), **mass)
    return Robot.from_tree("two", [first, second], frames=[NamedFrame("tip", "lower", placement((b, 0, 0)))])


def test_planar_arm_of_two_links_reaches_an_annulus():
    """Area π ((a+b)² - (a-b)²) = 4 π a b; the hole in the middle is not filled."""
    found = sample_workspace(two_links(), "tip", np.random.default_rng(3), samples=200_000, cell=0.02)
    np.testing.assert_allclose(found.axes, np.eye(3)[:2], atol=1e-12)
    assert found.volume == pytest.approx(4.0 * np.pi * 0.6, rel=0.01)
    assert 1.599 < found.farthest <= 1.6 + 1e-12
    angles = np.linspace(0.0, 6.0, 50)
    ring = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    centre = np.array([0.1, 0.2, 0.3])
    assert found.contains(centre + 1.0 * ring).all()
    assert not found.contains(centre + 0.3 * ring).any()
    assert not found.contains(centre + 1.7 * ring).any()
    assert found.unseen < 0.01


def test_manipulability_is_largest_at_the_right_angle():
    """w = a b |sin q₂| is largest at distance √(a² + b²) from the root."""
    found = sample_workspace(two_links(), "tip", np.random.default_rng(3), samples=200_000, cell=0.04)
    cells = (np.argwhere(found.manipulability > 0.995) + 0.5) * found.cell @ found.axes + found.corner
    np.testing.assert_allclose(np.linalg.norm(cells - found.root, axis=1), np.hypot(1.0, 0.6), atol=0.12)


def test_arm4_reaches_one_metre():
    robot = sf.load("arm4")
    found = sample_workspace(robot, "tip", np.random.default_rng(1), samples=200_000)
    assert found.counts.ndim == 2
    assert found.counts.sum() == found.samples
    assert 0.97 < found.farthest <= 1.0 + 1e-12
    assert found.volume < np.pi
    assert found.directions.max() == 1.0  # somewhere in the middle from all sides
    rim = found.directions[found.occupied & (found.counts < 5)].mean()
    assert rim < 0.3


def test_counts_are_those_of_plain_kinematics():
    """The same postures, placed by Pinocchio one by one, fall into the same cells."""
    robot = sf.load("humanoid")
    found = sample_workspace(robot, "left_palm", np.random.default_rng(5), "torso", samples=300, cell=0.1)
    arm = [f"left_{n}" for n in
           ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow", "wrist_yaw", "wrist_pitch")]  # fmt: skip
    rows = [robot.tree.q_index[robot.joint_index(n)] for n in arm]
    low, high = robot.limits.lower[rows], robot.limits.upper[rows]
    draws = low + (high - low) * np.random.default_rng(5).random((300, 6))
    points = []
    for draw in draws:
        q = np.array(robot.home)
        q[rows] = draw
        points.append(robot.placements(q)["left_palm"][:3, 3])
    index = np.floor((np.array(points) - found.corner) / found.cell).astype(int)
    counts = np.zeros_like(found.counts)
    np.add.at(counts, tuple(np.clip(index, 0, np.array(counts.shape) - 1).T), 1)
    assert np.abs(counts - found.counts).sum() <= 4  # rounding at the walls of cells
    assert found.farthest == pytest.approx(np.linalg.norm(np.array(points) - found.root, axis=1).max())


def test_same_seed_same_workspace():
    a, b = (sample_workspace(two_links(), "tip", np.random.default_rng(2), samples=5000) for _ in range(2))
    assert (a.counts == b.counts).all()
    assert a.volume == b.volume


def test_what_cannot_be_sampled_is_refused():
    with pytest.raises(ShapeError):
        sample_workspace(two_links(), "tip", np.random.default_rng(0), samples=0)
    with pytest.raises(NotSupportedError):
        sample_workspace(sf.load("humanoid"), "pelvis", np.random.default_rng(0))
