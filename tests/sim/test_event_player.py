"""Events happen at their time, and once."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.motion import Command, GroundBox, GroundPlane, World
from surefoot.robot.loading import load
from surefoot.sim import (
    FrictionChange,
    ParameterError,
    Payload,
    Push,
    SensorLoss,
    SensorSettings,
    TerrainChange,
    simulate,
)
from surefoot.sim.event_player import EventPlayer, robots_in_truth
from surefoot.sim.settings import Settings
from surefoot.sim.simulation import Simulation, StoppedError

from .examples import block, pendulum

PUSH = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])


class Off:
    def command(self, t, state):
        return Command(torque=np.zeros(0))


class Clock:
    """An engine that does nothing but write down what it is asked for."""

    def __init__(self, dt: float = 0.01) -> None:
        self.dt, self.steps, self.calls = dt, 0, []

    @property
    def time(self):
        return self.steps * self.dt

    def __getattr__(self, name):
        def note(*args, **kwargs):
            self.calls.append((round(self.time, 9), name, args))

        return note


class Listener:
    """A participant with sensors that cannot be told apart."""

    def __init__(self) -> None:
        self.robot, self.said = block(), []

    def require_sensor(self, pattern):
        pass

    def set_sensor(self, pattern, working):
        self.said.append((pattern, working))

    def stand_on(self, world):
        self.said.append(world)


def played(events, steps, world=None):
    """What engine and participant were asked for."""
    engine, listener = Clock(), Listener()
    player = EventPlayer(events, engine, [listener], World() if world is None else world)
    forces = []
    for _ in range(steps):
        player.before_step()
        forces.append(player.force.copy())
        engine.steps += 1
    return engine.calls, listener.said, np.array(forces)[:, 0]


def test_pushes_add_up_while_they_last():
    calls, _, force = played([Push(0.02, 0.03, "box", PUSH), Push(0.04, 0.02, "box", 2.0 * PUSH)], 8)
    share = np.array([0, 0, 1, 1, 3, 2, 0, 0])
    np.testing.assert_allclose(force, share[:, None] * PUSH[:3])
    assert sum(name == "push" for _, name, _ in calls) == 5
    assert sum(name == "release" for _, name, _ in calls) == 8


def test_changes_happen_once_at_the_step_that_begins_nearest():
    calls, _, _ = played([FrictionChange(0.0249, 0.2), FrictionChange(0.0251, 0.3), FrictionChange(0.0, 0.1)], 6)
    assert [(t, args[0]) for t, name, args in calls] == [(0.0, 0.1), (0.02, 0.2), (0.03, 0.3)]


def test_what_ends_comes_before_what_begins_at_the_same_time():
    first, second = Payload(0.0, "box", 1.0, duration=0.03), Payload(0.03, "box", 2.0, duration=0.02)
    for events in ([first, second], [second, first]):
        calls, _, _ = played(events, 8)
        assert [(t, args[1]) for t, _, args in calls] == [(0.0, 1.0), (0.03, 0.0), (0.03, 2.0), (0.05, 0.0)]


def test_two_payloads_of_a_link_at_a_time_are_refused():
    with pytest.raises(NotSupportedError, match="two payloads"):
        played([Payload(0.0, "box", 1.0), Payload(3.0, "box", 2.0, duration=1.0)], 1)


def test_a_sensor_works_again_after_the_last_loss():
    _, said, _ = played([SensorLoss(0.0, 0.04, "imu.*"), SensorLoss(0.02, 0.04, "imu.gyro")], 8)
    lost = set()
    history = []
    for pattern, working in said:
        names = {"imu.gyro", "imu.accelerometer"} if pattern == "imu.*" else {pattern}
        lost = lost - names if working else lost | names
        history.append(set(lost))
    both = {"imu.gyro", "imu.accelerometer"}
    assert both in history
    assert {"imu.gyro"} in history[2:]
    assert history[-1] == set()


def test_participants_hear_of_new_ground():
    lower = (GroundPlane(point=(0.0, 0.0, -1.0)),)
    calls, said, _ = played([TerrainChange(0.01, lower)], 3)
    assert [name for _, name, _ in calls] == ["set_ground"]
    assert float(said[0].height(0.0, 0.0)) == -1.0


@pytest.mark.parametrize(
    ("event", "error", "word"),
    [
        (FrictionChange(5.0, 0.1, [1]), ShapeError, "pieces"),
        (TerrainChange(5.0, (GroundBox((1.0, 1.0, 1.0)),)), NotSupportedError, "same kinds"),
        (TerrainChange(5.0, (GroundPlane(), GroundPlane())), NotSupportedError, "as many"),
        (Push(5.0, 0.1, "bix", PUSH), UnknownNameError, "box"),
        (Payload(5.0, "bix", 1.0), UnknownNameError, "box"),
        (ParameterError(link="bix"), UnknownNameError, "box"),
        (Push(5.0, 0.1, "box", PUSH, robot=1), ShapeError, "robot 1"),
        (Payload(5.0, "box", 1.0, robot=-1), ShapeError, "robot -1"),
        (ParameterError(robot=2), ShapeError, "robot 2"),
        (SensorLoss(5.0, 0.1, "imu.*", robot=1), ShapeError, "robot 1"),
        (SensorLoss(5.0, 0.1, "gps"), UnknownNameError, "gps"),
    ],
)
@pytest.mark.parametrize("engine", ["mujoco", "native"])
def test_what_cannot_happen_is_refused_at_once(engine, event, error, word):
    with pytest.raises(error, match=word):
        simulate(block(), Off(), World(), 0.02, engine=engine, events=[event], sensors=SensorSettings())


def test_nothing_is_pushed_or_changed_where_nothing_is():
    arm = pendulum()
    for event in (Push(0.0, 0.1, "frame", PUSH), Payload(0.0, "frame", 1.0)):
        with pytest.raises(NotSupportedError, match="fixed to the world"):
            played_on(arm, event)
    with pytest.raises(ShapeError, match="no ground"):
        simulate(block(), Off(), None, 0.02, events=[FrictionChange(0.0, 0.1)])


def played_on(robot, event):
    class Still:
        def command(self, t, state):
            return Command(torque=np.zeros(1))

    return simulate(robot, Still(), None, 0.02, events=[event])


def test_an_event_that_the_engine_refuses_late_keeps_the_log(monkeypatch):
    simulation = Simulation(block(), Off(), World(), Settings(0.1), [FrictionChange(0.05, 0.3)])

    def refuse(friction, pieces):
        raise NotSupportedError("not now")

    monkeypatch.setattr(simulation.engine, "set_friction", refuse)
    with pytest.raises(StoppedError, match="not now") as caught:
        simulation.run()
    assert caught.value.log.partial
    assert len(caught.value.log) == 26


def test_robots_in_truth():
    robot = load("hexapod")
    heavy, same = robots_in_truth([robot, robot], [ParameterError(mass=2.0), Push(0.0, 1.0, "body", PUSH)])
    assert heavy.mass == pytest.approx(2.0 * robot.mass)
    assert same is robot
    both = robots_in_truth([robot], [ParameterError(mass=2.0), ParameterError(mass=1.5, link="body")])[0]
    body = robot.body_of("body")
    assert both.tree.masses[body] == pytest.approx(3.0 * robot.tree.masses[body])
