import numpy as np

from surefoot import ops
from surefoot.kinematics import Frame, body_placements, frame_placement
from tests.kinematics.examples import assert_same, robot_named, state


def test_bodies_are_where_their_frames_are():
    robot = robot_named("every joint")
    q, _, _ = state(robot, 1)
    for i, (R, p) in enumerate(body_placements(robot.tree, q)):
        T = frame_placement(robot.tree, Frame(i), q)
        assert_same(R, T[:3, :3])
        assert_same(p, T[:3, 3])


def test_symbols_give_the_numbers():
    robot = robot_named("every joint")
    q, _, _ = state(robot, 2)
    Q = ops.symbols("q", robot.nq)
    traced = ops.function("fk", [Q], [ops.concatenate([R.ravel(), p]) for R, p in body_placements(robot.tree, Q)])
    for found, (R, p) in zip(traced(q), body_placements(robot.tree, q), strict=True):
        assert_same(np.array(found).ravel(), np.concatenate([R.ravel(), p]))


def test_a_body_looks_only_at_its_ancestors():
    robot = robot_named("g1")
    tree, Q = robot.tree, ops.symbols("q", robot.nq)
    for i, (R, p) in enumerate(body_placements(tree, Q)):
        used = ops.function("f", [Q], [ops.concatenate([R.ravel(), p])]).sparsity_jac(0, 0)
        columns = {c for c in range(robot.nq) if used.colind()[c + 1] > used.colind()[c]}
        chain = [*tree.ancestors(i), i]
        assert columns == {int(tree.q_index[j]) + k for j in chain for k in range(tree.nq_of(j))}
