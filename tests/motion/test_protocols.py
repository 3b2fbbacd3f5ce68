"""Commands and the promises of controllers, engines and estimators."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.motion import Command, Controller, Estimator, State
from surefoot.motion.protocols import Engine


class Still:
    state = State(0.0, np.zeros(1), np.zeros(1))

    def command(self, t, state):
        return Command(torque=np.zeros(len(state.v)))

    def reset(self, state):
        self.state = state

    def step(self, command):
        return self.state

    def update(self, t, measurements):
        return self.state


def test_protocols_are_recognised():
    assert all(isinstance(Still(), kind) for kind in (Controller, Engine, Estimator))
    assert not isinstance(object(), Controller)


def test_commands_hold_arrays_of_one_length():
    command = Command(torque=[1.0, 2.0], position=[0, 0], kp=[5, 5], kd=[1, 1])
    assert command.size == 2
    assert command.position.dtype == float


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"torque": [1.0], "position": [1.0, 2.0], "kp": [1.0, 1.0]},
        {"position": [1.0]},
        {"kp": [1.0]},
        {"velocity": [1.0]},
        {"position": [1.0], "kp": [-1.0]},
        {"torque": [np.nan]},
        {"torque": 1.0},
    ],
)
def test_commands_that_say_nothing_clear_are_refused(fields):
    with pytest.raises(ShapeError):
        Command(**fields)
