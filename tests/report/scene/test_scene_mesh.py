"""What a robot looks like: meshes on bodies, where its shapes are; a skeleton where it has none."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.geometry import Box, Mesh
from surefoot.report.scene.chain_colours import chain_colours
from surefoot.report.scene.mesh import collision_meshes, robot_meshes
from surefoot.robot import Geometry, Link, Robot, placement, zoo
from surefoot.robot.model.links import Joint


def pendulum(**shapes: tuple[Geometry, ...]) -> Robot:
    inertia = np.eye(3) * 1e-3
    links = [
        Link("foot"),
        Link("rod", "foot", Joint("hinge", "revolute", placement((0.0, 0.0, 1.0)), (0.0, 1.0, 0.0)), 1.0,
             np.array([0.0, 0.0, -0.5]), inertia, **shapes),
    ]  # fmt: skip
    return Robot.from_tree("pendulum", links)


def test_a_robot_without_shapes_has_bones() -> None:
    robot = pendulum()
    meshes = robot_meshes(robot)
    assert {mesh.body for mesh in meshes} == {-1, 0}
    rod = np.vstack([mesh.vertices for mesh in meshes if mesh.body == 0])
    assert rod[:, 2].min() < -0.45  # reaches to the centre of mass
    stand = np.vstack([mesh.vertices for mesh in meshes if mesh.body == -1])
    assert stand[:, 2].max() > 0.95  # reaches to the hinge


def test_shapes_lie_in_the_frame_of_their_body() -> None:
    box = Geometry("b", "rod", Box((0.1, 0.2, 0.4)), placement((0.0, 0.0, -0.2)), color=(1.0, 0.0, 0.0, 1.0))
    mesh = robot_meshes(pendulum(visuals=(box,)))[0]
    np.testing.assert_allclose(np.sort(mesh.vertices[:, 2]), [-0.4] * 4 + [0.0] * 4, atol=1e-12)
    assert mesh.link == "rod"


def test_visual_shapes_go_before_collision_shapes() -> None:
    visual = Geometry("v", "rod", Box((0.1, 0.1, 0.1)))
    collision = Geometry("c", "rod", Box((0.3, 0.3, 0.3)))
    both = pendulum(visuals=(visual,), collisions=(collision,))
    assert np.ptp(robot_meshes(both)[0].vertices) == pytest.approx(0.1)
    assert np.ptp(collision_meshes(both)[0].vertices) == pytest.approx(0.3)
    assert np.ptp(robot_meshes(pendulum(collisions=(collision,)))[0].vertices) == pytest.approx(0.3)


def test_colours_of_the_model_are_kept() -> None:
    shapes = tuple(
        Geometry(f"v{k}", "rod", Box((0.1, 0.1, 0.1)), placement((0, 0, 0.1 * k)), color=(0.1 * k, 0.0, 0.0, 1.0))
        for k in range(3)
    )
    assert [mesh.colour[0] for mesh in robot_meshes(pendulum(visuals=shapes))] == pytest.approx([0.0, 0.1, 0.2])


def test_an_arm_has_few_triangles_in_the_right_place() -> None:
    robot = zoo.load("panda")
    meshes = robot_meshes(robot, 40_000)
    assert sum(len(mesh.faces) for mesh in meshes) < 60_000  # of 135,000
    assert {mesh.body for mesh in meshes} == set(range(-1, robot.tree.n))
    frames = robot.placements(robot.home) | {"world": np.eye(4)}
    names = {-1: "world", **dict(enumerate(robot.tree.body_names))}
    for mesh in meshes:  # the box round each mesh is that of its file
        shape = next(g for g in robot.visuals if g.link == mesh.link)
        assert isinstance(shape.shape, Mesh)
        whole = shape.shape.vertices() @ shape.placement[:3, :3].T + shape.placement[:3, 3]
        T_body_link = np.linalg.inv(frames[names[mesh.body]]) @ frames[mesh.link]
        placed = whole @ T_body_link[:3, :3].T + T_body_link[:3, 3]
        size = np.ptp(placed, axis=0).max()
        np.testing.assert_allclose(mesh.vertices.min(0), placed.min(0), atol=0.03 * size)
        np.testing.assert_allclose(mesh.vertices.max(0), placed.max(0), atol=0.03 * size)


def test_left_and_right_limbs_differ_in_colour() -> None:
    robot = zoo.load("g1")
    colours = chain_colours(robot)
    assert set(colours) == {-1, *range(robot.tree.n)}
    left, right = (robot.body_of(f"{side}_ankle_roll_link") for side in ("left", "right"))
    assert colours[left] != colours[right]
