"""States: checks, and integrate against difference."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.motion import State
from tests.motion.examples import every_kind, random_states


def test_integrate_then_difference_gives_the_step():
    robot = every_kind()
    q, v = random_states(robot, 2)
    state = State.of(robot, q[0], v[0], t=1.0)
    after = state.integrate(robot, 0.1)
    step, faster = state.difference(robot, after)
    np.testing.assert_allclose(step, 0.1 * v[0], atol=1e-12)
    np.testing.assert_array_equal(faster, 0.0)
    assert after.t == pytest.approx(1.1)


def test_defaults_are_home_at_rest_and_arrays_are_read_only():
    robot = every_kind()
    state = State.of(robot)
    np.testing.assert_array_equal(state.q, robot.home)
    assert not state.v.any()
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1.0


def test_wrong_states_are_refused():
    robot = every_kind()
    bad = np.array(robot.home)
    bad[3:7] *= 1.1
    for q, v in [(bad, None), (robot.home[:-1], None), (None, np.zeros(3)), (None, np.full(robot.nv, np.inf))]:
        with pytest.raises(ShapeError):
            State.of(robot, q, v)
