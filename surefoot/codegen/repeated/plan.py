"""The table that the native loop over time reads besides a kernel's `Spec`: which array is read and written when.

What native loops share that feed outputs back into inputs: they read a plan besides the kernel's spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from surefoot.codegen.batch import I64, RowTransfers, number
from surefoot.codegen.spec import FIELDS, MAX_ARRAYS

__all__ = ["PLAN", "PlannedLoop", "empty_plan"]

_WORDS = (
    "steps",  # how often the kernel runs
    "limit",  # a number: states must stay below it
    "counts",  # address of the steps of each state that were good
    "whole",  # address of a table of offsets for arrays that are stored entry after entry
    "until",  # output whose first entry tells that a state is done, −1 for none
    "enough",  # done states with which a group of tiles may stop
    "mixed",  # address of as many zeros: no block is one constant
)
_ROWS = (
    "row_step",  # input: bytes from state to state; 0 if all have the same
    "time_step",  # input: bytes from one time to the next; 0 if it is read once
    "hold",  # input: steps for which what was read is valid
    "feedback",  # input: output that takes its place after each step, −1 for none
    "final",  # input with feedback: address of its rows at the end
    "every",  # output: steps from one record to the next, 0 for none
    "record_row_step",  # output: bytes from state to state
    "record_time_step",  # output: bytes from record to record
    "state",  # output: input that it is fed back into, −1 for none
)
PLAN = {name: k for k, name in enumerate(_WORDS)}
PLAN |= {name: len(_WORDS) + k * MAX_ARRAYS for k, name in enumerate(_ROWS)}


def empty_plan() -> np.ndarray:
    """The words of a plan that feeds back and records nothing."""
    words = np.zeros(len(_WORDS) + len(_ROWS) * MAX_ARRAYS, dtype=np.int64)
    words[PLAN["until"]] = -1
    for name in ("feedback", "state"):
        words[PLAN[name] : PLAN[name] + MAX_ARRAYS] = -1
    return words


class PlannedLoop(RowTransfers):
    """A loop with `spec`, `plan`, `results` and `stride` set by the subclass."""

    spec: Any
    plan: Any
    results: Any
    stride: Any

    def planned(self, name: str, k: Any, kind: ir.Type = I64) -> Any:
        """Word k of a row of the plan."""
        return self.item(self.at(self.plan, number(8 * PLAN[name])), k, kind)

    @contextmanager
    def states(self) -> Iterator[tuple[Any, Any]]:
        """For every input k that is fed back, with the number of the output that it comes from."""
        with self.loop(self.word(self.spec, FIELDS["inputs"])) as k:
            source = self.planned("feedback", k)
            with self.b.if_then(self.b.icmp_signed(">=", source, number(0))):
                yield k, source

    def result_tile(self, tile: Any) -> Any:
        """Where the results of a tile begin."""
        return self.at(self.results, self.b.mul(tile, self.stride))
