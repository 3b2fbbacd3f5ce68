"""What controllers see beside the state, what they write into the log, and where the time goes."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from surefoot.motion import Channel, Command, State, World
from surefoot.motion.world import STANDARD_GRAVITY
from surefoot.sim import SensorLoss, SensorSettings, Settings, Simulation, participant, simulate
from surefoot.sim.simulation import StoppedError

from .examples import block, pendulum

FALLING = State.of(block(), [0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 1.0])  # 2 cm above the ground
WEIGHT = block().mass * STANDARD_GRAVITY


class Watching:
    """Writes down the order of calls, and logs what it sees."""

    solver_time = 0.0

    def __init__(self):
        self.calls, self.seen, self.touching = [], [], np.nan
        self.channels = (
            Channel("touching", "1", None, lambda: self.touching),
            Channel("twice", "s", 2, lambda: np.full(2, 2.0 * self.t)),
        )

    def observe(self, observation):
        self.calls.append(("observe", observation.t))
        self.seen.append(observation)
        self.touching = observation.touching[0] if len(observation.touching) else np.nan

    def command(self, t, state):
        self.calls.append(("command", t))
        self.t = t
        return Command(torque=np.zeros(len(state.v) if len(state.v) == 1 else 0))


class Believing:
    """An estimator that knows the pendulum, and has an opinion about contacts."""

    touching = np.array([0.25])

    def reset(self, state):
        self.state = state

    def update(self, t, measurements):
        return State(t, self.state.q, self.state.v)


def expected_bits(log, on=0.03, off=0.015):
    """Contact bits of the true forces, tick by tick."""
    touching, out = False, []
    for force in log["contact.sole.wrench"][1:, 2]:
        touching = force > (off if touching else on) * WEIGHT
        out.append(float(touching))
    return out


@pytest.mark.parametrize("engine", ["mujoco", "native"])
@pytest.mark.parametrize("sensors", [None, SensorSettings.ideal()], ids=["truth", "bits"])
def test_touches_follow_the_forces(engine, sensors):
    one = Watching()
    log = simulate(block(), one, World(), 0.2, engine=engine, initial=FALLING, sensors=sensors)
    assert one.calls[0] == ("command", 0.0)  # nothing was measured before the first
    assert one.calls[1::2] == [("observe", t) for t in log.time[1:-1]]
    assert one.calls[2::2] == [("command", t) for t in log.time[1:-1]]
    expected = expected_bits(log)
    assert set(expected) == {0.0, 1.0}
    assert [x.touching[0] for x in one.seen] == expected[:-1]
    np.testing.assert_array_equal(log["control.touching"], [np.nan, np.nan, *expected[:-1]])
    np.testing.assert_allclose(log["control.twice"][1:], np.column_stack([2.0 * log.time[:-1]] * 2))
    names = {"contact.sole.wrench", "contact.sole.touching", "imu.gyro", "zmp"}
    assert all((names <= set(x.readings)) == (sensors is not None) for x in one.seen)


def test_a_touch_once_seen_stays_until_half_the_force():
    one = Watching()
    slow = replace(SensorSettings.ideal(), touch_on=1.5, touch_off=0.5)
    log = simulate(block(), one, World(), 0.4, initial=FALLING, sensors=slow)
    expected = expected_bits(log, 1.5, 0.5)
    assert 1.0 in expected
    assert [x.touching[0] for x in one.seen] == expected[:-1]


def test_a_bit_that_does_not_arrive_keeps_its_value():
    one = Watching()
    loss = [SensorLoss(0.1, 0.05, "contact.sole.touching")]
    simulate(block(), one, World(), 0.2, initial=FALLING, sensors=SensorSettings.ideal(), events=loss)
    silent = [x for x in one.seen if np.isnan(x.readings["contact.sole.touching"][0])]
    assert len(silent) >= 20
    assert {x.touching[0] for x in silent} == {1.0}
    one = Watching()
    simulate(
        block(), one, World(), 0.02, initial=FALLING, sensors=SensorSettings.ideal(),
        events=[SensorLoss(0.0, 1.0, "contact.sole.touching")],
    )  # fmt: skip
    assert {x.touching[0] for x in one.seen} == {0.5}


def test_the_estimator_is_asked_first():
    one = Watching()
    simulate(block(), one, World(), 0.05, sensors=SensorSettings.ideal(), estimators=Believing())
    assert {x.touching[0] for x in one.seen} == {0.25}


def test_robots_without_contacts_have_no_touches():
    one = Watching()
    simulate(pendulum(), one, None, 0.02)
    assert {x.touching.shape for x in one.seen} == {(0,)}


def test_columns_of_several_controllers():
    log = simulate([block(), pendulum()], [Watching(), Watching()], World(), 0.02)
    assert {"block/control.twice", "pendulum-example/control.twice"} <= set(log.columns)


def test_a_column_of_the_wrong_size_is_named_and_the_log_is_kept():
    one = Watching()
    one.channels = (Channel("dcm", "m", 3, lambda: np.zeros(3 if one.t < 0.01 else 2)),)
    with pytest.raises(StoppedError, match=r"`control\.dcm` of the log needs 3 numbers") as caught:
        simulate(pendulum(), one, None, 0.05)
    assert caught.value.log.partial
    assert len(caught.value.log) == 6


def test_times_of_a_tick_are_told_apart(monkeypatch):
    """Each part takes a time of its own, by a clock that only moves when it is told to."""
    now, look = [0.0], 1e-6  # what it shows, and what it takes to look at it

    def spend(seconds):
        now[0] += seconds

    def perf_counter():
        spend(look)
        return now[0]

    monkeypatch.setattr(participant, "perf_counter", perf_counter)
    monkeypatch.setattr(time, "perf_counter", perf_counter)

    class Slow(Watching):
        solver_time = 0.004

        def observe(self, observation):
            spend(0.001)

        def command(self, t, state):
            spend(0.006)
            return super().command(t, state)

    class SlowGuess(Believing):
        def update(self, t, measurements):
            spend(0.003)
            return super().update(t, measurements)

    def timing(controller, **options):
        simulation = Simulation(block(), controller, World(), Settings(0.02), **options)
        simulation.run()
        return simulation.timing()

    found = timing(Slow(), sensors=SensorSettings.ideal(), estimators=SlowGuess())
    assert list(found.columns) == ["time", "sensors", "estimator", "controller", "solver", "physics"]
    assert {column.unit for column in found} == {"s"}
    assert (found["solver"] == 0.004).all()
    observed = np.array([0.0, *[0.001] * 9])  # nothing has been sensed in the first tick
    np.testing.assert_allclose(found["controller"], 0.002 + observed, atol=5 * look)
    np.testing.assert_allclose(found["estimator"], 0.003, atol=5 * look)
    for name in ("sensors", "physics"):
        assert ((found[name] > 0.0) & (found[name] < 10 * look)).all()
    bare = timing(Watching())
    assert not bare["estimator"].any()
    assert not bare["solver"].any()
