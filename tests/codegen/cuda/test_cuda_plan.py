"""Placements are carried out by a machine that knows what is where."""

import pytest

from surefoot import ops
from surefoot.codegen.cuda.plan import place
from surefoot.codegen.program import trace
from tests.compiler.examples import BOUNDED, random_code, values_of

OPERATIONS = [name for name in BOUNDED if name not in ("cos", "both")]


def example(seed: int, size: int = 200):
    """A program with angles that are inputs, some with other uses, and with results of all sorts."""
    x, y = ops.symbols("x", 7), ops.symbols("y", (3, 2))
    angles = [ops.sin(x[1]), ops.cos(x[3]), ops.sin(x[3]) * x[3], ops.cos(x[6])]
    values = values_of(random_code(seed, size, OPERATIONS), [*x[1:], *y.ravel(), *angles], table=BOUNDED)
    return trace([x, y], [ops.array([*values[::3], 1.0, 0.5]), x[2], angles[0]], interleaved=False)


class Machine:
    """The tile, far memory and registers of one thread, which hold numbers of instructions."""

    def __init__(self, program, found):
        self.program, self.found = program, found
        sizes = (7, 6)
        entries = [(array, e) for array, size in enumerate(sizes) for e in range(size)]
        self.value = {entries[args[0]]: i for i, (op, args) in enumerate(program.instructions) if op == "input"}
        self.registers, self.tile, self.far = set(), {}, {}
        self.stored = []

    def start(self):
        for array, first, size, slot in self.found.runs:
            self.tile.update({slot + e: self.value.get((array, first + e)) for e in range(size)})
        for angle, sine, cosine in self.found.angles:
            x = self.tile[angle]
            for op, slot in (("sin", sine), ("cos", cosine)):
                self.tile[slot] = next((i for i, y in enumerate(self.program.instructions) if y == (op, (x,))), None)

    def go(self):
        for action, value, where in self.found.steps:
            getattr(self, action)(value, where)

    def read(self, value, slot):
        assert self.tile[slot] == value
        self.registers.add(value)

    def recall(self, value, slot):
        assert self.far[slot] == value
        self.registers.add(value)

    def fetch(self, value, _):
        assert self.program.instructions[value][0] == "input"
        self.registers.add(value)

    def compute(self, value, _):
        op, args = self.program.instructions[value]
        assert op not in ("input", "const")
        assert all(x in self.registers or self.program.instructions[x][0] == "const" for x in args)
        self.registers.add(value)

    def keep(self, value, slot):
        assert value in self.registers
        self.tile[slot] = value

    stage = keep

    def leave(self, value, slot):
        assert value in self.registers
        self.far[slot] = value

    def number(self, k, slot):
        self.tile[slot] = -1 - k

    def flush(self, group, _):
        for source, slot in self.found.groups[group]:
            assert self.tile[slot] == (self.program.slots[source] if source >= 0 else source)
            self.stored.append(source)


@pytest.mark.parametrize(("values", "slots"), [(6, 16), (6, 19), (10, 24), (20, 30), (12, 200), (500, 500), (8, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_every_value_is_where_it_is_looked_for(seed, values, slots):
    program = example(seed)
    found = place(program, values, slots)
    machine = Machine(program, found)
    machine.start()
    machine.go()
    assert sorted(machine.stored) == [*range(-len(program.numbers), 0), *range(len(program.slots))]
    assert max(machine.tile) < found.slots
    assert found.slots <= max(slots, 1)
    assert max(machine.far, default=-1) + 1 == found.far


def test_nothing_is_far_where_there_is_room():
    program = example(0)
    spacious, narrow = place(program, 500, 500), place(program, 6, 12)
    assert not spacious.far
    assert not any(step.action in ("keep", "leave", "fetch") for step in spacious.steps)
    assert narrow.far
    assert any(step.action == "fetch" for step in narrow.steps)


def test_a_sine_takes_the_slot_of_its_angle():
    """Unless the angle itself is needed: entry 3."""
    found = place(example(1), 500, 500)
    kept = [angle != sine for angle, sine, _ in found.angles]
    assert len(found.angles) == 3
    assert sum(kept) == sum(x in _used(example(1)) for x in (1, 3, 6))


def _used(program):
    """Entries of the inputs that instructions other than sines and cosines use, or that are results."""
    code = program.instructions
    users = {x for op, args in code if op not in ("input", "const", "sin", "cos") for x in args} | set(program.slots)
    return {args[0] for i, (op, args) in enumerate(code) if op == "input" and i in users}


def test_without_room_angles_are_turned_where_they_are_needed():
    found = place(example(2), 20, 8)
    assert not found.early_angles
    assert not found.angles
