import numpy as np
import pytest
from hypothesis import given, settings

from surefoot import ops
from surefoot.codegen.program import trace
from surefoot.errors import ShapeError
from tests.compiler.examples import Residue, outputs_of, polynomials, values_of


@pytest.mark.parametrize("interleaved", [True, False])
@settings(deadline=None, max_examples=150, derandomize=True)
@given(polynomials())
def test_a_program_computes_the_function(interleaved, code):
    a, b = ops.symbols("a", (2, 2)), ops.symbols("b", 3)
    point = [Residue(7**k - 5) for k in range(11, 18)]
    values = values_of(code, [*a.ravel(), *b])[-1::-3]
    half = len(values) // 2
    program = trace([a, b], [np.array(values[:half], dtype=object), np.array(values[half:], dtype=object)], interleaved)
    assert outputs_of(program, point) == [x.value for x in values_of(code, point, Residue)[-1::-3]]
    assert program.input_shapes == ((2, 2), (3,))
    assert program.output_shapes == ((half,), (len(values) - half,))


def test_entries_are_stored_once_and_numbers_not_at_all():
    x = ops.symbols("x", 2)
    product = x[0] * x[1]
    matrix = ops.array([[product, 0.0], [x[1] * x[0], -1.0]])
    program = trace([x], [matrix, product, -product, 0.0])
    assert len(program.slots) == 2
    assert program.numbers == (0.0, -1.0)
    assert program.layout == ((0, -1, 0, -2), (0,), (1,), (-1,))
    assert program.output_shapes == ((2, 2), (), (), ())
    assert program.operations == 2  # the product and its negative


def test_what_no_output_needs_is_not_computed():
    x = ops.symbols("x", 3)
    program = trace([x], [x[0] + ops.sin(x[1]) * 0.0])
    assert program.operations == 0
    assert [op for op, _ in program.instructions] == ["input"]


def test_a_symbol_that_is_no_input_is_refused():
    x, y = ops.symbols("x", 2), ops.symbols("foreign", 1)
    with pytest.raises(ShapeError, match="foreign_0"):
        trace([x], [x * y[0]])


@pytest.mark.parametrize("output", [None, "text", {"a": 1.0}, 1j])
def test_an_output_that_is_no_array_of_numbers_is_refused(output):
    with pytest.raises(ShapeError, match="an output holds"):
        trace([ops.symbols("x", 2)], [output])
