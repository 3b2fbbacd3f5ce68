"""The estimator on true motions without any engine (`examples.Stander`)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from scipy.stats import chi2

from surefoot.errors import NotSupportedError, ShapeError, SimulationError
from surefoot.estimation import BaseEstimator, EstimatorSettings
from surefoot.estimation.tick import TICK
from surefoot.motion import Estimator, State
from surefoot.sim.sensors.channels import Channel
from surefoot.sim.sensors.sensors import Sensors, Truth
from surefoot.sim.sensors.settings import SensorSettings
from tests.estimation.examples import GENTLE, STEP, STILL, WIDE, Slide, Sway, arm, robot_of, run, standing
from tests.motion.examples import every_kind

DT = 0.004
SWAY_OF = {"solo12": WIDE, "g1": GENTLE}


def motion(name: str, duration: float, sway=None, slide=None):
    return standing(name, duration, DT, sway or SWAY_OF[name], slide)


def test_it_is_an_estimator():
    assert isinstance(BaseEstimator(robot_of("solo12")), Estimator)


@pytest.mark.parametrize("name", ["solo12", "g1"])
def test_with_perfect_sensors_the_state_is_followed(name):
    truths = motion(name, 10.0)[:500]
    found = run(robot_of(name), truths, SensorSettings.ideal())
    assert found.tilt.max() < 0.01
    assert found.speed.max() < 5e-4
    for truth, state in zip(truths[::50], found.states[::50], strict=True):
        assert state.t == truth.t
        assert state.q[7:] == pytest.approx(truth.q[7:])
        assert state.v[3:] == pytest.approx(truth.v[3:], abs=2e-3)


@pytest.mark.parametrize("name", ["solo12", "g1"])
@pytest.mark.parametrize("sensors", [SensorSettings(), SensorSettings().with_dropout(0.1, burst=0.02)])
def test_attitude_within_one_degree_and_velocity_within_five_centimetres_per_second(name, sensors):
    found = run(robot_of(name), motion(name, 10.0), sensors, 0)
    assert found.tilt.max() <= 1.0
    assert found.speed.max() <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solo12", "g1"])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_at_rest_and_over_seeds(name, seed):
    for sensors in (SensorSettings(), SensorSettings().with_dropout(0.1, burst=0.02)):
        found = run(robot_of(name), motion(name, 10.0, STILL), sensors, seed)
        assert found.tilt.max() <= 1.0
        assert found.speed.max() <= 0.05


def test_the_quick_tick_is_the_general_one(monkeypatch):
    """Loops for ticks without silent sensors against the general way, which the tests of silent sensors check."""
    robot, truths = robot_of("g1"), motion("g1", 10.0)[:200]
    quick = run(robot, truths, SensorSettings(), 0)
    bind = TICK.bind

    def general(name, *args):
        bound = bind(name, *args)
        return SimpleNamespace(run=lambda: 2 * (name == "put_base"), real=bound.real) if name in parts else bound

    parts = ("begin", "put_base")
    monkeypatch.setattr(TICK, "bind", general)
    for one, other in zip(quick.states, run(robot, truths, SensorSettings(), 0).states, strict=True):
        np.testing.assert_allclose(np.r_[one.q, one.v], np.r_[other.q, other.v], rtol=1e-9, atol=1e-12)


def perturbed(state: State, error: np.ndarray) -> State:
    """Rotation, velocity and position changed by a plain error (9,) in world."""
    q, v = np.array(state.q), np.array(state.v)
    T = pin.XYZQUATToSE3(q[:7])
    R = pin.exp3(error[:3]) @ T.rotation
    q[:7] = pin.SE3ToXYZQUAT(pin.SE3(R, T.translation + error[6:9]))
    v[:3] = R.T @ (T.rotation @ v[:3] + error[3:6])
    return State(state.t, q, v)


def test_it_converges_from_a_wrong_start():
    wrong = np.array([0.12, -0.1, 0.0, 0.3, -0.3, 0.2, 0.0, 0.0, 0.0])
    unsure = EstimatorSettings(initial_attitude=0.15, initial_velocity=0.3)
    found = run(
        robot_of("solo12"), motion("solo12", 10.0)[:750], SensorSettings(), 0, unsure, lambda s: perturbed(s, wrong)
    )
    assert found.tilt[0] > 5.0
    assert np.degrees(np.linalg.norm(found.attitude[-1, :2])) < 0.6  # the heading cannot be found
    assert found.speed[-1] < 0.01


WHITE = SensorSettings(
    encoder_position=Channel(noise=1e-3),
    encoder_velocity=Channel(noise=0.01),
    gyro=Channel(noise_density=1e-3, bias=3e-3, bias_walk=1e-4),
    accelerometer=Channel(noise_density=1e-2, bias=0.03, bias_walk=1e-3),
)
KNOWN = EstimatorSettings(
    gyro_noise=1e-3, accelerometer_noise=1e-2, gyro_walk=1e-4, accelerometer_walk=1e-3, encoder_noise=1e-3,
    point_noise=1e-6, point_drift=1e-6, initial_attitude=0.02, initial_velocity=0.05, initial_position=0.01,
    initial_gyro_bias=3e-3, initial_accelerometer_bias=0.03,
)  # fmt: skip


def test_errors_are_as_large_as_the_covariance_says():
    """Normalised squared errors over seeds lie within the bounds of chi-square (Bar-Shalom et al. 2001, §5.4.2)."""
    truths, runs, values = motion("solo12", 10.0)[:200], 12, []
    spread = np.repeat([0.02, 0.05, 0.01], 3)
    for seed in range(runs):
        error = spread * np.random.default_rng(1000 + seed).standard_normal(9)
        kept = []

        def each(k, estimator, errors, kept=kept):
            if k in (100, 199):
                kept.append(errors @ np.linalg.solve(estimator.covariance[:9, :9], errors))

        run(robot_of("solo12"), truths, WHITE, seed, KNOWN, lambda s, e=error: perturbed(s, e), each=each)
        values.append(kept)
    for mean in np.mean(values, axis=0):
        low, high = chi2.ppf([0.001, 0.999], 9 * runs) / runs
        assert low < mean < high


def test_heading_does_not_matter():
    """The same motion turned and moved in the world: the same errors, turned."""
    spin = pin.SE3(pin.exp3(np.array([0.0, 0.0, 2.1])), np.array([5.0, -3.0, 0.0]))
    straight = motion("solo12", 10.0)[:300]
    turned = []
    for truth in straight:
        q = truth.q.copy()
        q[:7] = pin.SE3ToXYZQUAT(spin * pin.XYZQUATToSE3(q[:7]))
        turned.append(Truth(truth.t, q, truth.v, truth.a, truth.wrenches))
    a, b = (run(robot_of("solo12"), x, SensorSettings().with_dropout(0.1), 4) for x in (straight, turned))
    R = spin.rotation
    for name in ("attitude", "velocity", "position"):
        assert getattr(b, name) == pytest.approx(getattr(a, name) @ R.T, abs=1e-8)


def test_position_and_heading_stay_as_unsure_as_they_were():
    kept = []
    run(
        robot_of("solo12"),
        motion("solo12", 10.0)[:500],
        SensorSettings(),
        each=lambda k, e, _: kept.append(e.covariance),
    )
    yaw, place = ([P[i, i] for P in kept] for i in (2, 6))
    tilt = [P[0, 0] for P in kept]
    assert yaw[-1] > 0.99 * yaw[0]
    assert place[-1] > 0.99 * place[0]
    assert tilt[-1] < 0.5 * tilt[0]


def test_offsets_of_the_imu_are_found():
    sensors = replace(SensorSettings.ideal(), gyro=Channel(bias=0.02))
    unsure = EstimatorSettings(initial_gyro_bias=0.02)
    found = run(robot_of("solo12"), motion("solo12", 10.0)[:750], sensors, 2, unsure)
    still = Sensors(robot_of("solo12"), sensors, np.random.default_rng(2), DT).read(motion("solo12", 10.0, STILL)[0])
    assert np.abs(still["imu.gyro"]).max() > 0.005
    assert found.estimator.bias[:3] == pytest.approx(still["imu.gyro"], abs=1e-3)


@pytest.mark.parametrize(
    ("pattern", "seconds", "tilt", "speed"),
    [("imu.*", 2.0, 1.0, 0.08), ("imu.gyro", 2.0, 1.0, 0.05), ("imu.accelerometer", 2.0, 1.0, 0.08),
     ("contact.*", 2.0, 1.0, 0.05), ("contact.*.wrench", 2.0, 1.0, 0.05), ("encoder.velocity", 2.0, 1.0, 0.05),
     ("encoder.position", 0.05, 1.0, 0.15), ("encoder.*", 0.05, 1.0, 0.2), ("*", 0.05, 1.0, 0.2)],
)  # fmt: skip
def test_lost_sensors_are_bridged(pattern, seconds, tilt, speed):
    def event(k, sensors, readings):
        if k == 250:
            sensors.lose(pattern)
        if k == 250 + round(seconds / DT):
            sensors.restore(pattern)

    end = 500 + round(seconds / DT)  # a second before and a second after
    found = run(robot_of("solo12"), motion("solo12", 10.0)[:end], SensorSettings(), 3, event=event)
    assert found.tilt.max() <= tilt
    assert found.speed.max() <= speed
    assert found.speed[-1] <= 0.02


def test_silent_from_the_start_is_no_error():
    robot = robot_of("solo12")
    estimator, first = BaseEstimator(robot), State.of(robot)
    estimator.reset(first)
    state = estimator.update(0.0, {})
    assert state.q == pytest.approx(first.q)
    assert estimator.update(DT, {}).t == DT


def test_a_sliding_foot_is_left_out():
    truths = motion("solo12", 2.0, GENTLE, Slide((0.06, 0.03, 0.0)))
    gated = run(robot_of("solo12"), truths, SensorSettings(), 5)
    trusting = run(robot_of("solo12"), truths, SensorSettings(), 5, EstimatorSettings(gate=1e9))
    assert gated.speed.max() < 0.05
    assert gated.tilt.max() < 1.0
    assert trusting.speed.max() > 2.0 * gated.speed.max()


def test_a_foot_may_be_lifted_and_put_down_elsewhere():
    truths = motion("solo12", 2.0, GENTLE, Slide((0.05, 0.02, 0.03), lifted=True))
    touching = []
    found = run(robot_of("solo12"), truths, SensorSettings(), 5, each=lambda k, e, _: touching.append(e.touching))
    assert touching[300][0] < 0.01
    assert touching[300][1:].min() > 0.99
    assert touching[-1].min() > 0.99
    assert found.speed.max() < 0.02
    assert np.linalg.norm(found.position[-1]) < 0.005


def test_the_imu_may_sit_anywhere_on_the_base():
    robot = robot_of("g1")
    frame = next(str(f.name) for f in robot.model.frames if f.parentJoint == 1 and not f.placement.isIdentity(1e-6))
    sensors = replace(SensorSettings(), imu=frame)
    found = run(robot, motion("g1", 10.0)[:500], sensors, 0, EstimatorSettings(imu=frame))
    assert found.tilt.max() < 1.0
    assert found.speed.max() < 0.05


def test_a_foot_with_little_load_moves_the_estimate_less():
    """A foot rises by 4 mm while it still carries 3 % of the weight, as at the end of a stance."""
    robot, truths = robot_of("solo12"), motion("solo12", 2.0, STILL, Slide((0.0, 0.0, 0.004)))
    first, light = next(iter(robot.contacts)), np.array([0.0, 0.0, 0.03 * robot.mass * 9.81, 0.0, 0.0, 0.0])
    rising = [replace(x, wrenches={**x.wrenches, first: light}) if 0.9 < x.t < 1.4 else x for x in truths]
    errors = []
    for settings in (EstimatorSettings(), EstimatorSettings(grip_load=1e-6)):
        found = run(robot, rising, SensorSettings.ideal(), 0, settings)
        assert (found.estimator.touching > 0.9).all()
        errors.append(np.linalg.norm(found.position[-1]))
    assert errors[1] > 5e-4
    assert errors[0] < 0.6 * errors[1]


def test_a_sole_that_tips_over_its_edge_holds_there_alone():
    """A rigid robot turns about the front edges of its soles; it sees that by the centre of pressure."""
    robot = robot_of("small-humanoid")
    q, edge = np.array(robot.home), max(corners[:, 0].max() for corners in robot.contact_corners(robot.home).values())
    home, load = pin.XYZQUATToSE3(q[:7]), 0.5 * robot.mass * 9.81
    lever = {name: float(contact.corners[:, 0].max()) for name, contact in robot.contacts.items()}

    class Tipping(Sway):
        def pose(self, t, home):
            R = pin.exp3(np.array([0.0, 0.05 * (1.0 - np.cos(2.0 * np.pi * t)), 0.0]))
            return pin.SE3(R, (np.eye(3) - R) @ [edge, 0.0, 0.0]) * home

    def truths(share):
        wrenches = {name: np.array([0.0, 0.0, load, 0.0, -share * x * load, 0.0]) for name, x in lever.items()}
        for t in 0.005 * np.arange(120):
            v, a = np.zeros(robot.nv), np.zeros(robot.nv)
            v[:6] = Tipping().twist(t, home)
            a[:6] = (Tipping().twist(t + STEP, home) - Tipping().twist(t - STEP, home)) / (2 * STEP)
            q[:7] = pin.SE3ToXYZQUAT(Tipping().pose(t, home))
            yield Truth(t, q.copy(), v, a, wrenches)

    told, untold = (run(robot, list(truths(share)), SensorSettings()) for share in (1.0, 0.0))
    assert told.speed.max() < 0.02
    assert untold.speed.max() > 2.0 * told.speed.max()


def test_same_readings_same_bits():
    a, b = (
        run(robot_of("solo12"), motion("solo12", 10.0)[:150], SensorSettings().with_dropout(0.2), 8) for _ in range(2)
    )
    assert all(np.array_equal(x.q, y.q) and np.array_equal(x.v, y.v) for x, y in zip(a.states, b.states, strict=True))


def at_rest(robot, count: int, sensors: SensorSettings) -> list[State]:
    load = robot.mass * 9.81 / max(1, len(robot.contacts))
    wrenches = {name: np.array([0.0, 0.0, load, 0.0, 0.0, 0.0]) for name in robot.contacts}
    suite, estimator = Sensors(robot, sensors, np.random.default_rng(0), DT), BaseEstimator(robot)
    q, zero = np.array(robot.home), np.zeros(robot.nv)
    estimator.reset(State(0.0, q, zero))
    return [estimator.update(k * DT, suite.read(Truth(k * DT, q, zero, zero, wrenches))) for k in range(count)]


def test_a_planar_base_stays_in_its_plane():
    robot = robot_of("biped")
    last = at_rest(robot, 500, SensorSettings())[-1]
    robot.checked_q(last.q)
    step, _ = State.of(robot).difference(robot, last)
    assert np.abs(step[robot.base_rows]).max() < 0.01
    assert np.abs(last.v[robot.base_rows]).max() < 0.02


def test_the_joints_of_a_fixed_robot_are_passed_on():
    robot = arm("fixed")
    estimator = BaseEstimator(robot)
    estimator.reset(State.of(robot))
    readings = {"encoder.position": np.array([0.1, 3.0, 0.2]), "encoder.velocity": np.array([1.0, 2.0, 3.0])}
    state = estimator.update(0.0, readings)
    assert state.q == pytest.approx(robot.q_of({"swing": 0.1, "spin": 3.0, "slide": 0.2}))
    assert state.v == pytest.approx([1.0, 2.0, 3.0])


def test_what_cannot_be_estimated_is_refused_by_name():
    with pytest.raises(NotSupportedError, match="several axes"):
        BaseEstimator(every_kind())
    with pytest.raises(NotSupportedError, match="not on the base"):
        BaseEstimator(robot_of("g1"), EstimatorSettings(imu="left_ankle_roll_link"))
    with pytest.raises(ShapeError, match="gyro_noise"):
        EstimatorSettings(gyro_noise=0.0)


def test_wrong_input_is_refused_by_name():
    robot = robot_of("solo12")
    estimator = BaseEstimator(robot)
    with pytest.raises(ShapeError, match="no first state"):
        estimator.update(0.0, {})
    estimator.reset(State.of(robot))
    estimator.update(1.0, {})
    with pytest.raises(ShapeError, match="backwards"):
        estimator.update(0.5, {})
    with pytest.raises(ShapeError, match=r"imu\.gyro"):
        estimator.update(1.1, {"imu.gyro": np.zeros(4)})
    with pytest.raises(SimulationError, match="diverged"), np.errstate(all="ignore"):
        estimator.update(1.2, {"imu.gyro": np.zeros(3), "imu.accelerometer": np.full(3, np.inf)})
