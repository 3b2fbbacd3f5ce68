"""Limbs and a base without outer forces."""

from __future__ import annotations

import numpy as np
import pytest

from .runs import studied

QUICK = "simulation.control_dt=0.01"


@pytest.mark.slow
def test_arms_in_the_reaction_null_space_leave_the_base_at_rest():
    found = studied("zero-g", QUICK, "simulation.duration=2.5")
    assert found.findings.trouble is None
    assert found.metrics["joint_travel_rad"] > 1.0
    assert found.metrics["base_turn_max_rad"] < 1e-6
    assert found.metrics["base_shift_max_m"] < 1e-6


@pytest.mark.slow
def test_zero_g_as_it_is():
    found = studied("zero-g")
    assert found.findings.trouble is None
    assert found.metrics["joint_travel_rad"] > 1.0
    assert found.metrics["base_turn_max_rad"] < 1e-6


@pytest.mark.slow
def test_a_cycle_of_the_legs_turns_the_body():
    found = studied("zero-g-turn", QUICK, "controller.cycles=1", "simulation.duration=2.0")
    assert found.findings.trouble is None
    assert found.metrics["base_turn_max_rad"] > 0.2
    assert found.metrics["momentum_gain_per_mass"] < 1e-6


def test_walking_in_free_flight_drifts_in_pitch():
    found = studied("zero-g-walk", QUICK, "controller.cycles=2", "simulation.duration=4.0")
    assert found.findings.trouble is None
    assert found.metrics["momentum_gain_per_mass"] < 1e-6
    roll, pitch, yaw = found.metrics["base_turn_end_rad"]
    assert abs(pitch) > 0.1 > 2.0 * max(abs(roll), abs(yaw))


def test_a_body_turns_about_a_hand_that_rests():
    found = studied("zero-g-inversion", QUICK, "simulation.duration=3.5")
    assert found.findings.trouble is None
    assert found.metrics["base_turn_max_rad"] > 0.1
    assert found.metrics["frame_shift_max_m"] < 1e-5 > found.metrics["frame_turn_max_rad"]
    assert found.metrics["momentum_gain_per_mass"] < 1e-6


@pytest.mark.slow
def test_cycles_of_the_legs_add_up():
    """The limbs are back where they were, the body is not; half as many cycles turn it half as far."""
    whole, half = studied("zero-g-turn", QUICK), studied("zero-g-turn", QUICK, "controller.cycles=4")
    for found in (whole, half):
        robot, log = found.simulation.robot, found.log
        assert found.findings.trouble is None
        assert found.metrics["momentum_gain_per_mass"] < 1e-6
        np.testing.assert_allclose(log["q"][-1, -robot.nu :], log["q"][0, -robot.nu :], atol=1e-3)
        turn = found.metrics["base_turn_end_rad"]
        assert abs(turn[0]) + abs(turn[2]) < 1e-6
    turns = [found.metrics["base_turn_end_rad"][1] for found in (whole, half)]
    assert turns[0] > 0.02
    assert turns[0] > 1.5 * turns[1] > 0.0


def test_an_outer_force_is_seen():
    found = studied("stand-pd", "study=free_floating", "events=[]", "simulation.duration=0.05", robot="anymal")
    assert "momentum" in found.findings.trouble
