"""Position-level inverse kinematics against forward kinematics of Pinocchio, on arms and humanoids."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, ShapeError, SurefootError, UnknownNameError
from surefoot.ik.position.problem import DONE, MISS
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
        found = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")], tolerances={"m": 1e-6, "rad": 1e-6})
        solved += found.success
        assert inside(panda, found.q)
        if found.success:
            assert max(misses(panda, "panda_hand_tcp", found.q, T)) <= 1.1e-6
    assert solved >= 198


def test_batch_solves_as_well(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 500, 1)
    found = sf.ik.solve_batch(panda, [FramePose("panda_hand_tcp", name="hand")], {"hand": poses})
    assert found.success.mean() >= 0.99
    for q, T in zip(found.q[found.success], poses[found.success], strict=True):
        assert inside(panda, q)
        assert max(misses(panda, "panda_hand_tcp", q, T)) <= 1.5e-4


def test_same_seed_same_solution(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 60, 2)
    task = [FramePose("panda_hand_tcp", name="hand")]
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
        q = sf.ik.solve(panda, [FramePosition("panda_leftfinger", pose[:3, 3], name="finger")]).q
        for item in panda.couplings:
            a, b = (q[panda.tree.q_index[panda.joint_index(x)]] for x in (item.joint, item.source))
            assert abs(a - item.offset - item.ratio * b) < 1e-12


def standing(robot: Robot) -> list[Contact]:
    return [Contact(robot, name) for name in robot.contacts]


@pytest.mark.parametrize(("name", "hand"), [("g1", "left_rubber_hand"), ("talos", "gripper_left_base_link")])
def test_a_humanoid_reaches_while_its_feet_and_centre_of_mass_stay(name: str, hand: str) -> None:
    robot = sf.load(name)
    com = pin.centerOfMass(robot.model, robot.model.createData(), robot.home)
    T = robot.placements(robot.home)[hand].copy()
    T[:3, 3] += [0.08, 0.03, 0.1]
    tasks = [*standing(robot), FramePose(hand, T, name="hand"), CenterOfMass(com, mask="xy")]
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
    alone = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")])
    both = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand"), Posture(panda, wish)])
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
        FramePosition("left_rubber_hand", T, name="hand"),
        Support(corners, 0.01, name="balance"),
        JointLimits(g1, 0.05, name="limits"),
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
    found = sf.ik.solve(g1, [FramePosition("left_rubber_hand", target, name="hand")], joints=arm)
    assert found.success
    moved = {
        name for i, name in enumerate(g1.joint_names) if found.q[g1.tree.q_index[i]] != g1.home[g1.tree.q_index[i]]
    }
    assert moved <= set(arm)


def test_a_head_looks_at_a_point(g1: Robot) -> None:
    point = np.array([1.0, 0.8, 0.5])
    found = sf.ik.solve(g1, [*standing(g1), Gaze("torso_link", point, [1.0, 0.0, 0.0], name="look")])
    assert found.success
    T = g1.placements(found.q)["torso_link"]
    way = point - T[:3, 3]
    assert np.arccos(min(1.0, T[:3, 0] @ way / np.linalg.norm(way))) < 2e-4


def test_what_cannot_be_reached_is_said(panda: Robot) -> None:
    T = np.eye(4)
    T[:3, 3] = [3.0, 0.0, 0.5]
    found = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")], restarts=8)
    assert not found.success
    assert "not solved" in found.message
    assert found.errors["hand"]["m"] > 1.0
    assert inside(panda, found.q)
    batch = sf.ik.solve_batch(panda, [FramePose("panda_hand_tcp", name="hand")], {"hand": T[None]}, restarts=8)
    assert not batch.success.any()


@pytest.mark.parametrize("beyond", [0.02, 0.3, 2.0])
def test_what_is_out_of_reach_is_approached(beyond: float) -> None:
    """The best configuration is the stretched arm, and the errors that are told are those of the configuration."""
    robot = sf.load("arm4")
    reach = 1.0
    assert np.linalg.norm(robot.placements(pin.neutral(robot.model))["tip"][:3, 3]) == pytest.approx(reach)
    way = np.array([0.6, 0.0, 0.8])
    target = (reach + beyond) * way
    found = sf.ik.solve(robot, [FramePosition("tip", target)], limits=False)
    assert not found.success
    miss = np.linalg.norm(robot.placements(found.q)["tip"][:3, 3] - target)
    assert found.errors["tip"]["m"] == pytest.approx(miss, abs=1e-9)
    assert miss == pytest.approx(beyond, rel=1e-3)
    batch = sf.ik.solve_batch(robot, [FramePosition("tip")], {"tip": [target]}, limits=False)
    assert np.linalg.norm(robot.placements(batch.q[0])["tip"][:3, 3] - target) == pytest.approx(beyond, rel=1e-3)


def test_a_start_outside_limits_and_couplings_is_brought_inside(panda: Robot) -> None:
    """Even if the tasks hold there."""
    outside = panda.home.copy()
    outside[0] = panda.limits.upper[0] + 0.3
    outside[7:] = 0.01, 0.03
    T = panda.placements(outside)["panda_hand_tcp"]
    single = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")], outside)
    batch = sf.ik.solve_batch(panda, [FramePose("panda_hand_tcp", name="hand")], {"hand": T[None]}, outside)
    for q, success in ((single.q, single.success), (batch.q[0], batch.success[0])):
        assert success
        assert inside(panda, q)
        assert q[7] == q[8]
        assert max(misses(panda, "panda_hand_tcp", q, T)) < 1.1e-4


def test_nearly_singular_solutions_are_found_to_tight_tolerances() -> None:
    """Six joints with narrow limits: the damping that stays must not stop the last steps."""
    robot = sf.load("talos_arm")
    poses = reachable(robot, "gripper_left_base_link", 400, 1)
    task = [FramePose("gripper_left_base_link", name="hand")]
    for tolerance in (1e-6, 1e-9):
        found = sf.ik.solve_batch(robot, task, {"hand": poses}, tolerances={"m": tolerance, "rad": tolerance})
        assert found.success.mean() >= 0.99
        worst = [max(misses(robot, "gripper_left_base_link", *pair)) for pair in zip(found.q, poses, strict=True)]
        assert np.max(np.array(worst)[found.success]) < 1.01 * tolerance + 1e-12


def test_a_common_factor_of_weights_means_nothing(panda: Robot) -> None:
    T = reachable(panda, "panda_hand_tcp", 1, 4)[0]
    plain = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")])
    for weight in (1e-9, 1e9):
        found = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand", weight=weight)])
        assert found.success
        np.testing.assert_allclose(found.q, plain.q, atol=1e-9)


def test_activation_is_a_share_of_the_weight(panda: Robot) -> None:
    """Two places for one hand: half active is half as heavy; off is not there, singly and in a batch."""
    one = FramePosition("panda_hand_tcp", [0.4, 0.2, 0.5], name="one")
    other = FramePosition("panda_hand_tcp", [0.4, -0.2, 0.5], name="other")
    half, light = (
        sf.ik.solve(panda, [one, replace(other, **{what: 0.5})], restarts=0) for what in ("activation", "weight")
    )
    np.testing.assert_array_equal(half.q, light.q)
    assert not half.success
    alone, off = (sf.ik.solve(panda, tasks) for tasks in ([one], [one, replace(other, activation=0.0)]))
    assert off.success
    np.testing.assert_allclose(off.q, alone.q, rtol=0.0, atol=1e-9)
    batch = sf.ik.solve_batch(panda, [one, replace(other, activation=0.0)], {"one": np.array([[0.4, 0.2, 0.5]] * 3)})
    np.testing.assert_allclose(batch.q, np.tile(alone.q, (3, 1)), rtol=0.0, atol=1e-9)
    half, full = (sf.ik.solve(panda, [replace(one, activation=share)]) for share in (0.5, 1.0))
    np.testing.assert_array_equal(half.q, full.q)


def test_a_task_without_weight_does_not_count(panda: Robot) -> None:
    T = reachable(panda, "panda_hand_tcp", 1, 4)[0]
    hand, off = (
        FramePose("panda_hand_tcp", T, name="hand"),
        FramePosition("panda_link4", [9.0, 0.0, 0.0], name="off", weight=0.0),
    )
    found = sf.ik.solve(panda, [hand, off])
    assert found.success
    assert found.errors["off"]["m"] > 1.0
    with pytest.raises(ShapeError, match="mask"):
        sf.ik.solve(panda, [FramePosition("panda_link4", name="off", weight=np.array([1.0, 0.0, 1.0]))])


def test_closed_chains_do_not_take_the_place_of_the_first_task() -> None:
    """A posture alone, of priority 1, must hold as well as the chain: success means both."""
    arm = sf.load("arm4")
    at = arm.placements(arm.home)["tip"]
    pin_joint = (True, False, True, False, False, False)
    robot = arm.replace(loops=(sf.Loop("pin", "tip", "universe", placement_b=at, directions=pin_joint),))
    here = sf.ik.solve(robot, [Posture(robot)], robot.home + 0.1)
    assert here.success
    np.testing.assert_allclose(here.q, robot.home, atol=2e-4)
    elsewhere = sf.ik.solve(robot, [Posture(robot, robot.home + 0.1)], restarts=8)
    assert not elsewhere.success
    assert elsewhere.errors["posture"]["rad"] > 1e-3


def test_what_is_no_number_is_no_solution(panda: Robot) -> None:
    problem = sf.ik.PositionSolver(panda, [FramePose("panda_hand_tcp", name="hand")]).problem
    q = np.vstack([np.full(panda.nq, np.nan), panda.home])
    parameters = problem.parameters(problem.tasks, sf.ik.TOLERANCES)
    state = problem.loop.each({"q": q, "parameters": parameters, "state": problem.fresh(2)}, 3, until=1)["state"]
    assert state[0, DONE] == 0.0
    assert state[0, MISS] == np.inf
    assert np.isfinite(state[1, MISS])


def test_errors_are_those_of_the_configuration(panda: Robot) -> None:
    T = reachable(panda, "panda_hand_tcp", 1, 7)[0]
    found = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")])
    linear, angular = misses(panda, "panda_hand_tcp", found.q, T)
    assert found.errors["hand"]["m"] == pytest.approx(linear, abs=1e-9)
    assert found.errors["hand"]["rad"] == pytest.approx(angular, abs=1e-9)


def test_a_solver_is_reused(panda: Robot) -> None:
    solver = sf.ik.PositionSolver(panda, [FramePose("panda_hand_tcp", name="hand")])
    for T in reachable(panda, "panda_hand_tcp", 5, 9):
        a = solver.solve(targets={"hand": T})
        b = sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")])
        np.testing.assert_array_equal(a.q, b.q)
    assert sf.ik.PositionSolver(panda, [FramePose("panda_hand_tcp", name="other")]).problem is solver.problem


def test_threads_do_not_disturb_each_other(panda: Robot) -> None:
    poses = reachable(panda, "panda_hand_tcp", 40, 11)

    def one(T: np.ndarray) -> np.ndarray:
        return sf.ik.solve(panda, [FramePose("panda_hand_tcp", T, name="hand")]).q

    alone = [one(T) for T in poses]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(one, poses))
    np.testing.assert_array_equal(together, alone)


HAND = [FramePose("panda_hand_tcp", name="hand")]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda r: sf.ik.solve(r, []), ShapeError),
        (lambda r: sf.ik.solve(r, [FramePose("nowhere", name="hand")]), UnknownNameError),
        (lambda r: sf.ik.solve(r, [AngularMomentum(name="spin")]), NotSupportedError),
        (lambda r: sf.ik.solve(r, HAND, q0=np.zeros(3)), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, q0=np.full(r.nq, np.nan)), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, joints=["tail"]), UnknownNameError),
        (lambda r: sf.ik.solve(r, HAND, joints=[]), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, tolerances={"mm": 1.0}), UnknownNameError),
        (lambda r: sf.ik.solve(r, HAND, tolerances={"m": 0.0}), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, tolerances=1e-3), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, tolerances={"m": "small"}), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, restarts=-1), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, restarts="many"), ShapeError),
        (lambda r: sf.ik.solve(r, HAND, seed=-1), ShapeError),
        (lambda r: sf.ik.solve(r, [Posture(sf.load("ur5"), name="wish")]), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, np.eye(4)[None]), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": 1.0}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": [[1.0], [1.0, 2.0]]}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": np.eye(4)[None]}, np.full(r.nq, np.nan)), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": np.eye(4)[None]}, np.zeros((2, r.nq))), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"x": np.eye(4)[None]}), UnknownNameError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": np.eye(4)}), ShapeError),
        (lambda r: sf.ik.solve_batch(r, HAND, {"hand": np.ones((1, 4, 4))}), ShapeError),
    ],
)  # fmt: skip
def test_odd_input_is_refused(panda: Robot, call: object, error: type[SurefootError]) -> None:
    with pytest.raises(error):
        call(panda)  # type: ignore[operator]
