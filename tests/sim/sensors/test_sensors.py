from __future__ import annotations

import functools

import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.robot import Robot
from surefoot.robot.loading import load
from surefoot.sim.sensors.sensors import Sensors, Truth
from surefoot.sim.sensors.settings import SensorSettings
from tests.estimation.examples import arm

DT = 0.002
IDEAL = SensorSettings.ideal()


@functools.cache
def solo() -> Robot:
    return load("solo12")


def suite(robot: Robot, settings: SensorSettings = IDEAL, seed: int = 3, **options) -> Sensors:
    return Sensors(robot, settings, np.random.default_rng(seed), DT, **options)


def truth(robot: Robot, q=None, v=None, a=None, load=None) -> Truth:
    zero = np.zeros(robot.nv)
    force = robot.mass * 9.81 / max(1, len(robot.contacts)) if load is None else load
    wrenches = {name: np.array([0.0, 0.0, force, 0.0, 0.0, 0.0]) for name in robot.contacts}
    pick = [np.array(robot.home) if q is None else q, zero if v is None else v, zero if a is None else a]
    return Truth(0.0, *pick, wrenches)


def random_motion(robot: Robot, rng) -> Truth:
    q = pin.integrate(robot.model, np.array(robot.neutral), rng.uniform(-1.0, 1.0, robot.nv))
    return truth(robot, q, rng.standard_normal(robot.nv), rng.standard_normal(robot.nv))


def test_at_rest_the_imu_feels_the_ground_hold_it_up():
    found = suite(solo()).read(truth(solo()))
    R = pin.Quaternion(np.array(solo().home[3:7])).matrix()
    assert R @ found["imu.accelerometer"] == pytest.approx([0.0, 0.0, 9.81], abs=1e-9)
    assert found["imu.gyro"] == pytest.approx(np.zeros(3), abs=1e-12)


def test_in_free_fall_the_imu_feels_nothing(rng):
    robot = solo()
    motion = random_motion(robot, rng)
    motion.v[:] = 0.0
    motion.a[:] = 0.0
    motion.a[:3] = pin.Quaternion(motion.q[3:7]).matrix().T @ [0.0, 0.0, -9.81]
    assert suite(robot).read(motion)["imu.accelerometer"] == pytest.approx(np.zeros(3), abs=1e-9)


def test_gravity_of_the_world_counts():
    found = suite(solo(), gravity=(0.0, 0.0, 0.0)).read(truth(solo()))
    assert found["imu.accelerometer"] == pytest.approx(np.zeros(3), abs=1e-9)


@pytest.mark.parametrize(
    ("base", "frame"), [("floating", None), ("floating", "three"), ("fixed", "two"), ("planar", None)]
)
def test_the_imu_measures_what_differences_of_positions_give(rng, base, frame):
    """Oracle: positions and rotations of the frame a little before and after, along q ⊕ (v h + a h²/2)."""
    robot = arm(base)
    motion, h = random_motion(robot, rng), 1e-4
    name = frame or "base"
    places = []
    for s in (-h, 0.0, h):
        # the body twist is v + a s at time s; to second order the path is q ⊕ (v s + a s²/2)
        q = pin.integrate(robot.model, motion.q, motion.v * s + 0.5 * motion.a * s**2)
        places.append(robot.placements(q)[name])
    before, now, after = places
    R = now[:3, :3]
    acceleration = (after[:3, 3] - 2 * now[:3, 3] + before[:3, 3]) / h**2
    turn = pin.log3(before[:3, :3].T @ after[:3, :3]) / (2 * h)
    found = suite(robot, SensorSettings(**{**vars(IDEAL), "imu": frame})).read(motion)
    assert found["imu.accelerometer"] == pytest.approx(R.T @ (acceleration - [0.0, 0.0, -9.81]), abs=2e-6)
    assert found["imu.gyro"] == pytest.approx(turn, abs=2e-6)


def test_encoders_read_angles_and_lengths_in_the_order_of_the_tree(rng):
    robot = arm("floating")
    motion = truth(robot, robot.q_of({"swing": 0.3, "spin": -2.5, "slide": 0.12}), np.arange(9.0))
    found = suite(robot).read(motion)
    assert found["encoder.position"] == pytest.approx([0.3, -2.5, 0.12])
    assert found["encoder.velocity"] == pytest.approx([6.0, 7.0, 8.0])


def test_a_robot_on_a_fixed_base_has_an_imu_only_if_asked():
    assert not [name for name in suite(arm("fixed")).names if name.startswith("imu")]
    asked = suite(arm("fixed"), SensorSettings(**{**vars(IDEAL), "imu": "one"}))
    assert "imu.gyro" in asked.names
    with pytest.raises(UnknownNameError):
        suite(arm("fixed"), SensorSettings(imu="none such"))


def test_wrenches_cop_and_zmp_come_from_the_contacts():
    robot = solo()
    motion = truth(robot)
    found = suite(robot).read(motion)
    feet = np.array([corners[0] for corners in robot.contact_corners(robot.home).values()])
    assert found["zmp"] == pytest.approx(feet[:, :2].mean(axis=0), abs=1e-9)
    for name in robot.contacts:
        assert np.array_equal(found[f"contact.{name}.wrench"], motion.wrenches[name])
        assert found[f"contact.{name}.cop"] == pytest.approx(np.zeros(2))
        assert found[f"contact.{name}.touching"] == pytest.approx([1.0])


def test_in_the_air_there_is_no_cop_and_no_zmp():
    found = suite(solo()).read(truth(solo(), load=0.0))
    name = next(iter(solo().contacts))
    assert np.isnan(found["zmp"]).all()
    assert np.isnan(found[f"contact.{name}.cop"]).all()
    assert found[f"contact.{name}.touching"] == pytest.approx([0.0])


def test_the_contact_bit_has_hysteresis():
    robot, sensors = solo(), suite(solo())
    weight, name = robot.mass * 9.81, next(iter(robot.contacts))
    shares = [0.0, 0.02, 0.04, 0.02, 0.01, 0.02, 0.031]
    bits = [sensors.read(truth(robot, load=s * weight))[f"contact.{name}.touching"][0] for s in shares]
    assert bits == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]


def test_noise_of_forces_is_a_share_of_the_weight():
    robot, sensors = solo(), suite(solo(), SensorSettings())
    name = f"contact.{next(iter(robot.contacts))}.wrench"
    found = np.array([sensors.read(truth(robot))[name] for _ in range(1500)])
    wanted = robot.mass * 9.81 * np.repeat([2e-3, 2e-4], 3)
    assert found.std(axis=0) == pytest.approx(wanted, rel=0.1)


def test_same_seed_same_readings_and_reading_does_not_alias():
    first, second = suite(solo(), SensorSettings().with_dropout(0.2)), suite(solo(), SensorSettings().with_dropout(0.2))
    kept = None
    for _ in range(300):
        a, b = first.read(truth(solo())), second.read(truth(solo()))
        assert all(np.array_equal(a[name], b[name], equal_nan=True) for name in first.names)
        assert set(a) == set(first.names)
        if kept is not None:
            assert np.array_equal(kept[0]["encoder.position"], kept[1], equal_nan=True)
        kept = (a, a["encoder.position"].copy())
    other = suite(solo(), SensorSettings(), seed=4).read(truth(solo()))
    assert not np.array_equal(other["imu.gyro"], suite(solo(), SensorSettings()).read(truth(solo()))["imu.gyro"])


def test_lost_sensors_are_silent_until_restored_and_the_others_do_not_notice():
    losing, whole = suite(solo(), SensorSettings()), suite(solo(), SensorSettings())
    foot = next(iter(solo().contacts))
    for k in range(60):
        if k == 20:
            losing.lose("imu.*")
            losing.lose(f"contact.{foot}.wrench")
        if k == 40:
            losing.restore("*")
        a, b = losing.read(truth(solo())), whole.read(truth(solo()))
        lost = {"imu.gyro", "imu.accelerometer", f"contact.{foot}.wrench", f"contact.{foot}.cop", "zmp"}
        for name in a:
            if 20 <= k < 40 and name in lost:
                assert np.isnan(a[name]).all()
            else:
                assert np.array_equal(a[name], b[name])


def test_wrong_input_is_refused_by_name():
    sensors = suite(solo())
    with pytest.raises(UnknownNameError, match=r"sensor `imu\.gyroscope`"):
        sensors.lose("imu.gyroscope")
    with pytest.raises(UnknownNameError, match=r"sensor `lidar\*`"):
        sensors.restore("lidar*")
    bad = truth(solo())
    bad.a = np.zeros(3)
    with pytest.raises(ShapeError, match="wrong size"):
        sensors.read(bad)
    unheard = truth(solo())
    unheard.wrenches = {}
    with pytest.raises(UnknownNameError, match="wrench of contact"):
        sensors.read(unheard)
    with pytest.raises(ShapeError, match="dt"):
        Sensors(solo(), IDEAL, np.random.default_rng(0), 0.0)
