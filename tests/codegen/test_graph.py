"""Equal values are one node, what is known is folded, signs are free."""

import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import ops
from surefoot.codegen.graph import Graph, graph_of
from tests.compiler.examples import Residue, interpreted, polynomials, values_of

X = ops.symbols("x", 3)
x, y, z = X


def ref(expression) -> tuple[Graph, int]:
    graph, (found,) = graph_of(list(X), [expression])
    return graph, found


def same(*expressions) -> bool:
    """Whether expressions are the same node with the same sign."""
    _, refs = graph_of(list(X), list(expressions))
    return len(set(refs)) == 1


@settings(deadline=None, max_examples=200, derandomize=True)
@given(polynomials())
def test_nodes_have_the_values_of_their_expressions(code):
    symbols = values_of(code, X)
    graph, refs = graph_of(list(X), symbols)
    point = [Residue(2**40 + 7), Residue(3**25), Residue(-(5**20))]
    found = interpreted(graph.nodes, point)
    expected = values_of(code, point, Residue)
    for reference, right in zip(refs, expected, strict=True):
        value = found[reference >> 1]
        assert (-value if reference & 1 else value).value == right.value


@settings(deadline=None, max_examples=100, derandomize=True)
@given(polynomials())
def test_no_node_is_there_twice(code):
    graph, _ = graph_of(list(X), values_of(code, X))
    assert len(set(graph.nodes)) == len(graph.nodes)
    for op, args in graph.nodes:
        if op in ("add", "mul"):
            assert args == tuple(sorted(args))
        if op not in ("const", "input"):
            assert not any(graph.nodes[k] == ("const", (0.0,)) for k in args)  # zeros fold
        if op == "mul":
            assert not any(graph.nodes[k] == ("const", (1.0,)) for k in args)  # and ones


@pytest.mark.parametrize(
    "pair",
    [
        (x * y + z, z + y * x),
        (x - y, -(y - x)),
        ((-x) * y, x * (-y)),
        (-(x * -y), x * y),
        (-x - y, -(x + y)),
        (x / y, -((-x) / y)),
        (x / y + z / y, x * (1.0 / y) + z * (1.0 / y)),
        (x / 4.0, 0.25 * x),
        (ops.sin(-x), -ops.sin(x)),
        (ops.tan(y - x), -ops.tan(x - y)),
        (ops.cos(x - y), ops.cos(y - x)),
        (abs(-x), abs(x)),
        (ops.where(x < y, z, z), z),
        (ops.where((x * y - y * x) < 1.0, y, z), y),
        (x * (y * z - z * y) + y, y),
        (x + (y * z - z * y), x),
    ],
)
def test_rules(pair):
    assert same(*pair)


@pytest.mark.parametrize(
    "pair", [(x - y, y - x), (x / y, y / x), (ops.arctan2(x, y), ops.arctan2(y, x)), (x < y, y < x), (x < y, x <= y),
             (ops.exp(-x), ops.exp(x)), (ops.cos(x), ops.sin(x)), (x, -x)]
)  # fmt: skip
def test_what_is_different_stays_different(pair):
    assert not same(*pair)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("sin", (0.3,)), ("exp", (1e4,)), ("log", (0.0,)), ("log", (-1.0,)), ("sqrt", (-2.0,)), ("arccos", (3.0,)),
     ("arctan2", (-0.5, -2.0)), ("minimum", (2.0, -3.0)), ("maximum", (2.0, -3.0))],
)  # fmt: skip
def test_functions_of_numbers_are_numbers(name, numbers):
    """Also where there is no finite one: then as compiled code would find it, and no error."""
    function, zero = getattr(ops, name), x * y - y * x
    graph, found = ref(function(*(zero + number for number in numbers)))
    with np.errstate(all="ignore"):
        np.testing.assert_equal(graph.value(found), float(function(*numbers)))


def test_signs_cost_nothing():
    """In sums, products, quotients and odd or even functions."""
    expression = -(x * -y) - (-z) * ops.sin(-x) + ops.cos(-y) / -z - abs(-(x - y)) - ops.tan(-z)
    graph, _ = ref(expression)
    assert not any(op == "neg" for op, _ in graph.nodes)


def test_a_free_symbol_that_is_no_input_is_named():
    with pytest.raises(KeyError, match="x_2"):
        graph_of([x, y], [x + y * z])
