"""Events of scenario files, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.robot.loading import load
from surefoot.scenario.build import build_simulation
from surefoot.scenario.build.events import build_event
from surefoot.scenario.catalogue import read_scenario
from surefoot.scenario.schema import EventTable
from surefoot.sim import FrictionChange, ParameterError, Payload, Push, SensorLoss, TerrainChange

BOTH = pytest.mark.parametrize("engine", ["mujoco", "native"])
G = 9.81
BLOCK = '[robot]\nname = "block"\n[controller]\nkind = "limp"\n'


def simulated(tmp_path, text: str, engine: str, duration: float, world: str = ""):
    """The simulation of a file, after its run."""
    path = tmp_path / "mine.toml"
    clock = f'[simulation]\nengine = "{engine}"\nduration = {duration}\ndt = 0.001\ncontrol_dt = 0.005\n'
    path.write_text(f'name = "mine"\n{clock}{world}\n{text}')
    simulation = build_simulation(read_scenario(path))
    simulation.run()
    return simulation, simulation.log()


def at(log, t: float) -> int:
    return int(np.searchsorted(log.time, t - 1e-9))


@BOTH
def test_a_push_gives_its_impulse_while_it_lasts(tmp_path, engine):
    event = '[[events]]\nkind = "push"\ntime = 0.1\nduration = 0.2\nimpulse = 3.0\ndirection = [1.0, 0.0, 0.0]\n'
    empty = "[world]\nempty = true\ngravity = [0.0, 0.0, 0.0]\n"
    _, log = simulated(tmp_path, BLOCK + event, engine, 0.5, empty)
    force = log["push.force"][:, 0]
    assert force[at(log, 0.15)] == pytest.approx(15.0)
    assert force[at(log, 0.1)] == force[at(log, 0.35)] == 0.0
    assert log["v"][-1, 0] == pytest.approx(3.0 / 2.0, rel=1e-6)
    assert log["energy.pushes"][-1] == pytest.approx(0.5 * 3.0**2 / 2.0, rel=0.01)


@BOTH
def test_friction_that_changes_lets_a_block_slide_and_stops_it(tmp_path, engine):
    slope = '[world]\nfriction = 0.8\n[[world.ground]]\nkind = "plane"\nnormal = [-0.4, 0.0, 1.0]\n'
    events = (
        '[initial]\non_slope = true\n[[events]]\nkind = "friction"\ntime = 0.4\nfriction = 0.1\n'
        '[[events]]\nkind = "friction"\ntime = 0.7\nfriction = 1.0\npieces = [0]\n'
    )
    _, log = simulated(tmp_path, BLOCK + events, engine, 1.4, slope)
    slip = log["contact.bottom.slip"]
    angle = np.arctan(0.4)
    gained = G * (np.sin(angle) - 0.1 * np.cos(angle)) * 0.3
    lost = G * (1.0 * np.cos(angle) - np.sin(angle))
    assert slip[at(log, 0.4)] - slip[at(log, 0.2)] < 1e-4
    assert slip[at(log, 0.7)] - slip[at(log, 0.4)] == pytest.approx(0.5 * gained * 0.3, rel=0.05)
    assert slip[-1] - slip[at(log, 0.7)] == pytest.approx(0.5 * gained**2 / lost, rel=0.05)
    assert slip[-1] - slip[at(log, 1.2)] < 1e-4


DROPS = '[[events]]\nkind = "terrain"\ntime = 0.3\n[[events.ground]]\nkind = "plane"\npoint = [0.0, 0.0, -0.05]\n'


@BOTH
def test_ground_that_drops_lets_a_block_fall_and_rest(tmp_path, engine):
    plane = '[[world.ground]]\nkind = "plane"\n'
    simulation, log = simulated(tmp_path, BLOCK + DROPS, engine, 1.0, plane)
    force, height = log["contact.bottom.wrench"][:, 2], log["q"][:, 2]
    weight = simulation.robot.mass * G
    fall = np.sqrt(2.0 * 0.05 / G)
    assert force[at(log, 0.25)] == pytest.approx(weight, rel=0.01)
    flight = slice(at(log, 0.31), at(log, 0.3 + 0.9 * fall))
    np.testing.assert_allclose(force[flight], 0.0, atol=1e-9)
    assert force[-1] == pytest.approx(weight, rel=1e-3)
    assert height[at(log, 0.25)] - height[-1] == pytest.approx(0.05, abs=1e-3)


@BOTH
def test_heights_and_falls_are_those_over_the_ground_that_is_there(tmp_path, engine):
    """A hexapod that stands as before, 6 cm lower, has not fallen although it is below half its height over the old."""
    lower = DROPS.replace("-0.05", "-0.06")
    plane = '[[world.ground]]\nkind = "plane"\n'
    simulation, log = simulated(tmp_path, '[robot]\nname = "hexapod"\n' + lower, engine, 1.0, plane)
    assert simulation.fall_time is None
    assert not log.partial
    assert log["base.height"][-1] == pytest.approx(log["base.height"][at(log, 0.25)], abs=5e-3)
    np.testing.assert_allclose(log["base.height"][-1], log["q"][-1, 2] + 0.06, atol=1e-9)


@BOTH
def test_a_box_that_rises_out_of_the_ground_lifts_what_stands_on_it(tmp_path, engine):
    box = '[[{}]]\nkind = "box"\nsize = [1.0, 1.0, 0.2]\nposition = [0.0, 0.0, {}]\n'
    plane = '[[{}]]\nkind = "plane"\npoint = [0.0, 0.0, -1.0]\n'
    world = plane.format("world.ground") + box.format("world.ground", -0.1)
    event = '[[events]]\nkind = "terrain"\ntime = 0.3\n'
    event += plane.format("events.ground") + box.format("events.ground", -0.098)
    simulation, log = simulated(tmp_path, BLOCK + event, engine, 1.0, world)
    assert log["q"][-1, 2] - log["q"][at(log, 0.29), 2] == pytest.approx(0.002, abs=2e-4)
    assert log["contact.bottom.wrench"][-1, 2] == pytest.approx(simulation.robot.mass * G, rel=1e-3)


@BOTH
def test_a_payload_weighs_while_it_lasts(tmp_path, engine):
    event = '[[events]]\nkind = "payload"\ntime = 0.3\nduration = 0.3\nmass = 1.0\nposition = [0.0, 0.02, 0.05]\n'
    simulation, log = simulated(tmp_path, BLOCK + event, engine, 0.9)
    force, weight = log["contact.bottom.wrench"], simulation.robot.mass * G
    for t, more in ((0.29, 0.0), (0.58, G), (0.89, 0.0)):
        assert force[at(log, t), 2] == pytest.approx(weight + more, rel=2e-3)
    assert force[at(log, 0.58), 3] == pytest.approx(G * 0.02, rel=0.02)  # it lies beside the middle
    assert np.isfinite(log["energy.total"]).all()


@BOTH
def test_a_parameter_error_is_unknown_to_the_controller(tmp_path, engine):
    event = '[[events]]\nkind = "parameter_error"\nmass_factor = 1.5\ncom = [0.01, 0.0, 0.0]\n'
    simulation, log = simulated(tmp_path, BLOCK + event, engine, 0.4)
    known = simulation.robot.mass
    assert log["contact.bottom.wrench"][-1, 2] == pytest.approx(1.5 * known * G, rel=2e-3)
    assert log["contact.bottom.wrench"][-1, 4] == pytest.approx(-1.5 * known * G * 0.01, rel=0.02)
    assert simulation.engine.robots[0].mass == pytest.approx(1.5 * known)


@BOTH
def test_lost_sensors_are_silent_until_the_last_loss_is_over(tmp_path, engine):
    losses = (
        '[sensors]\nkind = "ideal"\n'
        '[[events]]\nkind = "sensor_loss"\ntime = 0.1\nduration = 0.2\nsensor = "imu.*"\n'
        '[[events]]\nkind = "sensor_loss"\ntime = 0.2\nduration = 0.2\nsensor = "imu.gyro"\n'
    )
    _, log = simulated(tmp_path, BLOCK + losses, engine, 0.5)

    def silent(name):
        """From when to when nothing arrives."""
        times = log.time[1:][np.isnan(log[f"sensor.{name}"][1:, 0])]
        return [times[0], times[-1]] if len(times) else []

    np.testing.assert_allclose(silent("imu.accelerometer"), [0.1, 0.3], atol=0.0051)
    np.testing.assert_allclose(silent("imu.gyro"), [0.1, 0.4], atol=0.0051)
    assert silent("contact.bottom.wrench") == []


def test_tables_become_events():
    robot = load("hexapod")
    q = np.array(robot.home)

    def built(**keys):
        return build_event(EventTable(**keys), robot, q)

    change = built(kind="friction", time=2.0, friction=0.3, pieces=[0])
    assert isinstance(change, FrictionChange)
    assert (change.time, change.friction, list(change.pieces)) == (2.0, 0.3, [0])
    load_ = built(kind="payload", mass=0.5)
    assert isinstance(load_, Payload)
    assert (load_.link, load_.mass, load_.duration) == (robot.tree.body_names[0], 0.5, np.inf)
    error = built(kind="parameter_error", mass_factor=1.1, com=(0.0, 0.0, 0.01), link="body")
    assert isinstance(error, ParameterError)
    assert (error.mass, tuple(error.com), error.link) == (1.1, (0.0, 0.0, 0.01), "body")
    assert built(kind="parameter_error").link is None
    loss = built(kind="sensor_loss", sensor="imu.*", duration=0.2)
    assert isinstance(loss, SensorLoss)
    assert (loss.sensor, loss.duration) == ("imu.*", 0.2)
    ground = built(kind="terrain", ground=[{"kind": "stairs", "steps": 3, "rise": 0.1, "run": 0.3}])
    assert isinstance(ground, TerrainChange)
    assert len(ground.ground) == 3
    push = built(kind="push", margin=0.3, direction=(0.0, 2.0, 0.0))
    assert isinstance(push, Push)
    assert push.at == "com_height"
    assert built(kind="push", margin=0.3, direction=(0.0, 2.0, 0.0), at="body").at == "body"
    np.testing.assert_allclose(push.wrench[[0, 2, 3, 4, 5]], 0.0)
    assert push.wrench[1] > 0.0
