"""Closed chains in MuJoCo: which equality, the same accelerations, and loops that stay closed."""

import mujoco
import numpy as np
import pytest

from surefoot.dynamics import crba, nonlinear_effects
from surefoot.dynamics.constraints.constraints import own_constraints
from surefoot.errors import NotSupportedError
from surefoot.robot import Joint, Link, Loop, Robot
from surefoot.robot.loading import load
from surefoot.sim.mujoco.bodies import equality_of
from surefoot.sim.mujoco.model import build_mujoco

MECHANISMS = ["four-bar", "four-bar:hinge", "crank", "delta"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_planar_and_point_loops_are_connections(name):
    robot = load(name)
    for loop in robot.loops:
        assert equality_of(robot, loop) == mujoco.mjtEq.mjEQ_CONNECT


def stiff(name):
    """The mechanism with equalities that are as hard as MuJoCo has them."""
    robot = load(name)
    model = build_mujoco(robot).mj
    model.eq_solref[:], model.eq_solimp[:] = [-1e6, -2e3], [0.9999, 0.9999, 0.001, 0.5, 2.0]
    model.opt.iterations, model.opt.tolerance = 500, 1e-14
    return robot, model


def kkt_acceleration(robot, q, v, share=1.0):
    """From M a = -h + Jᵀ λ, J a = -J̇ v, by least squares; with a share of J̇ v only, to see what it does."""
    ties, n = own_constraints(robot), robot.nv
    J, M = np.asarray(ties.jacobian(robot.tree, q)), crba(robot.tree, q)
    K = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    right = np.concatenate([-nonlinear_effects(robot.tree, q, v), -share * ties.bias(robot.tree, q, v)])
    return np.linalg.lstsq(K, right, rcond=1e-12)[0][:n]


@pytest.mark.parametrize("name", MECHANISMS)
def test_same_accelerations_from_rest(name):
    """MuJoCo's constraints are soft: a thousandth."""
    robot, model = stiff(name)
    data = mujoco.MjData(model)
    data.qpos[:] = robot.home
    mujoco.mj_forward(model, data)
    expected = kkt_acceleration(robot, np.array(robot.home), np.zeros(robot.nv))
    np.testing.assert_allclose(data.qacc, expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_same_accelerations_in_motion(name):
    """MuJoCo leaves J̇ v out and pulls the loop shut instead, which comes to the same a few milliseconds later."""
    robot, model = stiff(name)
    model.opt.timestep = 1e-4
    data = mujoco.MjData(model)
    data.qpos[:] = robot.home
    J = np.asarray(own_constraints(robot).jacobian(robot.tree, np.array(robot.home)))
    data.qvel[:] = 3.0 * np.linalg.svd(J)[2][-1]
    for _ in range(200):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    q, v = np.array(data.qpos), np.array(data.qvel)
    expected = kkt_acceleration(robot, q, v)
    tolerance = 5e-3 * np.abs(expected).max()
    np.testing.assert_allclose(data.qacc, expected, atol=tolerance)
    assert np.abs(kkt_acceleration(robot, q, v, 0.0) - expected).max() > 2.0 * tolerance


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_stay_closed(name):
    robot, model = stiff(name)
    data = mujoco.MjData(model)
    data.qpos[:] = robot.home
    for _ in range(100):
        mujoco.mj_step(model, data)
    assert np.abs(np.array(data.qpos) - robot.home).max() > 0.01, "it has not moved"
    assert np.abs(own_constraints(robot).residual(robot.tree, np.array(data.qpos))).max() < 1e-3


def pair(directions, kind="spherical", offset=0.0):
    links = [
        Link("one", None, Joint("j1", kind), 1.0, np.zeros(3), np.eye(3)),
        Link("two", None, Joint("j2", kind), 1.0, np.zeros(3), np.eye(3)),
    ]
    T = np.eye(4)
    T[1, 3] = offset
    return Robot.from_tree(
        "pair", links, "fixed", drives=(), loops=(Loop("tie", "one", "two", T, directions=directions),)
    )


def test_open_directions_that_can_move_are_refused():
    robot = pair((True, False, True, False, False, True))
    with pytest.raises(NotSupportedError, match="tie"):
        equality_of(robot, robot.loops[0])


def test_all_six_are_a_weld():
    robot = pair((True,) * 6)
    assert equality_of(robot, robot.loops[0]) == mujoco.mjtEq.mjEQ_WELD


def test_a_still_direction_that_is_open_is_not_closed():
    """Sliders along z leave y alone; a gap there must not be pulled shut."""
    x_and_z = (True, False, True, False, False, False)
    closed, apart = pair(x_and_z, "prismatic"), pair(x_and_z, "prismatic", 0.1)
    assert equality_of(closed, closed.loops[0]) == mujoco.mjtEq.mjEQ_CONNECT
    with pytest.raises(NotSupportedError):
        equality_of(apart, apart.loops[0])
