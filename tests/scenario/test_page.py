"""The page of a run knows what happened in it."""

from __future__ import annotations

import numpy as np

from surefoot.motion import Log
from surefoot.scenario import resolved_scenario, run_scenario
from surefoot.scenario.build import build_simulation
from surefoot.scenario.outcome.files import RunRecord
from surefoot.scenario.outcome.page import evidence_of_run

ICE = """
name = "ice"
description = "A block holds on a slope until its ground freezes"

[robot]
name = "block"

[world]
friction = 0.8

[[world.ground]]
kind = "plane"
normal = [-0.4, 0.0, 1.0]

[initial]
on_slope = true

[controller]
kind = "limp"

[simulation]
duration = 0.6
dt = 0.001

[audit]
kind = "none"

[[events]]
kind = "friction"
time = 0.3
friction = 0.2
"""


def test_friction_used_follows_the_ground_that_freezes(tmp_path) -> None:
    """Half of the cone holds the block at first; then it slides, with all of what is left."""
    file = tmp_path / "ice.toml"
    file.write_text(ICE)
    result = run_scenario(str(file), out=tmp_path / "run")
    scenario = resolved_scenario(str(file))
    built = build_simulation(scenario)
    log, timing = (Log.load(result.path / f"{name}.parquet") for name in ("log", "timing"))
    told = evidence_of_run(RunRecord(scenario, built.robot, log, timing, result.metrics, world=built.world))
    title = "Friction utilisation: tangential / (μ · normal)"
    used = next(iter({plot.title: plot for plot in told.plots}[title].lines.values()))
    holds, slides = (log.time > 0.2) & (log.time < 0.29), log.time > 0.35
    assert np.nanmax(np.abs(used[holds] - 0.5)) < 0.02
    assert np.nanmax(np.abs(used[slides] - 1.0)) < 0.02
    assert np.nanmax(used) < 1.02
