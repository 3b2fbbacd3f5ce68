"""Pinocchio's own batches, in C++ on all cores; states in columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.states import States
from surefoot.benchmarks.timing import Effort, Times, measure
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot

__all__ = ["PinocchioBatch"]

Array = NDArray[Any]
_INPUTS = {"rnea": ("q", "v", "a"), "aba": ("q", "v", "tau")}


class PinocchioBatch:
    """States of a robot, ready for the parallel functions.

    Args:
        robot: The robot.
        states: n states.

    Raises:
        NotSupportedError: Pinocchio was built without them, or would take an array of one row for a vector and write
            beyond its end.
    """

    name = "pinocchio_all"
    calls = {case: f"{case}InParallel" for case in _INPUTS}
    frames: Sequence[str] = ()
    all_cores = True

    def __init__(self, robot: Robot, states: States) -> None:
        if robot.nv < 2 or not all(hasattr(pin, name) for name in self.calls.values()):
            raise NotSupportedError("Pinocchio has no batches for this robot")
        self.threads = os.cpu_count() or 1
        self.pool = pin.ModelPool(robot.model, self.threads)
        self.states, self.out = states, np.zeros((robot.nv, len(states)), order="F")

    def _run(self, case: str) -> Any:
        function, inputs = getattr(pin, self.calls[case]), self.states.of(_INPUTS[case])
        columns = [np.asfortranarray(x.T) for x in inputs]
        return lambda: function(self.threads, self.pool, *columns, self.out)

    def answers(self, case: str, count: int) -> Array:
        """As `Peer.answers`."""
        self._run(case)()
        return self.out.T[:count].copy()

    def times(self, case: str, effort: Effort) -> Times:
        """As `Peer.times`."""
        return measure(self._run(case), len(self.states), effort)
