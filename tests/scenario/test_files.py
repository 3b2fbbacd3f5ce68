"""The scenarios that come with the package: each parses, is built, runs, and passes by its own study."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surefoot.cli.main import _status
from surefoot.motion import Log
from surefoot.scenario import names, read_scenario, resolved_scenario
from surefoot.scenario.build import build_simulation
from surefoot.tables import toml_text

SHORT = ["study=none", "simulation.duration=0.1"]
EXPECTED = {
    "drop", "figure-eight", "harvest", "noise", "op2-arm", "reach", "servo", "slide", "slide-v", "stand",
    "straight-knees", "swing-contact", "swing-over", "zero-g", "zero-g-inversion",
    "zero-g-turn", "zero-g-walk", "cart-pole-004", "crank",
    "delta", "four-bar", "geared-lola", "impact-drop", "pendulum-drift", "walk", "walk-fast", "walk-turn", "walk-side",
    "walk-back", "push-walk", "carry", "slippery", "around", "joystick",
    "walk-stairs", "uneven", "walk-slope", "walk-tray", "walk-gaze",
}  # fmt: skip


def test_every_scenario_that_was_promised_is_there():
    assert set(names()) >= EXPECTED


@pytest.mark.parametrize("name", names())
def test_a_file_that_is_written_says_the_same(name, tmp_path):
    scenario = read_scenario(name)
    path = tmp_path / "again.toml"
    path.write_text(toml_text(scenario.model_dump(mode="python", exclude_none=True)))
    assert read_scenario(path) == scenario


LONG = {
    "reach",
    "swing-over",
    "harvest",
    "squat-fast",
    "jump",
    "bound",
    "ocp-walk",
    "overstep",
    "overstep-elastic",
    "overstep-high",
    "mpc-stand",
    "mpc-trot",
    "mpc-centroidal",
    "humanoid-rail",
    "moving-floor",
    "balance-board",
    "impact-accommodation",
    "compliant-reflex",
    "figure-eight",
    "hexapod-push",
    "hexapod-rubble",
    "hexapod-step",
    "hexapod-gap",
    "hexapod-slope",
    "quadruped-stones",
    "lean",
    "reach-wbc",
    "step-recovery",
    "wipe",
    "hip-push",
    "support-transition",
    "single-stance",
    "synergies",
}  # plan for seconds before they begin, or differ from others by what has tests of its own
LONG |= {name for name in names() if read_scenario(name).study == "walk"} - {"walk"}
LEAK = 1.0
"""Largest energy residual of first-order steps: share of the energy that passes through drives, contacts, damping and
pushes, per second of the step. 1.0: steps of 2 ms may lose 0.2 %."""


ON_A_SMALL_ROBOT = {"one-leg", "push", "squat", "stand", "walk"}
"""Scenarios of g1 that are built for a smaller robot, whose kernels are compiled in a fifth of the time."""


@pytest.mark.parametrize("name", [pytest.param(x, marks=[pytest.mark.slow] * (x in LONG)) for x in names()])
def test_it_is_built_and_begins(name):
    robot = "small-humanoid" if name in ON_A_SMALL_ROBOT else None
    simulation = build_simulation(resolved_scenario(name, robot, overrides=SHORT))
    log = simulation.run()
    assert not log.partial
    assert simulation.fall_time is None
    assert log.time[-1] == pytest.approx(0.1)
    for column in ("q", "v", "tau", "energy.total"):
        assert np.isfinite(log[column]).all(), column


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_it_passes_and_leaves_with_status_0(name, tmp_path, capsys):
    out = tmp_path / "run"
    status = _status(["run", name, "--out", str(out)])
    text, err = capsys.readouterr()
    assert status == 0, err
    assert ": passed" in text.splitlines()[0]
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["verdict"] == "passed"
    assert metrics["completed"] is True
    log = Log.load(out / "log.parquet")
    passed = sum(np.abs(np.diff(log[f"energy.{work}"])).sum() for work in ("drives", "contacts", "damping", "pushes"))
    assert metrics["energy_residual_j"] < 1e-3 + LEAK * read_scenario(out / "scenario.toml").simulation.dt * passed
    assert log.time[-1] == pytest.approx(metrics["planned_duration_s"], abs=0.006)  # rounded to ticks


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["slide", "--set", "simulation.control_dt=0.01"], 0, "passed"),
        (["slide", "--set", "simulation.duration=0.2"], 1, "too short"),
        (["slide", "--set", "simulation.duration=-1"], 2, "simulation.duration"),
        (["slide", "--set", "world.empty=true"], 2, "empty"),
        (["slide", "--robot", "blok"], 2, "block"),
    ],
)
def test_exit_status(words, status, text, tmp_path, capsys):
    """0: passed, 1: a bad verdict, 2: a mistake in the request."""
    assert _status(["run", *words, "--set", "audit.kind=none", "--out", str(tmp_path / "run")]) == status
    assert text in "".join(capsys.readouterr())
    assert (tmp_path / "run" / "metrics.json").is_file() == (status < 2)
    assert (tmp_path / "run").exists() == (status < 2)
