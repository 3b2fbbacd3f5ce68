"""Springs of joints and tendons in both engines, against MuJoCo's simulation of the same file."""

import mujoco
import numpy as np
import pytest

from surefoot.motion import Command, State
from surefoot.robot import load
from surefoot.sim.mujoco import MujocoEngine
from surefoot.sim.native.engine import NativeEngine
from tests.robot.menagerie_like import write_all

TIME = 0.4


def reference(path, q, v):
    """Positions after a while, from MuJoCo in small steps."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, v
    mujoco.mj_step(model, data, round(TIME / 1e-4))
    return data.qpos.copy()


@pytest.mark.parametrize("engine", [MujocoEngine, NativeEngine])
@pytest.mark.parametrize("feature", ["springs", "tendons"])
def test_springs_move_the_robot_as_in_mujoco(tmp_path, feature, engine):
    path = write_all(tmp_path)[feature]
    robot = load(path)
    q, v = np.array([0.3, -0.2]), np.array([1.0, -0.5])
    run = engine(robot, None, dt=2e-4)
    run.reset(State(0.0, q, v))
    for _ in range(round(TIME / run.dt)):
        run.step(Command(torque=np.zeros(robot.nu)))
    np.testing.assert_allclose(run.state.q, reference(path, q, v), atol=2e-3)
    found = run.balance  # implicit springs lose some energy by themselves, of first order in the step
    assert abs(found.energy_residual) < 0.01 * abs(found.damping) + 1e-4
