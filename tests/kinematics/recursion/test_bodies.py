import numpy as np
import pytest

from surefoot import ops
from surefoot.kinematics.recursion.bodies import bodies, joint_placement, joint_subspace, snapped, to_child, to_parent
from surefoot.spatial import so3
from tests.kinematics.examples import assert_same, every_joint, moved, robot_named, state


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "helical", "spherical", "planar", "free"])
def test_subspace_is_the_rate_of_the_placement(kind):
    robot = every_joint((kind,)) if kind != "free" else every_joint(("revolute",))
    tree, i = robot.tree, robot.tree.n - 1 if kind != "free" else 0
    q, v, _ = state(robot, 3)
    step = 1e-6
    rows = slice(int(tree.q_index[i]), int(tree.q_index[i]) + tree.nq_of(i))
    body = bodies(tree)[i]
    (R, _), (R_behind, p_behind), (R_ahead, p_ahead) = (
        joint_placement(body, moved(robot, q, v, t)[rows]) for t in (0.0, -step, step)
    )
    linear = R.T @ (p_ahead - p_behind) / (2 * step)
    angular = so3.log(R_behind.T @ R_ahead) / (2 * step)
    own = v[int(tree.v_index[i]) : int(tree.v_index[i]) + tree.nv_of(i)]
    assert_same(joint_subspace(body) @ own, np.concatenate([linear, angular]), 1e-8)


def test_power_does_not_depend_on_the_frame(rng):
    R, p, twist, wrench = so3.random(rng), *(rng.standard_normal(n) for n in (3, 6, 6))
    assert_same(to_child(R, p, twist) @ wrench, twist @ to_parent(R, p, wrench))


def test_followers_move_by_their_ratio():
    robot = robot_named("followers", "reduce")
    follower = bodies(robot.tree)[robot.joint_index("j2")]
    assert_same(follower.ratio, -1.7)
    assert_same(follower.offset, 0.3)
    assert_same(joint_subspace(follower)[3:, 0], -1.7 * follower.axis)


def test_turns_about_coordinate_axes_fold():
    robot = robot_named("talos")
    q = ops.symbols("q", 1)
    R, _ = joint_placement(bodies(robot.tree)[robot.joint_index("leg_left_1_joint")], q)
    known = [[isinstance(entry, ops.Symbol) for entry in row] for row in R]
    assert known == [[True, True, False], [True, True, False], [False, False, False]]
    assert [R[0, 2], R[1, 2], R[2, 0], R[2, 1], R[2, 2]] == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_snapping_changes_by_rounding_only():
    values = np.array([1e-17, 1.0 - 1e-16, -1.0 + 1e-12, 1e-9, 0.5])
    assert snapped(values).tolist() == [0.0, 1.0, -1.0 + 1e-12, 1e-9, 0.5]
