import numpy as np
import pytest

from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.dynamics.inverse.operator import (
    Weight,
    idop,
    inverse_operator,
    relaxed_all,
    relaxed_forces,
    relaxed_torques,
    weight_matrix,
)
from surefoot.errors import ShapeError
from tests.dynamics.driven_examples import SIZES, case, equations_of, random_equations
from tests.dynamics.examples import assert_same


def _case(size, seed=0):
    equations = random_equations(*size, seed=seed)
    desired = np.random.default_rng(seed + 10).standard_normal(size[1])
    mobility = equations.J @ np.linalg.solve(equations.M, equations.J.T)
    return equations, desired, 0.01 * mobility


def _balance(equations, found):
    """M a + h - Sᵀ tau - Jᵀ λ."""
    return equations.M @ found.a + equations.h - equations.forces(found.tau) - equations.J.T @ found.multipliers


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_torques(size):
    """(5.31) with the physical sign is the relaxation of accelerations with K⁻¹."""
    equations, desired, _ = _case(size)
    K = weight_matrix(equations, Weight())
    found, other = relaxed_torques(equations, desired, np.linalg.inv(K)), inverse_operator(equations, desired)
    for x, y in zip(found, other, strict=True):
        assert_same(x, y, 1e-8)
    assert_same(found.a[equations.driven] + np.linalg.solve(K, found.tau), desired, 1e-9)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_forces(size):
    equations, desired, softness = _case(size, 1)
    found = relaxed_forces(equations, desired, softness)
    assert_same(found.a[equations.driven], desired)
    assert_same(_balance(equations, found), np.zeros(size[0]), 1e-9)
    slip = equations.J @ found.a + equations.drift
    assert_same(slip, -softness @ found.multipliers, 1e-9)
    assert found.multipliers @ slip < 0.0  # gives way before the force, not towards it
    assert np.abs(slip).max() > 1e-6  # contacts are not met: (5.29) is no forward dynamics


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_all(size):
    equations, desired, contacts = _case(size, 2)
    softness = 0.01 * np.linalg.inv(weight_matrix(equations, Weight()))
    found = relaxed_all(equations, desired, softness, contacts)
    assert_same(_balance(equations, found), np.zeros(size[0]), 1e-9)
    assert_same(equations.J @ found.a + equations.drift, -contacts @ found.multipliers, 1e-9)
    assert_same(found.a[equations.driven] + softness @ found.tau, desired, 1e-9)
    tighter = relaxed_all(equations, desired, softness, 1e-6 * contacts)
    hard = inverse_operator(equations, desired, np.linalg.inv(softness))
    assert_same(tighter.a, hard.a, 1e-3)


def test_the_printed_sign_yields_towards_the_force():
    """What not to get: (5.29) as printed says J a + drift = +K λ."""
    equations, desired, softness = _case((12, 8, 3), 3)
    M, h, J, drift, driven = equations
    S, m, nu = np.eye(12)[driven], 3, 8
    rows = [[M, J.T, S.T], [J, softness, np.zeros((m, nu))], [S, np.zeros((nu, m)), np.zeros((nu, nu))]]
    printed = np.linalg.solve(np.block(rows), np.concatenate([-h, -drift, desired]))
    a, multipliers = printed[:12], -printed[12:15]
    assert multipliers @ (J @ a + drift) > 0.0
    assert np.abs(a - relaxed_forces(equations, desired, softness).a).max() > 1e-3


def test_robot():
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    desired = np.random.default_rng(4).standard_normal(robot.nu)
    results = {kind: idop(robot, q, v, desired, constraints, relaxation=kind) for kind in
               ("acceleration", "torque", "force", "all")}  # fmt: skip
    assert_same(results["torque"].a, results["acceleration"].a, 1e-8)
    assert_same(fdop(robot, q, v, results["torque"].tau, constraints).a, results["torque"].a, 1e-8)
    slips = {kind: np.abs(equations.J @ found.a + equations.drift).max() for kind, found in results.items()}
    misses = {kind: np.abs(found.a[robot.driven] - desired).max() for kind, found in results.items()}
    assert slips["acceleration"] < 1e-9
    assert slips["force"] > 1e-3
    assert slips["all"] > 1e-6
    assert misses["force"] < 1e-12
    soft = idop(robot, q, v, desired, constraints, relaxation="force", softness=1e-6)
    wrong = fdop(robot, q, v, results["force"].tau, constraints).a
    assert np.abs(wrong - results["force"].a).max() > 1e-3  # Koch: forward dynamics is not well approximated
    assert np.isfinite(soft.a).all()
    with pytest.raises(ShapeError, match="softness"):
        idop(robot, q, v, desired, constraints, relaxation="all", softness=0.0)
