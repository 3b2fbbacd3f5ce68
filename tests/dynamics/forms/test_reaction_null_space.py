from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from surefoot.dynamics import base_coupling, centroidal_inertia, centroidal_momentum, crba
from surefoot.dynamics.forms import (
    angular_reaction_null_space,
    centroidal_transform,
    generalized_jacobian,
    mixed_transform,
    reaction_null_space,
)
from surefoot.errors import NotSupportedError
from surefoot.kinematics import com_velocity, frame_jacobian, frame_placement, frame_velocity
from surefoot.robot import Joint, Link, Robot
from surefoot.spatial.twist import shift_matrix
from tests.dynamics.examples import armed, assert_same, robot_named, state, traced, two_roots
from tests.kinematics.examples import some_frame
from tests.sim.examples import solid, turned


@lru_cache(maxsize=1)
def eight_joints() -> Robot:
    """A floating base with two chains of four hinges."""
    rng = np.random.default_rng(21)
    links = [Link("base", **solid(rng, 4.0))]
    for k in range(8):
        joint = Joint(f"j{k}", "revolute", turned(rng), axis=rng.standard_normal(3))
        links.append(Link(f"l{k}", "base" if k % 4 == 0 else f"l{k - 1}", joint, **solid(rng)))
    return Robot.from_tree("eight", links, "floating", drives=())


def test_dimensions_with_eight_joints():
    """Nenchev & Konno 2019, section 4.7: n - 6 and n - 3."""
    robot = eight_joints()
    q, _, _ = state(robot, 1)
    assert reaction_null_space(robot.tree, q).shape == (8, 2)
    assert angular_reaction_null_space(robot.tree, q).shape == (8, 5)


@pytest.mark.parametrize("n", [11, 12, 13, 15])
def test_both_ends_stay_fixed_only_with_more_than_twelve_joints(n):
    """Nenchev & Konno 2019, section 4.7.3: N(generalised Jacobian) and N(H_BB) meet for n > 12 only."""
    rng = np.random.default_rng(n)
    links = [Link("base", **solid(rng, 4.0))]
    for k in range(n):
        joint = Joint(f"j{k}", "revolute", turned(rng), axis=rng.standard_normal(3))
        links.append(Link(f"l{k}", "base" if k == 0 else f"l{k - 1}", joint, **solid(rng)))
    robot = Robot.from_tree("chain", links, "floating", drives=())
    q, _, _ = state(robot, 4)
    frame = some_frame(robot, 5)
    tip, coupling = generalized_jacobian(robot.tree, frame, q), crba(robot.tree, q)[:6, 6:]
    held = n - np.linalg.matrix_rank(tip)
    assert held == n - 6  # the tip rests, the base turns: the inversion task
    assert n - np.linalg.matrix_rank(np.vstack([tip, coupling])) == max(0, n - 12)
    motion = np.linalg.svd(tip)[2][-1]
    base = -np.linalg.solve(crba(robot.tree, q)[:6, :6], coupling @ motion)
    assert np.abs(base).max() > 1e-3
    assert_same(frame_velocity(robot.tree, frame, q, np.concatenate([base, motion])), np.zeros(6))


@pytest.mark.parametrize("robot", [eight_joints(), armed(), robot_named("g1")], ids=lambda robot: robot.name)
def test_motions_in_the_null_space_leave_the_base_alone(robot):
    q, _, _ = state(robot, 2)
    basis, angular = reaction_null_space(robot.tree, q), angular_reaction_null_space(robot.tree, q)
    M = crba(robot.tree, q)
    assert_same(M[:6, 6:] @ basis, np.zeros((6, basis.shape[1])))
    assert_same(basis.T @ basis, np.eye(basis.shape[1]))
    n = robot.nv - 6
    assert basis.shape[1] == n - 6
    assert angular.shape[1] == n - 3
    still = np.concatenate([np.zeros(6), angular @ np.ones(n - 3)])
    assert_same(centroidal_momentum(robot.tree, q, still)[3:], np.zeros(3))
    assert_same(angular @ (angular.T @ basis), basis)  # N(H_BB) lies in N(H_C)


def test_lost_rank_widens_the_null_space():
    """With all joints on one axis through the base, only one combination can turn it."""
    robot = Robot.from_tree(
        "spin",
        [Link("base", mass=3.0, inertia=np.eye(3))]
        + [
            Link(f"l{k}", "base", Joint(f"j{k}", "revolute", axis=(0.0, 0.0, 1.0)), mass=1.0, inertia=np.eye(3))
            for k in range(3)
        ],
        "floating",
        drives=(),
    )
    assert reaction_null_space(robot.tree, np.array(robot.neutral)).shape == (3, 2)


@pytest.mark.parametrize("robot", [eight_joints(), armed(), robot_named("g1")], ids=lambda robot: robot.name)
def test_centroidal_form_is_block_diagonal(robot):
    q, v, _ = state(robot, 3)
    T = centroidal_transform(robot.tree, q)
    M, inverse = crba(robot.tree, q), np.linalg.inv(T)
    found, locked, coupling = inverse.T @ M @ inverse, centroidal_inertia(robot.tree, q), base_coupling(robot.tree, q)
    expected = np.zeros_like(found)
    expected[:6, :6] = locked
    expected[6:, 6:] = M[6:, 6:] - coupling.H_BB.T @ np.linalg.solve(coupling.M_B, coupling.H_BB)
    assert_same(found, expected)
    mean = T @ v
    assert_same(mean[:3], com_velocity(robot.tree, q, v))
    assert_same(locked[3:, 3:] @ mean[3:6], centroidal_momentum(robot.tree, q, v)[3:])
    assert_same(mean[6:], v[6:])


def test_mixed_form():
    """diag(m E, [[I_C, H_C], [H_Cᵀ, M_θ - m J_CBᵀ J_CB]]); erratum of (4.135): a congruence."""
    robot = eight_joints()
    q, v, _ = state(robot, 4)
    T, coupling = mixed_transform(robot.tree, q), base_coupling(robot.tree, q)
    M, inverse = crba(robot.tree, q), np.linalg.inv(T)
    found = inverse.T @ M @ inverse
    assert_same(found[:3], np.hstack([robot.mass * np.eye(3), np.zeros((3, robot.nv - 3))]))
    assert_same(found[3:6, 3:6], coupling.I_C)
    assert_same(found[3:6, 6:], coupling.H_C)
    assert_same(found[6:, 6:], M[6:, 6:] - robot.mass * coupling.J_CB.T @ coupling.J_CB)
    assert_same((T @ v)[3:6], coupling.R @ v[3:6])


def test_generalized_jacobian():
    """At zero momentum it gives the twist of the frame; both printed forms agree."""
    robot = eight_joints()
    q, v, _ = state(robot, 5)
    tree, frame = robot.tree, some_frame(robot, 5)
    found, coupling = generalized_jacobian(tree, frame, q), base_coupling(tree, q)
    base = -np.linalg.solve(crba(tree, q)[:6, :6], crba(tree, q)[:6, 6:] @ v[6:])
    resting = np.concatenate([base, v[6:]])
    assert_same(centroidal_momentum(tree, q, resting), np.zeros(6))
    assert_same(found @ v[6:], frame_velocity(tree, frame, q, resting, "local_world_aligned"))
    arm = frame_placement(tree, frame, q)[:3, 3] - q[:3] - coupling.offset
    other = frame_jacobian(tree, frame, q)[:, 6:] - shift_matrix(arm) @ np.vstack([coupling.J_CB, coupling.J_omega])
    assert_same(found, other)
    assert_same(traced(lambda q: generalized_jacobian(tree, frame, q), q), found)


def test_a_heavy_base_stands_still():
    robot = eight_joints()
    q, _, _ = state(robot, 6)
    tree, frame = robot.tree, some_frame(robot, 6)
    heavy = replace(
        tree,
        masses=tree.masses * np.r_[1e9, np.ones(8)],
        inertias=tree.inertias * np.r_[1e9, np.ones(8)][:, None, None],
    )
    assert_same(generalized_jacobian(heavy, frame, q), frame_jacobian(tree, frame, q)[:, 6:], 1e-7)
    assert np.abs(generalized_jacobian(tree, frame, q) - frame_jacobian(tree, frame, q)[:, 6:]).max() > 1e-2


def test_a_robot_that_does_not_float_is_refused():
    robot = two_roots()
    with pytest.raises(NotSupportedError):
        reaction_null_space(robot.tree, state(robot, 7)[0])
