"""Contact surfaces: their bases, and finding them from shapes."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ModelError
from surefoot.geometry import Box, Capsule, Cylinder, Mesh, Sphere, surface_points
from surefoot.robot import ContactSurface, Geometry, Joint, Link, Robot, placement
from surefoot.robot.build.contact_search import lowest_points
from surefoot.robot.model.contacts import CONTACT_KINDS
from surefoot.spatial import se3, so3

CORNERS = np.array([[0.1, 0.05, 0], [-0.1, 0.05, 0], [-0.1, -0.05, 0], [0.1, -0.05, 0]])
# number of tied directions without and with friction (Nenchev & Konno 2019, §2.9, §3.3.2)
TIED = {
    "point": (1, 3),
    "line": (2, 5),
    "cylinder": (4, 6),
    "rectangle": (3, 6),
    "polygon": (3, 6),
    "soft_finger": (1, 4),
}


@pytest.mark.parametrize("kind", CONTACT_KINDS)
@pytest.mark.parametrize("friction", [0.0, 0.7])
def test_bases_are_complementary(kind, friction):
    surface = ContactSurface("c", "f", kind, corners=CORNERS, friction=friction)
    B_c, B_m = surface.constraint_basis, surface.motion_basis
    assert B_c.shape[1] == TIED[kind][friction > 0]
    np.testing.assert_array_equal(B_c.T @ B_m, np.zeros((B_c.shape[1], B_m.shape[1])))
    np.testing.assert_array_equal(B_c @ B_c.T + B_m @ B_m.T, np.eye(6))


@pytest.mark.parametrize("kind", ["point", "line", "rectangle"])
def test_bases_hold_what_a_rigid_surface_on_a_plane_holds(kind):
    """A frictionless twist is free exactly if no corner of the surface moves along the normal (second formulation)."""
    corners = {"point": np.zeros((1, 3)), "line": np.array([[0, -0.1, 0], [0, 0.1, 0]]), "rectangle": CORNERS}[kind]
    surface = ContactSurface("c", "f", kind, corners=corners, friction=0.0)
    rows = [np.concatenate([[0, 0, 1.0], np.cross(corner, [0, 0, 1.0])]) for corner in corners]
    assert np.linalg.matrix_rank(np.array(rows)) == surface.constraint_basis.shape[1]
    np.testing.assert_allclose(np.array(rows) @ surface.motion_basis, 0.0, atol=1e-15)


def test_wrong_surfaces_are_refused():
    with pytest.raises(ModelError, match="corners"):
        ContactSurface("c", "f", "rectangle")
    with pytest.raises(ModelError, match="friction"):
        ContactSurface("c", "f", "point", friction=-1.0)


@pytest.mark.parametrize("shape", [Sphere(0.3), Box((0.1, 0.2, 0.3)), Cylinder(0.1, 0.4), Capsule(0.1, 0.4)])
def test_the_lowest_point_is_exact(shape, rng):
    """Support function against dense sampling of the surface."""
    for _ in range(20):
        T = se3.random(rng)
        dense = surface_points(shape, around=400) @ T[:3, :3].T + T[:3, 3]
        exact = lowest_points(shape, T)[:, 2].min()
        assert exact <= dense[:, 2].min() + 1e-12
        assert exact == pytest.approx(dense[:, 2].min(), abs=2e-4)


def biped(foot_shapes: list[tuple[object, np.ndarray]], tilt: float = 0.0) -> Robot:
    """Two legs on a torso, each foot with the given shapes."""
    links = [Link("torso", mass=10.0, inertia=np.eye(3))]
    for side, y in (("left", 0.1), ("right", -0.1)):
        hip = Joint(f"{side}_hip", "revolute", placement((0, y, 0)), (0, 1, 0))
        ankle = Joint(f"{side}_ankle", "revolute", placement((0, 0, -0.8), so3.exp(np.array([0, tilt, 0]))), (0, 1, 0))
        shapes = tuple(Geometry(f"{side}_{i}", f"{side}_foot", s, T) for i, (s, T) in enumerate(foot_shapes))
        links.append(Link(f"{side}_leg", "torso", hip, 2.0, inertia=np.eye(3)))
        links.append(Link(f"{side}_foot", f"{side}_leg", ankle, 1.0, inertia=np.eye(3), collisions=shapes))
    return Robot.from_tree("b", links, "floating")


def test_a_box_foot_is_a_rectangle_with_the_box_s_corners():
    robot = biped([(Box((0.2, 0.1, 0.04)), placement((0.03, 0, -0.06)))])
    assert set(robot.contacts) == {"left_foot", "right_foot"}
    sole = robot.contacts["left_foot"]
    assert sole.kind == "rectangle"
    np.testing.assert_allclose(sole.placement, placement((0, 0, -0.08)), atol=1e-12)
    np.testing.assert_allclose(
        sorted(map(tuple, sole.corners[:, :2].round(9))), [(-0.07, -0.05), (-0.07, 0.05), (0.13, -0.05), (0.13, 0.05)]
    )
    assert robot.home[2] == pytest.approx(0.88)


@pytest.mark.parametrize("tilt", [-0.3, 0.1, 0.3])
def test_a_tilted_sole_is_found_in_its_own_plane(tilt):
    sole = biped([(Box((0.2, 0.1, 0.04)), placement((0, 0, -0.06)))], tilt).contacts["left_foot"]
    assert sole.kind == "rectangle"
    np.testing.assert_allclose(sole.placement[:3, 2], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(sole.placement[2, 3], -0.08, atol=1e-12)


def test_balls_are_points_and_four_balls_span_a_polygon():
    ball = biped([(Sphere(0.03), placement((0.01, 0, -0.05)))]).contacts["left_foot"]
    assert (ball.kind, ball.radius) == ("point", 0.03)
    np.testing.assert_allclose(ball.placement[:3, 3], [0.01, 0, -0.08], atol=1e-12)
    four = biped([(Sphere(0.005), placement((x, y, -0.05))) for x in (-0.05, 0.12) for y in (-0.03, 0.03)])
    assert four.contacts["left_foot"].kind == "rectangle"
    assert len(four.contacts["left_foot"].corners) == 4


def test_a_mesh_sole_is_a_polygon():
    turn = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    rim = np.column_stack([0.1 * np.cos(turn), 0.05 * np.sin(turn), np.full(12, -0.07)])
    mesh = Mesh(points=np.vstack([rim, 0.5 * rim + [0, 0, 0.05]]))
    sole = biped([(mesh, placement())]).contacts["left_foot"]
    assert sole.kind == "polygon"
    assert sole.corners[:, 0].max() == pytest.approx(0.1, abs=2e-3)


def test_a_lying_cylinder_is_a_line():
    lying = placement((0, 0, -0.05), so3.exp(np.array([np.pi / 2, 0, 0])))
    sole = biped([(Cylinder(0.03, 0.12), lying)]).contacts["left_foot"]
    assert sole.kind == "line"
    assert np.ptp(sole.corners[:, 1]) == pytest.approx(0.12, abs=1e-9)


def test_a_fixed_robot_stands_on_nothing():
    arm = Robot.from_tree("arm", [Link("a", None, Joint("j", "revolute"), 1.0, inertia=np.eye(3))])
    assert not arm.contacts
