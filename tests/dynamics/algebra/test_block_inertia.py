import numpy as np
import pytest

from surefoot import ops
from surefoot.dynamics.algebra.block_inertia import (
    is_exactly,
    mirror,
    mounted_turn,
    packed,
    rotate,
    rotate_symmetric,
    shift,
    unpacked,
)
from surefoot.kinematics.recursion.bodies import bodies, joint_placement
from surefoot.spatial import so3, wrench
from tests.dynamics.examples import assert_same, robot_named, state


def about(k: int, angle: float) -> np.ndarray:
    """A turn about coordinate axis k with exact zeros."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
TURNS = [*(about(k, 0.7) for k in range(3)), QUARTER, np.eye(3), so3.exp(np.array([0.3, -0.8, 0.5]))]


def symmetric(rng) -> np.ndarray:
    B = rng.standard_normal((3, 3))
    return B + B.T


@pytest.mark.parametrize("R", TURNS)
def test_rotations_of_blocks(R, rng):
    S, B = symmetric(rng), rng.standard_normal((3, 3))
    assert_same(unpacked(rotate_symmetric(R, packed(S))), R @ S @ R.T, 1e-14)
    assert_same(rotate(R, B), R @ B @ R.T, 1e-14)


def test_a_turn_that_is_nearly_about_an_axis_is_not_taken_for_one():
    R = so3.exp(np.array([1e-9, 0.0, 0.7]))
    assert R[2, 2] == 1.0
    B = 1e9 * np.eye(3)[:, [2, 0, 1]]
    assert_same(rotate(R, B), R @ B @ R.T, 1e-15)


def test_a_constant_quarter_turn_costs_nothing():
    S = ops.symbols("s", 6)
    assert {entry.op for entry in rotate_symmetric(QUARTER, S)} <= {"input", "neg"}


def test_packing(rng):
    S = symmetric(rng)
    assert (unpacked(packed(S)) == S).all()
    assert (mirror(np.triu(S)) == S).all()


def test_shift_is_a_congruence(rng):
    p, A, B, C = rng.standard_normal(3), symmetric(rng), rng.standard_normal((3, 3)), symmetric(rng)
    inertia = np.block([[A, B], [B.T, C]])
    X = wrench.shift_matrix(-p)
    new, moved = shift(p, packed(A), B, packed(C))
    assert_same(np.block([[A, new], [new.T, unpacked(moved)]]), X @ inertia @ X.T, 1e-14)


@pytest.mark.parametrize("name", ["g1", "every joint"])
def test_mounted_turn_is_the_placement_in_two_factors(name):
    robot = robot_named(name)
    q, _, _ = state(robot, 1)
    for i, body in enumerate(bodies(robot.tree)):
        own = q[robot.tree.q_index[i] :][: robot.tree.nq_of(i)]
        mount, turn, p = mounted_turn(body, own)
        R, origin = joint_placement(body, own)
        assert_same(mount @ turn, R, 1e-15)
        assert_same(p, origin, 1e-15)


def test_two_turns_about_one_axis_are_one():
    tree = robot_named("g1").tree
    i = tree.joint_names.index("left_knee_joint")
    mount, _, _ = mounted_turn(bodies(tree)[i], ops.symbols("q", 1))
    assert (mount == np.eye(3)).all()
    assert not (np.eye(3) == bodies(tree)[i].R).all()


def test_only_known_numbers_are_exact():
    assert is_exactly(0.0, 0.0)
    assert not is_exactly(1e-300, 0.0)
    assert not is_exactly(ops.symbols("x", 1)[0], 0.0)
