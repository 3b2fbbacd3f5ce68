import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.ik.textbook.ccd import CyclicDescent
from surefoot.robot import Joint, Link, Robot
from surefoot.robot.loading import load
from surefoot.robot.model.links import NamedFrame, placement
from surefoot.spatial import so3


def inside(robot, q):
    return (q >= robot.limits.lower - 1e-12).all() and (q <= robot.limits.upper + 1e-12).all()


def mixed_arm():
    """A continuous hinge, a slider and two hinges."""
    rest = np.diag([0.01, 0.01, 0.01])
    joints = [
        Joint("turn", "continuous", axis=(0, 0, 1)),
        Joint("slide", "prismatic", placement((0.2, 0, 0)), (1, 0, 0), lower=0.0, upper=0.4),
        Joint("lift", "revolute", placement((0.1, 0, 0.1)), (0, -1, 0), lower=-1.5, upper=1.5),
        Joint("bend", "revolute", placement((0.4, 0, 0)), (0, -1, 0), lower=-2.5, upper=2.5),
    ]
    links, parent = [], None
    for joint in joints:
        links.append(Link(f"{joint.name}_link", parent, joint, 1.0, inertia=rest))
        parent = links[-1].name
    return Robot.from_tree("mixed", links, frames=(NamedFrame("tip", parent, placement((0.3, 0, 0))),))


def test_arm_reaches_positions_within_its_limits(rng):
    robot = load("arm4")
    descent = CyclicDescent(robot, "tip")
    good = 0
    for _ in range(20):
        target = robot.placements(rng.uniform(robot.limits.lower, robot.limits.upper))["tip"][:3, 3]
        found = descent.solve(robot.home, target, sweeps=400)
        assert inside(robot, found.q)
        reached = robot.placements(found.q)["tip"][:3, 3]
        assert_allclose(np.linalg.norm(reached - target), found.position_error, atol=1e-12)
        assert found.angle_error == 0.0
        good += found.success
        assert found.success == (found.position_error <= 1e-4)
    assert good >= 17


def test_poses_of_an_arm_of_seven_joints(rng):
    robot = load("panda")
    descent = CyclicDescent(robot, "panda_hand_tcp")
    q = np.array(robot.home)
    for _ in range(3):
        q[:7] = robot.home[:7] + rng.uniform(-0.3, 0.3, 7)
        target = robot.placements(q)["panda_hand_tcp"]
        found = descent.solve(robot.home, target, sweeps=400, position_tolerance=1e-3, angle_tolerance=5e-3)
        assert inside(robot, found.q)
        T = robot.placements(found.q)["panda_hand_tcp"]
        assert_allclose(np.linalg.norm(pin.log3(T[:3, :3].T @ target[:3, :3])), found.angle_error, atol=1e-6)
        assert found.position_error < 2e-2
        assert found.angle_error < 5e-2
    assert_allclose(found.q[7:], robot.home[7:])  # fingers do not carry the hand


@pytest.mark.parametrize("pose", [False, True])
def test_no_sweep_makes_it_worse_and_every_joint_does_its_best(rng, pose):
    """The sum that is made smaller, from outside; after many sweeps no single joint can lower it, on a fine grid."""
    robot, length = mixed_arm(), 0.3
    descent = CyclicDescent(robot, "tip")
    target = placement((0.2, 0.5, 0.4), so3.exp([0.3, -0.2, 0.9]))

    def cost(q):
        T = robot.placements(q)["tip"]
        turned = 3.0 - np.trace(target[:3, :3].T @ T[:3, :3]) if pose else 0.0
        return np.sum((target[:3, 3] - T[:3, 3]) ** 2) + length**2 * turned

    q = robot.q_of({"turn": -2.0, "slide": 0.3, "lift": -0.4, "bend": 1.0})
    costs = [cost(q)]
    for _ in range(60):
        q = descent.solve(q, target if pose else target[:3, 3], sweeps=1, length=length, position_tolerance=0.0).q
        costs.append(cost(q))
    assert (np.diff(costs) <= 1e-12).all()
    assert costs[1] < costs[0]
    if not pose:
        assert costs[-1] < 1e-8
    limits = {"slide": (0.0, 0.4), "lift": (-1.5, 1.5), "bend": (-2.5, 2.5)}
    for at, (low, high) in zip((2, 3, 4), limits.values(), strict=True):
        for value in np.linspace(low, high, 101):
            other = q.copy()
            other[at] = value
            assert cost(other) >= costs[-1] - 1e-5
    assert_allclose(np.hypot(*q[:2]), 1.0, atol=1e-12)


def test_target_out_of_reach_is_approached():
    robot = load("arm4")
    found = CyclicDescent(robot, "tip").solve(robot.home, [3.0, 0.0, 0.0])
    assert not found.success
    assert found.position_error == pytest.approx(2.0, abs=1e-3)


def test_only_named_joints_move_and_starts_are_brought_inside():
    robot = load("arm4")
    found = CyclicDescent(robot, "tip", ["joint2", "joint3"]).solve(robot.home, [0.3, 0.0, 0.3], sweeps=10)
    assert_allclose(found.q[[0, 3]], robot.home[[0, 3]])
    assert np.abs(found.q[[1, 2]] - robot.home[[1, 2]]).max() > 1e-3
    beyond = np.array(robot.home)
    beyond[1] = 3.0
    assert inside(robot, CyclicDescent(robot, "tip").solve(beyond, [0.3, 0.0, 0.3]).q)


def test_floating_robots_keep_their_base(rng):
    robot = load("small-humanoid")
    hand = robot.placements(robot.home)["left_grip"][:3, 3]
    found = CyclicDescent(robot, "left_grip").solve(robot.home, hand + np.array([0.03, 0.01, 0.03]))
    assert found.success
    assert_allclose(found.q[:7], robot.home[:7])


def test_what_it_cannot_do_is_refused():
    robot = load("arm4")
    with pytest.raises(UnknownNameError):
        CyclicDescent(robot, "tipp")
    with pytest.raises(UnknownNameError):
        CyclicDescent(robot, "link2", ["joint3"])
    with pytest.raises(ShapeError, match="target has shape"):
        CyclicDescent(robot, "tip").solve(robot.home, [0.0, 1.0])
    with pytest.raises(NotSupportedError):
        CyclicDescent(load("small-humanoid"), "trunk")
