"""Which values are in registers and which in memory, decided before LLVM sees the program.

LLVM keeps a loaded value alive to its last use and spills it again where registers run out. We know the whole program:
the value whose next use is farthest leaves its register (Belady 1966); what is in memory anyway (inputs, sines and
cosines, stored outputs) is dropped for nothing and loaded again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Instruction = tuple[str, tuple[Any, ...]]
Event = tuple[str, int]  # ("load" | "compute" | "store", instruction): "store" puts it into its scratch slot


@dataclass
class Plan:
    """What happens in each chunk, and where values are in the scratch tile.

    Args:
        chunks: Events of each chunk; nothing is in a register between chunks.
        scratch: Scratch slot by instruction, of values that a later chunk uses: every tile has its own.
        size: Scratch slots.
        local: Slot by instruction, of values that leave their register within a chunk: all tiles share them, one
            after the other, so that they stay in the fastest cache.
        local_size: Local slots.
    """

    chunks: list[list[Event]] = field(default_factory=list)
    scratch: dict[int, int] = field(default_factory=dict)
    size: int = 0
    local: dict[int, int] = field(default_factory=dict)
    local_size: int = 0


class _Planner:
    def __init__(
        self, instructions: Sequence[Instruction], in_memory: set[int], before: set[int], registers: int, taken: int
    ) -> None:
        self.instructions, self.before, self.registers = instructions, before, registers
        self.stored = set(in_memory)
        self.uses: list[list[int]] = [[] for _ in instructions]  # positions of the uses still to come, nearest last
        for i in reversed(range(len(instructions))):
            for x in dict.fromkeys(self.arguments(i)):
                self.uses[x].append(i)
        self.result = Plan(size=taken)
        self.free: list[int] = []
        self.free_local: list[int] = []
        self.end = 0
        self.here: set[int] = set()
        self.events: list[Event] = []

    def arguments(self, i: int) -> list[int]:
        """Arguments that are values to be at hand; numbers are operands of the instruction."""
        op, args = self.instructions[i]
        if op in ("input", "const") or i in self.before:
            return []
        return [x for x in args if self.instructions[x][0] != "const"]

    def chunk(self, positions: range) -> None:
        self.events, self.end = [], positions.stop
        for i in positions:
            if self.instructions[i][0] not in ("input", "const") and i not in self.before:
                self.step(i)
        for x in sorted(self.here):
            self.leave(x)
        self.result.chunks.append(self.events)

    def step(self, i: int) -> None:
        args = dict.fromkeys(self.arguments(i))
        for x in args:
            if x not in self.here:
                self.make_room(args)
                self.events.append(("load", x))
                self.here.add(x)
        for x in args:
            self.uses[x].pop()
            if not self.uses[x]:
                self.forget(x)
        self.make_room({})
        self.events.append(("compute", i))
        if self.uses[i]:
            self.here.add(i)

    def make_room(self, keep: Any) -> None:
        while len(self.here) >= self.registers:
            farthest = max((x for x in self.here if x not in keep), key=lambda x: (self.uses[x][-1], x))
            self.leave(farthest)

    def leave(self, x: int) -> None:
        """Out of its register, into memory if it is not there."""
        self.here.discard(x)
        if x not in self.stored:
            self.stored.add(x)
            if self.uses[x][0] < self.end:
                self.result.local[x] = self.free_local.pop() if self.free_local else self.new_local()
            else:
                self.result.scratch[x] = self.free.pop() if self.free else self.new_slot()
            self.events.append(("store", x))

    def new_slot(self) -> int:
        self.result.size += 1
        return self.result.size - 1

    def new_local(self) -> int:
        self.result.local_size += 1
        return self.result.local_size - 1

    def forget(self, x: int) -> None:
        """After its last use."""
        self.here.discard(x)
        if x in self.result.scratch:
            self.free.append(self.result.scratch[x])
        if x in self.result.local:
            self.free_local.append(self.result.local[x])


def plan(
    instructions: Sequence[Instruction], in_memory: set[int], before: set[int], registers: int, chunk: int, taken: int
) -> Plan:
    """Events of a program in chunks of about equal length.

    Args:
        instructions: The program.
        in_memory: Instructions whose value is in memory as soon as it is computed.
        before: Instructions that are computed before the first chunk.
        registers: How many values may be in registers.
        chunk: Instructions of a chunk, about.
        taken: Scratch slots that are in use already.
    """
    planner = _Planner(instructions, in_memory, before, registers, taken)
    n = len(instructions)
    count = max(1, round(n / chunk))
    for k in range(count):
        planner.chunk(range(n * k // count, n * (k + 1) // count))
    return planner.result
