"""Denavit–Hartenberg rows: elementary factors, and the product of exponentials as a second formulation."""

import numpy as np
import pytest

from surefoot.errors import ModelError
from surefoot.robot import Robot
from surefoot.robot.model.dh import DHRow, dh_links, dh_placement
from surefoot.spatial import se3, so3

rng = np.random.default_rng(7)


def turn(axis, angle):
    return se3.make(so3.exp(angle * np.eye(3)[axis]), np.zeros(3))


def shift(axis, distance):
    return se3.make(np.eye(3), distance * np.eye(3)[axis])


def random_rows(n, tree=False):
    kinds = rng.choice(["revolute", "prismatic"], n)
    parents = [int(rng.integers(-1, i)) if tree else None for i in range(n)]
    numbers = rng.uniform(-2, 2, (n, 4))
    return [DHRow(*numbers[i], kind=kinds[i], parent=parents[i], mass=1.0, inertia=np.eye(3)) for i in range(n)]


def test_closed_form_is_the_product_of_its_factors():
    for a, alpha, d, theta in rng.uniform(-3, 3, (20, 4)):
        product = turn(0, alpha) @ shift(0, a) @ shift(2, d) @ turn(2, theta)
        np.testing.assert_allclose(dh_placement(a, alpha, d, theta), product, atol=1e-14)


@pytest.mark.parametrize("tree", [False, True])
def test_q_adds_to_theta_or_d(tree):
    rows = random_rows(8, tree)
    robot = Robot.from_tree("dh", dh_links(rows))
    q = rng.uniform(-2, 2, 8)
    position = dict(zip([f"joint{i + 1}" for i in range(8)], q, strict=True))
    placements = robot.placements(robot.q_of(position))
    expected = []
    for i, (row, x) in enumerate(zip(rows, q, strict=True)):
        parent = i - 1 if row.parent is None else row.parent
        moved = (row.theta + x, row.d) if row.kind == "revolute" else (row.theta, row.d + x)
        before = expected[parent] if parent >= 0 else np.eye(4)
        expected.append(before @ dh_placement(row.a, row.alpha, moved[1], moved[0]))
        np.testing.assert_allclose(placements[f"body{i + 1}"], expected[i], atol=1e-12)


def test_product_of_exponentials():
    """T(q) = exp(S₁ q₁) … exp(S_n q_n) T(0), screws S in world at q = 0 (Lynch & Park 2017, (4.14))."""
    rows = random_rows(7)
    root = se3.random(rng)
    robot = Robot.from_tree("dh", dh_links(rows, root))
    start = robot.placements(robot.neutral)
    q = rng.uniform(-2, 2, 7)
    end = robot.placements(q)
    motion = np.eye(4)
    for i, row in enumerate(rows):
        T = start[f"body{i + 1}"]
        axis, point = T[:3, 2], T[:3, 3]
        if row.kind == "revolute":
            screw = np.concatenate([np.cross(point, axis), axis])
        else:
            screw = np.append(axis, np.zeros(3))
        motion = motion @ se3.exp(screw * q[i])
        np.testing.assert_allclose(end[f"body{i + 1}"], motion @ T, atol=1e-11)


def test_limits_and_names_reach_the_robot():
    row = DHRow(link="arm", joint="shoulder", mass=1.0, inertia=np.eye(3), lower=-1, upper=2, velocity=3, effort=4)
    robot = Robot.from_tree("one", dh_links([row]))
    assert (robot.joint_names, robot.tree.body_names) == (("shoulder",), ("arm",))
    limits = robot.limits
    assert (limits.lower[0], limits.upper[0], limits.velocity[0], limits.effort[0]) == (-1, 2, 3, 4)


@pytest.mark.parametrize("parent", [0, 5, -2])
def test_parents_stand_before_their_children(parent):
    with pytest.raises(ModelError) as caught:
        dh_links([DHRow(parent=parent)])
    assert caught.value.next_step


def test_only_one_axis_rows():
    with pytest.raises(ModelError, match="free"):
        DHRow(kind="free")
