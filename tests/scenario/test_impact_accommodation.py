"""An impact on the neck of a robot that leans forward, expected or not (Nenchev & Konno 2019, section 7.7.4)."""

import numpy as np
import pytest

from surefoot.scenario import resolved_scenario
from surefoot.scenario.build import build_simulation

SURPRISE = "controller.base_schedule=[[0, 300, 50], [1.03, 300, 50], [1.05, 0.01, 0.001], [1.25, 30, 5]]"


def rolled(*overrides: str) -> tuple[float, float, float]:
    """Largest tilt of a sole after the impact, that at the end, and the pitch of the trunk [rad]."""
    simulation = build_simulation(
        resolved_scenario("impact-accommodation", overrides=[*overrides, "simulation.duration=2.0"])
    )
    log, robot = simulation.run(), simulation.robot
    assert simulation.fall_time is None
    late = [q for t, q in zip(log.time, log["q"], strict=True) if t > 0.95][::5]
    frames = [contact.frame for contact in robot.contacts.values()]
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
