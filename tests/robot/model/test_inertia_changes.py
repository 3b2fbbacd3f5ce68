"""Payloads and errors of inertia against Pinocchio's own sums and the laws of statics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.robot.loading import load
from surefoot.robot.model.inertia_changes import carrying, with_inertia_error


@pytest.mark.parametrize(("name", "link"), [("panda", "panda_hand"), ("anymal", "base"), ("g1", "left_rubber_hand")])
def test_a_payload_adds_its_weight_to_the_joint_torques(name, link):
    """g(q) rises by −Jᵀ m g at the point."""
    robot, point, mass = load(name), np.array([0.1, -0.05, 0.2]), 2.5
    loaded = carrying(robot, link, mass, point)
    q = pin.randomConfiguration(robot.model, -np.ones(robot.nq), np.ones(robot.nq))
    data = robot.model.createData()
    J = pin.computeFrameJacobian(robot.model, data, q, robot.frame_id(link), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    arm = data.oMf[robot.frame_id(link)].rotation @ point
    Jp = J[:3] - pin.skew(arm) @ J[3:]
    weight = [pin.computeGeneralizedGravity(x.model, x.model.createData(), q) for x in (robot, loaded)]
    assert_allclose(weight[1] - weight[0], Jp.T @ np.array([0.0, 0.0, mass * 9.81]), atol=1e-9)
    assert_allclose(loaded.mass, robot.mass + mass)
    assert_allclose(loaded.tree.masses, [x.mass for x in loaded.model.inertias[1:]])


def test_errors_scale_the_mass_matrix():
    robot = load("panda")
    heavy = with_inertia_error(robot, mass=1.3)
    q = pin.neutral(robot.model)
    M = [np.triu(pin.crba(x.model, x.model.createData(), q)) - np.diag(x.tree.armature) for x in (robot, heavy)]
    assert_allclose(np.triu(M[1]), 1.3 * np.triu(M[0]), rtol=1e-12)


def test_a_shift_of_one_link_moves_the_centre_of_mass():
    robot = load("anymal")
    shifted = with_inertia_error(robot, com=(0.1, 0.0, 0.0), link="base")
    com = [pin.centerOfMass(x.model, x.model.createData(), np.array(x.home)) for x in (robot, shifted)]
    i = robot.body_of("base")
    assert_allclose(com[1] - com[0], [0.1 * robot.tree.masses[i] / robot.mass, 0.0, 0.0], atol=1e-12)


def test_nonsense_is_refused():
    robot = load("panda")
    with pytest.raises(ShapeError):
        carrying(robot, "panda_hand", -1.0)
    with pytest.raises(ShapeError):
        with_inertia_error(robot, mass=0.0)
    with pytest.raises(NotSupportedError):
        carrying(robot, "panda_link0", 1.0)
