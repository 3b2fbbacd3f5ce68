"""`native` against `mujoco`: one controller, one world, two engines."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from surefoot.control import JointPd
from surefoot.errors import ModelError, ShapeError, SurefootError, UnknownNameError
from surefoot.estimation import BaseEstimator
from surefoot.motion import Command, State, World
from surefoot.robot import ContactSurface, Joint, Link, Robot
from surefoot.sim import ControlError, DivergedError, Push, SensorLoss, SensorSettings, Settings, Simulation, simulate
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.mujoco.model import build_mujoco, q_v, qpos_qvel
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.rollouts.rollout import rollout

from .examples import block, pendulum
from .native_examples import incline, on_incline, robot_named

G = 9.81
BOTH = pytest.mark.parametrize("engine", ["mujoco", "native"])
OFF = ("LIMIT", "FRICTIONLOSS", "CONTACT", "DAMPER", "SPRING")


class Off:
    """No torque."""

    def __init__(self, size: int = 0) -> None:
        self.size = size

    def command(self, t, state):
        return Command(torque=np.zeros(self.size))


# -- free flight ---------------------------------------------------------------------------------------------------


class Sines:
    """Torques of 2 % of the limits, each with its own rate and phase, held for a while."""

    def __init__(self, robot: Robot) -> None:
        rng = np.random.default_rng(20)
        limits = np.array([drive.torque_limit for drive in robot.drives])
        self._size, self._rate = 0.02 * limits, rng.uniform(3.0, 12.0, robot.nu)
        self._phase = rng.uniform(0.0, 6.0, robot.nu)

    def torque(self, t):
        return self._size * np.sin(self._rate * t + self._phase)

    def command(self, t, state):
        return Command(torque=self.torque(t))


def with_armature(robot: Robot) -> Robot:
    """The robot with rotors that differ from joint to joint."""
    rotors = np.zeros(robot.nv)
    rotors[robot.driven] = np.linspace(0.02, 0.1, robot.nu)
    model = robot.model.copy()
    model.armature[:] = rotors
    return robot.replace(tree=replace(robot.tree, armature=rotors), model=model)


def mujoco_flight(robot: Robot, duration: float, dt: float, hold: int) -> tuple[np.ndarray, np.ndarray]:
    """q and v after a flight by MuJoCo's RK4, with nothing but gravity, inertia, armature and torques."""
    model = build_mujoco(robot, None, timestep=dt)
    model.mj.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    for name in OFF:
        model.mj.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}")
    data, sines = mujoco.MjData(model.mj), Sines(robot)
    data.qpos[:], data.qvel[:] = qpos_qvel(model, robot.home, np.zeros(robot.nv))
    for k in range(round(duration / dt)):
        data.ctrl[:] = sines.torque(k // hold * hold * dt)
        mujoco.mj_step(model.mj, data)
    return q_v(model, data.qpos, data.qvel)


def native_flight(robot: Robot, duration: float, dt: float, control_dt: float):
    """The log of the same flight by `native`, which does not end where a robot on the ground would have fallen."""
    settings = Settings(
        duration, dt, control_dt, engine="native", drives="torque", after_fall=duration,
        options={"integrator": "rk4", "limits": False, "friction": False},
    )  # fmt: skip
    return Simulation(robot, Sines(robot), None, settings).run()


def gap(robot: Robot, a, b) -> float:
    """Largest entry of the step from one configuration to another."""
    return float(np.abs(pin.difference(robot.model, np.array(a), np.array(b))).max())


@pytest.mark.slow
@pytest.mark.parametrize(("rotors", "hold"), [(False, 4), (False, 1), (True, 1)])
def test_talos_flies_alike_for_a_second(rotors, hold):
    """With and without armature; the torques are held for some steps."""
    robot, dt = with_armature(robot_named("talos")) if rotors else robot_named("talos"), 5e-4
    log = native_flight(robot, 1.0, dt, hold * dt)
    q, v = mujoco_flight(robot, 1.0, dt, hold)
    assert log.time[-1] == pytest.approx(1.0)
    assert gap(robot, robot.home, q) > 1.0  # it has moved far
    assert gap(robot, log["q"][-1], q) <= 1e-6
    assert np.abs(log["v"][-1] - v).max() <= 1e-6


@pytest.mark.slow
def test_the_flight_of_talos_has_order_four():
    """Against its own run with an eighth of the step; the torques change at the same times in all runs."""
    robot, hold = with_armature(robot_named("talos")), 4e-3
    fine = native_flight(robot, 0.4, hold / 8.0, hold)["q"][-1]
    errors = [gap(robot, native_flight(robot, 0.4, hold / n, hold)["q"][-1], fine) for n in (1, 2)]
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.25)
    assert errors[1] > 1e-11  # more than rounding


# -- drop and slide ------------------------------------------------------------------------------------------------


def both(robot, controller, world, duration, **more):
    """Logs of `mujoco` and `native`."""
    return [
        simulate(robot, controller, world, duration, engine=name, dt=1e-3, control_dt=5e-3, **more)
        for name in ("mujoco", "native")
    ]


def last_force(robot: Robot, log) -> np.ndarray:
    """(3,) sum of the contact forces at the end, in world."""
    frames = robot.placements(np.array(log["q"][-1]))
    turns = {name: (frames[c.frame] @ c.placement)[:3, :3] for name, c in robot.contacts.items()}
    return sum(turn @ log[f"contact.{name}.wrench"][-1, :3] for name, turn in turns.items())


def test_a_dropped_block_rests_under_its_weight():
    robot = block()
    start, weight, fall = State.of(robot, [0.0, 0.0, 0.13, 0.0, 0.0, 0.0, 1.0]), robot.mass * G, 0.03
    for log in both(robot, Off(), World(), 1.0, initial=start):
        np.testing.assert_allclose(log["contact.sole.wrench"][-1], [0, 0, weight, 0, 0, 0], atol=1e-3 * weight)
        assert log["q"][-1, 2] == pytest.approx(0.1, abs=1.5e-3)
        assert log["energy.contacts"][-1] == pytest.approx(-weight * fall, rel=0.04)
        assert abs(log["energy.residual"]).max() < 1e-6 * weight * fall


def test_a_block_slides_as_far_and_loses_as_much():
    """½ g (sin α − μ cos α) t², and μ m g cos α times that way."""
    robot, friction, slope, t = block(), 0.3, np.arctan(0.5), 0.5
    way = 0.5 * G * (np.sin(slope) - friction * np.cos(slope)) * t**2
    logs = both(robot, Off(), incline(slope, friction), t, initial=on_incline(robot, slope, 0.1))
    ways = [np.linalg.norm(log["q"][-1, :3] - log["q"][0, :3]) for log in logs]
    slips = [log["contact.sole.slip"][-1] for log in logs]
    losses = [-log["energy.contacts"][-1] for log in logs]
    for found, expected in ((ways, way), (slips, way), (losses, friction * robot.mass * G * np.cos(slope) * way)):
        np.testing.assert_allclose(found, expected, rtol=0.03)
        assert found[0] == pytest.approx(found[1], rel=0.03)
    for log in logs:
        assert abs(log["energy.residual"]).max() < 1e-6


def test_a_dropped_hexapod_rests_alike():
    robot = robot_named("hexapod")
    high = np.array(robot.home)
    high[2] += 0.02
    heights = []
    for log in both(robot, JointPd(robot), World(), 1.0, initial=State.of(robot, high)):
        np.testing.assert_allclose(last_force(robot, log), [0.0, 0.0, robot.mass * G], atol=1e-3 * robot.mass * G)
        assert abs(log["momentum.residual"]).max() < 1e-3 * robot.mass
        heights.append(log["base.height"][-1])
    assert heights[0] == pytest.approx(heights[1], abs=2e-3)


# -- same seed, same bits ------------------------------------------------------------------------------------------


def digest(log) -> str:
    """Of the names and bytes of all columns."""
    found = hashlib.sha256()
    for column in log:
        found.update(column.name.encode())
        found.update(np.ascontiguousarray(column.data).tobytes())
    return found.hexdigest()


@BOTH
def test_same_seed_same_log(engine):
    """With noise, delay, drop-out, a filter, a push and a lost sensor."""
    robot = robot_named("solo12")
    sensors = SensorSettings().with_dropout(0.1, burst=0.004)
    push = Push(0.02, 0.02, "base_link", np.array([3.0, 1.0, 0.0, 0.0, 0.0, 0.0]), at="com_height")

    def run(seed):
        return simulate(
            robot, JointPd(robot), World(), 0.1, engine=engine, dt=0.001, seed=seed, sensors=sensors,
            events=[push, SensorLoss(0.04, 0.02, "imu.*")], estimators=BaseEstimator(robot),
        )  # fmt: skip

    first, again, other = run(5), run(5), run(6)
    assert digest(first) == digest(again) != digest(other)
    assert np.isnan(first["sensor.encoder.position"]).any()
    assert first["estimate.attitude_error"][1:].max() > 0.0


@BOTH
def test_any_number_of_threads_rolls_the_same_bits(engine):
    robot = robot_named("hexapod")
    rng = np.random.default_rng(2)
    q = np.tile(robot.home, (6, 1))
    q[:, 2] += 0.004 * rng.random(6)
    torques = 0.1 * rng.standard_normal((6, 10, robot.nu))
    runs = [
        rollout(
            robot, (q, np.zeros((6, robot.nv))), torques, world=World.flat(), engine=engine, hold=5, threads=threads,
            contact="spring_damper",
        )
        for threads in (1, 2)
    ]  # fmt: skip
    assert runs[0].q.tobytes() == runs[1].q.tobytes()
    assert runs[0].v.tobytes() == runs[1].v.tobytes()
    assert np.ptp(runs[0].q[:, -1, 2]) > 1e-4


# -- bad input -----------------------------------------------------------------------------------------------------


class StiffByTorque:
    """A spring of ω = 300 rad/s that a controller makes of torques, so that it is explicit; from a late start on."""

    def command(self, t, state):
        return Command(torque=-0.96 * 300.0**2 * state.q if t > 0.1 else np.zeros(1))


@BOTH
def test_a_step_that_is_too_large_blows_up_and_the_log_is_kept(engine):
    start = State.of(pendulum(), [0.1])
    calm = simulate(pendulum(), StiffByTorque(), None, 0.3, engine=engine, dt=1e-3, control_dt=1e-3, initial=start)
    assert np.abs(calm["q"]).max() < 0.2
    with pytest.raises(DivergedError, match="diverged at t =") as caught:
        simulate(pendulum(), StiffByTorque(), None, 2.0, engine=engine, dt=0.05, control_dt=0.05, initial=start)
    log = caught.value.log
    assert log.partial
    assert len(log) >= 3
    assert np.isfinite(log["q"]).all()
    assert "dt" in caught.value.next_step


@BOTH
@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda: Command(torque=np.full(1, np.nan)), "not finite"),
        (lambda: Command(torque=np.zeros(2)), "2 entries"),
        (Command, "one length"),
        (lambda: None, "NoneType"),
        (lambda: {}["gain"], "KeyError"),
    ],
)
def test_a_bad_command_is_named_and_the_log_is_kept(engine, answer, word):
    class Failing:
        def command(self, t, state):
            return Command(torque=np.zeros(1)) if t < 0.02 else answer()

    with pytest.raises(ControlError, match=word) as caught:
        simulate(pendulum(), Failing(), None, 1.0, engine=engine)
    assert isinstance(caught.value, SurefootError)
    assert "t = 0.02 s" in caught.value.message
    assert caught.value.log.partial
    assert len(caught.value.log) == 11


@BOTH
@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: State(0.0, [0, 0, np.nan, 0, 0, 0, 1], np.zeros(6)), "finite"),
        (lambda: State(0.0, [0, 0, 1, 0, 0, 0, 1], [0, 0, np.inf, 0, 0, 0]), "finite"),
        (lambda: State(0.0, [0, 0, 1, 0, 0, 0, 2.0], np.zeros(6)), "unit length"),
        (lambda: State(0.0, [0, 0, 1, 0, 0, 0, 0.0], np.zeros(6)), "unit length"),
        (lambda: State(0.0, [0, 0, 1], np.zeros(6)), "shape"),
        (lambda: State(0.0, [0, 0, 1, 0, 0, 0, 1], np.zeros(7)), "shape"),
        (lambda: [State.of(block()), State.of(block())], "1 robots and 2"),
    ],
)
def test_a_bad_first_state_is_named(engine, make, word):
    with pytest.raises(ShapeError, match=word):
        simulate(block(), Off(), World(), 0.1, engine=engine, initial=make())


def test_a_contact_frame_that_does_not_exist_is_named_before_any_engine():
    body = Link("body", mass=1.0, inertia=np.eye(3))
    sole = ContactSurface("sole", "bodi", "point")
    with pytest.raises(UnknownNameError, match=r"bodi.*body"):
        Robot.from_tree("x", [body], "floating", contacts=(sole,))


@pytest.mark.parametrize("make", [MujocoEngine, NativeEngine])
def test_names_that_do_not_exist(make):
    engine = make(block(), World())
    for ask in (engine.wrench, engine.slip):
        with pytest.raises(UnknownNameError, match="sole"):
            ask("soul")
    for ask in (engine.placement, lambda link: engine.push(link, np.zeros(6)),
                lambda link: engine.set_payload(link, 1.0, np.zeros(3))):  # fmt: skip
        with pytest.raises(UnknownNameError, match="box"):
            ask("boks")
    with pytest.raises(ShapeError, match="pieces"):
        engine.set_friction(0.5, [3])


def weightless_finger() -> Robot:
    """A body with a joint that moves nothing."""
    return Robot.from_tree(
        "weightless", [Link("body", mass=1.0, inertia=np.eye(3)), Link("finger", "body", Joint("j", "revolute"))],
        "floating",
    )  # fmt: skip


def test_a_joint_that_moves_no_mass_is_named():
    """MuJoCo holds it and says so; `native` refuses."""
    log = simulate(weightless_finger(), Off(1), None, 0.02)
    assert log.metadata["locked"] == ["j"]
    with pytest.raises(ModelError, match="no inertia") as caught:
        simulate(weightless_finger(), Off(1), None, 0.02, engine="native")
    assert caught.value.evidence["joints"] == "j"


@BOTH
def test_wrong_options_are_named(engine):
    for more in ({"dt": 0.0}, {"dt": np.nan}, {"control_dt": 0.003}, {"seed": -1}, {"duration": np.inf}):
        with pytest.raises(ShapeError):
            simulate(block(), Off(), World(), **{"duration": 0.1, "engine": engine, **more})
    with pytest.raises(UnknownNameError, match="kontakt"):
        simulate(block(), Off(), World(), 0.1, engine=engine, kontakt="rigid")
    with pytest.raises(UnknownNameError, match="steam"):
        simulate(pendulum(), Off(1), None, 0.1, engine=engine, drives="steam")
    with pytest.raises(UnknownNameError, match="elbow"):
        simulate(pendulum(), Off(1), None, 0.1, engine=engine, drives={"elbow": "servo"})
