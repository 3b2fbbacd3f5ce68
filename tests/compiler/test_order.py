from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import ops
from surefoot.compiler.fuse import fuse
from surefoot.compiler.graph import graph_of
from surefoot.compiler.order import interleave, needed, order, pressure

from .examples import Residue, interpreted, polynomials, values_of

X = ops.symbols("x", 4)
POINT = [Residue(2**40 + 7), Residue(3**25), Residue(-(5**20)), Residue(7**15)]


def instructions_of(outputs):
    graph, refs = graph_of(list(X), outputs)
    return fuse(graph.nodes, [ref for ref in refs if graph.value(ref) is None])


def reachable(instructions, roots) -> set[int]:
    found, stack = set(roots), list(roots)
    while stack:
        op, args = instructions[stack.pop()]
        new = set() if op in ("input", "const") else set(args) - found
        found |= new
        stack.extend(new)
    return found


@pytest.mark.parametrize(
    "reorder", [order, needed, lambda *x: interleave(*needed(*x)), lambda *x: interleave(*order(*x))]
)
@settings(deadline=None, max_examples=100, derandomize=True)
@given(polynomials())
def test_arguments_come_first_and_nothing_else_changes(reorder, code):
    instructions, roots = instructions_of(values_of(code, X)[::3])
    moved, places = reorder(instructions, roots)
    before, after = interpreted(instructions, POINT), interpreted(moved, POINT)  # refuses arguments that come later
    assert [after[k].value for k in places] == [before[k].value for k in roots]
    used = reachable(instructions, roots)  # dead code is gone, what is needed is there once
    assert Counter(op for op, _ in moved) == Counter(instructions[k][0] for k in used)


def test_order_follows_a_tree_depth_first():
    """A balanced tree of sums of n products needs about log2 n values at a time, breadth first n."""
    leaves = [ops.symbols("a", 64), ops.symbols("b", 64)]
    level = [ops.sin(a * b) for a, b in zip(*leaves, strict=True)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
    graph, refs = graph_of([*leaves[0], *leaves[1]], level)
    instructions, roots = needed(*fuse(graph.nodes, refs))
    assert pressure(instructions) >= 64
    assert pressure(order(instructions, roots)[0]) <= 8


def test_pressure_counts_values_between_birth_and_last_use():
    instructions = [
        ("input", (0,)), ("sin", (0,)), ("cos", (0,)), ("add", (1, 2)), ("sin", (3,)), ("mul", (1, 4)), ("exp", (5,)),
    ]  # fmt: skip
    assert pressure(instructions) == 3


def test_interleave_mixes_chains():
    """Two chains of dependent operations are done side by side, not one after the other."""
    chains = list(X[:2])
    for _ in range(20):
        chains = [chain * chain + X[2] for chain in chains]
    instructions, roots = needed(*instructions_of(chains))
    one_after_the_other, ends = order(instructions, roots)
    mixed, places = interleave(one_after_the_other, ends)
    owner = {}
    for k in range(len(chains)):
        owner |= dict.fromkeys(reachable(mixed, [places[k]]), k)
    sequence = [owner[k] for k, (op, _) in enumerate(mixed) if op not in ("input", "const")]
    switches = np.count_nonzero(np.diff(sequence))
    assert switches >= len(sequence) - 4
