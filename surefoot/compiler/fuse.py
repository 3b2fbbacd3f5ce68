"""Sums of products become fused multiply-adds, where the product then disappears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["fuse"]

Instruction = tuple[str, tuple[Any, ...]]


def fuse(nodes: Sequence[Instruction], outputs: Sequence[int]) -> tuple[list[Instruction], list[int]]:
    """The instructions with fused multiply-adds, and the number of the instruction of each output.

    A product is dissolved if every use of it is a term of a sum: k sums then cost k fused operations in place of
    one product and k additions. A sum of two products takes one of them in.

    Args:
        nodes: Nodes of a graph.
        outputs: References (twice the number, plus one for the negative).
    """
    instructions = list(nodes)
    roots = [_signed(instructions, ref) for ref in outputs]
    dissolvable = _products_used_in_sums_only(instructions, roots)
    for i, (op, args) in enumerate(instructions):
        if op in ("add", "sub"):
            instructions[i] = _fused(instructions, dissolvable, op, args)
    return instructions, roots


def _signed(instructions: list[Instruction], ref: int) -> int:
    """The instruction of a reference; negatives that leave the program are computed: −(a − b) as b − a."""
    if ref & 1:
        op, args = instructions[ref >> 1]
        instructions.append(("sub", args[::-1]) if op == "sub" else ("neg", (ref >> 1,)))
        return len(instructions) - 1
    return ref >> 1


def _products_used_in_sums_only(instructions: Sequence[Instruction], roots: Sequence[int]) -> list[bool]:
    dissolvable = [op == "mul" for op, _ in instructions]
    for op, args in instructions:
        if op not in ("add", "sub", "const", "input"):
            for x in args:
                dissolvable[x] = False
    for root in roots:
        dissolvable[root] = False
    return dissolvable


def _fused(instructions: Sequence[Instruction], dissolvable: list[bool], op: str, args: tuple[int, int]) -> Instruction:
    a, b = args
    if dissolvable[a] and dissolvable[b]:
        dissolvable[a] = False  # it stays a product: the term that the other one is added to
    if dissolvable[b]:
        return ("fma" if op == "add" else "fnma"), (*instructions[b][1], a)
    if dissolvable[a]:
        return ("fma" if op == "add" else "fms"), (*instructions[a][1], b)
    return op, args
