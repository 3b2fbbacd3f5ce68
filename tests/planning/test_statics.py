"""Statics against Newton, Euler and Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError
from surefoot.motion import World
from surefoot.planning import Pace, StanceModel, StancePlanner, timed_plan
from surefoot.planning.statics import shared_forces, static_torques


def test_forces_balance_the_load_and_feet_without_share_carry_nothing(rng: np.random.Generator) -> None:
    feet = rng.normal(size=(20, 5, 3))
    com, shares = feet.mean(axis=1), rng.uniform(0.1, 1.0, size=(20, 5))
    shares[:, 2] = 0.0
    forces = shared_forces(feet, com, shares, np.array([0.0, 0.0, 30.0]))
    np.testing.assert_allclose(forces.sum(axis=1), np.tile([0.0, 0.0, 30.0], (20, 1)), atol=1e-9)
    np.testing.assert_allclose(np.cross(feet - com[:, None], forces).sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_array_equal(forces[:, 2], 0.0)


@pytest.mark.parametrize("name", ["hexapod", pytest.param("anymal", marks=pytest.mark.slow)])
def test_torques_hold_the_robot_still(name: str) -> None:
    """With the torques and the forces, the acceleration by Pinocchio's ABA is zero."""
    robot = sf.load(name)
    model = StanceModel(robot, World())
    q = np.array(robot.home)
    feet = model.chart.home[6:].reshape(-1, 3) - [0.0, 0.0, 1.0] * model.radii[:, None]
    shares = np.ones(len(feet))
    tau = static_torques(model, q[None], feet[None], shares[None])[0][0]
    data = robot.model.createData()
    com = pin.centerOfMass(robot.model, data, q)
    forces = shared_forces(feet[None], np.array(com)[None], shares[None], -robot.mass * model.world.gravity)[0]
    pin.computeJointJacobians(robot.model, data, q)
    pin.framesForwardKinematics(robot.model, data, q)
    total = np.zeros(robot.nv)
    total[robot.driven] = tau
    for k, contact in enumerate(model.chart.names):
        frame = robot.model.getFrameId(robot.contacts[contact].frame)
        J = pin.getFrameJacobian(robot.model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        moment = np.cross(feet[k] - data.oMf[frame].translation, forces[k])
        total += J.T @ np.r_[forces[k], moment]
    np.testing.assert_allclose(pin.aba(robot.model, data, q, np.zeros(robot.nv), total), 0.0, atol=1e-6)


def test_a_foot_in_the_air_carries_nothing_in_a_timed_plan_and_limits_are_kept() -> None:
    robot = sf.load("hexapod")
    plan = StancePlanner(robot, World()).plan(np.array(robot.home), (0.0, 0.06, 0.0), seed=0)
    timed = timed_plan(plan)
    motion = timed.trajectory
    assert motion.tau is not None
    weight = robot.mass * 9.81
    for leg, name in enumerate(plan.graph.model.chart.names):
        joints = [k for k, drive in enumerate(robot.drives) if drive.joint.startswith(name)]
        swing = np.abs(motion.tau[timed.swings == leg][:, joints])
        if len(swing):
            assert swing.max() < 0.02 * weight  # its own weight alone
    rates = np.abs(np.diff(motion.q[:, 7:], axis=0)).max(axis=0) / 0.01
    assert (rates <= 1.01 * robot.limits.velocity[6:]).all()


def test_torques_limit_the_pace_on_request() -> None:
    robot = sf.load("anymal")
    plan = StancePlanner(robot, World()).plan(np.array(robot.home), (0.0, 0.05, 0.0), seed=0)
    free, bound = (timed_plan(plan, Pace(1.0, 400.0, 0.01, torque=share)).trajectory for share in (None, 0.75))
    assert bound.end > 1.01 * free.end
    with pytest.raises(NotSupportedError, match="torque of"):
        timed_plan(plan, Pace(torque=0.05))
