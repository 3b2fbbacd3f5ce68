"""The account of energy and momentum against the judge's, where only the integrator is to blame."""

import numpy as np
from numpy.testing import assert_allclose

from surefoot.motion import State, World
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.native.engine import NativeEngine

from ..native_examples import robot_named, springs


def test_a_spinning_robot_has_the_residuals_of_mujoco():
    """Half a step back, a velocity is in other axes: the account of a base that spins tells."""
    robot = robot_named("go1")
    v = 2.0 * np.random.default_rng(0).standard_normal(robot.nv)
    v[:6] = 1.0, 0.0, 0.0, 1.0, 2.0, 0.5
    found = []
    for kind in (NativeEngine, MujocoEngine):
        engine = kind(robot, World(ground=(), gravity=np.zeros(3)), 2e-3)
        engine.reset(State.of(robot, v=v))
        for _ in range(200):
            engine.advance(springs(robot))
        found.append(engine.balance)
    ours, judge = found
    assert_allclose(ours.energy_residual, judge.energy_residual, rtol=0.05)
    assert_allclose(ours.momentum_residual, judge.momentum_residual, atol=1e-4)


def test_notes_tell_that_robots_do_not_touch_themselves():
    robot = robot_named("go1")
    assert any("themselves" in note for note in NativeEngine(robot, self_collision=True).notes)
    assert not any("themselves" in note for note in NativeEngine(robot).notes)
