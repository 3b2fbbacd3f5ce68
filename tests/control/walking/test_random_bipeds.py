"""Robots that nobody has tuned anything for walk: times, heights, steps and gains follow from their files."""

from __future__ import annotations

import pytest

from surefoot.scenario import run_scenario
from tests.control.walking.random_biped import random_biped


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_biped_drawn_at_random_walks_on_estimates(seed, tmp_path):
    file = tmp_path / "biped.urdf"
    file.write_text(random_biped(seed))
    overrides = ["walk.goal=[1.5, 0.3, 0.785]", "audit.kind=none"]
    result = run_scenario("walk", robot=file, out=tmp_path / "run", overrides=overrides)
    assert result.passed, result.verdict
