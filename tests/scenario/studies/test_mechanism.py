"""Mechanisms with closed chains, gears and impacts: what their studies measure and what they object to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from surefoot.dynamics.constraints.equations import ConstrainedEquations
from surefoot.dynamics.methods import ELIMINATIONS
from surefoot.scenario.studies.pendulum_drift import EXPECTED

from .runs import studied


@pytest.mark.parametrize(("name", "mobility", "rows"), [("four-bar", 1, 2), ("crank", 1, 2), ("delta", 3, 9)])
def test_mechanisms_stay_closed(name, mobility, rows):
    found = studied(name, "simulation.duration=0.3")
    assert found.findings.trouble is None
    assert (found.metrics["mobility"], found.metrics["constraint_rows"]) == (mobility, rows)
    assert found.metrics["gap_max"] < 1e-9


def test_redundant_rows_are_counted():
    metrics = studied("four-bar", 'robot.name="four-bar:hinge"', "simulation.duration=0.02").metrics
    assert (metrics["redundant_rows"], metrics["mobility"]) == (3, 1)


def test_energy_from_nowhere_is_seen():
    found = studied("four-bar", 'simulation.integrator="semi_implicit"', "simulation.dt=0.02", "simulation.duration=1")
    assert "the energy error reaches" in found.findings.trouble


def test_a_tree_is_no_mechanism():
    assert (
        "no constraints to study"
        in studied("four-bar", 'robot.name="pendulum"', "simulation.duration=0.01").findings.trouble
    )


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 1.0, 10.0])
def test_drift_of_the_pendulum_in_the_coordinates_of_the_source(alpha):
    """Two coordinates, one constraint ½ (r·r − 1): the numbers of Buschmann 2014, Figs. 3.10 and 3.11."""

    def field(_, state):
        (x, z), (u, w) = state[:2], state[2:]
        drift = u * u + w * w + 2.0 * alpha * (x * u + z * w) + 0.5 * alpha**2 * (x * x + z * z - 1.0)
        equations = ConstrainedEquations(np.eye(2), np.array([0.0, -9.81]), np.array([[x, z]]), np.array([drift]))
        return [u, w, *ELIMINATIONS["range_space"](equations)[0]]

    found = solve_ivp(field, (0.0, 100.0), [1.0, 0.0, 0.0, 0.0], method="RK45", rtol=1e-6, atol=1e-6)
    assert np.abs(np.hypot(found.y[0], found.y[1]) - 1.0).max() == pytest.approx(EXPECTED[alpha], rel=0.05)


@pytest.mark.slow
def test_drift_of_the_pendulum_in_the_engine():
    metrics = studied("pendulum-drift", "simulation.duration=0.1").metrics
    assert metrics["drift_exponent"] == pytest.approx(2.0, abs=0.2)
    assert 1e-3 < metrics["drift_alpha_0_m"] < 1e-1
    drifts = [metrics[f"drift_alpha_{alpha}_m"] for alpha in (1, 10, 100)]
    np.testing.assert_allclose(drifts, [EXPECTED[alpha] for alpha in (1.0, 10.0, 100.0)], rtol=0.6)


def test_impact_by_its_laws():
    found = studied("impact-drop", "simulation.duration=0.11")
    assert found.findings.trouble is None
    assert found.metrics["energy_lost_j"] == pytest.approx(found.metrics["energy_lost_by_laws_j"], rel=0.02)
    assert found.metrics["jump_error"] < 0.02


def test_a_block_loses_all_it_has():
    metrics = studied("impact-drop", 'robot.name="block"', "simulation.duration=0.11").metrics
    assert metrics["energy_lost_j"] == pytest.approx(metrics["kinetic_energy_before_j"], rel=1e-3)


def test_who_does_not_fall_has_no_impact():
    trouble = studied("impact-drop", "initial.lift=1.0", "simulation.duration=0.01").findings.trouble
    assert "does not fall" in trouble


@pytest.mark.slow
def test_elastic_gears_give_way():
    found = studied("geared-lola", "simulation.duration=0.5")
    metrics = found.metrics
    assert found.findings.trouble is None
    assert metrics["rotor_inertia_at_joints_kgm2_rigid"] > 1.0 > metrics["rotor_inertia_at_joints_kgm2_elastic"]
    assert metrics["tracking_rms_elastic"] > metrics["tracking_rms_rigid"] > 0.0
    assert 1e-4 < metrics["peak_wind_up_rad"] < 0.05


def test_the_formalism_moves_a_cart_pole_alike():
    found = studied("cart-pole-004", "simulation.duration=0.3", "simulation.control_dt=0.01")
    assert found.findings.trouble is None
    assert found.metrics["joint_difference_max"] < 1e-7
