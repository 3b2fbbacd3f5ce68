"""Laws of the follower: exact feedforward, a held end, and refusals."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.control import JointPd, TrajectoryFollower
from surefoot.control.static_balance import StaticBalance
from surefoot.errors import ShapeError
from surefoot.motion import Controller, State, Trajectory
from surefoot.motion.stance import ContactSchedule, Spot, Stance
from surefoot.robot.loading import load
from tests.control.following import run

TURN = 2.0 * np.pi


def swing(robot, amplitude=0.2, duration=1.0, rows=2001, accelerations=True):
    """All joints swing about home by 1 − cos, one period; q, v and a belong together."""
    t = np.linspace(0.0, duration, rows)[:, None]
    w, size = TURN / duration, amplitude * np.linspace(1.0, 0.5, robot.nv)
    q = np.array([pin.integrate(robot.model, np.array(robot.home), step) for step in size * (1.0 - np.cos(w * t))])
    v, a = size * w * np.sin(w * t), size * w**2 * np.cos(w * t)
    return Trajectory.of(robot, t[:, 0], q, v, **({"a": a} if accelerations else {}))


def test_no_error_gets_no_error():
    """On the reference, the command makes exactly the acceleration of the reference (aba against rnea)."""
    robot = load("arm4")
    trajectory, data = swing(robot, rows=21), robot.model.createData()
    follower = TrajectoryFollower(robot, trajectory)
    for k, t in enumerate(trajectory.time):
        q, v = np.array(trajectory.q[k]), np.array(trajectory.v[k])
        command = follower.command(t, State(t, q, v))
        force = command.torque + command.kp * (command.position - q) + command.kd * (command.velocity - v)
        assert_allclose(pin.aba(robot.model, data, q, v, force), trajectory.a[k], atol=1e-9)


@pytest.mark.parametrize(("accelerations", "least", "most"), [(True, 0.0, 2e-4), (False, 5e-3, np.inf)])
def test_follows_in_exact_dynamics(accelerations, least, most):
    """Without accelerations the springs have to move the inertia, and lag."""
    robot = load("arm4")
    trajectory = swing(robot, accelerations=accelerations)
    follower = TrajectoryFollower(robot, trajectory)
    follower.q0 = trajectory.q[0]  # what `run` asks for
    _, _, path = run(follower, 1.0, dt=1e-3, weight=True)
    error = np.abs(path - trajectory.resample(np.linspace(0.0, 1.0, len(path))).q).max()
    assert least <= error <= most


def test_springs_take_an_error_back():
    robot = load("arm4")
    follower = TrajectoryFollower(robot, swing(robot))
    follower.q0 = np.array(robot.home) + 0.05
    q, _, _ = run(follower, 3.0, dt=1e-3, weight=True)
    assert_allclose(q, robot.home, atol=2e-3)


def test_holds_the_end():
    robot = load("arm4")
    trajectory = swing(robot, rows=101).resample(np.linspace(0.0, 0.3, 31))  # ends while it moves
    follower = TrajectoryFollower(robot, trajectory)
    assert isinstance(follower, Controller)
    state = State.of(robot)
    late, last = follower.command(7.0, state), follower.command(0.3, state)
    assert_allclose(late.position, trajectory.q[-1])
    assert_allclose(late.velocity, 0.0)
    assert np.abs(last.velocity).max() > 0.1
    weight = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), np.array(trajectory.q[-1]))
    assert_allclose(late.torque, weight, atol=1e-9)
    early = follower.command(-1.0, state)
    assert_allclose(early.position, trajectory.q[0])
    assert_allclose(early.velocity, 0.0)


def test_gains_are_those_of_standing():
    robot = load("arm4")
    follower, hold = TrajectoryFollower(robot, swing(robot, rows=11), bandwidth=9.0), JointPd(robot, bandwidth=9.0)
    command = follower.command(0.0, State.of(robot))
    assert_allclose(command.kp, hold.kp)
    assert_allclose(command.kd, hold.kd)


def test_followers_pass_their_load_on():
    """Power of the drives is that of all joints for every motion that couplings allow."""
    robot = load("panda")
    coupling = robot.couplings[0]
    trajectory = swing(robot, amplitude=0.01, rows=21)
    command = TrajectoryFollower(robot, trajectory).command(0.25, State.of(robot))
    now = trajectory.sample(0.25)
    forces = pin.rnea(robot.model, robot.model.createData(), np.array(now.q), np.array(now.v), np.array(now.a))
    v = np.random.default_rng(0).standard_normal(robot.nv)
    leader, follower = (int(robot.tree.v_index[robot.joint_index(n)]) for n in (coupling.source, coupling.joint))
    v[follower] = coupling.ratio * v[leader]
    assert command.torque @ v[robot.driven] == pytest.approx(forces @ v, rel=1e-9)


def test_continuous_joints_are_angles():
    robot = load("double_pendulum_continuous")
    turning = robot.joint_index(robot.drives[0].joint)
    assert robot.tree.nq_of(turning) == 2
    speed = np.ones(robot.nv)
    q = np.array([pin.integrate(robot.model, np.array(robot.home), t * speed) for t in (0.0, 1.0, 2.0)])
    follower = TrajectoryFollower(robot, Trajectory.of(robot, [0.0, 1.0, 2.0], q, np.tile(speed, (3, 1))))
    row = int(robot.tree.q_index[turning])
    start = np.arctan2(robot.home[row + 1], robot.home[row])
    found = follower.command(1.5, State.of(robot)).position[0]
    assert np.remainder(found - start - 1.5 + np.pi, TURN) - np.pi == pytest.approx(0.0, abs=1e-9)


def standing(robot, **others):
    q = np.tile(robot.home, (2, 1))
    return Trajectory.of(robot, [0.0, 1.0], q, np.zeros((2, robot.nv)), **others)


def test_a_robot_that_stands_carries_its_weight():
    robot = load("small-humanoid")
    command = TrajectoryFollower(robot, standing(robot)).command(0.5, State.of(robot))
    both = StaticBalance(robot, tuple(robot.contacts)).torques(np.array(robot.home))
    assert_allclose(command.torque, both, atol=1e-9)


def test_the_schedule_says_which_foot_carries():
    robot = load("small-humanoid")
    one, two = robot.contacts
    spots = {name: Spot(np.eye(4)) for name in (one, two)}
    schedule = ContactSchedule.of([Stance({one: spots[one]}), Stance(spots)], [0.0, 0.5, 1.0])
    follower = TrajectoryFollower(robot, standing(robot, schedule=schedule))
    balances = [StaticBalance(robot, names).torques(np.array(robot.home)) for names in ((one,), (one, two))]
    limits = np.array([drive.torque_limit for drive in robot.drives])
    for time, torques in zip((0.2, 0.8), balances, strict=True):
        found = follower.command(time, State.of(robot)).torque
        assert_allclose(found, np.clip(torques, -limits, limits), atol=1e-9)
    assert np.abs(balances[0] - balances[1]).max() > 0.1


def test_torques_of_the_trajectory_go_before_ours_within_the_limits():
    robot = load("arm4")
    tau = np.tile([1.0, -2.0, 3.0, 1e3], (2, 1))
    command = TrajectoryFollower(robot, standing(robot, tau=tau)).command(0.5, State.of(robot))
    assert_allclose(command.torque, [1.0, -2.0, 3.0, robot.drives[3].torque_limit])


def test_velocities_that_are_missing_are_computed():
    robot, t = load("arm4"), np.linspace(0.0, 1.0, 101)
    v = 0.3 * np.ones(robot.nv)
    motion = Trajectory.of(robot, t, robot.home + t[:, None] * v).as_given
    command = TrajectoryFollower(robot, motion).command(0.5, State(0.5, robot.home, v))
    np.testing.assert_allclose(command.velocity, v, atol=1e-9)


def test_refusals():
    robot = load("arm4")
    with pytest.raises(ShapeError, match="does not fit"):
        TrajectoryFollower(load("ur5"), standing(robot))
