from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import ops
from surefoot.codegen.graph import fuse, graph_of
from surefoot.codegen.program import eager, interleave, lightest, needed, pressure
from tests.compiler.examples import Residue, interpreted, polynomials, values_of

X = ops.symbols("x", 4)
POINT = [Residue(2**40 + 7), Residue(3**25), Residue(-(5**20)), Residue(7**15)]


def instructions_of(outputs):
    graph, refs = graph_of(list(X), outputs)
    return fuse(graph.nodes, [ref for ref in refs if graph.value(ref) is None])


def eager_needed(*program):
    return eager(*needed(*program))


def lightest_needed(*program):
    return lightest(*needed(*program))


def interleave_needed(*program):
    return interleave(*needed(*program))


def reachable(instructions, roots) -> set[int]:
    found, stack = set(roots), list(roots)
    while stack:
        op, args = instructions[stack.pop()]
        new = set() if op in ("input", "const") else set(args) - found
        found |= new
        stack.extend(new)
    return found


@pytest.mark.parametrize("reorder", [needed, eager_needed, lightest_needed, interleave_needed])
@settings(deadline=None, max_examples=100, derandomize=True)
@given(polynomials())
def test_arguments_come_first_and_nothing_else_changes(reorder, code):
    instructions, roots = instructions_of(values_of(code, X)[::3])
    moved, places = reorder(instructions, roots)
    before, after = interpreted(instructions, POINT), interpreted(moved, POINT)  # refuses arguments that come later
    assert [after[k].value for k in places] == [before[k].value for k in roots]
    used = reachable(instructions, roots)  # dead code is gone, what is needed is there once
    assert Counter(op for op, _ in moved) == Counter(instructions[k][0] for k in used)


def outputs_at_the_end():
    """A chain of sines, and only then what every one of them is wanted for."""
    chain = [X[0]]
    for _ in range(30):
        chain.append(ops.sin(chain[-1]))
    return needed(*instructions_of([(x * x + X[1]) * x for x in chain[1:]]))


def test_eager_outputs_keep_few_values_alive():
    instructions, roots = outputs_at_the_end()
    assert pressure(instructions) >= 30
    assert pressure(eager(instructions, roots)[0]) <= 4
    assert lightest(instructions, roots) == eager(instructions, roots)


@settings(deadline=None, max_examples=50, derandomize=True)
@given(polynomials())
def test_the_lightest_is_no_heavier(code):
    instructions, roots = needed(*instructions_of(values_of(code, X)[-1::-3]))
    assert pressure(lightest(instructions, roots)[0]) <= pressure(instructions)


def test_pressure_counts_values_between_birth_and_last_use():
    instructions = [
        ("input", (0,)), ("sin", (0,)), ("cos", (0,)), ("add", (1, 2)), ("sin", (3,)), ("mul", (1, 4)), ("exp", (5,)),
    ]  # fmt: skip
    assert pressure(instructions) == 3


def test_interleave_mixes_chains():
    """Two chains of dependent operations are done side by side, not one after the other."""
    chains = list(X[:2])
    for k in range(2):
        for _ in range(20):
            chains[k] = chains[k] * chains[k] + X[2]
    mixed, places = interleave(*needed(*instructions_of(chains)))
    owner = {}
    for k in range(len(chains)):
        owner |= dict.fromkeys(reachable(mixed, [places[k]]), k)
    sequence = [owner[k] for k, (op, _) in enumerate(mixed) if op not in ("input", "const")]
    switches = np.count_nonzero(np.diff(sequence))
    assert switches >= len(sequence) - 4
