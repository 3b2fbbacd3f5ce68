"""Phases of contacts."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.motion import Column, Log
from surefoot.scenario.studies.touch import contact_phases

from .runs import studied


def made_up(phases: list[tuple[str, float]], dt: float = 0.001) -> Log:
    """A contact that is free, sticks or slides for some seconds each."""
    modes = [mode for mode, seconds in phases for _ in range(round(seconds / dt))]
    load = np.array([0.0 if mode == "free" else 10.0 for mode in modes])
    slip = np.cumsum([0.1 * dt if mode == "slides" else 0.0 for mode in modes])
    wrench = np.zeros((len(modes), 6))
    wrench[:, 2] = load
    time = dt * np.arange(len(modes))
    return Log.of(
        Column("time", "s", time), Column("contact.foot.wrench", "N", wrench), Column("contact.foot.slip", "m", slip)
    )


def modes_of(phases):
    return [phase["mode"] for phase in phases]


def test_phases_of_a_made_up_contact():
    truth = [("free", 0.2), ("sticks", 0.3), ("slides", 0.2), ("free", 0.1)]
    found = contact_phases(made_up(truth), "foot")
    assert modes_of(found) == [mode for mode, _ in truth]
    np.testing.assert_allclose([phase["start"] for phase in found], [0.0, 0.2, 0.5, 0.7], atol=2e-3)
    assert all(phase["start"] < phase["end"] for phase in found)


def test_short_flickers_are_no_phases():
    found = contact_phases(made_up([("sticks", 0.2), ("free", 0.003), ("sticks", 0.2)]), "foot")
    assert modes_of(found) == ["sticks"]
    assert found[0]["end"] == pytest.approx(0.402)


def test_a_leg_touches_sticks_slips_and_leaves():
    found = studied("swing-contact", "simulation.control_dt=0.01")
    assert found.findings.trouble is None
    assert "left_front" in found.metrics["complete_contacts"]
    modes = modes_of(found.metrics["contact_phases"]["left_front"])
    assert modes[-1] == "free"
    wanted = iter(modes)
    assert all(mode in wanted for mode in ("free", "sticks", "slides", "free"))  # in this order
    others = [name for name in found.metrics["contact_phases"] if name != "left_front"]
    assert not set(others) & set(found.metrics["complete_contacts"])


def test_a_robot_that_stands_still_is_a_bad_verdict():
    still = "controller.keyframes=[{time=1.0, joints={}}]"
    found = studied("swing-contact", still, "simulation.control_dt=0.01", "simulation.duration=0.5")
    assert "no contact touches" in found.findings.trouble
