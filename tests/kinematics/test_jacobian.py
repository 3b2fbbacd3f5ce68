import casadi
import numpy as np
import pytest

from surefoot import ops
from surefoot.kinematics import REFERENCES, Frame, frame_jacobian, frame_placement, relative_jacobian
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.spatial import se3, twist
from tests.kinematics.examples import assert_same, moved, robot_named, some_frame, state

END_FRAMES = {
    "g1": ("left_ankle_roll_link", "right_ankle_roll_link", "left_rubber_hand", "right_rubber_hand"),
    "talos": ("left_sole_link", "right_sole_link", "gripper_left_base_link", "gripper_right_base_link"),
}


def columns_of(tree, bodies):
    return {int(tree.v_index[j]) + k for j in bodies for k in range(tree.nv_of(j))}


@pytest.mark.parametrize("reference", REFERENCES)
def test_other_joints_have_zero_columns(reference):
    robot = robot_named("g1")
    tree = robot.tree
    frame = frame_of(robot, "left_rubber_hand")
    J = frame_jacobian(tree, frame, ops.symbols("q", robot.nq), reference)
    expected = columns_of(tree, [frame.body, *tree.ancestors(frame.body)])
    filled = {c for c in range(robot.nv) if any(isinstance(x, ops.Symbol) or x != 0.0 for x in J[:, c])}
    assert filled == expected


def test_jacobian_does_not_know_where_the_root_is():
    robot = robot_named("talos")
    q, _, _ = state(robot, 1)
    far = q + np.array([1e6, -3e6, 2e6, *np.zeros(robot.nq - 3)])
    for reference in ("local", "local_world_aligned"):
        here, there = (frame_jacobian(robot.tree, some_frame(robot, 2), x, reference) for x in (q, far))
        assert np.array_equal(here, there)


def test_local_jacobian_does_not_know_the_attitude_of_the_root():
    robot = robot_named("talos")
    J = frame_jacobian(robot.tree, some_frame(robot, 3), Q := ops.symbols("q", robot.nq), "local")
    dependence = ops.function("f", [Q], [J]).sparsity_jac(0, 0)
    assert dependence.colind()[7] == 0


def test_world_is_the_frame_for_the_world():
    robot = robot_named("every joint")
    q, _, _ = state(robot, 4)
    assert not frame_jacobian(robot.tree, Frame(-1, p=np.ones(3)), q).any()
    for reference in REFERENCES:
        J = frame_jacobian(robot.tree, frame := some_frame(robot, 5), q, reference)
        assert_same(relative_jacobian(robot.tree, WORLD, frame, q, reference), J)


@pytest.mark.parametrize(("first", "second"), [(3, 8), (8, 3), (1, 3), (3, 0), (5, 5)])
def test_relative_jacobian_is_the_rate_of_the_relative_placement(first, second):
    robot = robot_named("every joint")
    q, v, _ = state(robot, 6)
    a, b = Frame(first, some_frame(robot, 7).R, np.array([0.1, 0.2, 0.3])), Frame(second, some_frame(robot, 8).R)
    step = 1e-6
    behind, here, ahead = (relative_placement(robot.tree, a, b, moved(robot, q, v, t)) for t in (-step, 0.0, step))
    local = se3.log(se3.inverse(behind) @ ahead) / (2 * step)
    R = here[:3, :3]
    expected = {
        "local": local,
        "local_world_aligned": np.concatenate([R @ local[:3], R @ local[3:]]),
        "world": twist.transform(here, local),
    }
    for reference in REFERENCES:
        assert_same(relative_jacobian(robot.tree, a, b, q, reference) @ v, expected[reference], 1e-8)


def test_shared_joints_do_not_enter_the_relative_jacobian():
    robot = robot_named("g1")
    tree, q = robot.tree, state(robot, 9)[0]
    left, right = frame_of(robot, "left_rubber_hand"), frame_of(robot, "right_rubber_hand")
    J = relative_jacobian(tree, left, right, q)
    between = {left.body, *tree.ancestors(left.body)} ^ {right.body, *tree.ancestors(right.body)}
    assert set(np.flatnonzero(J.any(axis=0))) == columns_of(tree, between)


@pytest.mark.parametrize(("name", "limit"), [("g1", 2500), ("talos", 2250)])
def test_traced_size_of_four_frames(name, limit):
    robot = robot_named(name)
    frames = [frame_of(robot, end) for end in END_FRAMES[name]]
    Q = ops.symbols("q", robot.nq)
    outputs = [f(robot.tree, frame, Q) for frame in frames for f in (frame_placement, frame_jacobian)]
    merged = casadi.Function("f", [ops.to_sx(Q)], casadi.cse([ops.to_sx(x) for x in outputs]))
    assert merged.n_instructions() <= limit
