import numpy as np
import pytest

from surefoot import ops
from surefoot.compiler import compile_robot
from surefoot.geometry import SweptVolume
from surefoot.geometry.swept_distance import generator_distance
from surefoot.kinematics import body_placements
from surefoot.kinematics.volume_distance import volume_distance
from surefoot.robot import BodyVolume
from tests.kinematics.examples import assert_same, moved, robot_named, state


def some_volume(rng, body, count):
    return BodyVolume(int(body), SweptVolume(rng.uniform(-0.15, 0.15, (count, 3)), rng.uniform(0.01, 0.04)), "x")


def some_pair(robot, seed):
    """Two volumes of random kinds on different bodies, one of which may be the world."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice(np.arange(-1, robot.tree.n), 2, replace=False)
    return some_volume(rng, a, int(rng.integers(1, 4))), some_volume(rng, b, int(rng.integers(1, 4)))


def in_world(robot, q, item):
    if item.body < 0:
        return item.volume
    R, p = body_placements(robot.tree, q)[item.body]
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return item.volume.placed(T)


@pytest.mark.parametrize("name", ["g1", "panda", "anymal", "every joint"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_distance_of_the_placed_volumes(name, seed):
    robot = robot_named(name)
    q, _, _ = state(robot, seed)
    a, b = some_pair(robot, seed)
    found = volume_distance(robot.tree, q, a, b)
    A, B = in_world(robot, q, a), in_world(robot, q, b)
    expected = generator_distance(np.asarray(A.vertices), np.asarray(B.vertices)).distance - A.radius - B.radius
    assert found.distance == pytest.approx(expected, abs=1e-12)
    if found.distance > 0.0:
        assert np.linalg.norm(found.point_a - found.point_b) == pytest.approx(found.distance, abs=1e-12)
        for point, volume in ((found.point_a, A), (found.point_b, B)):
            gap = generator_distance(point[None], np.asarray(volume.vertices)).distance
            assert gap == pytest.approx(volume.radius, abs=1e-12)


@pytest.mark.parametrize("blur", [None, 0.02])
@pytest.mark.parametrize(("name", "mimic"), [("g1", "coupling"), ("panda", "coupling"), ("anymal", "coupling"),
                                             ("every joint", "coupling"), ("followers", "reduce")])  # fmt: skip
def test_gradient_is_the_rate(name, mimic, blur):
    robot = robot_named(name, mimic)
    for seed in range(8):
        q, v, _ = state(robot, seed)
        a, b = some_pair(robot, seed + 100)
        found = volume_distance(robot.tree, q, a, b, blur)
        h = 1e-6
        after, before = (volume_distance(robot.tree, moved(robot, q, v, t), a, b, blur).distance for t in (h, -h))
        assert (after - before) / (2 * h) == pytest.approx(found.gradient @ v, abs=1e-7, rel=1e-7)


def test_only_the_joints_in_between_enter():
    robot = robot_named("g1")
    left, right = robot.body_of("left_elbow_link"), robot.body_of("left_wrist_yaw_link")
    rng = np.random.default_rng(0)
    a, b = some_volume(rng, left, 2), some_volume(rng, right, 2)
    q = ops.symbols("q", robot.nq)
    found = volume_distance(robot.tree, q, a, b)
    filled = {k for k, x in enumerate(found.gradient) if isinstance(x, ops.Symbol) or x != 0.0}
    expected = {int(robot.tree.v_index[i]) for i in [right, *robot.tree.ancestors(right)] if i > left}
    assert filled == expected
    pattern = ops.function("f", [q], [ops.array([found.distance])]).sparsity_jac(0, 0)
    columns = {k for k in range(robot.nq) if pattern.colind()[k + 1] > pattern.colind()[k]}
    assert columns == {int(robot.tree.q_index[i]) for i in [right, *robot.tree.ancestors(right)] if i > left}


def test_on_one_body_nothing_changes():
    robot = robot_named("anymal")
    rng = np.random.default_rng(1)
    a, b = some_volume(rng, 3, 2), some_volume(rng, 3, 3)
    first, second = (volume_distance(robot.tree, state(robot, seed)[0], a, b) for seed in (1, 2))
    assert first.distance == second.distance
    assert not first.gradient.any()


def test_swapping_the_volumes_swaps_the_points():
    robot = robot_named("panda")
    q, _, _ = state(robot, 3)
    a, b = some_pair(robot, 11)
    there, back = volume_distance(robot.tree, q, a, b), volume_distance(robot.tree, q, b, a)
    assert there.distance == pytest.approx(back.distance, abs=1e-12)
    assert_same(there.gradient, back.gradient, 1e-9)
    assert_same(there.point_a, back.point_b, 1e-9)


def test_crossing_generators_have_no_gradient():
    robot = robot_named("panda")
    cross = [SweptVolume(np.array([[0.1, 0.0, -2.0], [0.1, 0.0, 2.0]]), 0.1),
             SweptVolume(np.array([[-3.0, -3.0, -3.0], [3.0, -3.0, -3.0], [0.0, 3.0, 3.0]]), 0.2)]  # fmt: skip
    found = volume_distance(
        robot.tree, np.array(robot.home), BodyVolume(-1, cross[0], "a"), BodyVolume(0, cross[1], "b")
    )
    assert found.distance == pytest.approx(-0.3, abs=1e-12)
    assert np.abs(found.gradient).max() < 1e-3


def test_compiled_it_is_the_same():
    robot = robot_named("anymal")
    a, b = some_pair(robot, 21)

    def gap(tree, q):
        found = volume_distance(tree, q, a, b)
        return found.distance, found.gradient, found.point_a, found.point_b

    kernel = compile_robot(robot, functions={"gap": gap}).gap
    Q = np.array([state(robot, seed)[0] for seed in range(9)])
    for row, *compiled in zip(Q, *kernel(Q), strict=True):
        expected = volume_distance(robot.tree, row, a, b)
        for x, y in zip(
            compiled, (expected.distance, expected.gradient, expected.point_a, expected.point_b), strict=True
        ):
            assert_same(x, y, 1e-11)
