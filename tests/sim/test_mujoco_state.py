import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.motion import to_layout
from surefoot.robot.load import load
from surefoot.sim import build_mujoco, q_v, qpos_qvel

from .examples import every_joint, some_state


@pytest.mark.parametrize("name", ["g1", "human", "tiago", "romeo", "baxter"])
def test_there_and_back(name):
    model = build_mujoco(load(name))
    for seed in range(3):
        q, v = some_state(model, seed)
        back = q_v(model, *qpos_qvel(model, q, v))
        assert_allclose(back[0], q, atol=1e-12)
        assert_allclose(back[1], v, atol=1e-12)


def test_there_and_back_with_every_kind_of_joint():
    model = build_mujoco(every_joint())
    q, v = some_state(model, 0)
    back = q_v(model, *qpos_qvel(model, q, v))
    assert_allclose(back[1], v, atol=1e-12)
    assert_allclose(np.abs(back[0]), np.abs(q), atol=1e-12)


def test_without_locked_joints_it_is_the_exchange_layout():
    for robot in (load("human"), load("tiago"), load("panda", mimic="reduce"), every_joint()):
        model = build_mujoco(robot)
        assert model.locked == ()
        q, v = some_state(model, 1)
        wanted = to_layout(robot, "mujoco", q, v)
        qpos, qvel = qpos_qvel(model, q, v)
        assert_allclose(qpos, wanted["qpos"], atol=1e-15)
        assert_allclose(qvel, wanted["qvel"], atol=1e-15)


def test_locked_joints_come_back_at_home():
    robot = load("romeo")
    model = build_mujoco(robot)
    q = np.array(robot.home)
    row = robot.tree.q_index[robot.joint_index("LThumb1")]
    q[row] += 0.3
    back, _ = q_v(model, *qpos_qvel(model, q, np.zeros(robot.nv)))
    assert back[row] == robot.home[row]
