import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.control import JointPd
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from surefoot.estimation import BaseEstimator
from surefoot.motion import Command, State, World
from surefoot.robot.loading import load
from surefoot.sim import (
    ControlError,
    DivergedError,
    FrictionChange,
    ParameterError,
    Payload,
    Push,
    SensorLoss,
    SensorSettings,
    Settings,
    Simulation,
    simulate,
)

from .examples import block, pendulum


class Counting:
    """Torques that depend on the state, and a count of the calls."""

    def __init__(self, n):
        self.n, self.times = n, []

    def command(self, t, state):
        self.times.append(t)
        return Command(torque=-0.1 * state.v[-self.n :] if self.n else np.zeros(0))


class Exploding:
    def command(self, t, state):
        return Command(torque=np.full(1, 1e300 if t > 0.05 else 0.0))


def test_same_seed_same_bits_and_other_seed_other_bits():
    robot = load("anymal")

    def run(seed):
        settings = Settings(0.1, seed=seed, initial_spread=0.02)
        return Simulation(robot, Counting(robot.nu), World(), settings).run()

    first, second, third = run(1), run(1), run(2)
    for column in first:
        assert_array_equal(column.data, second[column.name])
    assert np.abs(first["q"] - third["q"]).max() > 1e-3


def test_commands_come_at_their_own_rate():
    controller = Counting(1)
    log = simulate(pendulum(), controller, None, 0.1, dt=0.001, control_dt=0.005)
    assert len(controller.times) == 20
    np.testing.assert_allclose(np.diff(controller.times), 0.005)
    assert len(log) == 21
    assert not log.partial


def test_control_rate_must_fit():
    with pytest.raises(ShapeError, match="multiple"):
        Settings(1.0, dt=0.002, control_dt=0.005)


def test_divergence_keeps_the_log():
    with pytest.raises(DivergedError) as caught:
        simulate(pendulum(), Exploding(), None, 1.0)
    assert caught.value.log.partial
    assert 20 <= len(caught.value.log) <= 30
    assert np.isfinite(caught.value.log["q"]).all()


def test_stops_half_a_second_after_a_fall():
    robot = load("anymal")
    log = simulate(robot, Counting(robot.nu), World(), 5.0)
    fall = log.metadata["fall_time_s"]
    assert 0.1 < fall < 2.0
    assert abs(log.time[-1] - (fall + 0.5)) < 0.01
    assert log.partial


def test_interrupt_leaves_what_there_is():
    class Interrupting(Counting):
        def command(self, t, state):
            if t > 0.05:
                raise KeyboardInterrupt
            return super().command(t, state)

    simulation = Simulation(pendulum(), Interrupting(1), None, Settings(1.0))
    with pytest.raises(KeyboardInterrupt):
        simulation.run()
    log = simulation.log()
    assert log.partial
    assert abs(log.time[-1] - 0.05) < 0.005
    assert len(simulation.timing()) == len(log) - 1


def test_unknown_link_of_a_push():
    with pytest.raises(UnknownNameError, match="box"):
        simulate(block(), Counting(0), World(), 0.1, events=[Push(0.0, 0.1, "bix", np.zeros(6))])


def test_bad_pushes():
    with pytest.raises(ShapeError):
        Push(0.0, 0.0, "box", np.zeros(6))
    with pytest.raises(ShapeError):
        Push(0.0, 0.1, "box", np.zeros(3))


def test_progress_goes_to_one():
    seen = []
    simulate(pendulum(), Counting(1), None, 0.3, progress=seen.append)
    assert seen[-1] == 1.0
    assert seen == sorted(seen)


def test_torque_ratio_is_against_the_limit():
    robot = load("double_pendulum")
    drives = tuple(type(d)(d.joint, torque_limit=0.5) for d in robot.drives)

    class Half:
        def command(self, t, state):
            return Command(torque=np.array([0.25, 0.1]))

    log = simulate(robot.replace(drives=drives), Half(), None, 0.05, initial=State.of(robot))
    np.testing.assert_allclose(log["torque.ratio"][1:], 0.5)
    np.testing.assert_allclose(log["tau"][1:], [[0.25, 0.1]] * (len(log) - 1))


def test_first_row_has_the_torques_and_contacts_that_begin_there():
    robot = load("double_pendulum")
    gain = np.array([3.0, 2.0])

    class Spring:
        def command(self, t, state):
            return Command(position=np.array([0.5, -0.5]), kp=gain)

    start = State.of(robot, [0.1, 0.2])
    log = simulate(robot, Spring(), None, 0.05, initial=start)
    assert_allclose(log["tau"][0], gain * ([0.5, -0.5] - start.q))
    assert_allclose(log["tau"][0], log["tau"][1], rtol=0.05)
    box = block(mass=2.0)
    push = Push(0.0, 0.1, "box", np.array([0.0, 0.0, -30.0, 0.0, 0.0, 0.0]))
    sunk = State.of(box, [0.0, 0.0, 0.0999, 0.0, 0.0, 0.0, 1.0])
    log = simulate(box, Counting(0), World(), 0.05, events=[push], initial=sunk)
    assert_array_equal(log["push.force"][0], [0.0, 0.0, -30.0])
    assert log["contact.sole.wrench"][0, 2] > 20.0


@pytest.mark.parametrize("name", ["panda", "pr2", "baxter"])
def test_spread_keeps_the_couplings(name):
    robot = load(name)
    simulation = Simulation(robot, Counting(robot.nu), None, Settings(0.1, initial_spread=0.05))
    equalities = simulation.engine.data.efc_pos[: simulation.engine.data.ne]
    assert len(equalities) == len(robot.couplings) > 0
    assert_allclose(equalities, 0.0, atol=1e-12)
    assert np.abs(simulation.engine.state.q - robot.home).max() > 0.01


def test_notes_are_told():
    log = Simulation(pendulum(), Counting(1), None, Settings(0.1), notes=["watch it"]).log()
    assert log.metadata["notes"] == ["watch it"]


class Holding:
    """Stiff springs at the first positions."""

    def __init__(self, robot, kp=200.0):
        self.robot, self.kp = robot, kp

    def command(self, t, state):
        n = self.robot.nu
        return Command(position=np.array(self.robot.home[-n:]), kp=np.full(n, self.kp), kd=np.full(n, 5.0))


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (lambda: Command(torque=np.zeros(3)), "3 entries"),
        (lambda: Command(torque=np.array([np.nan])), "finite"),
        (lambda: np.zeros(1), "expected a Command"),
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: sys.exit(3), "SystemExit: 3"),
    ],
)
def test_a_controller_that_fails_is_named_and_the_log_is_kept(answer, word):
    class Failing:
        def command(self, t, state):
            return Command(torque=np.zeros(1)) if t < 0.1 else answer()

    with pytest.raises(ControlError, match=word) as caught:
        simulate(pendulum(), Failing(), None, 1.0)
    assert "t = 0.1 s" in caught.value.message
    assert caught.value.log.partial
    assert len(caught.value.log) == 51


def test_a_log_that_no_memory_holds_is_refused_at_once():
    with pytest.raises(ShapeError, match=r"the log would take .* GiB") as caught:
        simulate(pendulum(), Counting(1), None, 1e9, dt=1e-3, control_dt=1e-3)
    assert "duration" in caught.value.next_step


@pytest.mark.parametrize("friction", [1e4, 1e300])
def test_friction_that_mujoco_cannot_tell_from_others(friction):
    with pytest.raises(ShapeError, match="too large for MuJoCo"):
        simulate(block(), Counting(0), World.flat(friction), 0.1)


def test_two_robots_far_apart_move_as_each_alone():
    box, arm = block(), pendulum()
    start = State(0.0, np.array([3.0, 1.0, 0.2, 0.0, 0.0, 0.0, 1.0]), np.zeros(6))
    swing = State.of(arm, [0.7])
    both = simulate([box, arm], [Counting(0), Counting(1)], World(), 0.4, initial=[start, swing])
    alone = simulate(box, Counting(0), World(), 0.4, initial=start)
    other = simulate(arm, Counting(1), None, 0.4, initial=swing)
    assert_allclose(both["block/q"], alone["q"], atol=1e-7)
    assert_allclose(both["pendulum-example/q"], other["q"], atol=1e-7)
    assert both.metadata["robots"] == ["block", "pendulum-example"]


def test_numbers_of_robots_and_controllers_must_fit():
    with pytest.raises(ShapeError, match="2 robots and 1 controllers"):
        simulate([block(), block()], [Counting(0)], World(), 0.1)


def test_friction_change_lets_a_block_slide():
    def way(events):
        tilted = World(gravity=np.array([9.81 * 0.3, 0.0, -9.81]), friction=0.8)
        return simulate(block(), Counting(0), tilted, 0.8, events=events)["contact.sole.slip"]

    assert way([])[-1] < 1e-3
    slippery = way([FrictionChange(0.4, 0.1)])
    assert slippery[200] < 1e-3
    assert_allclose(slippery[-1], 0.5 * 9.81 * (0.3 - 0.1) * 0.4**2, rtol=0.05)


def test_payload_is_felt_while_it_lasts():
    log = simulate(block(mass=2.0), Counting(0), World(), 1.5, events=[Payload(0.5, "box", 1.0, duration=0.5)])
    force = log["contact.sole.wrench"][:, 2]
    at = lambda t: force[int(t / 0.002)]  # noqa: E731
    assert_allclose([at(0.45), at(0.95), at(1.45)], [2.0 * 9.81, 3.0 * 9.81, 2.0 * 9.81], rtol=1e-3)


def test_parameter_error_changes_the_simulated_robot_alone():
    simulation = Simulation(block(mass=2.0), Counting(0), World(), Settings(0.5), [ParameterError(mass=1.5)])
    log = simulation.run()
    assert_allclose(log["contact.sole.wrench"][-1, 2], 3.0 * 9.81, rtol=1e-3)
    assert simulation.robot.mass == 2.0


def test_a_push_at_the_height_of_the_centre_of_mass_turns_what_is_pushed_lower():
    """The link is half a metre below the common centre of mass, so the same push turns the robot the other way."""

    def spin(at):
        from surefoot.robot import Joint, Link, Robot, placement

        top = Link(
            "top", "low", Joint("j", "prismatic", placement((0, 0, 1.0)), axis=(0, 0, 1)), mass=1.0, inertia=np.eye(3)
        )
        robot = Robot.from_tree("stack", [Link("low", mass=1.0, inertia=np.eye(3)), top], "floating", drives=())
        push = Push(0.0, 0.02, "low", np.array([10.0, 0, 0, 0, 0, 0]), at=at)
        empty = World(ground=(), gravity=np.zeros(3))
        return simulate(robot, Counting(0), empty, 0.04, events=[push])["v"][-1][4]

    assert spin("body") < -1e-3
    assert abs(spin("com_height")) < 1e-3 * abs(spin("body"))


def test_sensors_estimates_and_losses_are_in_the_log():
    robot = load("solo12")
    log = simulate(
        robot,
        JointPd(robot),
        World(),
        0.5,
        events=[SensorLoss(0.2, 0.1, "imu.*")],
        sensors=SensorSettings(),
        estimators=BaseEstimator(robot),
    )
    silent = np.isnan(log["sensor.imu.gyro"][:, 0])
    assert silent[105:148].all()
    assert not silent[5:95].any()
    assert not silent[155:].any()
    assert np.rad2deg(log["estimate.attitude_error"][1:].max()) < 1.0
    assert log["estimate.velocity_error"][1:].max() < 0.05


def test_same_seed_same_noise():
    robot = load("solo12")

    def run(seed):
        return simulate(
            robot, JointPd(robot), World(), 0.1, seed=seed, sensors=SensorSettings(), estimators=BaseEstimator(robot)
        )

    first, second, third = run(3), run(3), run(4)
    for column in first:
        assert_array_equal(column.data, second[column.name])
    assert np.nanmax(np.abs(first["sensor.imu.gyro"] - third["sensor.imu.gyro"])) > 1e-4


def test_events_that_name_what_is_not_there():
    with pytest.raises(NotSupportedError, match="has no sensors"):
        simulate(block(), Counting(0), World(), 0.1, events=[SensorLoss(0.0, 0.1, "imu.*")])
    with pytest.raises(UnknownNameError, match="gyra"):
        simulate(
            block(), Counting(0), World(), 0.1, events=[SensorLoss(0.0, 0.1, "imu.gyra")], sensors=SensorSettings()
        )
    with pytest.raises(ShapeError, match="robot 1"):
        simulate(block(), Counting(0), World(), 0.1, events=[Push(0.0, 0.1, "box", np.zeros(6), robot=1)])
    with pytest.raises(UnknownNameError, match="bix"):
        simulate(block(), Counting(0), World(), 0.1, events=[Payload(0.0, "bix", 1.0)])


def test_unknown_engine():
    with pytest.raises(UnknownNameError, match="mujoco"):
        simulate(block(), Counting(0), World(), 0.1, engine="mujoko")


@pytest.mark.parametrize("engine", ["mujoco", "native"])
@pytest.mark.parametrize("duration", [1e-4, 3e-3, 0.1])
def test_no_impulse_of_a_push_is_lost_between_steps(engine, duration):
    empty = World(ground=(), gravity=np.zeros(3))
    push = Push(0.0111, duration, "box", np.array([3.0 / duration, 0, 0, 0, 0, 0]))
    log = simulate(block(mass=2.0), Counting(0), empty, 0.2, engine=engine, events=[push])
    assert_allclose(log["v"][-1, 0], 1.5, rtol=1e-9)


def test_where_nothing_is_to_stand_on_nobody_falls():
    robot = load("anymal")
    for world in (None, World(ground=()), World(gravity=np.zeros(3))):
        log = simulate(robot, Counting(robot.nu), world, 0.5)
        assert log.metadata["fall_time_s"] is None
        assert not log.partial


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": -1},
        {"seed": 1.5},
        {"duration": np.inf},
        {"duration": np.nan},
        {"dt": 0.0},
        {"duration": 1e-4},
        {"control_dt": 0.5},
    ],
)
def test_bad_settings_are_named(settings):
    with pytest.raises(ShapeError):
        Settings(**{"duration": 0.1, **settings})


def test_options_of_another_engine_are_refused():
    with pytest.raises(UnknownNameError, match="contact"):
        simulate(block(), Counting(0), World(), 0.1, contact="rigid")
    with pytest.raises(UnknownNameError, match="contacts"):
        simulate(block(), Counting(0), World(), 0.1, engine="native", contacts="rigid")


def test_a_simulation_runs_once():
    simulation = Simulation(block(), Counting(0), World(), Settings(0.1))
    simulation.run()
    with pytest.raises(ShapeError, match="once"):
        simulation.run()


def test_what_comes_too_late_is_noted():
    log = simulate(block(), Counting(0), World(), 0.1, events=[Push(1.0, 0.1, "box", np.zeros(6))])
    assert any("Push at 1 s" in note for note in log.metadata["notes"])


def test_fast_sliding_is_counted_in_full():
    start = State(0.0, np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]), np.array([2.0, 0, 0, 0, 0, 0]))
    log = simulate(block(), Counting(0), World(friction=0.5), 1.0, initial=start)
    assert_allclose(log["contact.sole.slip"][-1], log["q"][-1, 0], rtol=0.03)
