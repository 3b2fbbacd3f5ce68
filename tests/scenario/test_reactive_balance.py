"""Impacts on a robot that leans forward or stands on one foot (Nenchev & Konno 2019, sections 5.8.4, 7.7.4, 7.7.6)."""

import numpy as np
import pytest

from surefoot.scenario import resolved_scenario
from surefoot.scenario.build import build_simulation

SURPRISE = "controller.base_schedule=[[0, 300, 50], [1.03, 300, 50], [1.05, 0.01, 0.001], [1.25, 30, 5]]"


def rolled(*overrides: str, name: str = "impact-accommodation") -> tuple[float, float, float]:
    """Largest tilt of a standing sole after the impact, that at the end, and the pitch of the trunk [rad]."""
    simulation = build_simulation(resolved_scenario(name, overrides=["simulation.duration=2.0", *overrides]))
    log, robot = simulation.run(), simulation.robot
    assert simulation.fall_time is None
    late = [q for t, q in zip(log.time, log["q"], strict=True) if t > 0.95][::5]
    assert (np.abs(log["v"][:, 6:]) <= 1.05 * robot.limits.velocity[6:]).all() or "rolling=0" in "".join(overrides)
    frames = [robot.contacts[contact].frame for contact in simulation.controller.contacts]
    soles = np.array([[robot.placements(q)[frame][2, 2] for frame in frames] for q in late])
    tilt = np.arccos(np.clip(soles, -1.0, 1.0)).max(axis=1)
    pitch = 2.0 * np.array([q[4] for q in late])
    return float(tilt.max()), float(tilt[-1]), float(np.abs(pitch - pitch[0]).max())


@pytest.mark.slow
def test_anticipation_keeps_the_feet_flat():
    expected, surprised = rolled(), rolled(SURPRISE)
    assert expected[0] < np.deg2rad(0.4)
    assert np.deg2rad(0.7) < surprised[0] < np.deg2rad(3.0)  # they roll
    assert surprised[1] < np.deg2rad(0.3)  # and come back
    assert expected[2] > 1.4 * surprised[2]  # the trunk gives way


@pytest.mark.slow
def test_momentum_brings_a_rolling_sole_down():
    with_it, without = (rolled(*key, name="single-stance") for key in ((), ("controller.rolling=0.0",)))
    assert with_it[0] < np.deg2rad(1.5) < np.deg2rad(5.0) < without[0]
    assert with_it[1] < np.deg2rad(0.3)
