"""Numbers and symbols through the same text."""

import casadi
import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot import ops
from tests.compiler.examples import BOUNDED, random_code, values_of

X = ops.symbols("x", 3)
POINT = np.array([0.3, -1.2, 2.0])


def value(expression, point=POINT):
    """The number that a traced expression has at a point."""
    return np.array(ops.function("f", [X], [expression])(point)).reshape(np.shape(expression))


def test_symbols_are_arrays():
    assert X.shape == (3,)
    assert X.dtype == object
    assert ops.symbols("y", (2, 3)).shape == (2, 3)
    assert repr(ops.symbols("y", (2, 2))[1, 0]) == "Symbol(y_2)"


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: np.float64(2.0) * x,
        lambda x: np.arange(1.0, 4.0) * x[0],
        lambda x: x[0] * np.arange(1.0, 4.0),
        lambda x: np.arange(1.0, 4.0) / x[1],
        lambda x: x[1] - np.arange(1.0, 4.0),
        lambda x: x[0] * np.array(2.0) + x,
        lambda x: np.asarray(x[0]) * x,
        lambda x: x[0] * np.asarray(x[2]) + x,
        lambda x: -x / 3.0,
        lambda x: x**2 + 2.0**x,
        abs,
        lambda x: +x,
        lambda x: np.arange(9.0).reshape(3, 3) @ x,
        lambda x: np.outer(x, x)[1],
        lambda x: np.array([x @ x, x.sum()]),
        lambda x: ops.cross(x, [1.0, 2.0, 3.0]),
        lambda x: ops.concatenate([[1.0], x[:2]]),
        lambda x: ops.stack([x, np.ones(3)], axis=1),
        lambda x: ops.array([[x[0], 1.0], [0.0, x[1]]]),
        lambda x: ops.array([ops.norm(x), x @ x]),
        lambda x: ops.solve(np.diag([1.0, 2.0, 4.0]) + np.ones((3, 3)), x),
        lambda x: ops.solve(np.eye(3) + np.outer(x, x), np.outer(x, [1.0, 2.0])),
    ],
)
def test_arithmetic_equals_numpy(f):
    assert_allclose(value(f(X)), f(POINT), rtol=1e-14)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "exp", "absolute"])
def test_functions_of_one_argument(name):
    f = getattr(ops, name)
    assert_allclose(f(POINT), getattr(np, name)(POINT))
    assert_allclose(value(f(X)), f(POINT), rtol=1e-15)
    assert f.__doc__


def test_functions_on_part_of_the_line():
    inside = np.array([0.1, 0.5, 0.9])
    for f, oracle in ((ops.sqrt, np.sqrt), (ops.log, np.log), (ops.arccos, np.arccos)):
        assert_allclose(f(inside), oracle(inside))
        assert_allclose(value(f(X), inside), oracle(inside), rtol=1e-15)


def test_functions_of_two_arguments():
    for f, oracle in ((ops.arctan2, np.arctan2), (ops.minimum, np.minimum), (ops.maximum, np.maximum)):
        assert_allclose(f(POINT, 0.5), oracle(POINT, 0.5))
        assert_allclose(value(f(X, 0.5)), oracle(POINT, 0.5), rtol=1e-15)
        assert_allclose(value(f(0.5, X)), oracle(0.5, POINT), rtol=1e-15)


def test_known_entries_of_symbolic_arrays_stay_numbers():
    mixed = ops.array([4.0, X[0]])
    assert ops.sqrt(mixed)[0] == 2.0
    assert isinstance(ops.sqrt(mixed)[0], float)


def test_exact_zeros_and_ones_fold_away():
    expression = np.array([0.0, 1.0, 0.0]) @ X
    assert repr(expression) == "Symbol(x_1)"


def test_where_and_less():
    f = lambda x: ops.where(ops.less(x, 0.5), x, 10.0 * x)  # noqa: E731
    assert_allclose(f(POINT), [0.3, -1.2, 20.0])
    assert_allclose(value(f(X)), f(POINT))
    assert_allclose(value(ops.where(X[0] < 0.5, X, 1.0)), POINT)
    assert_allclose(value(ops.where(X[0] >= 0.5, X, 1.0)), 1.0)
    assert_allclose(value(ops.where(ops.less(np.float64(0.5), X[2]), X, 1.0)), POINT)
    assert_allclose(value(ops.where(np.array([True, False, True]), X, 0.0)), POINT * [1, 0, 1])


def test_where_of_scalars_is_a_scalar():
    assert isinstance(ops.where(True, 1.0, 2.0), float)
    assert isinstance(ops.where(np.array(True), 1.0, 2.0), float)
    assert ops.where(True, 1.0, POINT).shape == (3,)
    assert isinstance(ops.where(X[0] < 0, 1.0, 2.0), ops.Symbol)


def test_where_shields_derivatives_from_the_other_branch():
    small = ops.less(X[0], 1e-3)
    root = ops.where(small, 0.0, ops.sqrt(ops.where(small, 1.0, X[0])))
    gradient = casadi.gradient(ops.to_sx(root), ops.to_sx(X))
    assert_allclose(np.array(casadi.Function("g", [ops.to_sx(X)], [gradient])(np.zeros(3))), 0)


def test_the_truth_of_a_symbol_is_refused():
    with pytest.raises(TypeError, match=r"ops\.where"):
        bool(X[0] < 1)
    with pytest.raises(TypeError, match=r"ops\.where"):
        bool(X < 1)


def test_kinds_of_new_arrays():
    assert ops.zeros(2).dtype == float
    assert ops.zeros((2, 2), like=X).dtype == object
    assert ops.eye(3, like=[1.0, X]).dtype == object
    assert ops.eye(3).dtype == float
    assert ops.array([1, 2]).dtype == float
    assert ops.array([POINT, X]).shape == (2, 3)
    assert ops.array([POINT, X]).dtype == object
    assert ops.array([[X[0], 1]]).shape == (1, 2)
    assert not ops.is_symbolic(POINT, [1.0, (2.0,)], 3.0)
    assert ops.is_symbolic(POINT, [1.0, (X[0],)])


def test_solve_of_numbers():
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    assert_allclose(ops.solve(matrix, [1.0, 4.0]), [2.0, 1.0])


def test_to_sx_keeps_shapes_and_order():
    matrix = ops.array([[X[0], 1.0], [2.0, X[1]], [3.0, 4.0]])
    f = casadi.Function("f", [ops.to_sx(X)], [ops.to_sx(matrix)])
    assert_allclose(np.array(f(POINT)), [[0.3, 1], [2, -1.2], [3, 4]])
    assert ops.to_sx(X).shape == (3, 1)
    assert ops.to_sx(X[0]).shape == (1, 1)
    for empty, shape in ((np.zeros(0), (0, 1)), (np.zeros((3, 0)), (3, 0))):
        assert isinstance(ops.to_sx(empty), casadi.SX)
        assert ops.to_sx(empty).shape == shape


def test_function_of_several_arrays():
    y = ops.symbols("y", (2, 3))
    f = ops.function("f", [X, y], [y @ X, y.T])
    matrix = np.arange(6.0).reshape(2, 3)
    product, transposed = f(POINT, matrix)
    assert_allclose(np.array(product).ravel(), matrix @ POINT)
    assert_allclose(np.array(transposed), matrix.T)


def test_norm_of_numbers_is_a_number():
    assert ops.norm([3.0, 4.0]) == 5.0
    assert isinstance(ops.norm([3, 4]), float)


# --- symbols


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 0.0,
        lambda x: 0.0 + x,
        lambda x: x - 0.0,
        lambda x: x * 1.0,
        lambda x: 1 * x,
        lambda x: x / 1.0,
        lambda x: x**1.0,
        lambda x: -(x + 0.0) * -1.0,
        lambda x: +x,
        lambda x: -(x * -1.0),
        lambda x: -(0.0 - x),
        lambda x: np.float64(1.0) * x,
        lambda x: x + np.array(0.0),
    ],
)
def test_what_changes_nothing_gives_the_symbol_itself(f):
    assert f(X[0]) is X[0]


@pytest.mark.parametrize(
    ("f", "number"),
    [
        (lambda x: 0.0 * x, 0.0),
        (lambda x: x * 0, 0.0),
        (lambda x: x - x, 0.0),
        (lambda x: 0.0 / x, 0.0),
        (lambda x: x**0, 1.0),
    ],
)
def test_what_is_known_is_a_number(f, number):
    assert f(X[0]) == number
    assert isinstance(f(X[0]), float)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.array([x[0] < 0.5, x[0] <= 0.3, x[0] > 0.3, x[0] >= 0.3, x[1] < x[0], x[1] > x[0], x[0] > 0.5]),
        lambda x: np.array([x[2] ** 0.5, x[0] ** 2, x[0] ** 3, x[2] ** -1.5, 2.0 ** x[0], x[2] ** x[1]]),
        lambda x: np.array([1.0 / x[0], x[0] / 4.0, x[0] / x[1], 3.0 - x[0], x[0] - 3.0, -x[0] - x[1]]),
        lambda x: np.array(
            [abs(x[1]), ops.arctan2(-1.0, x[1]), ops.minimum(x[0], x[1]), ops.where(x[0] < 1, x[1], 2.0)]
        ),
    ],
)
def test_all_ways_to_combine_symbols(f):
    assert_allclose(value(f(X)).astype(float), f(POINT).astype(float), rtol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_random_expressions_equal_numpy(seed):
    """All operations mixed, many times: by CasADi and by numpy."""
    code = random_code(seed, 150)
    found = value(ops.array(values_of(code, [*X], table=BOUNDED)), 0.4 * POINT)
    assert_allclose(found, np.array(values_of(code, [*(0.4 * POINT)], table=BOUNDED)), atol=2e-14)


def test_later_symbols_have_higher_numbers():
    """So that sorting by them is an order in which arguments come first."""
    a = X[0] * X[1]
    b = ops.sin(a) + a
    assert X[0].serial < X[1].serial < a.serial < b.args[0].serial < b.serial


def test_symbols_leave_arrays_to_numpy():
    """A symbol times an array is an array of symbols, from both sides and for all operators."""
    y = np.array([1.0, 2.0])
    for found in (X[0] * y, y * X[0], X[0] + y, y + X[0], X[0] - y, y - X[0], X[0] / y, y / X[0], X[0] ** y, y ** X[0]):
        assert isinstance(found, np.ndarray)
        assert found.shape == (2,)


@pytest.mark.parametrize("other", ["text", None, 1j])
def test_symbols_refuse_what_is_no_number(other):
    with pytest.raises((TypeError, ValueError)):
        X[0] + other
    with pytest.raises((TypeError, ValueError)):
        ops.arctan2(X[0], other)
