from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import (
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    crba,
    forward_dynamics,
    kinetic_energy,
)
from surefoot.errors import ModelError, NotSupportedError
from surefoot.kinematics import body_placements, com, com_jacobian
from surefoot.robot import Link, Robot
from surefoot.spatial.so3 import skew
from surefoot.spatial.twist import rotation_matrix
from tests.dynamics.examples import (
    armed,
    assert_same,
    followers,
    full_configuration,
    moved,
    robot_named,
    state,
    traced,
    two_roots,
    widened,
    wrenches,
)

ROBOTS = [armed(), armed("planar"), two_roots(), followers("reduce")]
by_name = {"ids": lambda robot: f"{robot.name} {robot.base}"}


def body_motions(robot, q, v):
    """Centre, its velocity, ω and the inertia about the centre, in world axes, of every body; by Pinocchio."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v)
    for i in range(1, robot.model.njoints):
        T, I = data.oMi[i], robot.model.inertias[i]  # noqa: E741
        arm = T.rotation @ I.lever
        twist = pin.SE3(T.rotation, np.zeros(3)).act(data.v[i])
        yield (
            I.mass, T.translation + arm, twist.linear + np.cross(twist.angular, arm), twist.angular,
            T.rotation @ I.inertia @ T.rotation.T,
        )  # fmt: skip


@pytest.mark.parametrize("robot", [armed(), two_roots()], **by_name)
def test_sums_over_the_bodies(robot):
    """Errata of Nenchev & Konno 2019: l_C needs Σ m_i r_iC × v_i (4.71), I_C is Σ (I_i - m_i [r_iC×]²) (4.73)."""
    q, v, _ = state(robot, 1)
    centre, bodies = com(robot.tree, q), list(body_motions(robot, q, v))
    linear = sum(m * rate for m, _, rate, _, _ in bodies)
    angular = sum(turning @ w + m * np.cross(r - centre, rate) for m, r, rate, w, turning in bodies)
    locked = sum(turning - m * skew(r - centre) @ skew(r - centre) for m, r, _, _, turning in bodies)
    assert_same(centroidal_momentum(robot.tree, q, v), [*linear, *angular])
    assert_same(centroidal_inertia(robot.tree, q)[3:, 3:], locked)
    assert_same(centroidal_inertia(robot.tree, q)[:3, :3], robot.mass * np.eye(3))


@pytest.mark.parametrize("robot", ROBOTS, **by_name)
def test_matrix_and_its_rate(robot):
    """A v is the momentum; its change along a motion with constant v is the bias."""
    q, v, _ = state(robot, 2)
    tree, step = robot.tree, 1e-6
    assert_same(centroidal_momentum_matrix(tree, q) @ v, centroidal_momentum(tree, q, v))
    assert_same(centroidal_momentum_matrix(tree, q)[:3], robot.mass * com_jacobian(tree, q))
    if (tree.mimic_source < 0).all():
        ahead, behind = (centroidal_momentum(tree, moved(robot, q, v, s), v) for s in (step, -step))
        assert_same(centroidal_momentum_bias(tree, q, v), (ahead - behind) / (2.0 * step), 1e-8)


def test_followers_project():
    robot, full = followers("reduce"), followers("coupling")
    q, v, _ = state(robot, 3)
    G, q_full = widened(robot, full), full_configuration(robot, full, q)
    assert_same(centroidal_momentum_matrix(robot.tree, q), centroidal_momentum_matrix(full.tree, q_full) @ G)
    assert_same(centroidal_momentum_bias(robot.tree, q, v), centroidal_momentum_bias(full.tree, q_full, G @ v))


def test_traces():
    for robot in (armed(), two_roots()):
        q, v, _ = state(robot, 4)
        tree = robot.tree
        assert_same(traced(lambda q, t=tree: centroidal_momentum_matrix(t, q), q), centroidal_momentum_matrix(tree, q))
        assert_same(traced(lambda *x, t=tree: centroidal_momentum(t, *x), q, v), centroidal_momentum(tree, q, v))
        found = traced(lambda *x, t=tree: centroidal_momentum_bias(t, *x), q, v)
        assert_same(found, centroidal_momentum_bias(tree, q, v))
        assert_same(traced(lambda q, t=tree: centroidal_inertia(t, q), q), centroidal_inertia(tree, q))


def test_does_not_depend_on_where_the_robot_is():
    robot = robot_named("g1")
    q, v, _ = state(robot, 5)
    far = q.copy()
    far[:3] += 1e6
    assert (centroidal_momentum_matrix(robot.tree, q) == centroidal_momentum_matrix(robot.tree, far)).all()
    assert (centroidal_momentum_bias(robot.tree, q, v) == centroidal_momentum_bias(robot.tree, far, v)).all()


def test_external_wrenches_alone_change_the_momentum():
    """dL/dt is the net external wrench about the centre of mass, whatever the joints do."""
    robot = armed()
    q, v, tau = state(robot, 6)
    tau[:6] = 0.0
    tree, F = robot.tree, wrenches(robot, 6)
    a = forward_dynamics(tree, q, v, tau, F)
    rate = centroidal_momentum_matrix(tree, q) @ a + centroidal_momentum_bias(tree, q, v)
    net = np.concatenate([robot.mass * tree.gravity, np.zeros(3)])
    for (R, p), f in zip(body_placements(tree, q), F, strict=True):
        force = R @ f[:3]
        net += np.concatenate([force, R @ f[3:] + np.cross(p - com(tree, q), force)])
    assert_same(rate, net, 1e-10)


@pytest.mark.parametrize("robot", [armed(), robot_named("g1")], **by_name)
def test_coupling_of_base_and_joints(robot):
    """[[M_B, H_BB], [H_BBᵀ, M_θ]] is the mass matrix with the base twist in world axes; l_C = I_C ω_B + H_C θ'."""
    q, v, _ = state(robot, 7)
    tree = robot.tree
    coupling = base_coupling(tree, q)
    turn = rotation_matrix(coupling.R)
    M = crba(tree, q)
    assert_same(coupling.M_B, turn @ M[:6, :6] @ turn.T)
    assert_same(coupling.H_BB, turn @ M[:6, 6:])
    V_B, rates = turn @ v[:6], v[6:]
    momentum = centroidal_momentum(tree, q, v)
    assert_same(coupling.I_C @ V_B[3:] + coupling.H_C @ rates, momentum[3:])
    assert_same(V_B[:3] + np.cross(V_B[3:], coupling.offset) + coupling.J_CB @ rates, momentum[:3] / robot.mass)
    assert_same(coupling.I_C @ coupling.J_omega, coupling.H_C)
    energy = V_B @ coupling.M_B @ V_B + 2.0 * V_B @ coupling.H_BB @ rates + rates @ M[6:, 6:] @ rates
    assert_same(kinetic_energy(tree, q, v), 0.5 * energy)
    assert_same(com(tree, q), q[:3] + coupling.offset)


def test_coupling_traces():
    robot = armed()
    q, _, _ = state(robot, 8)
    found = traced(lambda q: base_coupling(robot.tree, q).H_BB, q)
    assert_same(found, base_coupling(robot.tree, q).H_BB)
    assert_same(traced(lambda q: base_coupling(robot.tree, q).J_omega, q), base_coupling(robot.tree, q).J_omega)


def test_refusals():
    robot = two_roots()
    with pytest.raises(NotSupportedError, match="floating robot"):
        base_coupling(robot.tree, state(robot, 9)[0])
    ghost = Robot.from_tree("ghost", [Link("a", mass=1.0, inertia=np.eye(3))], "floating")
    weightless = replace(ghost.tree, masses=np.zeros(1))
    with pytest.raises(ModelError, match="no centre of mass"):
        centroidal_momentum_matrix(weightless, np.array(ghost.neutral))
