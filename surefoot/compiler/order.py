"""The order of a straight-line program: few values alive at a time, no waiting for results, nothing unneeded."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

__all__ = ["interleave", "needed", "order", "pressure"]

Instruction = tuple[str, tuple[Any, ...]]
_IN_MEMORY = ("input", "const")
_LATENCY = 2  # cycles that a result is waited for: half of what a sum takes, the CPU itself looks ahead the rest
_PER_CYCLE = 2  # sums and products that they start in one cycle


def order(instructions: Sequence[Instruction], roots: Sequence[int]) -> tuple[list[Instruction], list[int]]:
    """Depth first from the outputs, last one first: leaves of a tree of bodies come before its root.

    What can be computed without more values being alive than before is computed at once: outputs whose arguments
    are there, and instructions that are the last use of one of their arguments.

    Args:
        instructions: In any order in which the graph has no cycle.
        roots: Numbers of the outputs.

    Returns:
        The needed instructions, renumbered, and the new numbers of the outputs.
    """
    uses, users = _uses(instructions, roots)
    leaves = set(roots)
    new: dict[int, int] = {}
    out: list[Instruction] = []
    for root in reversed(roots):
        stack = [root]
        while stack:
            i = stack[-1]
            missing = [] if i in new else [x for x in _arguments(instructions[i]) if x not in new]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if i in new:
                continue
            op, args = instructions[i]
            new[i] = len(out)
            out.append((op, args if op in _IN_MEMORY else tuple(new[x] for x in args)))
            for x in set(_arguments(instructions[i])):
                uses[x] -= 1
            stack.extend(j for j in users[i] if j not in new and _free(instructions, j, new, uses, leaves))
    return out, [new[root] for root in roots]


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


def _arguments(instruction: Instruction) -> tuple[int, ...]:
    op, args = instruction
    return () if op in _IN_MEMORY else args


def _uses(instructions: Sequence[Instruction], roots: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """How many needed instructions use a value, and which."""
    needed, stack = set(roots), list(roots)
    while stack:
        for x in _arguments(instructions[stack.pop()]):
            if x not in needed:
                needed.add(x)
                stack.append(x)
    users: list[list[int]] = [[] for _ in instructions]
    for i in sorted(needed):
        for x in set(_arguments(instructions[i])):
            users[x].append(i)
    return [len(x) for x in users], users


def _free(
    instructions: Sequence[Instruction], j: int, done: dict[int, int], uses: Sequence[int], outputs: set[int]
) -> bool:
    """Whether instruction j can be computed now without one more value being alive."""
    args = _arguments(instructions[j])
    if any(x not in done for x in args):
        return False
    return j in outputs or any(uses[x] == 1 and instructions[x][0] not in _IN_MEMORY for x in args)


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
