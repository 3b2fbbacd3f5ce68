"""Position-level inverse kinematics against forward kinematics of Pinocchio, on arms and humanoids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError, SurefootError, UnknownNameError
from surefoot.robot import Robot
from surefoot.tasks import (
    AngularMomentum,
    CenterOfMass,
    Contact,
    FramePose,
    FramePosition,
    Gaze,
    JointLimits,
    Posture,
    Support,
)


@pytest.fixture(scope="module")
def panda() -> Robot:
    return sf.load("panda")


@pytest.fixture(scope="module")
def g1() -> Robot:
    return sf.load("g1")


def reachable(robot: Robot, frame: str, n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    low, high = robot.limits.lower, robot.limits.upper
    Q = rng.uniform(low, high, (n, robot.nq))
    return np.array([robot.placements(q)[frame] for q in Q])


def misses(robot: Robot, frame: str, q: np.ndarray, T: np.ndarray) -> tuple[float, float]:
    here = robot.placements(q)[frame]
    return float(np.linalg.norm(here[:3, 3] - T[:3, 3])), float(np.linalg.norm(pin.log3(T[:3, :3] @ here[:3, :3].T)))


def inside(robot: Robot, q: np.ndarray) -> bool:
    return bool((q >= robot.limits.lower - 1e-12).all() and (q <= robot.limits.upper + 1e-12).all())


def test_reachable_poses_of_an_arm_are_found(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 200)
    solved = 0
    for T in poses:
        found = sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T)], tolerances={"m": 1e-6, "rad": 1e-6})
        solved += found.success
        assert inside(panda, found.q)
        if found.success:
            assert max(misses(panda, "panda_hand_tcp", found.q, T)) <= 1.1e-6
    assert solved >= 198


def test_batch_solves_as_well(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 500, 1)
    found = sf.ik.solve_batch(panda, [FramePose("hand", "panda_hand_tcp")], {"hand": poses})
    assert found.success.mean() >= 0.99
    for q, T in zip(found.q[found.success], poses[found.success], strict=True):
        assert inside(panda, q)
        assert max(misses(panda, "panda_hand_tcp", q, T)) <= 1.5e-4


def test_same_seed_same_solution(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 60, 2)
    task = [FramePose("hand", "panda_hand_tcp")]
    first, again = (sf.ik.solve_batch(panda, task, {"hand": poses}, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.q, again.q)
    for T in poses[:10]:
        a, b = (sf.ik.solve(panda, [task[0].with_target(T)], seed=5).q for _ in range(2))
        np.testing.assert_array_equal(a, b)


def test_couplings_are_kept(panda: Robot) -> None:
    """The fingers of the hand move together."""
    assert panda.couplings
    T = reachable(panda, "panda_leftfinger", 5)
    for pose in T:
        q = sf.ik.solve(panda, [FramePosition("finger", "panda_leftfinger", pose[:3, 3])]).q
        for item in panda.couplings:
            a, b = (q[panda.tree.q_index[panda.joint_index(x)]] for x in (item.joint, item.source))
            assert abs(a - item.offset - item.ratio * b) < 1e-12


def standing(robot: Robot) -> list[Contact]:
    return [Contact(name, robot, name) for name in robot.contacts]


@pytest.mark.parametrize(("name", "hand"), [("g1", "left_rubber_hand"), ("talos", "gripper_left_base_link")])
def test_a_humanoid_reaches_while_its_feet_and_centre_of_mass_stay(name: str, hand: str) -> None:
    robot = sf.load(name)
    com = pin.centerOfMass(robot.model, robot.model.createData(), robot.home)
    T = robot.placements(robot.home)[hand].copy()
    T[:3, 3] += [0.08, 0.03, 0.1]
    tasks = [*standing(robot), FramePose("hand", hand, T), CenterOfMass("com", com, mask="xy")]
    found = sf.ik.solve(robot, tasks)
    assert found.success, found.message
    assert max(misses(robot, hand, found.q, T)) < 2e-4
    before, after = robot.contact_corners(robot.home), robot.contact_corners(found.q)
    for foot in before:
        assert np.abs(before[foot] - after[foot]).max() < 3e-4
    here = pin.centerOfMass(robot.model, robot.model.createData(), found.q)
    assert np.abs(here - com)[:2].max() < 2e-4


def test_lower_priorities_use_the_freedom_only(panda: Robot) -> None:
    """With a posture to prefer, the hand is where it was, and the joints are nearer to that posture."""
    T = panda.placements(panda.home)["panda_hand_tcp"].copy()
    T[:3, 3] += [0.05, 0.1, -0.1]
    wish = panda.home.copy()
    wish[:7] += [0.6, 0.2, -0.6, 0.1, 0.3, 0.0, 0.0]
    alone = sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T)])
    both = sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T), Posture("posture", panda, wish)])
    assert alone.success
    assert both.success
    assert max(misses(panda, "panda_hand_tcp", both.q, T)) < 2e-4
    assert np.linalg.norm(both.q - wish) < 0.9 * np.linalg.norm(alone.q - wish)
    # what is left cannot be improved without moving the hand: its gradient has no part in the null space
    J = sf.compile(panda).jacobian(both.q, "panda_hand_tcp")[:, :7]
    free = np.linalg.svd(J)[2][6:]
    inner = np.abs(free @ (wish - both.q)[:7]).max()
    assert inner < 0.02


def test_inequalities_hold(g1: Robot) -> None:
    """A hand far to the side with the centre of mass over the soles, and joints away from their ends."""
    T = g1.placements(g1.home)["left_rubber_hand"][:3, 3] + [0.0, 0.15, 0.1]
    corners = np.vstack(list(g1.contact_corners(g1.home).values()))
    tasks = [
        *standing(g1),
        FramePosition("hand", "left_rubber_hand", T),
        Support("balance", corners, 0.01),
        JointLimits("limits", g1, 0.05),
    ]
    found = sf.ik.solve(g1, tasks)
    assert found.success, found.message
    com = pin.centerOfMass(g1.model, g1.model.createData(), found.q)
    low, high = corners.min(axis=0)[:2] + 0.0099, corners.max(axis=0)[:2] - 0.0099
    assert (com[:2] >= low).all()
    assert (com[:2] <= high).all()
    assert (found.q[7:] >= g1.limits.lower[7:] + 0.0499).all()
    assert (found.q[7:] <= g1.limits.upper[7:] - 0.0499).all()


def test_only_named_joints_move(g1: Robot) -> None:
    arm = [name for name in g1.joint_names if "left" in name and ("shoulder" in name or "elbow" in name)]
    target = g1.placements(g1.home)["left_rubber_hand"][:3, 3] + [0.05, 0.0, 0.05]
    found = sf.ik.solve(g1, [FramePosition("hand", "left_rubber_hand", target)], joints=arm)
    assert found.success
    moved = {
        name for i, name in enumerate(g1.joint_names) if found.q[g1.tree.q_index[i]] != g1.home[g1.tree.q_index[i]]
    }
    assert moved <= set(arm)


def test_a_head_looks_at_a_point(g1: Robot) -> None:
    point = np.array([1.0, 0.8, 0.5])
    found = sf.ik.solve(g1, [*standing(g1), Gaze("look", "torso_link", point, [1.0, 0.0, 0.0])])
    assert found.success
    T = g1.placements(found.q)["torso_link"]
    way = point - T[:3, 3]
    assert np.arccos(min(1.0, T[:3, 0] @ way / np.linalg.norm(way))) < 2e-4


def test_what_cannot_be_reached_is_said(panda: Robot) -> None:
    T = np.eye(4)
    T[:3, 3] = [3.0, 0.0, 0.5]
    found = sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T)], restarts=8)
    assert not found.success
    assert "not solved" in found.message
    assert found.errors["hand"]["m"] > 1.0
    assert inside(panda, found.q)
    batch = sf.ik.solve_batch(panda, [FramePose("hand", "panda_hand_tcp")], {"hand": T[None]}, restarts=8)
    assert not batch.success.any()


def test_errors_are_those_of_the_configuration(panda: Robot) -> None:
    T = reachable(panda, "panda_hand_tcp", 1, 7)[0]
    found = sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T)])
    linear, angular = misses(panda, "panda_hand_tcp", found.q, T)
    assert found.errors["hand"]["m"] == pytest.approx(linear, abs=1e-9)
    assert found.errors["hand"]["rad"] == pytest.approx(angular, abs=1e-9)


def test_a_solver_is_reused(panda: Robot) -> None:
    solver = sf.ik.PositionSolver(panda, [FramePose("hand", "panda_hand_tcp")])
    for T in reachable(panda, "panda_hand_tcp", 5, 9):
        a = solver.solve(targets={"hand": T})
        b = sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T)])
        np.testing.assert_array_equal(a.q, b.q)
    assert sf.ik.PositionSolver(panda, [FramePose("other", "panda_hand_tcp")]).problem is solver.problem


def test_threads_do_not_disturb_each_other(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 40, 11)

    def one(T: np.ndarray) -> np.ndarray:
        return sf.ik.solve(panda, [FramePose("hand", "panda_hand_tcp", T)]).q

    alone = [one(T) for T in poses]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, poses))
    np.testing.assert_array_equal(together, alone)


HAND = [FramePose("hand", "panda_hand_tcp")]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda r: sf.ik.solve(r, []), ShapeError),
        (lambda r: sf.ik.solve(r, [FramePose("hand", "nowhere")]), UnknownNameError),
        (lambda r: sf.ik.solve(r, [AngularMomentum("spin")]), NotSupportedError),
        (lambda r: sf.ik.solve(r, HAND, q0=np.zeros(3)), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, q0=np.full(r.nq, np.nan)), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, joints=["tail"]), UnknownNameError),
        (lambda r: sf.ik.solve(r, HAND, joints=[]), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, tolerances={"mm": 1.0}), UnknownNameError),
        (lambda r: sf.ik.solve(r, HAND, tolerances={"m": 0.0}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"x": np.eye(4)[None]}), UnknownNameError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": np.eye(4)}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": np.ones((1, 4, 4))}), ShapeError),
    ],
)  # fmt: skip
def test_odd_input_is_refused(panda: Robot, call: object, error: type[SurefootError]) -> None:
    with pytest.raises(error):
        call(panda)  # type: ignore[operator]
