"""Plans are carried out by a machine that knows what is where."""

import pytest

from surefoot import ops
from surefoot.codegen.program import trace
from surefoot.codegen.residence import plan
from tests.compiler.examples import BOUNDED, random_code, values_of

OPERATIONS = [name for name in BOUNDED if name not in ("sin", "cos", "both")]


def example(seed: int, size: int):
    """Instructions, those whose value is in memory once it is computed, and those that are computed before."""
    x = ops.symbols("x", 6)
    angles = [ops.sin(x[0]), ops.cos(x[1]), ops.sin(x[1]) * x[1]]  # of inputs that have other uses, too
    values = values_of(random_code(seed, size, OPERATIONS), [*x, *angles], table=BOUNDED)
    program = trace([x], [ops.array(values[::5]), x[2], angles[0]])
    code = program.instructions
    inputs = {i for i, (op, _) in enumerate(code) if op == "input"}
    before = {i for i, (op, args) in enumerate(code) if op in ("sin", "cos") and args[0] in inputs}
    return code, inputs | before | set(program.slots), before


class Machine:
    """Memory, and how long values stay in registers."""

    def __init__(self, code, in_memory, before, found):
        self.code, self.in_memory, self.found = code, in_memory, found
        self.computed = {i for i, (op, _) in enumerate(code) if op == "input"} | before
        self.slots: dict[tuple[str, int], int] = {}
        self.left = [0] * len(code)  # uses to come
        for i in range(len(code)):
            for x in self.values(i) if i not in before else ():
                self.left[x] += 1
        self.most = self.loads = 0

    def values(self, i: int) -> set[int]:
        op, args = self.code[i]
        return set() if op in ("input", "const") else {x for x in args if self.code[x][0] != "const"}

    def run(self) -> None:
        for events in self.found.chunks:
            self.stays: list[list[int]] = []  # first and last event of each stay in a register
            self.stay_of: dict[int, list[int]] = {}
            for self.now, (what, x) in enumerate(events):
                getattr(self, what)(x)
            alive = [sum(first <= t < last for first, last in self.stays) for t in range(len(events))]
            self.most = max(self.most, *alive)
            self.slots = {place: x for place, x in self.slots.items() if place[0] == "scratch"}

    def place(self, x: int) -> tuple[str, int]:
        return ("local", self.found.local[x]) if x in self.found.local else ("scratch", self.found.scratch[x])

    def enters(self, x: int) -> None:
        self.stay_of[x] = [self.now, self.now]
        self.stays.append(self.stay_of[x])

    def load(self, x: int) -> None:
        assert x in self.computed
        assert x in self.in_memory or self.slots[self.place(x)] == x
        self.loads += 1
        self.enters(x)

    def store(self, x: int) -> None:
        kind, slot = self.place(x)
        assert 0 <= slot < (self.found.local_size if kind == "local" else self.found.size)
        other = self.slots.get((kind, slot))
        assert other is None or not self.left[other], "a value is overwritten that is needed later"
        self.slots[kind, slot] = x
        self.stay_of[x][1] = self.now

    def compute(self, i: int) -> None:
        assert i not in self.computed
        for x in self.values(i):
            self.stay_of[x][1] = self.now  # a KeyError: it is in no register
            self.left[x] -= 1
        self.computed.add(i)
        self.enters(i)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("registers", "chunk"), [(3, 10_000), (5, 40), (13, 150), (28, 1500)])
def test_values_are_where_they_are_looked_for(seed, registers, chunk):
    code, in_memory, before = example(seed, 400)
    taken = 4  # slots for sines and cosines
    found = plan(code, in_memory, before, registers, chunk, taken)
    machine = Machine(code, in_memory, before, found)
    machine.run()
    assert machine.computed == {i for i, (op, _) in enumerate(code) if op != "const"}
    assert not any(machine.left)
    assert machine.most <= registers
    assert len(found.chunks) == max(1, round(len(code) / chunk))
    assert min(found.scratch.values(), default=taken) >= taken
    assert not set(found.scratch) & set(found.local)
    if len(found.chunks) == 1:
        assert found.size == taken


def test_with_enough_registers_everything_is_loaded_once_and_nothing_stored():
    code, in_memory, before = example(6, 300)
    found = plan(code, in_memory, before, len(code), len(code), 0)
    (events,) = found.chunks
    loads = [x for what, x in events if what == "load"]
    assert len(loads) == len(set(loads))
    assert not any(what == "store" for what, _ in events)


def test_the_value_needed_last_leaves():
    """Belady's rule by hand: two registers, and value 1 is needed later than 0 and 2."""
    code = [("input", (0,)), ("tan", (0,)), ("exp", (0,)), ("sqrt", (0,)), ("add", (3, 2)), ("mul", (4, 1))]
    found = plan(code, {0, 5}, set(), 2, 100, 0)
    assert " ".join(f"{what} {x}" for what, x in found.chunks[0]) == (
        "load 0 compute 1 store 1 compute 2 compute 3 compute 4 load 1 compute 5"
    )
    assert (found.local, found.local_size, found.scratch) == ({1: 0}, 1, {})


def test_inputs_of_early_sines_do_not_block_registers():
    """An input whose sine is computed before is free again after its last other use."""
    code = [("input", (0,)), ("exp", (0,)), ("sin", (0,)), ("tan", (1,)), ("add", (1, 3)), ("mul", (4, 2))]
    found = plan(code, {0, 2, 5}, {2}, 2, 100, 0)
    assert " ".join(f"{what} {x}" for what, x in found.chunks[0]) == (
        "load 0 compute 1 compute 3 compute 4 load 2 compute 5"
    )
