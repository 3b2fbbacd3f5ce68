"""The page of a run knows what happened in it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from surefoot.motion import Log
from surefoot.robot import load
from surefoot.scenario import resolved_scenario, run_scenario
from surefoot.scenario.build import build_simulation
from surefoot.scenario.outcome.files import RunRecord
from surefoot.scenario.outcome.page import _from_the_start, _mark, evidence_of_run
from surefoot.scenario.schema import EventTable

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


def test_events_are_marked_and_a_push_has_its_force():
    robot = load("solo12")
    times = np.array([0.0, 1.0, 2.0])
    log = SimpleNamespace(time=times)
    tables = [
        EventTable(time=0.5, impulse=3.0, duration=0.2, direction=(1.0, 0.0, 0.0)),
        EventTable(kind="friction", time=1.0, friction=0.2),
    ]
    push, slip = (_mark(table, robot, log, np.array(robot.home)) for table in tables)
    assert (push.start, push.end, push.link) == (0.5, 0.7, robot.tree.body_names[0])
    np.testing.assert_allclose(push.force, [15.0, 0.0, 0.0])
    assert (slip.name, slip.start, slip.end, slip.force) == ("friction 0.2", 1.0, 2.0, (0.0, 0.0, 0.0))


def test_samples_before_the_first_forces_have_these_unless_the_robot_falls():
    wrenches = np.array([np.zeros(6), np.zeros(6), np.arange(6.0), np.ones(6)])
    found = _from_the_start(wrenches, np.array([0.0, 0.002, 0.004, 0.006]))
    np.testing.assert_allclose(found, wrenches[[2, 2, 2, 3]])
    assert not wrenches[0].any()
    np.testing.assert_allclose(_from_the_start(wrenches, np.array([0.0, 0.1, 0.2, 0.3])), wrenches)
