"""Every quantity of this room against Pinocchio, for every robot that can be loaded."""

import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import (
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    crba,
    forward_dynamics,
    generalized_gravity,
    inertial_parameters,
    joint_torque_regressor,
    kinetic_energy,
    minverse,
    nonlinear_effects,
    potential_energy,
    rnea,
)
from surefoot.dynamics.tree import (
    assembled_equations,
    kinetic_energy_regressor,
    potential_energy_regressor,
    singular_joints,
)
from surefoot.errors import ModelError
from surefoot.robot.loading import load
from tests.dynamics.examples import armed, assert_same, state, two_roots, wrenches
from tests.whole_zoo import WHOLE_ZOO

SINGULAR = {"romeo", "bravo7_gripper", "falcon_bravo7_gripper", "bluevolta_bravo7_gripper"}  # massless fingers
EPS = np.finfo(float).eps


def full(M: np.ndarray) -> np.ndarray:
    return np.triu(M) + np.triu(M, 1).T


def check_inverse_and_mass(robot, q, v, a, seed) -> np.ndarray:
    """RNEA with wrenches on all bodies, mass matrix; the mass matrix is returned."""
    model, data, F = robot.model, robot.model.createData(), wrenches(robot, seed)
    theirs = [pin.Force.Zero(), *(pin.Force(f) for f in F)]
    assert_same(rnea(robot.tree, q, v, a, F), pin.rnea(model, data, q, v, a, theirs))
    M = full(pin.crba(model, data, q))
    ours = crba(robot.tree, q)
    assert_same(ours, M)
    assert (ours == ours.T).all()
    return M


def check_forward(robot, q, v, tau, seed, M) -> None:
    """ABA with wrenches, and the inverse of the mass matrix."""
    model, data, F = robot.model, robot.model.createData(), wrenches(robot, seed)
    theirs = [pin.Force.Zero(), *(pin.Force(f) for f in F)]
    tolerance = 20.0 * EPS * np.linalg.cond(M)
    assert_same(forward_dynamics(robot.tree, q, v, tau, F), pin.aba(model, data, q, v, tau, theirs), tolerance)
    assert_same(minverse(robot.tree, q), full(pin.computeMinverse(model, data, q)), tolerance)


def check_momentum_and_energy(robot, q, v, M) -> None:
    model, data, tree = robot.model, robot.model.createData(), robot.tree
    pin.dccrba(model, data, q, v)
    assert_same(centroidal_momentum_matrix(tree, q), data.Ag.reshape(6, -1))
    assert_same(centroidal_momentum(tree, q, v), data.hg.vector)
    assert_same(centroidal_momentum_bias(tree, q, v), data.dAg.reshape(6, -1) @ v)
    assert_same(kinetic_energy(tree, q, v), 0.5 * v @ M @ v)
    if robot.name != "armed":  # Pinocchio leaves out the armature of skew hinges here
        assert_same(kinetic_energy(tree, q, v), pin.computeKineticEnergy(model, data, q, v))
    assert_same(potential_energy(tree, q), pin.computePotentialEnergy(model, data, q))


def check_once(robot, q, v, a) -> None:
    """What is dear to compute, or follows from the rest."""
    model, data, tree = robot.model, robot.model.createData(), robot.tree
    assert_same(generalized_gravity(tree, q), pin.computeGeneralizedGravity(model, data, q))
    assert_same(nonlinear_effects(tree, q, v), pin.nle(model, data, q, v))
    M, h = assembled_equations(tree, q, v)
    assert_same(M, full(pin.crba(model, data, q)))
    assert_same(h, pin.nle(model, data, q, v))
    pin.ccrba(model, data, q, v)
    assert_same(centroidal_inertia(tree, q), data.Ig.matrix())
    theirs = pin.computeJointTorqueRegressor(model, data, q, v, a).reshape(robot.nv, -1)
    assert_same(joint_torque_regressor(tree, q, v, a), theirs)
    assert_same(kinetic_energy_regressor(tree, q, v), pin.computeKineticEnergyRegressor(model, data, q, v))
    assert_same(potential_energy_regressor(tree, q), pin.computePotentialEnergyRegressor(model, data, q))
    theirs = [inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]]
    assert_same(inertial_parameters(tree), np.concatenate(theirs))


def check(robot, seeds) -> None:
    for seed in seeds:
        q, v, a = state(robot, seed)
        M = check_inverse_and_mass(robot, q, v, a, seed)
        check_momentum_and_energy(robot, q, v, M)
        if robot.name in SINGULAR:
            assert np.linalg.cond(M) > 1e14
            with pytest.raises(ModelError, match="singular"):
                forward_dynamics(robot.tree, q, v, a)
        else:
            check_forward(robot, q, v, a, seed, M)
    check_once(robot, *state(robot, len(seeds)))


@pytest.mark.parametrize("name", WHOLE_ZOO)
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 5), marks=pytest.mark.slow)], ids=["few states", "more states"]
)
def test_whole_zoo(name, seeds):
    robot = load(name)
    assert bool(singular_joints(robot.tree)) == (name in SINGULAR)
    check(robot, seeds)


@pytest.mark.parametrize("robot", [armed(), armed("planar"), armed("fixed"), two_roots()], ids=lambda robot: robot.name)
def test_all_joint_kinds_with_armature(robot):
    check(robot, range(5))
