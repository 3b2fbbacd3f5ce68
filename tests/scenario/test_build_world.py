"""Worlds of scenario files: ground, things that move, gravity."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ScenarioError, SurefootError
from surefoot.gait import StepLimits
from surefoot.geometry import Box, Capsule, Cylinder, Sphere
from surefoot.motion import GroundBox, GroundPlane
from surefoot.robot.loading import load
from surefoot.scenario.build import build_simulation
from surefoot.scenario.build.world import build_ground, build_world, missing_ground
from surefoot.scenario.catalogue import read_scenario
from surefoot.scenario.schema import GroundTable, ObjectTable, ObstacleTable, WorldTable

BLOCK = load("block")


def test_numbers_go_where_they_belong():
    table = WorldTable(
        friction=0.3,
        gravity=(0.0, 1.0, -2.0),
        ground=[
            GroundTable(kind="plane", point=(0.0, 0.0, -1.0), normal=(0.0, 0.5, 1.0), friction=0.9),
            GroundTable(kind="box", size=(1.0, 2.0, 0.5), position=(3.0, 0.0, 0.0), yaw=0.5 * np.pi),
            GroundTable(kind="stairs", steps=4, rise=0.1, run=0.3, width=1.5, start=(10.0, 0.0, 0.0)),
        ],
    )
    world = build_world(table, BLOCK)
    plane, box, *steps = world.ground
    assert world.friction == 0.3
    np.testing.assert_array_equal(world.gravity, [0.0, 1.0, -2.0])
    assert isinstance(plane, GroundPlane)
    assert plane.friction == 0.9
    np.testing.assert_allclose(plane.normal, np.array([0.0, 0.5, 1.0]) / np.sqrt(1.25))
    assert isinstance(box, GroundBox)
    assert box.friction is None
    assert len(steps) == 4
    # the long edge of the turned box is along x
    assert float(box.height(3.9, 0.0)) == pytest.approx(0.25)
    assert float(box.height(3.0, 0.9)) == -np.inf
    assert float(plane.height(0.0, 1.0)) == pytest.approx(-1.5)
    np.testing.assert_allclose([world.height(10.15 + 0.3 * k, 0.0) for k in range(4)], 0.1 * np.arange(1, 5), atol=1e-9)


def test_height_fields_have_rows_along_x():
    piece = build_ground([GroundTable(kind="height_field", heights=[[0.0, 1.0], [2.0, 3.0]], cell=0.5)])[0]
    assert float(piece.height(0.5, 0.0)) == pytest.approx(2.0)
    assert float(piece.height(0.0, 0.5)) == pytest.approx(1.0)
    with pytest.raises(SurefootError, match="heights"):
        build_ground([GroundTable(kind="height_field", heights=[[0.0, 1.0], [2.0]], cell=0.5)])


def test_blocks_follow_the_seed_and_lengths_may_be_in_legs():
    blocks = GroundTable(kind="blocks", count=(3, 2), cell=0.5, rise=0.1, origin=(1.0, -0.5, 0.0))
    robot = load("small-humanoid")
    leg = StepLimits.of(robot).leg
    first, again, other = (build_world(WorldTable(ground=[blocks]), robot, seed) for seed in (1, 1, 2))
    x, y = (grid.ravel() for grid in np.meshgrid([1.25, 1.75, 2.25], [-0.25, 0.25]))
    heights = first.height(x, y)
    assert len(first.ground) == len(np.unique(heights)) == 6
    assert 0.0 < heights.min() < heights.max() <= 0.1
    np.testing.assert_array_equal(again.height(x, y), heights)
    assert not np.isclose(other.height(x, y), heights).any()
    fixed = WorldTable(ground=[blocks.model_copy(update={"seed": 2})], unit="leg")
    np.testing.assert_allclose(build_world(fixed, robot, 1).height(leg * x, leg * y), leg * other.height(x, y))
    with pytest.raises(SurefootError, match="left and one right foot"):
        build_world(fixed, BLOCK)


def test_things_that_stand_still():
    table = WorldTable(
        obstacles=[
            ObstacleTable(kind="capsule", name="stem", radius=0.1, length=2.0, position=(1.0, 2.0, 3.0)),
            ObstacleTable(kind="box", name="shelf", size=(0.1, 0.2, 0.3), rpy=(0.5 * np.pi, 0.0, 0.5 * np.pi)),
            ObstacleTable(kind="cylinder", name="pipe", radius=0.1, length=0.4),
            ObstacleTable(kind="sphere", name="ball", radius=0.1),
        ]
    )
    stem, shelf, pipe, ball = build_world(table, BLOCK).obstacles
    assert (stem.name, stem.shape) == ("stem", Capsule(0.1, 2.0))
    np.testing.assert_array_equal(stem.pose[:3, 3], [1.0, 2.0, 3.0])
    assert shelf.shape == Box((0.1, 0.2, 0.3))
    # rolled first about the world's x, then turned about its z: its y is up, its x along y
    np.testing.assert_allclose(shelf.pose[:3, :3], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], atol=1e-15)
    assert (pipe.shape, ball.shape) == (Cylinder(0.1, 0.4), Sphere(0.1))


def test_things_that_move():
    table = WorldTable(
        objects=[
            ObjectTable(kind="box", name="crate", mass=2.0, size=(0.1, 0.2, 0.3), position=(1.0, 2.0, 3.0), yaw=0.5),
            ObjectTable(kind="sphere", name="ball", mass=1.0, radius=0.1),
            ObjectTable(kind="cylinder", name="can", mass=1.0, radius=0.1, length=0.4),
        ]
    )
    crate, ball, can = build_world(table, BLOCK).objects
    assert isinstance(crate.shape, Box)
    np.testing.assert_allclose(crate.pose[:3, 3], [1.0, 2.0, 3.0])
    assert np.arctan2(crate.pose[1, 0], crate.pose[0, 0]) == pytest.approx(0.5)
    assert crate.mass == 2.0
    assert isinstance(ball.shape, Sphere)
    assert ball.shape.radius == 0.1
    assert isinstance(can.shape, Cylinder)
    assert (can.shape.radius, can.shape.length) == (0.1, 0.4)


def test_level_ground_for_those_that_stand_unless_the_world_is_empty():
    assert build_world(WorldTable(), BLOCK).ground[0].height(0.0, 0.0) == 0.0
    assert build_world(WorldTable(empty=True), BLOCK).ground == ()
    assert missing_ground(WorldTable(), BLOCK) == []
    assert missing_ground(WorldTable(empty=True), BLOCK) == []


@pytest.mark.parametrize("engine", ["mujoco", "native"])
def test_a_ball_of_a_file_falls_on_the_ground(tmp_path, engine):
    path = tmp_path / "mine.toml"
    path.write_text(
        f'name = "mine"\n[robot]\nname = "block"\n[controller]\nkind = "limp"\n[simulation]\nengine = "{engine}"\n'
        "duration = 0.8\ndt = 0.001\ncontrol_dt = 0.01\n"
        '[[world.objects]]\nkind = "sphere"\nname = "ball"\nmass = 0.5\nradius = 0.05\nposition = [1.0, 0.0, 0.2]\n'
    )
    simulation = build_simulation(read_scenario(path))
    simulation.run()
    pose, twist = simulation.engine.object_state("ball")
    np.testing.assert_allclose(pose[:3, 3], [1.0, 0.0, 0.05], atol=2e-3)
    assert np.abs(twist).max() < 0.05


def test_touchable_obstacles_and_sloped_boxes() -> None:
    table = WorldTable.model_validate(
        {
            "ground": [{"kind": "plane"}, {"kind": "box", "size": [1.0, 1.0, 0.1], "rpy": [0.0, -0.3, 0.0]}],
            "obstacles": [
                {"kind": "capsule", "name": "rail", "radius": 0.02, "length": 1.0, "friction": 0.4, "touchable": True},
                {"kind": "box", "name": "pole", "size": [0.1, 0.1, 1.0]},
            ],
        }
    )
    world = build_world(table, BLOCK)
    assert [(item.touchable, item.friction) for item in world.obstacles] == [(True, 0.4), (False, None)]
    assert isinstance(world.ground[1], GroundBox)
    assert world.ground[1].pose[2, 0] == pytest.approx(np.sin(0.3))
    with pytest.raises(ValueError, match="either"):
        GroundTable(kind="box", size=(1.0, 1.0, 0.1), yaw=0.1, rpy=(0.0, 0.1, 0.0))


def test_moving_ground_in_units_of_the_body_is_similar_on_every_robot():
    box = {"kind": "box", "size": (5.0, 5.0, 0.1)}
    law = {"kind": "law", "translation": (0.1, 0.0, 0.0), "frequency": 0.2, "start": 0.5}
    pivot = {"kind": "pivot", "mass": 0.1, "stiffness": 0.9, "damping": 0.3}
    world = WorldTable.model_validate({"ground": [box | {"motion": law}, box | {"motion": pivot}], "unit": "body"})
    for name in ("small-humanoid", "go2"):
        robot = load(name, base="floating")
        height = float(pin.centerOfMass(robot.model, robot.model.createData(), np.array(robot.home))[2])
        floor, tilting = build_world(world, robot).ground
        acceleration = floor.motion.translation[0] * (2.0 * np.pi * floor.motion.frequency) ** 2
        assert acceleration / 9.81 == pytest.approx(0.1 * (0.4 * np.pi) ** 2, rel=1e-3)
        assert floor.motion.start == 0.5
        assert tilting.motion.stiffness / (robot.mass * 9.81 * height) == pytest.approx(0.9, rel=1e-3)
        period = np.sqrt(tilting.motion.inertia(tilting.size) / tilting.motion.stiffness)
        assert period * np.sqrt(9.81 / height) == pytest.approx(np.sqrt(0.1 / 12.0 * (25.0 + 0.01) / 0.9), rel=1e-3)
    with pytest.raises(SurefootError, match="no contact surfaces"):
        build_world(world, load("pendulum"))


def test_grounds_of_too_many_pieces_are_refused():
    """Before they are made."""
    tables = [GroundTable(kind="stairs", steps=1000, rise=0.1, run=0.3)] * 2
    assert len(build_ground(tables)) == 2000
    for more in (GroundTable(kind="plane"), GroundTable(kind="blocks", count=(30, 30), cell=0.1, rise=0.1)):
        with pytest.raises(ScenarioError, match=r"the ground has 2\d\d\d pieces"):
            build_ground([*tables, more])
