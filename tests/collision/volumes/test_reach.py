import numpy as np
import pytest

from surefoot.collision import CollisionModel
from surefoot.geometry import Box, Sphere
from surefoot.motion.world.world import Obstacle, World
from surefoot.robot import placement
from tests.collision.examples import mixed_volumes, moved, postures, robot_named


@pytest.mark.parametrize(("name", "mimic"), [("g1", "coupling"), ("panda", "coupling"), ("every joint", "coupling"),
                                             ("followers", "reduce")])  # fmt: skip
@pytest.mark.parametrize("length", [0.05, 0.6])
def test_distances_stay_above_the_bound(name, mimic, length):
    robot = robot_named(name, mimic)
    world = World(
        obstacles=(Obstacle("box", Box((0.2, 0.3, 0.4)), placement((0.5, 0.0, 0.3))), Obstacle("ball", Sphere(0.1)))
    )
    volumes = mixed_volumes(robot, 3)
    links = sorted({x.link for x in volumes})
    listed = [(a, b) for a in links[:9] for b in (*links[9:12], "box", "ball", "ground 0")]
    model = CollisionModel(robot, world, volumes, pairs=listed)
    rng = np.random.default_rng(7)
    tightest = np.inf
    for start in postures(robot, 6, 5):
        step = length * rng.uniform(-1.0, 1.0, robot.nv)
        end = moved(robot, start, step)
        bound = model.lower_bounds(start, end)
        between = model.distances(np.array([moved(robot, start, t * step) for t in np.linspace(0.0, 1.0, 60)]))
        assert (between.min(axis=0) >= bound - 1e-9).all()
        assert (np.abs(np.diff(between, axis=0)).sum(axis=0) <= model.travel(start, end) + 1e-9).all()
        tightest = min(tightest, (between.min(axis=0) - bound).min())
    assert tightest < 2.0 * length  # a bound, and not just any


def test_a_slide_moves_by_its_length_and_a_hinge_by_its_arm():
    robot = robot_named("panda")
    model = CollisionModel(robot, volumes=mixed_volumes(robot, 3), pairs=[("panda_link2", "world")])
    q = np.array(robot.home)
    step = np.zeros(robot.nv)
    step[[2, 8]] = 1.0  # joints that do not lie between
    assert model.travel(q, moved(robot, q, step)).max() == 0.0
    step[0] = 0.1
    arms = model.travel(q, moved(robot, q, step)) / 0.1
    assert (arms > 0.0).all()
    assert (arms < 0.25).all()  # all that hangs on the second joint lies within that of the first axis


def test_batches_are_rows():
    robot = robot_named("panda")
    model = CollisionModel(robot, volumes=mixed_volumes(robot, 3), pairs=[("panda_link2", "panda_link7")])
    Q, P = postures(robot, 3, 1), postures(robot, 3, 2)
    rows = [model.lower_bounds(a, b) for a, b in zip(Q, P, strict=True)]
    assert np.allclose(model.lower_bounds(Q, P), rows, atol=0.2)  # slides count with the longest of the batch
    assert (model.lower_bounds(Q, P) <= np.array(rows) + 1e-12).all()
