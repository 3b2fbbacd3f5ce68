import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.motion import Command, State, World
from surefoot.robot.load import load
from surefoot.sim import DivergedError, Push, Settings, Simulation, simulate

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
        simulate(block(), Counting(0), World(), 0.1, pushes=[Push(0.0, 0.1, "bix", np.zeros(6))])


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
    log = simulate(box, Counting(0), World(), 0.05, pushes=[push], initial=sunk)
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
