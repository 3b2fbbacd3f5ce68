import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.kinematics import Frame, frame_placement
from surefoot.kinematics.frames import WORLD, relative_placement
from surefoot.kinematics.frames.path import chain, path_between
from tests.kinematics.examples import assert_same, robot_named, some_frame, state


def test_chain():
    tree = robot_named("dill:4").tree
    assert chain(tree, -1) == []
    for i in range(tree.n):
        assert chain(tree, i) == sorted([i, *tree.ancestors(i)])
    with pytest.raises(ShapeError, match="no body"):
        chain(tree, tree.n)


@pytest.mark.parametrize("ends", [(-1, 4), (4, -1), (3, 8), (8, 3), (2, 2)])
def test_axes_and_levers(ends):
    robot = robot_named("every joint")
    tree, q = robot.tree, state(robot, 1)[0]
    first, second = (Frame(body, some_frame(robot, k).R, np.array([0.1, k, 0.3])) for k, body in enumerate(ends))
    path = path_between(tree, first, second, q)
    for i, R in path.axes(first).items():
        assert_same(R, relative_placement(tree, first, Frame(i), q)[:3, :3])
    for i, lever in path.levers(second).items():
        assert_same(lever, relative_placement(tree, Frame(i), second, q)[:3, 3])
    assert path.reversed().reversed().outward == path.outward
    assert set(path.reversed().axes(second)) == set(path.axes(first))


def test_world_is_the_start_of_every_chain():
    robot = robot_named("every joint")
    q, _, _ = state(robot, 2)
    path = path_between(robot.tree, WORLD, frame := some_frame(robot, 3), q)
    assert path.inward == ()
    assert list(path.outward) == chain(robot.tree, frame.body)
    assert_same(path.levers(frame)[-1], frame_placement(robot.tree, frame, q)[:3, 3])
