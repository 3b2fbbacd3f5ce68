"""Laws of the distributions, and the numbers of Nenchev & Konno 2019 (digest 001b, part 4)."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.contact.distribution import (
    METHODS,
    Stance,
    compare_distributions,
    distribute,
    grasp_description,
    hand_tracking,
    internal_part,
    linkage_matrix,
    stance_of,
)
from surefoot.errors import NotSupportedError, UnknownNameError


def small_humanoid(y: float) -> Stance:
    """7 kg, ankles 8 cm apart, soles of (5.17)."""
    points = np.array([[0.0, -0.04, 0.0], [0.0, 0.04, 0.0]])
    sole = np.array([[0.058, 0.0315, 0.0], [0.058, -0.0315, 0.0], [-0.04, -0.0315, 0.0], [-0.04, 0.0315, 0.0]])
    com = np.array([0.0, y, 0.279])
    corners = (sole + points[0], sole + points[1])
    return Stance(("right", "left"), points, com, 7.0, np.array([0.5, 0.5]), corners)


@pytest.mark.parametrize(
    ("y", "dcm", "even", "moment"),
    [
        (-0.02, (51.50, 17.17), (34.36, 34.31), -0.686),
        (-0.035, (64.38, 4.29), (34.38, 34.29), -1.200),
        (0.0, (34.335, 34.335), (34.335, 34.335), 0.0),
    ],
)
def test_golden_shares(y: float, dcm: tuple[float, float], even: tuple[float, float], moment: float) -> None:
    stance = small_humanoid(y)
    found = distribute("dcm", stance)
    np.testing.assert_allclose(found[:, 2], dcm, atol=6e-3)
    np.testing.assert_allclose(found[:, 3:], 0.0, atol=1e-9)
    plain = distribute("pseudoinverse", stance)
    np.testing.assert_allclose(plain[:, 2], even, atol=6e-3)
    np.testing.assert_allclose(plain[:, 3], moment, atol=6e-4)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "torque"])
def test_every_method_carries_the_load(method: str) -> None:
    stance = small_humanoid(-0.015)
    load = stance.weight + np.array([2.0, -1.0, 3.0, 0.05, -0.1, 0.02])
    found = distribute(method, stance, load)
    np.testing.assert_allclose(stance.map @ found.ravel(), load, atol=1e-5)


def test_methods_differ_as_the_book_says() -> None:
    """Friction shares tangential load by μ; the ZMP distributor unloads a foot; cones hold."""
    stance = small_humanoid(-0.02)
    rough = Stance(stance.names, stance.points, stance.com, 7.0, np.array([0.9, 0.3]), stance.corners)
    pushed = np.array([4.0, 0.0, 68.67, 0.0, 1.116, 0.0])
    shares = distribute("friction", rough, pushed)[:, 0]
    assert shares[0] == pytest.approx(3.0 * shares[1], rel=0.15)
    assert distribute("zmp", small_humanoid(-0.03))[1, 2] == pytest.approx(0.0)
    assert distribute("proportional", small_humanoid(-0.03))[1, 2] > 5.0
    slippery = Stance(stance.names, stance.points, stance.com, 7.0, np.array([0.06, 0.06]), stance.corners)
    at_limit = np.array([0.055 * 68.67, 0.0, 68.67, 0.0, -0.055 * 68.67 * 0.279, 0.0])
    found = distribute("cones", slippery, at_limit)
    np.testing.assert_allclose(slippery.map @ found.ravel(), at_limit, atol=1e-4)
    assert (np.hypot(found[:, 0], found[:, 1]) <= 0.06 * found[:, 2] + 1e-6).all()


def test_dcm_with_three_contacts_keeps_the_point() -> None:
    """Shares of three contacts are those whose centre is the point; force at rest, no moments."""
    points = np.array([[0.0, -0.1, 0.0], [0.0, 0.1, 0.0], [0.3, 0.0, 0.0]])
    stance = Stance(("a", "b", "c"), points, np.array([0.1, 0.02, 0.7]), 30.0, np.full(3, 0.6))
    found = distribute("dcm", stance)
    np.testing.assert_allclose(found[:, 2] / found[:, 2].sum() @ points[:, :2], stance.com[:2], atol=1e-6)
    with pytest.raises(NotSupportedError, match="two contacts"):
        distribute("zmp", stance)


def test_hands_are_tracked_and_internal_wrenches_cancel() -> None:
    points = np.array([[0.0, -0.1, 0.0], [0.0, 0.1, 0.0], [0.4, -0.2, 0.8]])
    stance = Stance(("right", "left", "hand"), points, np.array([0.05, 0.0, 0.7]), 30.0, np.full(3, 0.6))
    wanted = np.array([-20.0, 3.0, 10.0, 0.1, 0.2, -0.3])
    found = hand_tracking(stance, {"hand": wanted})
    np.testing.assert_allclose(found[2], wanted, atol=1e-9)
    np.testing.assert_allclose(stance.map @ found.ravel(), stance.weight, atol=1e-9)
    C = stance.map
    simple, N = np.linalg.pinv(C) @ stance.weight, np.eye(18) - np.linalg.pinv(C) @ C
    through = simple + N @ np.linalg.pinv(N[12:]) @ (wanted - simple[12:])  # (3.66)
    np.testing.assert_allclose(found.ravel(), through, atol=1e-9)
    by_place = hand_tracking(stance, {"hand": wanted}, method="dcm")
    np.testing.assert_allclose(by_place[2], wanted)
    np.testing.assert_allclose(C @ by_place.ravel(), stance.weight, atol=1e-9)
    assert np.abs(by_place - found).max() > 0.1
    inner = internal_part(stance, found)
    np.testing.assert_allclose(stance.map @ inner.ravel(), 0.0, atol=1e-9)
    assert np.linalg.matrix_rank(stance.map) == 6
    assert np.abs(inner).max() > 1.0


@pytest.mark.parametrize(
    ("points", "rank"),
    [
        ([[0, 0, 0], [1, 0, 0]], 1),
        ([[0, 0, 0], [1, 0, 0], [0.5, 0.866, 0]], 3),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], 5),
        ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.7]], 6),
    ],
)
def test_virtual_linkage(points: list[list[float]], rank: int) -> None:
    """Ranks of section 6.3.5; tensions add up to no wrench."""
    V, r = linkage_matrix(points), np.array(points, dtype=float)
    assert np.linalg.matrix_rank(V) == rank
    each = V.T.reshape(-1, len(r), 3)
    np.testing.assert_allclose(each.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.cross(r, each).sum(axis=1), 0.0, atol=1e-12)
    G = grasp_description(r, [0.3, 0.2, 0.1])
    wanted = np.random.default_rng(0).normal(size=6 + V.shape[1] + 3 * len(r))
    if rank == V.shape[1] and len(r) > 2:
        found = np.linalg.pinv(G) @ wanted
        np.testing.assert_allclose(G @ found, wanted, atol=1e-9)


@pytest.mark.parametrize("name", ["g1", pytest.param("talos", marks=pytest.mark.slow)])
def test_robots(name: str) -> None:
    """All methods carry the weight of a robot; least joint torques are the least."""
    robot = sf.load(name, base="floating")
    rows = {row.method: row for row in compare_distributions(robot)}
    for row in rows.values():
        assert row.trouble is None
        assert row.missing is not None
        assert row.missing < 1e-3 * robot.mass * 9.81
    least = rows["torque"].torque
    assert least is not None
    assert all(row.torque is not None and row.torque >= least - 1e-3 for row in rows.values())
    assert rows["cones"].within
    assert rows["dcm"].within
    stance = stance_of(robot)
    found = distribute("torque", stance)
    torque = stance.gravity_torque - stance.jacobian.T @ found.ravel()  # type: ignore[union-attr]
    turned = internal_part(stance, np.random.default_rng(0).normal(size=(len(stance.names), 6)))
    other = stance.gravity_torque - stance.jacobian.T @ (found + 0.1 * turned).ravel()  # type: ignore[union-attr]
    assert np.linalg.norm(other) > np.linalg.norm(torque)


def test_unknown() -> None:
    with pytest.raises(UnknownNameError, match="distribution"):
        distribute("guess", small_humanoid(0.0))
