import numpy as np
import pytest

from surefoot.collision import CollisionModel, motion_is_free, motions_are_free
from surefoot.errors import ShapeError
from surefoot.geometry import Box, Sphere, SweptVolume
from surefoot.robot import BodyVolume, placement

from .examples import capsule_model, moved, postures, slider


def rail(thickness, place=0.5, radius=0.1):
    """A ball on a rail, and a wall across the rail."""
    volume = BodyVolume(0, SweptVolume(np.zeros((1, 3)), radius), "carriage")
    return CollisionModel(slider(), volumes=[volume]).with_obstacle(
        "wall", Box((thickness, 1.0, 1.0)), placement((place, 0.0, 0.0))
    )


def test_a_thin_wall_between_two_postures_is_found():
    check = motion_is_free(rail(1e-4), [-2.0], [2.0])
    assert not check
    assert check.links == ("carriage", "wall")
    assert check.time == pytest.approx((0.4 - 5e-5 + 2.0) / 4.0, abs=1e-4)


def test_beside_the_wall_is_free_up_to_the_clearance():
    model = rail(0.2)
    assert motion_is_free(model, [-2.0], [0.25], clearance=0.04)
    near = motion_is_free(model, [-2.0], [0.25], clearance=0.06)
    assert not near
    assert near.distance < 0.06
    assert -2.0 + 2.25 * near.time == pytest.approx(0.4 - 0.1 - 0.06, abs=2e-4)


def test_too_near_to_tell_is_not_free():
    """The ball goes past another one: with exactly the clearance it is neither proven nor missed."""
    volume = BodyVolume(0, SweptVolume(np.zeros((1, 3)), 0.1), "carriage")
    model = CollisionModel(slider(), volumes=[volume]).with_obstacle("post", Sphere(0.1), placement((0.1, 0.3, 0.0)))
    assert motion_is_free(model, [-2.0], [2.0], clearance=0.0999)
    check = motion_is_free(model, [-2.0], [2.0], clearance=0.1 - 1e-12)
    assert not check.free
    assert 0.1 - 1e-12 <= check.distance < 0.101
    assert -2.0 + 4.0 * check.time == pytest.approx(0.1, abs=0.02)


def test_a_start_in_collision():
    check = motion_is_free(rail(0.2), [0.5], [-2.0])
    assert (check.free, check.time) == (False, 0.0)


@pytest.mark.parametrize("name", ["panda", "anymal"])
def test_answers_agree_with_dense_samples(name):
    model = capsule_model(name)
    robot = model.robot
    rng = np.random.default_rng(4)
    starts = np.tile(np.array(robot.home), (16, 1))
    steps = 0.8 * rng.uniform(-1.0, 1.0, (16, robot.nv))
    ends = np.array([moved(robot, q, step) for q, step in zip(starts, steps, strict=True)])
    checks = motions_are_free(model, starts, ends, resolution=1e-3)
    assert 0 < sum(check.free for check in checks) < 16
    for q, step, check in zip(starts, steps, checks, strict=True):
        times = np.linspace(0.0, 1.0, 400)
        least = model.distances(np.array([moved(robot, q, t * step) for t in times])).min(axis=1)
        if check:
            assert least.min() >= 0.0
        else:
            assert least[times < check.time].min(initial=np.inf) > -1e-3
            assert model.distances(moved(robot, q, check.time * step)).min() < 1e-3


def test_without_pairs_everything_is_free():
    robot = slider()
    model = CollisionModel(robot, volumes=())
    assert motion_is_free(model, [-1.0], [1.0])
    assert motions_are_free(model, np.zeros((0, 1)), np.zeros((0, 1))) == []


def test_wrong_calls_are_refused():
    model = capsule_model("panda")
    Q = postures(model.robot, 2, 0)
    with pytest.raises(ShapeError, match="as many ends"):
        motions_are_free(model, Q, Q[:1])
    with pytest.raises(ShapeError, match="resolution"):
        motion_is_free(model, Q[0], Q[1], resolution=0.0)
    with pytest.raises(ShapeError, match="clearance"):
        motion_is_free(model, Q[0], Q[1], clearance=np.nan)
    with pytest.raises(ShapeError, match=r"starts have shape \(9,\)"):
        motions_are_free(model, Q[0], Q[1])
    with pytest.raises(ShapeError, match="needs"):
        motion_is_free(model, Q, Q)
