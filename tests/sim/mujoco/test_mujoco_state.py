import mujoco
import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.motion import Command, State
from surefoot.motion.exchange import to_layout
from surefoot.robot import Coupling, Joint, Link, Robot
from surefoot.robot.loading import load
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.mujoco.model import StateMap, build_mujoco, q_v, qpos_qvel

from ..examples import every_joint, some_state


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


def geared(leader, follower, ratio, offset=0.0):
    links = [Link("a"), *(Link(n, "a", Joint(n, k), mass=1.0, inertia=np.eye(3)) for n, k in
                          (("first", leader), ("second", follower)))]  # fmt: skip
    return Robot.from_tree("geared", links, couplings=(Coupling("second", "first", ratio, offset),))


@pytest.mark.parametrize(("leader", "follower"), [("continuous",) * 2, ("revolute", "continuous"),
                                                 ("continuous", "revolute"), ("continuous", "prismatic")])  # fmt: skip
@pytest.mark.parametrize("ratio", [2.0, -3.0, 0.5, 0.1])
@pytest.mark.parametrize("angle", [2.0, -2.9, 3.5, 12.0])
def test_turns_of_coupled_joints_fit_the_coupling(leader, follower, ratio, angle):
    robot = geared(leader, follower, ratio, 0.4)
    model = build_mujoco(robot)
    q = robot.q_of({"first": angle, "second": 0.4 + ratio * angle})
    qpos, qvel = qpos_qvel(model, q, np.zeros(2))
    assert_allclose(qpos[1], 0.4 + ratio * qpos[0], atol=1e-9)
    assert_allclose(q_v(model, qpos, qvel)[0], q, atol=1e-9)


def test_two_geared_wheels_start_without_a_jerk():
    engine = MujocoEngine(geared("continuous", "continuous", 2.0))
    engine.reset(State.of(engine.robot, engine.robot.q_of({"first": 2.0, "second": 4.0})))
    assert_allclose(engine.data.qpos, [2.0, 4.0])
    state = engine.step(Command(torque=np.zeros(1)))
    assert_allclose(state.v, 0.0, atol=1e-9)


@pytest.mark.parametrize("robot", [every_joint(), load("biped"), load("anymal")], ids=lambda robot: robot.name)
def test_acceleration_is_the_rate_of_v(robot):
    """Along qvel(t) = qvel + qacc t, v(t) by `q_v` has the rate that `acceleration` says."""
    model = build_mujoco(robot)
    q, v = some_state(model, 4)
    qpos, qvel = qpos_qvel(model, q, v)
    qacc = np.random.default_rng(1).standard_normal(model.nv)

    def v_at(t):
        moved = qpos.copy()
        mujoco.mj_integratePos(model.mj, moved, qvel + 0.5 * t * qacc, t)
        return q_v(model, moved, qvel + t * qacc)[1]

    step = 1e-6
    wanted = (v_at(step) - v_at(-step)) / (2.0 * step)
    assert_allclose(StateMap(model).acceleration(qpos, qvel, qacc), wanted, atol=1e-7)
