"""Tables of numbers and addresses that compiled code reads: one int64 array each.

A spec describes a build of a kernel, or the front of a kernel: what the entry point from Python needs, with the specs
of the builds for one state and for batches. A plan describes a loop over time: which array is read and written when.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError

MAX_ARRAYS = 32
_WORDS = (
    "kernel",  # address of the compiled function
    "inputs",  # how many
    "outputs",
    "tiles",  # that the kernel works on at a time
    "slots",  # values that the kernel stores for one state
    "constants",  # entries of the outputs that are the same for every state
    "constant_values",  # address
    "units",  # parts of inputs that must have unit length
    "unit_table",  # address of (input, offset, length) triples
    # of a front:
    "single",  # address of the spec for one state, 0 until there is one
    "batch",  # address of the spec for batches, 0 until there is one
    "rows",  # address of the loop over batches
    "work_bytes",  # that it needs
    "array_type",
    "array_dtype",
    "new_array",
    "tuple_type",
    "list_type",
    "out_name",  # address of the string "out"
    "fallback",
    "result_type",
    "bare",  # whether a single output is the result itself
    "incref",
    "decref",
    "none",
    "call",
    "release",
    "acquire",
)
_ROWS = ("input_size", "output_size", "table", "uniform", "input_nd", "input_shape", "output_nd", "output_shape")
FIELDS = {name: k for k, name in enumerate(_WORDS)}
FIELDS |= {name: len(_WORDS) + k * MAX_ARRAYS for k, name in enumerate(_ROWS)}
_LENGTH = len(_WORDS) + len(_ROWS) * MAX_ARRAYS


class Spec:
    """The table, with the arrays that its addresses point into."""

    def __init__(self) -> None:
        self.words: NDArray[np.int64] = np.zeros(_LENGTH, dtype=np.int64)
        self._alive: list[object] = []

    def set(self, name: str, value: int, k: int = 0) -> None:
        """Write one word."""
        if k >= MAX_ARRAYS:
            raise NotSupportedError(
                f"a kernel has more than {MAX_ARRAYS} inputs or outputs",
                next_step="cut it in two, or stack some arrays",
            )
        self.words[FIELDS[name] + k] = value

    def get(self, name: str, k: int = 0) -> int:
        """Read one word."""
        return int(self.words[FIELDS[name] + k])

    def point(self, name: str, values: NDArray[np.generic], k: int = 0) -> None:
        """Write the address of an array, and keep the array."""
        self._alive.append(values)
        self.set(name, values.ctypes.data, k)

    def link(self, name: str, other: Spec) -> None:
        """Write the address of another table, and keep it."""
        self._alive.append(other)
        self.set(name, other.address)

    @property
    def address(self) -> int:
        """Address of the table."""
        return int(self.words.ctypes.data)


_PLAN_WORDS = (
    "steps",  # how often the kernel runs
    "limit",  # a number: states must stay below it
    "counts",  # address of the steps of each state that were good
    "whole",  # address of a table of offsets for arrays that are stored entry after entry
    "until",  # output whose first entry tells that a state is done, −1 for none
    "enough",  # done states with which a group of tiles may stop
    "mixed",  # address of as many zeros: no block is one constant
)
_PLAN_ROWS = (
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
PLAN = {name: k for k, name in enumerate(_PLAN_WORDS)}
PLAN |= {name: len(_PLAN_WORDS) + k * MAX_ARRAYS for k, name in enumerate(_PLAN_ROWS)}


def empty_plan() -> NDArray[np.int64]:
    """The words of a plan that feeds back and records nothing."""
    words: NDArray[np.int64] = np.zeros(len(_PLAN_WORDS) + len(_PLAN_ROWS) * MAX_ARRAYS, dtype=np.int64)
    words[PLAN["until"]] = -1
    for name in ("feedback", "state"):
        words[PLAN[name] : PLAN[name] + MAX_ARRAYS] = -1
    return words
