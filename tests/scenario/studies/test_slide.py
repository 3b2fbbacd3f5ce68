"""Slip exactly outside of the friction band, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.contact import friction_band
from surefoot.robot.loading import load

from .runs import studied

BOTH = pytest.mark.parametrize("engine", ["mujoco", "native"])
QUICK = "simulation.control_dt=0.01"
BAND = friction_band(load("v-support:30").mass, np.deg2rad(30.0), 0.3)
HELD = 15.0  # N, inside the band


def on_slope(slope: float, engine: str, *more: str):
    return studied("slide", f"world.ground.0.normal=[-{slope}, 0.0, 1.0]", f"simulation.engine={engine}", QUICK, *more)


@BOTH
@pytest.mark.parametrize(("slope", "slides"), [(0.49, False), (0.51, True)])
def test_a_block_slides_just_outside_of_friction(engine, slope, slides):
    found = on_slope(slope, engine)
    assert found.findings.trouble is None
    assert found.metrics["expected_to_slide"] is slides
    assert found.metrics["slides"] is slides
    angle, t = np.arctan(slope), 1.5
    way = 0.5 * 9.81 * (np.sin(angle) - 0.5 * np.cos(angle)) * t**2 if slides else 0.0
    assert found.log["contact.bottom.slip"][-1] == pytest.approx(way, rel=0.05, abs=1e-3)


def pushed_to(force: float, engine: str):
    """Feet that are held inside the band, and then pushed with a force."""
    points = [(0.0, HELD), (0.5, HELD), (0.8, force)]
    rows = ", ".join(f"{{time={t}, torques={{spread={f}}}}}" for t, f in points)
    return studied(
        "slide-v",
        f"controller.points=[{rows}]",
        f"simulation.engine={engine}",
        "simulation.duration=1.6",
        QUICK,
    )


@BOTH
@pytest.mark.parametrize(
    ("force", "slides"),
    [(0.97 * BAND.lower, True), (1.03 * BAND.lower, False), (0.97 * BAND.upper, False), (1.03 * BAND.upper, True)],
    ids=["below", "low", "high", "above"],
)
def test_feet_in_a_v_slide_just_outside_of_the_band(engine, force, slides):
    found = pushed_to(force, engine)
    assert found.findings.trouble is None
    assert found.metrics["band_n"] == pytest.approx(list(BAND))
    assert found.metrics["expected_to_slide"] is slides
    assert found.metrics["slides"] is slides
    rows = [int(np.searchsorted(found.log.time, 0.5)), -1]
    left, right = (float(np.diff(found.log[f"contact.{side}_foot.slip"][rows])[0]) for side in ("left", "right"))
    assert left == pytest.approx(right, rel=0.02, abs=1e-4)
    assert left > 0.015 if slides else left < 1.5e-3
    # below the band they go inwards, down the V; above it outwards
    way = float(np.diff(found.log["q"][rows, 7])[0])
    assert way < -0.02 if force < BAND.lower else way > 0.02 if force > BAND.upper else abs(way) < 1.5e-3


@pytest.mark.slow
@BOTH
def test_released_feet_slide_and_stop(engine):
    found = studied("slide-v", f"simulation.engine={engine}", QUICK)
    assert found.findings.trouble is None
    assert found.metrics["slip_while_held_m"] < 1e-3
    assert 0.03 < found.metrics["slip_from_release_m"] < 0.06
    assert found.metrics["slip_at_end_m"] < 1e-5


def test_a_wrong_prediction_is_a_bad_verdict():
    """The slope is that of the file, but friction changes unseen."""
    slick = 'events=[{kind="friction", friction=0.1, time=0.4}]'
    assert "although friction can hold it" in on_slope(0.3, "mujoco", slick, "simulation.duration=0.8").findings.trouble
    rough = 'events=[{kind="friction", friction=1.5, time=0.0}]'
    assert "friction cannot hold it" in on_slope(0.55, "mujoco", rough, "simulation.duration=0.8").findings.trouble


def test_what_is_not_predicted_is_said():
    assert "too short" in studied("slide", "simulation.duration=0.2").findings.trouble
    hills = 'world.ground=[{kind="box", size=[2.0, 2.0, 0.2]}]'
    assert "planes" in studied("slide", hills, "initial.on_slope=false", "simulation.duration=0.02").findings.trouble
    assert "neither" in studied("slide", "simulation.duration=0.02", robot="hexapod").findings.trouble
