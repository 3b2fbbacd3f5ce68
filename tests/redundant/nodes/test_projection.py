"""Projections close what is open, keep what is wished, and impacts obey momentum and energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.errors import ModelError, SurefootError
from surefoot.redundant import (
    Body,
    Freedom,
    Hinge,
    Link,
    Model,
    hinge_residuals,
    posed,
    velocity_system,
)
from surefoot.redundant.equations import kinetic_energy
from surefoot.redundant.nodes import (
    close_hinges,
    free_boundaries,
    plastic_impact,
    project_positions,
    project_velocities,
)
from tests.redundant.examples import generic_state, package_model


@pytest.mark.parametrize("name", ["cart-pole", "planar-biped", "two-link"])
def test_open_hinges_are_closed(name: str) -> None:
    model = package_model(name)
    state, layout = posed(model), package_model(name).layout
    rng = np.random.default_rng(0)
    open_ = replace(state, positions=state.positions + 1e-3 * rng.standard_normal(state.positions.shape))
    if layout.planar:
        open_ = replace(open_, positions=open_.positions * [1.0, 1.0, 0.0])
    gap = hinge_residuals(model, open_)[1].max()
    once = max(x.max() for x in hinge_residuals(model, project_positions(model, open_)))
    assert once < 1e-2 * gap
    assert max(x.max() for x in hinge_residuals(model, close_hinges(model, open_))) < 1e-11


def test_weights_say_what_moves() -> None:
    """Hinge coordinates measured, bodies not: the bodies are brought to the hinges (Busenhart 1994, (6.7))."""
    model = package_model("cart-pole")
    state = posed(model, {"tilt": 0.4, "travel": 1.0})
    wrong = replace(state, positions=state.positions + np.array([[0.01, 0.0, 0.0], [0.0, 0.02, 0.0]]))
    weights = np.array([1.0, 1e-8, 1e-8, 1.0, 1e-8, 1e-8, 1.0, 1.0])
    found = project_positions(model, wrong, weights)
    np.testing.assert_allclose(found.positions, state.positions, atol=1e-6)
    np.testing.assert_allclose(found.slides, state.slides, atol=1e-6)


@pytest.mark.parametrize("name", ["cart-pole", "planar-biped", "two-link"])
def test_velocities_keep_the_hinges(name: str) -> None:
    model = package_model(name)
    state = replace(generic_state(model, 3), **{k: getattr(posed(model), k) for k in PLACES})
    found = project_velocities(model, state)
    layout = model.layout
    z = [found.turning[:, layout.rotations], found.velocities[:, layout.translations], found.rates]
    assert np.abs(velocity_system(model, found).A @ np.concatenate([x.ravel() for x in z])).max() < 1e-6


PLACES = ("spinors", "positions", "angles", "balls", "slides")


def triangle(reach: float) -> Model:
    """Two bars between two pins on the ground, `reach` apart, 1 m from pin to pin each."""
    bar = {"mass": 1.0, "inertia": (0.1,)}
    ends = []
    for name, tail, head, arm, at in (
        ("left", "a", "ground", 0.5, 0.0),
        ("right", "b", "ground", -0.5, reach),
        ("top", "b", "a", 0.5, 0.5),
    ):
        links = (Link(offset=(arm, 0.0)), Link(pin=Freedom(name=name), offset=(at, 0.0)))
        ends.append(Hinge(name=name, tail=tail, head=head, links=links))
    return Model(
        name="triangle", space="plane", gravity=(0.0, -9.81),
        bodies=(Body(name="a", **bar), Body(name="b", **bar)), hinges=tuple(ends),
    )  # fmt: skip


def test_loops_close_or_are_named() -> None:
    state = posed(triangle(1.5), {"left": np.arccos(0.75)})
    assert max(x.max() for x in hinge_residuals(triangle(1.5), state)) < 1e-11
    with pytest.raises(ModelError, match="cannot be closed") as caught:
        posed(triangle(2.5), {})
    assert "m" in caught.value.evidence["gap"]


def test_plastic_impact_of_the_cart() -> None:
    """The cart stops, the tip keeps its velocity across the rod: only the pivot's impulse along the rod acts on it."""
    model = package_model("cart-pole")
    state = posed(model, {"tilt": 2.6, "travel": 5.0}, {"travel": 2.0, "tilt": 1.5})
    flags = replace(free_boundaries(model.layout), upper=np.array([False, True]))
    after, impulse = plastic_impact(model, state, flags)
    along = np.array([-np.sin(2.6), np.cos(2.6), 0.0])
    change = after.velocities[1] - state.velocities[1]
    assert abs(after.rates[1]) < 1e-12
    np.testing.assert_allclose(np.cross(change, along), 0.0, atol=1e-12)
    np.testing.assert_allclose(0.1 * change, impulse.forces[1], atol=1e-12)
    assert impulse.reactions[1] < 0.0
    assert kinetic_energy(model, after) < kinetic_energy(model, state)


def test_nan_is_not_closed() -> None:
    """Python's `max` of a finite angle and a distance that is NaN is the angle."""
    model = package_model("two-link")
    state = posed(model)
    bad = replace(state, positions=np.full_like(state.positions, np.nan))
    angle, distance = hinge_residuals(model, bad)
    assert np.isfinite(angle).all()
    assert np.isnan(distance).any()
    with np.errstate(all="ignore"), pytest.raises(SurefootError):
        close_hinges(model, bad)
