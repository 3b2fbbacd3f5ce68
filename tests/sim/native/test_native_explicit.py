"""Explicit steps: what is too stiff for them is refused, or ends with its energy named."""

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, SimulationError
from surefoot.motion import State, World
from surefoot.sim.native.engine import NativeEngine
from surefoot.sim.native.mover import require_stable
from surefoot.sim.rollouts.rollout import rollout

from ..native_examples import robot_named, springs

REAL, IMAGINARY = 2.785, 2.828  # where the stability region of the method ends on its axes, Hairer & Wanner 1996 §IV.2


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_the_bounds_are_those_of_the_method(share):
    robot, h, light = robot_named("cartpole"), 1e-3, np.diag([2.0, 3.0])
    for kp, kd in ((0.0, share * REAL / (2.0 * h)), (0.5 * (share * IMAGINARY / h) ** 2, 0.0)):
        if share < 1.0:
            require_stable(robot, light, np.array([kp]), np.array([kd]), h)
        else:
            with pytest.raises(NotSupportedError, match="too stiff") as caught:
                require_stable(robot, light, np.array([kp]), np.array([kd]), h)
            assert caught.value.evidence["joint"] == robot.drives[0].joint


def test_stiff_springs_are_refused_before_the_first_step():
    robot = robot_named("go1")
    engine = NativeEngine(robot, World.flat(), 2e-3, integrator="rk4")
    with pytest.raises(NotSupportedError, match="too stiff") as caught:
        engine.advance(springs(robot, 400.0, 20.0))
    assert engine.time == 0.0
    assert "semi_implicit" in caught.value.next_step
    engine.advance(springs(robot, 1.0, 0.05))
    q, v = robot.home[None], np.zeros((1, robot.nv))
    target = np.tile(robot.home[7:], (3, 1))
    with pytest.raises(NotSupportedError, match="too stiff"):
        rollout(robot, (q, v), target, dt=2e-3, mode="position", kp=400.0, kd=20.0, integrator="rk4")


@pytest.mark.slow
def test_stiff_contacts_end_the_run_with_the_energy_that_came_from_nowhere():
    robot = robot_named("go1")
    engine = NativeEngine(robot, World.flat(), 2e-3, contact="penalty_pid", integrator="rk4")
    with pytest.raises(SimulationError, match=r"came from nowhere|diverged"):
        engine.native_steps(500, springs(robot, 5.0, 0.1))


@pytest.mark.slow
def test_joint_friction_is_calm_while_springs_hold_a_robot():
    """Dry friction on top of dampers near their bound: energy of the stand stays accounted for."""
    robot = robot_named("go1")
    engine = NativeEngine(robot, World.flat(), 5e-4, integrator="rk4")
    engine.reset(State.of(robot))
    engine.native_steps(600, springs(robot, 200.0, 8.0))
    assert abs(engine.balance.energy_residual) < 1e-4
