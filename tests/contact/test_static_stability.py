"""Classes of static stability by closed forms, and support regions against the search for contact wrenches."""

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.contact import admissible_wrenches, placed_cones, static_stability, support_polygon, support_region
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.geometry import distance_inside
from surefoot.robot import ContactSurface
from surefoot.spatial import so3

BLOCK = sf.load("block")


def turned(roll: float, pitch: float = 0.0) -> np.ndarray:
    q = np.array(BLOCK.home)
    q[3:7] = pin.Quaternion(pin.rpy.rpyToMatrix(roll, pitch, 0.0)).coeffs()
    return q


def walls(normals: list[list[float]], friction: float) -> sf.Robot:
    """The block between walls, which touch it in points on a line through its centre of mass."""
    surfaces = {}
    for k, normal in enumerate(np.array(normals)):
        T = np.eye(4)
        T[:3, :3] = so3.exp(np.cross([0.0, 0.0, 1.0], normal) * (0.5 * np.pi))
        T[:3, 3] = np.array(pin.centerOfMass(BLOCK.model, BLOCK.model.createData(), BLOCK.home)) - BLOCK.home[:3]
        T[:3, 3] -= 0.1 * normal
        surfaces[f"wall {k}"] = ContactSurface(
            f"wall {k}", BLOCK.contacts["bottom"].frame, "point", T, np.zeros((1, 3)), friction
        )
    return BLOCK.replace(contacts=surfaces)


@pytest.mark.parametrize("angle", [0.1, 0.44, 0.48, 0.9])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_block_on_a_slope_slides_as_coulomb_says(angle, axis):
    friction = 0.5
    found = static_stability(BLOCK, turned(*np.eye(2)[axis] * angle), friction=friction)
    if np.tan(angle) <= friction:
        assert (found.kind, found.acceleration) == ("strong", None)
        return
    assert found.kind == "none"
    assert np.linalg.norm(found.acceleration[:3]) == pytest.approx(9.81 * (np.sin(angle) - friction * np.cos(angle)))
    np.testing.assert_allclose(found.acceleration[3:], 0.0, atol=1e-6)


def test_who_leans_over_the_edge_tips():
    robot = sf.load("humanoid")
    q = np.array(robot.home)
    assert static_stability(robot, q).kind == "strong"
    assert static_stability(robot, q).frictionless
    one = static_stability(robot, q, contacts=["left_foot"])
    assert one.kind == "none"
    assert one.acceleration[1] < -0.1 < 0.1 < one.acceleration[3]  # it falls to the right
    with pytest.raises(UnknownNameError, match="foot"):
        static_stability(robot, q, contacts=["fot"])
    with pytest.raises(NotSupportedError, match="fixed"):
        static_stability(sf.load("panda"), sf.load("panda").home)


def test_between_two_walls_rest_is_possible_and_not_certain():
    """Nothing presses the walls apart: forces may hold the block, or be zero while it falls freely."""
    both = [[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]
    found = static_stability(walls(both, 0.5), BLOCK.home)
    assert found.kind == "weak"
    np.testing.assert_allclose(found.acceleration[:3], [0.0, 0.0, -9.81], atol=1e-6)
    assert static_stability(walls(both, 0.0), BLOCK.home).kind == "none"
    assert static_stability(walls(both[:1], 0.5), BLOCK.home).kind == "none"


def test_on_level_ground_the_region_is_the_hull_of_the_soles():
    robot = sf.load("humanoid")
    surfaces = list(robot.contacts.values())
    T = np.array([robot.placements(robot.home)[x.frame] @ x.placement for x in surfaces])
    T[:, :3, :3] = np.eye(3)
    corners = np.vstack([x.corners + t[:3, 3] for x, t in zip(surfaces, T, strict=True)])
    region, hull = support_region(surfaces, T), support_polygon(corners[None])[0]
    assert np.abs(distance_inside(region, hull)).max() < 1e-6
    assert np.abs(distance_inside(hull, region)).max() < 1e-6
    assert support_region(surfaces, T, friction=0.0).shape[0] >= 4
    T[:, :3, :3] = np.diag([1.0, -1.0, -1.0])
    assert support_region(surfaces, T).shape == (0, 2)


@pytest.mark.parametrize("seed", range(4))
def test_regions_hold_what_can_be_carried_and_nothing_else(seed):
    rng = np.random.default_rng(seed)
    surfaces = [
        ContactSurface(str(k), "base", "point", np.eye(4), np.zeros((1, 3)), rng.uniform(0.3, 0.9)) for k in range(4)
    ]
    T = np.tile(np.eye(4), (4, 1, 1))
    for k in range(4):
        T[k, :3, :3] = so3.exp(rng.normal(0.0, 0.5, 3))
        T[k, :3, 3] = [np.cos(k * np.pi / 2), np.sin(k * np.pi / 2), rng.uniform(0.0, 0.5)]
    region = support_region(surfaces, T)
    com = np.column_stack([rng.uniform(-1.5, 1.5, (400, 2)), rng.uniform(0.0, 2.0, 400)])
    depth = distance_inside(com[:, :2], region) if len(region) > 2 else np.full(400, -1.0)
    clear = np.abs(depth) > 1e-4
    cones = placed_cones(surfaces, np.tile(T, (400, 1, 1, 1)), about=com, sides=8, inscribed=True)
    weight = np.tile([0.0, 0.0, 100.0, 0.0, 0.0, 0.0], (400, 1))
    held = admissible_wrenches(cones.generators, weight, cones.use).attained
    assert (held == (depth > 0.0))[clear].all()
    assert held.any()
