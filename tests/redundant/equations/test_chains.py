"""Chains against finite differences and against the single spinors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.redundant.equations.chains import biases, chains, tail_spinors
from surefoot.redundant.equations.constraints import dynamics_system, position_system, velocity_system
from surefoot.redundant.equations.state import (
    bars,
    coordinate_rate,
    crosses,
    displace,
    flat,
    matrices,
    normalise,
    of_flat,
    products,
    updates,
)
from surefoot.spatial import spinor
from tests.redundant.examples import generic_state, package_model

MODELS = ("cart-pole", "planar-biped", "two-link")


def test_arrays_of_spinors_are_the_single_ones() -> None:
    rng = np.random.default_rng(0)
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in rng.standard_normal((2, 5, 4)))
    turn = rng.standard_normal((5, 3))
    for i in range(5):
        np.testing.assert_allclose(products(a, b)[i], spinor.product(a[i], b[i]), atol=1e-15)
        np.testing.assert_allclose(matrices(a)[i], spinor.to_matrix(a[i]), atol=1e-15)
        np.testing.assert_allclose(bars(a)[i], spinor.bar(a[i]), atol=1e-15)
        np.testing.assert_allclose(updates(a, turn)[i], spinor.update(a[i], turn[i]), atol=1e-15)
    np.testing.assert_allclose(crosses(turn, turn[::-1]), np.cross(turn, turn[::-1]), atol=1e-15)


def moved(model, state, h):
    """The state a little later, with constant rates of all coordinates (to second order: midpoint of spinor rates)."""
    layout = model.layout
    rate = coordinate_rate(layout, state)
    vector = flat(state)
    middle = normalise(of_flat(state, vector + 0.5 * h * np.concatenate([rate, 0.0 * vector[len(rate) :]])))
    rate = coordinate_rate(layout, middle)
    return normalise(of_flat(state, vector + h * np.concatenate([rate, 0.0 * vector[len(rate) :]])))


@pytest.mark.parametrize("name", MODELS)
def test_velocity_rows_are_the_rates_of_the_tails(name: str) -> None:
    model, h = package_model(name), 1e-6
    state = generic_state(model, 1)
    layout = model.layout
    after, before = moved(model, state, h), moved(model, state, -h)
    speed = (chains(layout, after).tails - chains(layout, before).tails) / (2.0 * h)
    S = tail_spinors(layout, state)
    dS = (tail_spinors(layout, after) - tail_spinors(layout, before)) / (2.0 * h)
    turning = np.array([spinor.omega(a, b) for a, b in zip(S, dS, strict=True)])
    tails_turning = np.vstack([state.turning, np.zeros(3)])[layout.tail]
    tails_moving = np.vstack([state.velocities, np.zeros(3)])[layout.tail]
    wanted = [(turning - tails_turning)[:, layout.rotations], (speed - tails_moving)[:, layout.translations]]
    z = [state.turning[:, layout.rotations], state.velocities[:, layout.translations], state.rates]
    found = velocity_system(model, state).A @ np.concatenate([part.ravel() for part in z])
    np.testing.assert_allclose(found, np.concatenate([part.ravel() for part in wanted]), atol=2e-8)


@pytest.mark.parametrize("name", MODELS)
def test_biases_are_the_accelerations_of_the_tails(name: str) -> None:
    """g and h: the rates of the tails' velocities while all rates stay as they are (erratum: + h)."""
    model, h = package_model(name), 1e-5
    state = generic_state(model, 2)
    layout = model.layout
    places = slice(model.layout.hinges * len(layout.rotations), None)

    def tails(at):
        z = [at.turning[:, layout.rotations], at.velocities[:, layout.translations], at.rates]
        rows = velocity_system(model, at).A @ np.concatenate([part.ravel() for part in z])
        return rows[: places.start], rows[places]

    after, before = tails(moved(model, state, h)), tails(moved(model, state, -h))
    g, bias = biases(layout, state, chains(layout, state))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), g[:, layout.rotations].ravel(), atol=2e-7)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), bias[:, layout.translations].ravel(), atol=2e-7)


@pytest.mark.parametrize("name", MODELS)
def test_position_rows_are_the_derivative_of_the_residual(name: str) -> None:
    model, h = package_model(name), 1e-6
    state = generic_state(model, 3)
    layout, rng = model.layout, np.random.default_rng(4)
    A = position_system(model, state).A
    turn, move = np.zeros((2, layout.bodies, 3))
    turn[:, layout.rotations] = rng.standard_normal((layout.bodies, len(layout.rotations)))
    move[:, layout.translations] = rng.standard_normal((layout.bodies, len(layout.translations)))
    free = rng.standard_normal(len(layout.freedoms.names))
    after = position_system(model, displace(layout, state, h * turn, h * move, h * free)).b
    before = position_system(model, displace(layout, state, -h * turn, -h * move, -h * free)).b
    z = np.concatenate([turn[:, layout.rotations].ravel(), move[:, layout.translations].ravel(), free])
    np.testing.assert_allclose((after - before) / (2 * h), A @ z, atol=1e-8)


def test_the_sign_of_a_spinor_does_not_matter() -> None:
    model = package_model("two-link")
    state = generic_state(model, 5)
    other = replace(state, spinors=-state.spinors)
    first, second = (np.abs(position_system(model, s).b) for s in (state, other))
    np.testing.assert_allclose(first, second, atol=1e-14)
    np.testing.assert_allclose(dynamics_system(model, state).A, dynamics_system(model, other).A, atol=1e-14)
