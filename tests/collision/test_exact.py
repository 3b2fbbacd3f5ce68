import numpy as np
import pytest

from surefoot.collision import CollisionModel, ExactCollision, random_postures
from surefoot.collision.volumes.hulls import hull_of
from surefoot.errors import UnknownNameError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere, surface_points
from surefoot.robot import Geometry, Joint, Link, Robot, placement

from .examples import fitted, postures, robot_named


def cart_and_wall(cart, wall):
    """A shape that slides along x, and one that stands on the world at x = 1."""
    rail = Joint("rail", "prismatic", axis=(1.0, 0.0, 0.0), lower=-2.0, upper=2.0)
    other = Joint("other", "prismatic", axis=(0.0, 1.0, 0.0), lower=-2.0, upper=2.0)
    links = [
        Link("cart", None, rail, mass=1.0, inertia=np.eye(3), collisions=(Geometry("cart", "cart", cart),)),
        Link("wall", None, other, mass=1.0, inertia=np.eye(3),
             collisions=(Geometry("wall", "wall", wall, placement((1.0, 0.0, 0.0))),)),
    ]  # fmt: skip
    return Robot.from_tree("cart", links)


CUBE = Mesh(points=surface_points(Box((0.2, 0.4, 0.6))))


@pytest.mark.parametrize(
    ("shape", "half_width"),
    [(Box((0.2, 0.4, 0.6)), 0.1), (Sphere(0.3), 0.3), (Capsule(0.1, 0.5), 0.1), (Cylinder(0.15, 0.4), 0.15),
     (Ellipsoid((0.1, 0.2, 0.3)), 0.1), (CUBE, 0.1)],
)  # fmt: skip
def test_gaps_along_a_rail(shape, half_width):
    exact = ExactCollision(cart_and_wall(shape, Box((0.1, 1.0, 1.0))))
    assert exact.link_pairs == (("cart", "wall"),)
    for x in (-1.0, 0.0, 0.3):
        assert exact.distances([x, 0.0])[0] == pytest.approx(1.0 - 0.05 - half_width - x, abs=1e-5)


def test_a_batch_is_rows():
    robot = robot_named("panda")
    exact = ExactCollision(robot, [("panda_link1", "panda_link6"), ("panda_link0", "panda_hand")])
    Q = postures(robot, 3, 1)
    assert np.array_equal(exact.distances(Q), [exact.distances(q) for q in Q])


def test_hulls_are_never_farther_than_their_meshes():
    robot = robot_named("panda")
    pairs = [("panda_link1", "panda_link6"), ("panda_link0", "panda_link7"), ("panda_link2", "panda_link5")]
    hulls, meshes = ExactCollision(robot, pairs), ExactCollision(robot, pairs, hulls=False)
    Q = postures(robot, 4, 2)
    assert (hulls.distances(Q) <= meshes.distances(Q) + 1e-6).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hyq", "anymal", "g1"])
def test_fitted_volumes_tell_the_distance_to_their_stated_bounds(name):
    """Never farther than the shapes, and nearer by no more than the excess of the two links."""
    robot, bounds = robot_named(name), fitted(name)
    model = CollisionModel(robot, volumes=bounds.volumes)
    exact = ExactCollision(robot, model.link_pairs, hulls=False)
    Q = random_postures(robot, 60, np.random.default_rng(5))
    found, truth = model.link_distances(Q), exact.distances(Q)
    whole = [
        sum(bound[link] for link in pair) for bound in (bounds.outside, bounds.excess) for pair in exact.link_pairs
    ]
    outside, excess = np.array(whole).reshape(2, -1)
    kept = np.array([_all_kept(model, pair) for pair in exact.link_pairs])  # pairs that were left out may be nearer
    apart = (truth > 1e-3) & kept
    assert apart.sum() > 1000
    assert (found <= truth + outside + 1e-4)[apart].all()
    assert (found >= truth - excess - 1e-4)[apart].all()


def _all_kept(model, pair):
    volumes = [{k for k, item in enumerate(model.volumes) if item.link == link} for link in pair]
    return not any({*both} & volumes[0] and {*both} & volumes[1] for both in model.pruning.reasons)


def test_no_pairs_and_unknown_links():
    robot = robot_named("panda")
    assert ExactCollision(robot, []).distances(robot.home).shape == (0,)
    two = ExactCollision(robot, [("panda_link1", "panda_link6"), ("panda_link0", "panda_hand")])
    assert two.distances(np.zeros((0, robot.nq))).shape == (0, 2)
    with pytest.raises(UnknownNameError, match="link with collision shapes `panda_lnik1`"):
        ExactCollision(robot, [("panda_lnik1", "panda_link5")])


def test_round_faces_of_many_corners_become_hulls_that_coal_can_count():
    """A fan of triangles on such a face would hang on one corner with hundreds of neighbours."""
    angles = np.linspace(0.0, 2.0 * np.pi, 600, endpoint=False)
    rim = 0.1 * np.stack([np.cos(angles), np.sin(angles), np.zeros(600)], axis=1)
    corners, faces = hull_of(np.vstack([rim, rim + np.array([0.0, 0.0, 0.05])]))
    assert np.bincount(faces.ravel()).max() <= 250
    assert np.abs(np.linalg.norm(corners[:, :2], axis=1) - 0.1).max() < 1e-5
    assert len(corners) == 1200
