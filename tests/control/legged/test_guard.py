"""`TickGuard` in closed loops: silent sensors and exceptions have names in the log and in the metrics."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.control.balance import BalanceController
from surefoot.control.legged import TickGuard
from tests.scenario.studies.runs import studied


@pytest.mark.parametrize(("sensor", "time"), [("*", 0.3), ("contact.*", 0.2)])
def test_silent_sensors_are_logged_in_each_tick_and_counted(sensor, time):
    silence = f'events=[{{kind="sensor_loss", sensor="{sensor}", time={time}, duration=0.1}}]'
    run = studied("stand", silence, "simulation.duration=0.5", robot="small-humanoid")
    is_silent = (np.asarray(run.log.time) >= time) & (np.asarray(run.log.time) < time + 0.1)
    named = run.log["control.trouble"] == TickGuard.number_of("silent sensors")
    assert np.flatnonzero(named).size == pytest.approx(is_silent.sum(), abs=2)
    assert named[is_silent][2:-2].all()
    assert run.metrics["fallback_reasons"] == {"silent sensors": named.sum()}
    assert run.metrics["fallbacks"] == 0


def test_an_exception_of_any_type_becomes_a_fallback_that_is_named(monkeypatch):
    robot = sf.load("small-humanoid")
    control = BalanceController(robot)
    lead = control._lead_feet

    def fails_now_and_then():
        lead()
        if 0.1 < control._t < 0.12:
            raise IndexError(f"at {control._t}")

    monkeypatch.setattr(control, "_lead_feet", fails_now_and_then)
    log = sf.simulate(robot, control, sf.World(), 0.3)
    failed = log["control.trouble"] == TickGuard.number_of("error: IndexError")
    assert failed.sum() == log["control.fallbacks"][-1] > 5
    assert [name.startswith("error: IndexError: at 0.1") for name in control.body.troubles] == [True]
    assert log.metadata["fall_time_s"] is None
