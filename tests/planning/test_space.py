"""Checks of stances: balance against wrenches, collisions against coal, edges against dense samples."""

from __future__ import annotations

import coal
import numpy as np
import pytest
from scipy.optimize import linprog

import surefoot as sf
from surefoot.contact import admissible_wrenches
from surefoot.errors import NotSupportedError
from surefoot.motion import GroundBox, GroundPlane, World
from surefoot.planning import Footholds, Margins, Mode, StanceModel, support_region
from surefoot.planning.footholds import foothold_grid
from surefoot.robot import placement


def step_world() -> World:
    return World(ground=(GroundPlane(), GroundBox((2.0, 1.0, 0.1), placement((0.0, 0.72, 0.05)))))


@pytest.fixture(scope="module")
def model() -> StanceModel:
    return StanceModel(sf.load("hexapod"), step_world(), Margins(clearance=0.0))


def test_a_goal_too_far_for_a_grid_is_refused() -> None:
    """Before memory is taken for its footholds."""
    rng = np.random.default_rng(0)
    assert len(foothold_grid(np.array([[0.0, 0.0], [1.0, 1.0]]), 0.1, rng)) >= 100
    with pytest.raises(NotSupportedError, match="footholds"):
        foothold_grid(np.array([[0.0, 0.0], [1e9, 1.0]]), 0.1, rng)


def test_collisions_with_the_world_are_those_of_coal(model: StanceModel) -> None:
    rng = np.random.default_rng(0)
    states = model.chart.home + 0.04 * rng.normal(size=(150, model.chart.dimension))
    states[:, 1] += rng.uniform(0.0, 0.2, size=len(states))
    q = model.chart.lift(states).q
    points = model.clearance.points(q)
    found = model.clearance.world(points, states[:, :3].copy(), [None] * 6)
    box, where = coal.Box(2.0, 1.0, 0.1), coal.Transform3s(np.eye(3), np.array([0.0, 0.72, 0.05]))
    starts, kinds, radii = (getattr(model.clearance.motion, x) for x in ("starts", "kinds", "radii"))
    compared = 0
    for n in range(len(q)):
        for leg, group in enumerate(model.clearance._legs):
            gaps = [_gap(points[n, starts[k] : starts[k] + kinds[k]], radii[k], box, where) for k in group]
            if abs(min(gaps)) > 1e-6:
                assert (found.legs[n, leg] < 0.0) == (min(gaps) < 0.0)
                compared += 1
    assert compared > 500
    assert 0.02 < np.mean(found.legs < 0.0) < 0.98


def _gap(vertices: np.ndarray, radius: float, box: coal.Box, where: coal.Transform3s) -> float:
    """Of a capsule from the box and from the ground plane [m]."""
    a, b = vertices
    axis = (b - a) / np.linalg.norm(b - a)
    side = np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.9 else [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side)
    R = np.c_[side, np.cross(axis, side), axis]
    capsule = coal.Capsule(radius, float(np.linalg.norm(b - a)))
    pose = coal.Transform3s(R, 0.5 * (a + b))
    result = coal.DistanceResult()
    to_box = coal.distance(box, where, capsule, pose, coal.DistanceRequest(), result)
    return float(min(to_box, vertices[:, 2].min() - radius))


@pytest.mark.parametrize("exact", [False, True])
def test_support_region_against_contact_wrenches(exact: bool) -> None:
    rng = np.random.default_rng(5)
    points = np.array([[0.2, 0.1, 0.0], [-0.2, 0.15, 0.1], [0.0, -0.2, 0.0], [0.1, 0.2, 0.1]])
    normals = np.tile([0.0, 0.0, 1.0], (4, 1))
    if exact:
        normals = normals + 0.3 * rng.normal(size=(4, 3))
        normals /= np.linalg.norm(normals, axis=1)[:, None]
    mu = np.full(4, 0.5)
    region = support_region(points, normals, mu, exact)
    com = rng.uniform(-0.35, 0.35, size=(400, 3))
    attained = _holds(points, normals, mu, com)
    room = region.room(com)
    clear = np.abs(room) > 1e-6
    inside = room > 0.0
    assert attained[clear & inside].all()  # the hull lies inside the region, the exact one is it
    if exact:
        assert not attained[clear & ~inside].any()
    assert 0.05 < inside.mean() < 0.95


@pytest.mark.parametrize(("tilt", "gains"), [(0.0, False), (0.5, True)])
def test_regions_on_steep_ground_are_exact_on_request(tilt: float, gains: bool) -> None:
    """Right feet stand lower, on a slope that faces the left ones: they push the robot up the hill, beyond the hull."""
    robot, com = sf.load("hexapod"), np.random.default_rng(0).uniform(-0.4, 0.4, size=(500, 3))
    rooms = []
    for exact in (False, True):
        model = StanceModel(robot, World(), Margins(exact=exact))
        feet = model.chart.home[6:].reshape(-1, 3).copy()
        right = feet[:, 1] < 0.0
        feet[right, 2] -= 0.2 * np.sign(tilt)
        normals = np.where(right[:, None], [0.0, np.sin(tilt), np.cos(tilt)], [0.0, 0.0, 1.0])
        places, all_six = Footholds(feet, normals, np.full(6, 0.8), np.zeros(6, dtype=np.int64)), np.ones(6, dtype=bool)
        rooms.append(Mode.of(model, feet, all_six, places, all_six, (np.zeros((0, 3)),) * 6).region.room(com))
    assert (rooms[1][rooms[0] > 1e-6] > 0.0).all()
    assert bool((rooms[1][rooms[0] < -1e-3] > 1e-3).any()) == gains


def test_a_hand_carries_its_share_of_the_weight_at_most() -> None:
    points = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, -0.05, 0.0], [-0.1, 0.05, 0.0], [0.2, 0.4, 0.8]])
    up, mu, most = np.tile([0.0, 0.0, 1.0], (5, 1)), np.full(5, 0.6), np.array([1.0, 1.0, 1.0, 1.0, 0.2])
    region = support_region(points, up, mu, shares=most)
    for normal, offset in zip(region.normals, region.offsets, strict=True):
        limits = [(0.0, share) for share in most]  # the share that contacts carry: vertical forces balance
        far = linprog(-points[:, :2] @ normal, A_eq=np.ones((1, 5)), b_eq=[1.0], bounds=limits)
        assert -far.fun == pytest.approx(offset, abs=1e-9)
    assert region.room(np.array([[0.0, 0.08]]))[0] > 0.0
    assert support_region(points[:4], up[:4], mu[:4]).room(np.array([[0.0, 0.08]]))[0] < 0.0
    inside = region.pulled(np.array([[0.5, 0.5], [0.0, 0.0]]), 0.02)
    assert region.room(inside).min() > 0.019
    np.testing.assert_allclose(inside[1], 0.0)


def test_walls_that_are_pressed_against_hold_any_weight_and_no_ground_holds_none() -> None:
    points = np.array([[0.3, 0.2, 0.5], [-0.3, 0.2, 0.4], [0.3, -0.2, 0.6], [-0.3, -0.2, 0.5]])
    normals, mu, com = np.array([[0.0, -1.0, 0.0]] * 2 + [[0.0, 1.0, 0.0]] * 2), np.full(4, 0.7), np.eye(3)
    region = support_region(points, normals, mu)
    assert _holds(points, normals, mu, com).all()
    assert np.isposinf(region.room(com)).all()
    np.testing.assert_array_equal(region.pulled(com, 0.02), com[:, :2])
    above_nothing = StanceModel(sf.load("hexapod"), World(ground=()), Margins(clearance=0.0))
    assert (Mode.standing(above_nothing, above_nothing.chart.home).region.room(com) < 0.0).all()


def _holds(points: np.ndarray, normals: np.ndarray, mu: np.ndarray, com: np.ndarray) -> np.ndarray:
    """Whether forces in the same pyramids can carry a unit weight at each centre of mass, by `admissible_wrenches`."""
    rays = []
    for point, normal, m in zip(points, normals, mu, strict=True):
        side = np.cross(normal, [1.0, 0.0, 0.0])
        side /= np.linalg.norm(side)
        for turn in 2.0 * np.pi * np.arange(8) / 8:
            ray = normal + m * (np.cos(turn) * side + np.sin(turn) * np.cross(normal, side))
            rays.append((point, ray))
    G = np.array([[np.concatenate([ray, np.cross(p - c, ray)]) for p, ray in rays] for c in com]).transpose(0, 2, 1)
    needed = np.tile([0.0, 0.0, 1.0, 0.0, 0.0, 0.0], (len(com), 1))
    return np.asarray(admissible_wrenches(G, needed).attained)


def test_edges_agree_with_dense_samples(model: StanceModel) -> None:
    mode = Mode.standing(model, model.chart.home)
    rng = np.random.default_rng(1)
    states = np.tile(model.chart.home, (400, 1))
    states[:, :6] += rng.normal(size=(400, 6)) * [0.03, 0.03, 0.015, 0.15, 0.15, 0.2]
    good = states[mode.check(states).valid]
    starts, ends = good[: len(good) // 2], good[len(good) // 2 : 2 * (len(good) // 2)]
    free = mode.check_edges(starts, ends)
    shares = np.linspace(0.0, 1.0, 101)[:, None]
    wrong = 0
    for start, end, answer in zip(starts, ends, free, strict=True):
        dense = mode.check(start + shares * (end - start)).valid.all()
        assert answer or not dense  # dense samples never pass where coarse ones fail
        wrong += answer and not dense
    assert wrong <= 0.02 * len(free)
    assert free.sum() > 5


def test_a_leg_through_the_floor_and_a_foot_that_slides_are_seen(model: StanceModel) -> None:
    home = model.chart.home
    held = np.ones(6, dtype=bool)
    held[1] = False
    standing = Mode.standing(model, home)
    spots = [np.zeros((0, 3))] * 6
    spots[1] = home[9:12][None]
    mode = Mode.of(model, standing.feet, held, standing.footholds, held, tuple(spots))
    through, slides, lifts = (home.copy() for _ in range(3))
    through[11] -= 0.01
    slides[9] += 0.03
    lifts[11] += 0.02
    np.testing.assert_array_equal(mode.check(np.array([through, slides, lifts])).valid, [False, False, True])
    causes = model.statistics.causes
    assert causes["swing left_middle"] >= 1
    assert causes["world left_middle"] >= 1
