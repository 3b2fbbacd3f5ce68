"""Sizes, symmetry and tracing of the constraint matrices."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from surefoot import ops
from surefoot.redundant import State, dynamics_system, position_system, velocity_system
from tests.redundant.examples import generic_state, package_model


def test_connectivity_of_the_examples() -> None:
    np.testing.assert_array_equal(package_model("cart-pole").connectivity, [[-1, 1], [0, -1]])
    np.testing.assert_array_equal(package_model("two-link").connectivity, [[-1, 1, -1, 0], [0, -1, 0, -1]])


def test_sizes_of_the_biped() -> None:
    """Busenhart 1994, section 6.2 and appendix G: 55 unknowns in 56 and 42 rows, 107 in 97."""
    model = package_model("planar-biped")
    state = generic_state(model, 0)
    assert position_system(model, state).A.shape == (56, 55)
    assert velocity_system(model, state).A.shape == (42, 55)
    assert dynamics_system(model, state).A.shape == (97, 107)
    assert model.layout.masses.sum() == pytest.approx(87.6)


@pytest.mark.parametrize("name", ["cart-pole", "planar-biped", "two-link"])
def test_forces_act_where_motion_is_constrained(name: str) -> None:
    """A_dyn = [[0, M, C, 0], [0, Cᵀ, 0, J], [-B, 0, Jᵀ, 0]]: the blocks are transposes (virtual work)."""
    model = package_model(name)
    A, at, layout = dynamics_system(model, generic_state(model, 1)).A, model.layout.dynamics_places, model.layout
    bodies = slice(at["turn"].start, at["move"].stop)
    hinges = slice(at["torque"].start, at["force"].stop)
    freedoms = slice(at["turns"].start, None)
    m, k = len(layout.freedoms.names), bodies.stop - bodies.start
    newton, motion, law = A[:k], A[k : len(A) - m], A[len(A) - m :]
    np.testing.assert_array_equal(newton[:, hinges], motion[:, bodies].T)
    np.testing.assert_array_equal(motion[:, freedoms], law[:, hinges].T)
    M = newton[:, bodies]
    np.testing.assert_allclose(M, M.T, atol=1e-15)


@pytest.mark.parametrize("system", [position_system, velocity_system, dynamics_system])
@pytest.mark.parametrize("name", ["cart-pole", "two-link"])
def test_the_text_traces(name: str, system) -> None:
    """The same code on symbols gives the same numbers."""
    model = package_model(name)
    state = generic_state(model, 2)
    values = [getattr(state, item.name) for item in fields(State)]
    symbols = [ops.symbols(item.name, value.shape) for item, value in zip(fields(State), values, strict=True)]
    traced = system(model, State(*symbols))
    used = [(s, v) for s, v in zip(symbols, values, strict=True) if v.size]
    found = ops.function("f", [s for s, _ in used], [np.column_stack([traced.A, traced.b])])(*(v for _, v in used))
    wanted = system(model, state)
    np.testing.assert_allclose(np.array(found), np.column_stack([wanted.A, wanted.b]), atol=1e-13)
