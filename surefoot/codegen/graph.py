"""Traced expressions, hash-consed: equal values are one node, constants fold, negations move to where they are free.

A *reference* is twice the number of a node, plus one if its negative is meant: signs cost nothing inside a product, a
sum or a fused multiply-add, so they are carried on the edges and almost never computed.

Sums of products become fused multiply-adds, where the product then disappears.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefoot.ops import Symbol

_FOLD: dict[str, Callable[..., Any]] = {
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "abs": np.abs,
    "acos": np.arccos, "atan2": np.arctan2, "min": np.minimum, "max": np.maximum, "pow": np.float_power,
    "lt": np.less, "le": np.less_equal,
}  # fmt: skip
_ODD = {"sin", "tan"}  # f(−x) = −f(x)
_EVEN = {"cos", "abs"}  # f(−x) = f(x)


class Graph:
    """Nodes in an order in which arguments come first.

    `nodes[i]` is (op, args): ("const", (value,)) with value ≥ 0, ("input", (k,)) with k counted over all inputs,
    ("add" | "sub" | "mul" | "div", (i, j)) and functions with *node numbers* as arguments.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[str, tuple[Any, ...]]] = []
        self._table: dict[tuple[Any, ...], int] = {}
        self._rules: dict[str, Callable[..., int]] = {
            "neg": lambda a: a ^ 1, "add": self.add, "sub": lambda a, b: self.add(a, b ^ 1), "mul": self.mul,
            "div": self.div, "select": self._select,
        }  # fmt: skip

    def _node(self, op: str, *args: Any) -> int:
        """The reference of a node, made if it is new."""
        key = (op, *args)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = len(self.nodes) * 2
            self.nodes.append((op, args))
        return found

    def const(self, value: float) -> int:
        """The reference of a number."""
        return self._node("const", abs(value)) | (value < 0.0)

    def input(self, k: int) -> int:
        """The reference of input entry k."""
        return self._node("input", k)

    def value(self, ref: int) -> float | None:
        """The number that a reference is, if it is one."""
        op, args = self.nodes[ref >> 1]
        return (-args[0] if ref & 1 else args[0]) if op == "const" else None

    def add(self, a: int, b: int) -> int:
        """A + b; kept as the sum or difference of two unsigned nodes, the older one first."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.const(x + y)
        if x == 0.0 or y == 0.0:
            return b if x == 0.0 else a
        if a == b ^ 1:
            return self.const(0.0)
        if a > b:
            a, b = b, a
        return self._node("sub" if (a ^ b) & 1 else "add", a >> 1, b >> 1) | (a & 1)

    def mul(self, a: int, b: int) -> int:
        """A b."""
        x, y = self.value(a), self.value(b)
        if x is not None and y is not None:
            return self.const(x * y)
        for number, other in ((x, b), (y, a)):
            if number is not None and abs(number) in (0.0, 1.0):
                return self.const(0.0) if number == 0.0 else other ^ (number < 0.0)
        sign = (a ^ b) & 1
        a, b = sorted((a >> 1, b >> 1))
        return self._node("mul", a, b) | sign

    def div(self, a: int, b: int) -> int:
        """A / b, as a product with a shared reciprocal."""
        x, y = self.value(a), self.value(b)
        if y is not None and y != 0.0:
            return self.const(x / y) if x is not None else self.mul(a, self.const(1.0 / y))
        one = self.const(1.0)
        reciprocal = self._node("div", one >> 1, b >> 1) | (b & 1)
        return self.mul(a, reciprocal)

    def _select(self, condition: int, yes: int, no: int) -> int:
        known = self.value(condition)
        if known is not None:
            return yes if known else no
        return yes if yes == no else self._node("select", *(self._plain(x) for x in (condition, yes, no)))

    def function(self, op: str, args: Sequence[int]) -> int:
        """op(args) of references."""
        if op in self._rules:
            return self._rules[op](*args)
        numbers = [self.value(x) for x in args]
        if all(x is not None for x in numbers):
            with np.errstate(all="ignore"):  # as compiled code: infinity or no number, and on
                return self.const(float(_FOLD[op](*numbers)))
        if op in _EVEN:
            args = [args[0] & ~1]
        if op in _ODD and args[0] & 1:
            return self._node(op, args[0] >> 1) ^ 1
        return self._node(op, *(self._plain(x) for x in args))

    def _plain(self, ref: int) -> int:
        """The number of a node with the value of a reference, its sign computed."""
        return (self._node("neg", ref >> 1) if ref & 1 else ref) >> 1


def graph_of(inputs: Sequence[Symbol], outputs: Sequence[Any]) -> tuple[Graph, list[int]]:
    """The graph of traced scalars, and the reference of each output.

    Args:
        inputs: Free symbols, in the order of the inputs' entries.
        outputs: Symbols and numbers.

    Raises:
        KeyError: An output depends on a symbol that is not among the inputs.
    """
    graph = Graph()
    refs: dict[int, int] = {id(symbol): graph.input(k) for k, symbol in enumerate(inputs)}
    for node in sorted(_below(outputs), key=lambda x: x.serial):
        if id(node) in refs:
            continue
        if node.op == "input":
            raise KeyError(node.args[0])
        args = [refs[id(x)] if isinstance(x, Symbol) else graph.const(x) for x in node.args]
        refs[id(node)] = graph.function(node.op, args)
    return graph, [refs[id(x)] if isinstance(x, Symbol) else graph.const(float(x)) for x in outputs]


def _below(outputs: Sequence[Any]) -> list[Symbol]:
    """All symbols that the outputs are made of."""
    found = {id(x): x for x in outputs if isinstance(x, Symbol)}
    stack = list(found.values())
    while stack:
        for x in stack.pop().args:
            if isinstance(x, Symbol) and id(x) not in found:
                found[id(x)] = x
                stack.append(x)
    return list(found.values())


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
