import numpy as np
import pinocchio as pin
import pytest

from surefoot.collision import CollisionModel, PointCloud, placed_obstacle, world_obstacles
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.geometry import Box, Capsule, Cylinder, Sphere, SweptVolume
from surefoot.kinematics.volume_distance import volume_distance
from surefoot.motion.world.ground import GroundBox
from surefoot.motion.world.world import Obstacle, World
from surefoot.robot import BodyVolume, placement
from surefoot.spatial import so3

from .examples import capsule_model, capsules, coal_distances, moved, postures, robot_named

WORLD = World(
    ground=(GroundBox((4.0, 4.0, 0.2), placement((0.0, 0.0, -0.1))),),
    obstacles=(
        Obstacle("table", Box((0.6, 1.2, 0.05)), placement((0.6, 0.0, 0.7))),
        Obstacle("post", Capsule(0.05, 1.5), placement((0.0, 0.8, 0.7))),
        Obstacle("drum", Cylinder(0.2, 0.6), placement((-0.6, -0.5, 0.3))),
    ),
)  # fmt: skip


def among_obstacles(name):
    return capsule_model(name).with_obstacles(world_obstacles(WORLD))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "panda", "anymal"])
def test_distances_are_those_of_coal(name):
    model = capsule_model(name)
    for q in postures(model.robot, 2, 11):
        found, expected = model.distances(q), coal_distances(model.robot, list(model.self_pairs), q)
        apart = found > 1e-3
        assert apart.sum() > 10
        assert np.allclose(found[apart], expected[apart], atol=2e-6)


@pytest.mark.parametrize("name", ["g1", "panda", "anymal"])
def test_gradients_are_rates(name):
    model = among_obstacles(name)
    robot, rng, h = model.robot, np.random.default_rng(2), 1e-6
    Q = postures(robot, 6, 12)
    for q, gradient in zip(Q, model.gradients(Q), strict=True):
        v = rng.standard_normal(robot.nv)
        rate = (model.distances(moved(robot, q, h * v)) - model.distances(moved(robot, q, -h * v))) / (2 * h)
        wrong = np.abs(rate - gradient @ v) > 1e-6 * (1.0 + np.abs(rate))
        assert wrong.mean() < 0.01  # a kink between the two samples is rare
        assert np.median(np.abs(rate - gradient @ v)) < 1e-8


def test_gradients_are_those_of_volume_distance():
    model = capsule_model("anymal")
    q = postures(model.robot, 1, 4)[0]
    columns = np.arange(0, len(model.self_pairs), 17)
    found = model.proximity(q, columns)
    for k, column in enumerate(columns):
        expected = volume_distance(model.robot.tree, q, *model.self_pairs[column])
        assert found.distance[k] == pytest.approx(expected.distance, abs=1e-12)
        assert np.allclose(found.gradient[k], expected.gradient, atol=1e-10)
        assert np.allclose(found.point_a[k], expected.point_a, atol=1e-10)
        assert np.allclose(found.point_b[k], expected.point_b, atol=1e-10)


def test_followers_drive_their_leader():
    robot = robot_named("followers", "reduce")
    volumes = [
        BodyVolume(b, SweptVolume(np.full((1, 3), 0.05 * b), 0.02), f"l{b - 1}" if b else "base") for b in range(6)
    ]
    model = CollisionModel(robot, volumes=volumes, pairs=[("base", "l3"), ("l3", "l4")])
    q, v, h = postures(robot, 1, 3)[0], np.random.default_rng(0).standard_normal(robot.nv), 1e-6
    rate = (model.distances(moved(robot, q, h * v)) - model.distances(moved(robot, q, -h * v))) / (2 * h)
    assert np.allclose(model.gradients(q) @ v, rate, atol=1e-8)


def test_one_posture_and_a_batch_are_the_same():
    model = among_obstacles("panda")
    Q = postures(model.robot, 5, 6)
    assert np.array_equal(model.distances(Q), [model.distances(q) for q in Q])
    assert np.allclose(model.gradients(Q), [model.gradients(q) for q in Q], atol=1e-12)
    assert np.array_equal(model.in_collision(Q), [model.in_collision(q) for q in Q])


def test_far_obstacles_have_lower_bounds():
    model = among_obstacles("anymal")
    Q = postures(model.robot, 30, 8)
    exact, quick = model.distances(Q), model.distances(Q, within=0.1)
    near = exact < 0.1
    assert np.array_equal(exact[near], quick[near])
    assert (quick <= exact + 1e-12).all()
    assert (quick[~near] >= 0.1 - 1e-12).all()
    assert (quick < exact - 1e-6).any()


def test_the_nearest_pair_is_the_smallest_column():
    model = among_obstacles("g1")
    for q in postures(model.robot, 4, 9):
        found, columns = model.nearest(q), model.distances(q)
        assert found.column == np.argmin(columns)
        assert found.distance == pytest.approx(columns.min(), abs=1e-12)
        assert found.links == model.names[found.column]
        closest = model.closest(q, 5)
        assert np.allclose(closest.at.distance, np.sort(columns)[:5], atol=1e-12)
        assert len(model.closest(q, 1000, within=0.05).columns) == (columns < 0.05).sum()


def test_link_distances_are_the_smallest_of_their_columns():
    model = among_obstacles("anymal")
    Q = postures(model.robot, 3, 10)
    columns, links = model.distances(Q), model.link_distances(Q)
    assert len(set(map(frozenset, model.link_pairs))) == len(model.link_pairs) == links.shape[1]
    for k, pair in enumerate(model.link_pairs):
        own = [i for i, names in enumerate(model.names) if set(names) == set(pair)]
        assert np.array_equal(links[:, k], columns[:, own].min(axis=1))


def test_margin_is_what_counts_as_collision():
    robot = robot_named("panda")
    model = capsule_model("panda")
    least = model.distances(np.array(robot.home)).min()
    assert not model.in_collision(robot.home)
    assert model.in_collision(robot.home, margin=least + 1e-6)
    strict = CollisionModel(robot, volumes=capsules(robot), pairs=model.link_pairs, margin=1.0)
    assert strict.in_collision(robot.home)


def test_moving_the_world_and_the_base_together_changes_nothing():
    model = among_obstacles("anymal").without_obstacle("ground 0")
    q = postures(model.robot, 1, 14)[0]
    rng = np.random.default_rng(1)
    shift = placement(rng.uniform(-1.0, 1.0, 3), so3.random(rng))
    other = model
    for item in model.obstacles:
        other = other.moved(item.name, shift @ item.pose)
    base = shift @ model.robot.placements(q)["base"]
    there = q.copy()
    there[:3] = base[:3, 3]
    there[3:7] = pin.Quaternion(base[:3, :3]).coeffs()
    assert np.allclose(other.distances(there), model.distances(q), atol=1e-9)
    assert np.abs(other.distances(q) - model.distances(q)).max() > 0.1


def test_changed_obstacles_leave_the_model_as_it_was():
    model = among_obstacles("panda")
    q = np.array(model.robot.home)
    before = model.distances(q)
    fewer = model.without_obstacle("drum")
    cloud = model.with_obstacle("cloud", np.random.default_rng(0).uniform(1.0, 2.0, (500, 3)))
    assert np.array_equal(model.distances(q), before)
    assert len(fewer.names) < len(model.names) < len(cloud.names)
    assert {name for _, name in fewer.names} == {name for _, name in model.names} - {"drum"}
    again = cloud.with_obstacle("cloud", PointCloud(np.array([[0.0, 0.0, 3.0]]), 0.1))
    assert len(again.obstacles) == len(cloud.obstacles)
    column = again.names.index(("panda_link7", "cloud"))
    assert again.distances(q)[column] == pytest.approx(
        model.with_obstacle("ball", Sphere(0.1), placement((0.0, 0.0, 3.0))).distances(q)[column], abs=1e-12
    )


def test_clouds_are_their_points(rng):
    robot = robot_named("panda")
    model = capsule_model("panda")
    points = rng.uniform(-1.0, 1.0, (300, 3))
    found = model.with_obstacle("cloud", PointCloud(points, 0.01))
    balls = model.with_obstacles([placed_obstacle(f"{k}", Sphere(0.01), placement(p)) for k, p in enumerate(points)])
    own, q = len(model.names), np.array(robot.home)
    each = balls.distances(q)[own:].reshape(300, -1)
    assert np.allclose(found.distances(q)[own:], each.min(axis=0), atol=1e-12)


def test_feet_are_not_held_against_the_ground():
    robot = robot_named("g1")
    model = CollisionModel(robot, World.flat(), volumes=capsules(robot))
    feet = {contact.frame for contact in robot.contacts.values()}
    watched = {link for link, other in model.names if other == "ground 0"}
    assert watched
    assert not watched & feet
    assert not model.in_collision(robot.home)


def test_explicit_pairs_and_ignored_ones():
    robot = robot_named("panda")
    volumes = capsules(robot)
    model = CollisionModel(robot, WORLD, volumes, pairs=[("panda_link7", "panda_link1"), ("panda_link4", "table")])
    assert set(map(frozenset, model.link_pairs)) == {
        frozenset(("panda_link7", "panda_link1")),
        frozenset(("panda_link4", "table")),
    }
    less = CollisionModel(robot, WORLD, volumes, ignore=[("panda_link1", "panda_link7"), ("panda_link4", "table")])
    assert not set(map(frozenset, model.link_pairs)) & set(map(frozenset, less.link_pairs))


def test_empty_ones():
    robot = robot_named("panda")
    model = CollisionModel(robot, volumes=())
    q = np.array(robot.home)
    assert model.distances(q).shape == (0,)
    assert model.distances(np.tile(q, (3, 1))).shape == (3, 0)
    assert model.link_distances(q).shape == (0,)
    assert model.gradients(q).shape == (0, robot.nv)
    assert not model.in_collision(q)
    assert not len(model.closest(q, 3).columns)
    with pytest.raises(ShapeError, match="no pairs"):
        model.nearest(q)
    full = capsule_model("panda")
    assert full.distances(np.zeros((0, robot.nq))).shape == (0, len(full.names))
    nothing = full.with_obstacle("cloud", np.zeros((0, 3)))
    assert np.isinf(nothing.distances(q)[len(full.names) :]).all()
    assert nothing.nearest(q).column == full.nearest(q).column


def test_wrong_names_and_shapes_are_refused():
    robot, model = robot_named("panda"), among_obstacles("panda")
    for pairs in ([("panda_link1", "panda_lnik7")], [("panda_link1", "chair")]):
        with pytest.raises(UnknownNameError, match="link or obstacle"):
            CollisionModel(robot, WORLD, capsules(robot), pairs=pairs)
    with pytest.raises(UnknownNameError, match="did you mean `table`"):
        model.moved("tabel", np.eye(4))
    with pytest.raises(UnknownNameError):
        model.without_obstacle("chair")
    with pytest.raises(ShapeError, match="names of obstacles"):
        model.with_obstacle("panda_link3", Sphere(0.1))
    with pytest.raises(ShapeError):
        model.moved("table", np.ones((4, 4)))
    with pytest.raises(ShapeError, match="needs"):
        model.distances(np.zeros(3))
    with pytest.raises(ShapeError, match="columns"):
        model.gradients(robot.home, [10**6])
    with pytest.raises(ShapeError, match="margin"):
        CollisionModel(robot, volumes=(), margin=np.nan)
    with pytest.raises(ShapeError, match="margin is nan"):
        model.in_collision(robot.home, margin=np.nan)
    for wrong in (lambda: model.distances(robot.home, np.nan), lambda: model.closest(robot.home, 1, np.nan)):
        with pytest.raises(ShapeError, match="within is nan"):
            wrong()
    with pytest.raises(ShapeError, match="as many ends"):
        model.lower_bounds(robot.home, [robot.home])


def test_named_pairs_that_tell_nothing_are_refused():
    """Else a collision that was asked for would never be seen."""
    robot = robot_named("panda")
    volumes = [item for item in capsules(robot) if item.link != "panda_link7"]
    for pair in (("panda_link7", "panda_link1"), ("panda_link7", "table"), ("panda_link3", "panda_link3")):
        with pytest.raises(ShapeError, match=pair[0]):
            CollisionModel(robot, WORLD, volumes, pairs=[("panda_link1", "panda_link5"), pair])
