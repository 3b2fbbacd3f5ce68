"""Where the values of a state are on a GPU: in registers, in the tile of the warp, or far.

One thread computes one state. Left to itself the CUDA compiler moves loads to the front, runs out of registers and
sends values to device memory and back. So we decide ourselves, as for the CPU (`residence`, Belady 1966): a warp of 32
threads has a *tile* in shared memory, `slots` values of each of its states. Inputs are copied to the tile before
anything else, all at once, so that their way from device memory is waited for once. Sines and cosines of inputs come
next, in a loop. A slot is free again after its last use, and takes values that leave their register, and results on
their way out. What finds no place in the tile is kept far: in memory of the thread, which is device memory behind
caches. Of values that compete for a slot the one that is needed last moves out (linear scan, Poletto & Sarkar 1999).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from surefoot.codegen.program import Program
from surefoot.codegen.residence import Event, plan

WARP = 32
PITCH = WARP + 1  # values from one slot of a tile to the next: threads and slots are both in different banks
RESULTS = 48  # that wait in the tile for their way out together


class Run(NamedTuple):
    """Neighbouring elements of an input that are copied to neighbouring slots.

    Args:
        array: Number of the input.
        first: First element.
        size: How many.
        slot: Of the first element.
    """

    array: int
    first: int
    size: int
    slot: int


class Step(NamedTuple):
    """One thing that a thread does.

    Args:
        action: "read" from the tile, "recall" from far, "fetch" an input from its array, "compute", "keep" in the tile,
            "leave" far, "stage" a result in the tile, "number" likewise, "flush" the results that wait.
        value: The instruction; the number of a "number"; the group of a "flush".
        where: Slot in the tile or far.
    """

    action: str
    value: int
    where: int = -1


@dataclass
class Placement:
    """Everything that happens to a state.

    Args:
        runs: Inputs that are copied to the tile; first those with angles.
        early: How many those are.
        angles: (angle, sine, cosine): slots, for the loop over angles.
        early_angles: Whether there is room for all of them before the first instruction.
        steps: Then, in this order.
        groups: Of every flush, (source, slot): the source is a slot of the program, or −1 − k for number k.
        slots: Size of the tile.
        far: Values far.
    """

    runs: list[Run] = field(default_factory=list)
    early: int = 0
    angles: list[tuple[int, int, int]] = field(default_factory=list)
    early_angles: bool = True
    steps: list[Step] = field(default_factory=list)
    groups: list[list[tuple[int, int]]] = field(default_factory=list)
    slots: int = 0
    far: int = 0


class _Tile:
    """Slots, the lowest free one first; when none is left, the value whose end is farthest moves out."""

    def __init__(self, limit: int) -> None:
        self.limit, self.size = limit, 0
        self.free: list[int] = []
        self.slot: dict[int, int] = {}
        self.far: set[int] = set()
        self.movable: dict[int, int] = {}  # values that may move out, and when they are needed last

    @property
    def full(self) -> bool:
        return not self.free and self.size >= self.limit

    def farthest(self) -> int:
        return max(self.movable, key=lambda x: (self.movable[x], x))

    def new(self) -> int:
        """A free slot; the tile grows if there is none."""
        if self.free:
            return heapq.heappop(self.free)
        self.size += 1
        return self.size - 1

    def release(self, slot: int) -> None:
        heapq.heappush(self.free, slot)

    def room(self) -> int:
        """A slot; for which somebody moves out, if need be and if somebody can."""
        return self.move_out(self.farthest()) if self.full and self.movable else self.new()

    def move_out(self, value: int) -> int:
        self.far.add(value)
        del self.movable[value]
        return self.slot.pop(value, -1)

    def keep(self, value: int, end: int) -> None:
        """A value that leaves its register, until `end`."""
        self.movable[value] = end
        if self.full and self.farthest() == value:
            self.move_out(value)
        else:
            self.slot[value] = self.room()

    def forget(self, value: int) -> None:
        """After the last use."""
        if value in self.slot:
            self.release(self.slot[value])
            self.movable.pop(value, None)


class _Placer:
    def __init__(self, program: Program, values: int, limit: int) -> None:
        self.program, self.tile, self.result = program, _Tile(limit), Placement()
        self.instructions, self.element_of = program.instructions, _elements(program)
        self.inputs = {args[0]: i for i, (op, args) in enumerate(self.instructions) if op == "input"}
        self.ranges = self.used_ranges()
        self.early = self.early_angles(limit)
        self.sources: dict[int, list[int]] = {}
        for k, i in enumerate(program.slots):
            self.sources.setdefault(i, []).append(k)
        self.events = self.all_events(values)
        self.last = {i: t for t, (what, i) in enumerate(self.events) if what == "load"}
        results = len(program.slots) + len(program.numbers)
        self.together = -(-results // max(1, -(-results // RESULTS)))
        self.waiting: list[tuple[int, int]] = []

    def used_ranges(self) -> dict[int, tuple[int, int]]:
        """First element and number of elements, from the first to the last that is used, by input."""
        used: dict[int, list[int]] = {}
        for k in self.inputs:
            array, element = self.element_of[k]
            used.setdefault(array, []).append(element)
        return {array: (min(x), max(x) - min(x) + 1) for array, x in used.items()}

    def early_angles(self, limit: int) -> dict[int, int]:
        """Sines and cosines of inputs, with their angles, if there is room for all of them; else none."""
        found = {
            i: args[0]
            for i, (op, args) in enumerate(self.instructions)
            if op in ("sin", "cos") and self.instructions[args[0]][0] == "input"
        }
        room = len(set(found.values())) + sum(self.ranges[array][1] for array in self.arrays_of(found.values()))
        self.result.early_angles = room < limit
        return found if room < limit else {}

    def arrays_of(self, values: Iterable[int]) -> set[int]:
        """Inputs that these instructions are entries of."""
        return {self.element_of[self.instructions[x][1][0]][0] for x in values}

    def all_events(self, values: int) -> list[Event]:
        """The events of the residence plan, and ("result", i); inputs and their sines that are results come first."""
        given = set(self.inputs.values()) | set(self.early)
        events: list[Event] = []
        for i in self.sources:
            if i in given:
                events += [("load", i), ("result", i)]
        for chunk in plan(self.instructions, given, set(self.early), values, 10**9, 0).chunks:
            for what, i in chunk:
                events.append((what, i))
                if what == "compute" and i in self.sources:
                    events.append(("result", i))
        return events

    def place(self) -> Placement:
        self.stage_inputs()
        self.place_angles()
        for t, (what, i) in enumerate(self.events):
            self.event(t, what, i)
        for k in range(len(self.program.numbers)):
            self.stage("number", k, -1 - k)
        if self.waiting:
            self.flush()
        self.settle()
        self.result.slots = self.tile.size
        return self.result

    # -- before the first instruction -----------------------------------------------------------------------------

    def stage_inputs(self) -> None:
        """Whole ranges of the inputs; those with angles in any case, the others while there is room."""
        angles = self.arrays_of(self.early.values())
        room = self.tile.limit - 1 - len(set(self.early.values()))
        for array in sorted(self.ranges, key=lambda x: (x not in angles, x)):
            first, count = self.ranges[array]
            if array in angles or self.tile.size + count <= room:
                self.result.runs.append(Run(array, first, count, self.tile.size))
                self.tile.size += count
        self.result.early = len(angles)
        self.fill_slots()

    def fill_slots(self) -> None:
        values = {self.element_of[k]: i for k, i in self.inputs.items()}
        for array, first, count, slot in self.result.runs:
            for e in range(count):
                i = values.get((array, first + e), -1)
                if i in self.last or i in self.early.values():
                    self.tile.slot[i] = slot + e
                else:
                    self.tile.release(slot + e)

    def place_angles(self) -> None:
        """The sine takes the place of its angle, if that is not needed otherwise."""
        for angle in dict.fromkeys(self.early.values()):
            at = self.tile.slot[angle]
            pair = (self.tile.new() if angle in self.last else at), self.tile.new()
            self.result.angles.append((at, *pair))
            unused = set(pair)
            for i, x in self.early.items():
                if x == angle and i in self.last:
                    self.tile.slot[i] = pair[self.instructions[i][0] == "cos"]
                    unused.discard(self.tile.slot[i])
            for slot in unused:
                self.tile.release(slot)

    # -- the instructions -----------------------------------------------------------------------------------------

    def event(self, t: int, what: str, i: int) -> None:
        if what == "result":
            for source in self.sources[i]:
                self.stage("stage", i, source)
            return
        if what == "store":
            self.tile.keep(i, self.last[i])
        self.result.steps.append(Step(what, i))
        if what == "load" and self.last[i] == t:
            self.tile.forget(i)

    def stage(self, action: str, value: int, source: int) -> None:
        if self.waiting and self.tile.full and not self.tile.movable:
            self.flush()
        slot = self.tile.room()
        self.result.steps.append(Step(action, value, slot))
        self.waiting.append((source, slot))
        if len(self.waiting) == self.together:
            self.flush()

    def flush(self) -> None:
        self.result.steps.append(Step("flush", len(self.result.groups)))
        self.result.groups.append(self.waiting)
        for _, slot in self.waiting:
            self.tile.release(slot)
        self.waiting = []

    # -- afterwards, when it is known who moved out ---------------------------------------------------------------

    def settle(self) -> None:
        """Say of every load and store which memory it means."""
        far, free = dict[int, int](), list[int]()
        loads = Counter(step.value for step in self.result.steps if step.action == "load")
        for k, (action, i, _) in enumerate(self.result.steps):
            if action not in ("load", "store"):
                continue
            is_load = action == "load"
            if i in self.tile.slot:
                self.result.steps[k] = Step("read" if is_load else "keep", i, self.tile.slot[i])
            elif i not in self.tile.far:
                self.result.steps[k] = Step("fetch", i)
            else:
                if not is_load:
                    far[i] = heapq.heappop(free) if free else self.result.far
                    self.result.far = max(self.result.far, far[i] + 1)
                self.result.steps[k] = Step("recall" if is_load else "leave", i, far[i])
                loads[i] -= is_load
                if not loads[i]:
                    heapq.heappush(free, far[i])


def _elements(program: Program) -> list[tuple[int, int]]:
    """Input and element of every entry of the inputs."""
    sizes = [int(np.prod(shape)) for shape in program.input_shapes]
    return [(k, e) for k, size in enumerate(sizes) for e in range(size)]


def place(program: Program, values: int, slots: int) -> Placement:
    """Where every value is at every time.

    Args:
        program: What to compute.
        values: How many values of a state may be in registers.
        slots: How many may be in the tile.
    """
    return _Placer(program, values, slots).place()
