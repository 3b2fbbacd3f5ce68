"""Simulation by the formalism: energy, the explicit model, stops, contacts that stick and slide."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.redundant import Action, Actuator, Body, Contact, Freedom, Hinge, Link, Model, Stepper, posed, simulate
from surefoot.solvers import ode
from tests.redundant.examples import package_model
from tests.redundant.test_dynamics import cart_pole


@pytest.mark.parametrize("method", ["rk4", "kutta-merson"])
def test_cart_pole_follows_the_explicit_model(method) -> None:
    model = package_model("cart-pole")
    run = simulate(model, posed(model, {"tilt": 0.5}), [1.5], 0.6, 0.005, method=method, tol=1e-10)

    def field(_, x):
        tilt, cart = cart_pole(x[0], x[2], 1.5)
        return np.array([x[2], x[3], tilt, cart])

    wanted = ode.integrate(field, np.array([0.5, 0.0, 0.0, 0.0]), 0.0, 0.6, tol=1e-11).x[-1]
    np.testing.assert_allclose(np.concatenate([run.coordinates[-1], run.rates[-1]]), wanted, atol=1e-7)
    assert run.open_distance.max() < 1e-10
    assert run.open_rate.max() < 1e-9


@pytest.mark.parametrize(("name", "start"), [("cart-pole", {"tilt": 0.5}), ("two-link", {"swing": 1.4, "bend": 0.3})])
def test_energy_is_kept(name: str, start) -> None:
    model = package_model(name)
    run = simulate(model, posed(model, start, dict.fromkeys(start, 0.5)), None, 0.25, 0.0025)
    assert not run.held.any()
    assert np.ptp(run.energy) < 1e-6 * np.ptp(run.kinetic)


def test_projection_takes_the_drift_away() -> None:
    model = package_model("two-link")
    state = posed(model, {"swing": 1.2, "bend": 0.3}, {"yaw": 4.0})
    left, taken = (simulate(model, state, None, 0.4, 0.02, project=p) for p in (False, True))
    assert taken.open_distance.max() < 1e-3 * left.open_distance.max()


def test_the_cart_stops_at_the_end_and_leaves_it() -> None:
    model = package_model("cart-pole")
    start = posed(model, {"tilt": np.pi, "travel": 4.9}, {"travel": 2.0})
    run = simulate(model, start, lambda t, _: [5.0 if t < 0.3 else -15.0], 0.6, 0.005)
    cart, held = run.coordinates[:, 1], run.held[:, 1]
    assert cart.max() < 5.0 + 2.1 * 0.005
    assert held[40:55].all()
    assert (run.reactions[held, 1] <= 1e-9).all()  # the stop pushes, it does not pull
    assert not held[-1]
    assert cart[-1] < 4.9
    assert (np.diff(run.energy)[run.time[1:] < 0.06] < 0.2).all()


def slider(slope: float, friction: float) -> Model:
    """A block on a plane that leans by `slope`: gravity is turned instead."""
    g = 9.81
    link = Link(slides=(Freedom(name="along", axis=(1.0, 0.0)), Freedom(name="up", axis=(0.0, 1.0), lower=0.0)))
    return Model(
        name="slider",
        space="plane",
        gravity=(g * np.sin(slope), -g * np.cos(slope)),
        bodies=(Body(name="block", mass=2.0, inertia=(0.1,)),),
        hinges=(Hinge(name="ground", tail="block", links=(link,)),),
        actuators=(Actuator(name="lift", acts_on=(Action(freedom="up"),), upper=50.0),),
        contacts=(Contact(name="sole", normal="up", tangents=("along",), friction=friction),),
    )


def test_a_block_sticks_below_the_friction_angle_and_slides_above() -> None:
    slope = 0.3
    model = slider(slope, np.tan(0.35))
    stuck = simulate(model, posed(model), None, 0.3, 0.01)
    assert np.abs(stuck.coordinates).max() < 1e-9
    model = slider(slope, np.tan(0.2))
    gone = simulate(model, posed(model), None, 0.3, 0.01)
    a = 9.81 * (np.sin(slope) - np.tan(0.2) * np.cos(slope))
    assert gone.coordinates[-1, 0] == pytest.approx(0.5 * a * 0.3**2, rel=1e-6)
    up = simulate(model, posed(model, {}, {"along": -0.5}), None, 0.01, 0.001)  # friction is against the motion
    assert up.accelerations[0, 0] == pytest.approx(9.81 * (np.sin(slope) + np.tan(0.2) * np.cos(slope)), rel=1e-9)


def test_a_block_falls_lands_and_is_lifted() -> None:
    model = slider(0.0, 0.5)
    run = simulate(model, posed(model, {"up": 0.1}), lambda t, _: [0.0 if t < 0.3 else 30.0], 0.5, 0.005)
    held = run.held[:, 1]
    landing = run.time[held][0]
    assert landing == pytest.approx(np.sqrt(2 * 0.1 / 9.81), abs=0.006)
    np.testing.assert_allclose(run.reactions[run.held[:, 1], 1][2:10], 2.0 * 9.81, rtol=1e-9)
    assert not held[run.time > 0.31].any()
    assert run.coordinates[-1, 1] > 0.05


def test_the_biped_stands_still_while_its_joints_hold() -> None:
    """Straight on both feet: contacts carry the weight, nothing moves (an unstable balance, but a balance)."""
    model = package_model("planar-biped")
    run = simulate(model, posed(model, bodies={"torso": (0.0, 1.22, 0.0)}), None, 0.1, 0.01)
    normals = [contact.normal for contact in model.layout.contacts]
    np.testing.assert_allclose(run.reactions[:, normals].sum(axis=1), 87.6 * 9.81, rtol=1e-9)
    assert np.abs(run.rates).max() < 1e-9


def test_inputs_are_cut_and_checked() -> None:
    model = package_model("cart-pole")
    run = simulate(model, posed(model), [100.0], 0.02, 0.01)
    assert (run.inputs == 20.0).all()
    assert run.positions.shape == (3, 2, 3)
    for bad in ([1.0, 2.0], [np.nan]):
        with pytest.raises(ShapeError, match="inputs must be"):
            simulate(model, posed(model), bad, 0.02, 0.01)
    with pytest.raises(ShapeError, match="step"):
        Stepper(model, posed(model), 0.0)
