"""Ground that moves by a law, and boards on a pivot, in both engines."""

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import GroundBox, State, World
from surefoot.motion.world import GroundLaw, Pivot, ground_under
from surefoot.robot import ContactSurface, Link, Robot, placement
from surefoot.sim.drives import Actuation
from surefoot.sim.mujoco import MujocoEngine
from surefoot.sim.native import NativeEngine
from surefoot.sim.rollouts import rollout
from surefoot.spatial import so3

REST = placement((0.0, 0.0, -0.05))
SIZE = (1.0, 1.0, 0.1)
LAW = GroundLaw(
    translation=[0.04, 0.0, 0.01], rotation=[0.0, 0.05, 0.02], frequency=1.0, start=0.1, times=[0.2, 0.5],
    translations=[[0.0, 0.0, 0.0], [0.0, 0.02, 0.0]], rotations=[[0.0, 0.0, 0.0], [0.02, 0.0, 0.0]],
)  # fmt: skip
OFF = Actuation(*(np.zeros(0) for _ in range(7)))
ENGINES = pytest.mark.parametrize("engine", [MujocoEngine, NativeEngine])


@pytest.fixture(scope="module")
def block() -> Robot:
    corners = np.array([[x, y, -0.1] for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
    surface = ContactSurface("sole", "block", "polygon", corners=corners)
    body = Link("block", mass=2.0, inertia=np.diag([0.02, 0.02, 0.02]))
    return Robot.from_tree("block", [body], "floating", contacts=(surface,))


def standing(engine, block, piece, x=0.0):
    moved = engine(block, World(ground=(piece,)), dt=0.001)
    moved.reset(State(0.0, np.array([x, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), np.zeros(6)))
    return moved


def test_the_twist_of_a_law_is_the_rate_of_its_pose():
    h = 1e-6
    for t in (0.15, 0.3, 0.49, 1.3):
        (before, _), (after, _) = LAW.placed(REST, t - h), LAW.placed(REST, t + h)
        _, twist = LAW.placed(REST, t)
        turn = so3.log(after[:3, :3] @ before[:3, :3].T)
        found = np.concatenate([after[:3, 3] - before[:3, 3], turn]) / (2.0 * h)
        np.testing.assert_allclose(twist, found, atol=1e-6)
    assert not LAW.displacement(0.05)[1].any()  # at rest before it begins


def test_the_twist_of_a_board_is_the_rate_of_its_pose():
    pivot, h = Pivot(1.0, axis=[0.0, 2.0, 1.0], point=[0.1, 0.0, -0.2]), 1e-6
    (before, _), (after, _) = (pivot.placed(REST, 0.3 + s * h, 0.0) for s in (-1.0, 1.0))
    found = np.concatenate([after[:3, 3] - before[:3, 3], so3.log(after[:3, :3] @ before[:3, :3].T)]) / (2.0 * h)
    np.testing.assert_allclose(pivot.placed(REST, 0.3, 1.0)[1], found, atol=1e-8)
    at = np.append(pivot.point, 1.0)
    np.testing.assert_allclose(after @ at, REST @ at, atol=1e-12)  # the pivot stays


@pytest.mark.slow
@ENGINES
def test_a_block_goes_along_with_the_floor(engine, block):
    moved = standing(engine, block, GroundBox(SIZE, REST, motion=LAW))
    for _ in range(900):
        moved.advance(OFF)
    floor = LAW.placed(REST, moved.time)[0]
    assert np.linalg.norm(floor[:3, 3] - REST[:3, 3]) > 0.03  # it has gone somewhere
    relative = np.linalg.inv(floor) @ moved.placement("block")
    np.testing.assert_allclose(relative[:3, 3], [0.0, 0.0, 0.15], atol=0.004)
    assert so3.angle_between(relative[:3, :3], np.eye(3)) < 0.02
    np.testing.assert_allclose(moved.ground_places()[0], floor, atol=1e-3)
    assert abs(moved.balance.energy_residual) < 1e-4
    np.testing.assert_allclose(moved.balance.momentum_residual, 0.0, atol=1e-3)


@pytest.mark.slow
@ENGINES
def test_a_board_tilts_until_its_spring_carries_the_load(engine, block):
    pivot = Pivot(5.0, axis=[0.0, 1.0, 0.0], point=[0.0, 0.0, -0.02], stiffness=40.0, damping=9.0)
    moved = standing(engine, block, GroundBox(SIZE, REST, motion=pivot), x=0.2)
    for _ in range(2500):
        moved.advance(OFF)
    board = moved.ground_places()[0]
    angle = np.arcsin(board[0, 2])
    centre = REST[:3, 3] + pivot.point
    load = 9.81 * (2.0 * (moved.placement("block")[0, 3] - centre[0]) + 5.0 * (board[0, 3] - centre[0]))
    assert angle == pytest.approx(load / 40.0, rel=0.01)
    assert angle > 0.1


def test_the_piece_under_a_point_is_known():
    world = World(ground=(GroundBox(SIZE, REST), GroundBox((0.2, 0.2, 0.1), placement((0.3, 0.0, 0.05)))))
    _, owner = ground_under(world, [[0.0, 0.0, 0.1], [0.3, 0.0, 0.1]])
    assert owner.tolist() == [0, 1]


def test_a_world_that_moves_is_written_and_read():
    for motion in (LAW, Pivot(3.0, stiffness=2.0)):
        world = World(ground=(GroundBox(SIZE, REST, motion=motion),))
        again = World.from_dict(world.to_dict())
        assert again.moving == (0,)
        assert again.to_dict() == world.to_dict()


def test_what_cannot_be_is_refused(block):
    world = World(ground=(GroundBox(SIZE, REST, motion=LAW),))
    with pytest.raises(ShapeError, match="do not rise"):
        GroundLaw(times=[1.0, 0.5])
    with pytest.raises(NotSupportedError, match="rigid"):
        NativeEngine(block, world, contact="rigid")
    with pytest.raises(NotSupportedError, match="moves"):
        rollout(block, State.of(block), np.zeros((2, 0)), world=world)
    with pytest.raises(NotSupportedError, match="replaced"):
        MujocoEngine(block, world).set_ground(world.ground)
