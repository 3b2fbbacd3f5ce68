"""Perturbed runs and rates."""

import numpy as np
import pytest

from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import overridden, read_scenario
from surefoot.scenario.sweeps import perturbed_overrides, wilson
from surefoot.sim import ParameterError, Push


@pytest.mark.slow
def test_a_perturbed_scenario_keeps_its_pushes_and_changes_the_rest():
    scenario = overridden(read_scenario("stand"), perturbed_overrides("stand", 3))
    assert 0.4 <= scenario.world.friction <= 1.0
    assert scenario.sensors.delay == 0.005
    simulation = build_simulation(scenario)
    kinds = [type(event) for event in simulation.events]
    assert kinds == [Push, ParameterError]
    assert 0.8 <= simulation.events[1].mass <= 1.2
    assert perturbed_overrides("stand", 3) == perturbed_overrides("stand", 3) != perturbed_overrides("stand", 4)


@pytest.mark.parametrize(("count", "total"), [(0, 100), (3, 100), (50, 100), (100, 100)])
def test_wilsons_interval_solves_its_equation(count, total):
    """Its ends p solve |p̂ − p| = z √(p (1 − p) / n)."""
    rate = wilson([True] * count + [False] * (total - count))
    for end in (rate.low, rate.high):
        gap = abs(count / total - end)
        bound = 1.959964 * np.sqrt(end * (1.0 - end) / total)
        assert gap == pytest.approx(bound, abs=1e-9) or end in (0.0, 1.0)
    assert rate.low <= count / total <= rate.high
