"""A straight-line program: what every backend emits.

`instructions[i]` is (op, args). Arguments are instruction numbers, but for ("input", (k,)) and ("const", (value,)).
Besides the operations of `graph` there are "fma" a b + c, "fms" a b − c and "fnma" c − a b.

The order of a straight-line program: few values alive at a time, no waiting for results, nothing unneeded.
"""

from __future__ import annotations

import heapq
import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.codegen.graph import fuse, graph_of
from surefoot.errors import ShapeError
from surefoot.ops import Array, Symbol

Instruction = tuple[str, tuple[Any, ...]]
_IN_MEMORY = ("input", "const")
_LATENCY = 2  # cycles that a result is waited for: half of what a sum takes, the CPU itself looks ahead the rest
_PER_CYCLE = 2  # sums and products that they start in one cycle


def needed(instructions: Sequence[Instruction], roots: Sequence[int]) -> tuple[list[Instruction], list[int]]:
    """The instructions that the outputs need, in their order.

    Args:
        instructions: Arguments first.
        roots: Numbers of the outputs.
    """
    keep, stack = set(roots), list(roots)
    while stack:
        for x in _arguments(instructions[stack.pop()]):
            if x not in keep:
                keep.add(x)
                stack.append(x)
    return _renumbered(instructions, sorted(keep), roots)


def eager(instructions: Sequence[Instruction], roots: Sequence[int]) -> tuple[list[Instruction], list[int]]:
    """Every output is computed as soon as what it needs is there.

    Instructions that serve one output alone move up to right after the last shared value that they use, while it is
    still in a register.

    Args:
        instructions: Arguments first.
        roots: Numbers of the outputs.
    """
    owner = _owners(instructions, roots)
    ready: dict[int, int] = {}  # position after which the private part of an output can be computed
    for i, instruction in enumerate(instructions):
        if owner[i] >= 0:
            shared = (x for x in _arguments(instruction) if owner[x] < 0 and instructions[x][0] not in _IN_MEMORY)
            ready[owner[i]] = max([ready.get(owner[i], -1), *shared])
    place = [(ready[owner[i]], 1, i) if owner[i] >= 0 else (i, 0, i) for i in range(len(instructions))]
    for i, instruction in enumerate(instructions):  # inputs and numbers are in memory, and come before anything
        if instruction[0] in _IN_MEMORY:
            place[i] = (-2, 0, i)
    return _renumbered(instructions, sorted(range(len(instructions)), key=place.__getitem__), roots)


def lightest(instructions: Sequence[Instruction], roots: Sequence[int]) -> tuple[list[Instruction], list[int]]:
    """The given order, or the eager one if fewer values are alive in it.

    Args:
        instructions: Arguments first.
        roots: Numbers of the outputs.
    """
    other = eager(instructions, roots)
    return other if pressure(other[0]) < pressure(instructions) else (list(instructions), list(roots))


def _owners(instructions: Sequence[Instruction], roots: Sequence[int]) -> list[int]:
    """The output that an instruction serves alone, −1 if it serves several, or is used where it is an output."""
    unknown, several, outputs = -2, -1, set(roots)
    owner = [unknown] * len(instructions)
    for i in reversed(range(len(instructions))):
        if i in outputs:
            owner[i] = i if owner[i] == unknown else several
        for x in _arguments(instructions[i]):
            owner[x] = owner[i] if owner[x] in (unknown, owner[i]) else several
    return [several if x == unknown else x for x in owner]


def _arguments(instruction: Instruction) -> tuple[int, ...]:
    op, args = instruction
    return () if op in _IN_MEMORY else args


def interleave(instructions: Sequence[Instruction], roots: Sequence[int]) -> tuple[list[Instruction], list[int]]:
    """Fill waiting times: follow the given order, but if a result is not there in time, go on with the next that is.

    Limbs of a robot are chains of dependent operations. Depth-first order does one after the other, and the CPU, which
    looks a few hundred instructions ahead, would wait for results most of the time. Taking the nearest instruction
    that can start (a list schedule with the given order as priority) mixes limbs as far as is needed and no further.

    Args:
        instructions: In an order with few values alive.
        roots: Numbers of the outputs.
    """
    missing = [len(set(_arguments(instruction))) for instruction in instructions]
    users: list[list[int]] = [[] for _ in instructions]
    for i, instruction in enumerate(instructions):
        for x in set(_arguments(instruction)):
            users[x].append(i)
    available = [i for i, count in enumerate(missing) if count == 0]
    waiting: list[tuple[int, int]] = []
    ready_at = [0] * len(instructions)
    sequence: list[int] = []
    cycle = 0
    while available or waiting:
        while waiting and waiting[0][0] <= cycle:
            heapq.heappush(available, heapq.heappop(waiting)[1])
        started = 0
        while available and started < _PER_CYCLE:
            i = heapq.heappop(available)
            sequence.append(i)
            in_memory = instructions[i][0] in _IN_MEMORY
            started += not in_memory
            for user in users[i]:
                missing[user] -= 1
                ready_at[user] = max(ready_at[user], cycle if in_memory else cycle + _LATENCY)
                if not missing[user]:
                    heapq.heappush(waiting, (ready_at[user], user))
        cycle += 1
    return _renumbered(instructions, sequence, roots)


def _renumbered(
    instructions: Sequence[Instruction], sequence: Sequence[int], roots: Sequence[int]
) -> tuple[list[Instruction], list[int]]:
    new = {old: k for k, old in enumerate(sequence)}
    moved = [
        (op, args if op in _IN_MEMORY else tuple(new[x] for x in args))
        for op, args in map(instructions.__getitem__, sequence)
    ]
    return moved, [new[root] for root in roots]


def pressure(instructions: Sequence[Instruction]) -> int:
    """The largest number of computed values that are alive at once (inputs and numbers are in memory)."""
    last = {x: i for i, instruction in enumerate(instructions) for x in _arguments(instruction)}
    alive, most = 0, 0
    for i, instruction in enumerate(instructions):
        alive += instruction[0] not in _IN_MEMORY
        most = max(most, alive)
        ended = {x for x in (*_arguments(instruction), i) if last.get(x, i) == i}
        alive -= sum(instructions[x][0] not in _IN_MEMORY for x in ended)
    return most


@dataclass(frozen=True)
class Program:
    """A traced function of one state.

    Args:
        input_shapes: Shape of each input.
        output_shapes: Shape of each output.
        instructions: The operations, arguments first.
        slots: Instruction numbers whose values are stored: every distinct entry of the outputs that is not a number.
        layout: For every entry of every output (in row order) the slot, or −1 − k for number `numbers[k]`.
        numbers: Entries that are the same in every state.
    """

    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    instructions: tuple[Instruction, ...]
    slots: tuple[int, ...]
    layout: tuple[tuple[int, ...], ...]
    numbers: tuple[float, ...]

    @property
    def operations(self) -> int:
        """Instructions that compute something."""
        return sum(op not in ("input", "const") for op, _ in self.instructions)

    @property
    def packed(self) -> Program:
        """The same with its slots (slots,) as the only output."""
        slots = len(self.slots)
        return replace(self, output_shapes=((slots,),), layout=(tuple(range(slots)),), numbers=())


def trace(inputs: list[Array], outputs: list[Any], interleaved: bool = True) -> Program:
    """The program from arrays of free symbols to traced arrays.

    Args:
        inputs: Arrays of free symbols.
        outputs: Arrays of symbols and numbers.
        interleaved: Mix limbs so that a CPU does not wait for results; GPUs have other threads to go on with.

    Raises:
        ShapeError: An output depends on a symbol that is not an input.
    """
    arrays = [np.asarray(x) for x in outputs]
    flat_inputs = [symbol for x in inputs for symbol in x.ravel()]
    flat_outputs = [value for x in arrays for value in x.ravel()]
    wrong = [x for x in flat_outputs if not isinstance(x, Symbol | numbers.Real | np.bool_)]
    if wrong:
        raise ShapeError(
            f"an output holds a {type(wrong[0]).__name__}: {str(wrong[0])[:80]}",
            next_step="return arrays of numbers and symbols, or a tuple of them",
        )
    try:
        graph, refs = graph_of(flat_inputs, flat_outputs)
    except KeyError as error:
        raise ShapeError(
            f"an output depends on the symbol `{error.args[0]}`, which is not an input",
            next_step="pass every symbol that the function uses as an argument",
        ) from None
    distinct = list(dict.fromkeys(ref for ref in refs if graph.value(ref) is None))
    known = list(dict.fromkeys(value for ref in refs if (value := graph.value(ref)) is not None))
    instructions, slots = lightest(*needed(*fuse(graph.nodes, distinct)))
    if interleaved:
        instructions, slots = interleave(instructions, slots)
    slot_of = {ref: k for k, ref in enumerate(distinct)}
    number_of = {value: -1 - k for k, value in enumerate(known)}
    entries = iter([slot_of[ref] if (value := graph.value(ref)) is None else number_of[value] for ref in refs])
    layout = tuple(tuple(next(entries) for _ in range(x.size)) for x in arrays)
    shapes = tuple(x.shape for x in inputs), tuple(x.shape for x in arrays)
    return Program(*shapes, tuple(instructions), tuple(slots), layout, tuple(known))
