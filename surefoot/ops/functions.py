"""Array functions for numbers and symbols."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.ops import symbol
from surefoot.ops.symbol import Symbol

Array = NDArray[Any]


def is_symbolic(*values: Any) -> bool:
    """Whether any of the values is a symbol or an array of them."""
    return any(_holds_symbol(value) for value in values)


def _holds_symbol(values: Any) -> bool:
    if isinstance(values, np.ndarray):
        return values.dtype == object
    if isinstance(values, list | tuple):
        return any(_holds_symbol(value) for value in values)
    return isinstance(values, Symbol)


def array(values: Any) -> Array:
    """Nested lists of scalars as a float array, or as an object array if one of them is a symbol."""
    found = np.array(values)
    return found if found.dtype == object else found.astype(float, copy=False)


def zeros(shape: int | tuple[int, ...], like: Any = 0.0) -> Array:
    """Zeros, ready to be assigned entries of the kind of `like`."""
    return np.zeros(shape, dtype=object if is_symbolic(like) else float)


def eye(n: int, like: Any = 0.0) -> Array:
    """The n × n identity, ready to be assigned entries of the kind of `like`."""
    return np.eye(n).astype(object if is_symbolic(like) else float)


def stack(parts: Sequence[Any], axis: int = 0) -> Array:
    """`numpy.stack` for numbers and symbols mixed."""
    return np.stack([np.asarray(part) for part in parts], axis=axis)


def concatenate(parts: Sequence[Any], axis: int = 0) -> Array:
    """`numpy.concatenate` for numbers and symbols mixed."""
    return np.concatenate([np.asarray(part) for part in parts], axis=axis)


def _elementwise(on_numbers: Callable[..., Any], op: str, arity: int, doc: str) -> Callable[..., Any]:
    """A function that maps numbers by numpy and symbols entry by entry."""

    def one(*scalars: Any) -> Any:
        if any(isinstance(x, Symbol) for x in scalars):
            return symbol.apply(op, *scalars)
        return float(on_numbers(*(float(x) for x in scalars)))

    on_objects = np.frompyfunc(one, arity, 1)

    def apply(*values: Any) -> Any:
        return on_objects(*values) if is_symbolic(*values) else on_numbers(*values)

    apply.__doc__ = doc
    return apply


sin = _elementwise(np.sin, "sin", 1, "Elementwise sine.")
cos = _elementwise(np.cos, "cos", 1, "Elementwise cosine.")
tan = _elementwise(np.tan, "tan", 1, "Elementwise tangent.")
exp = _elementwise(np.exp, "exp", 1, "Elementwise exponential.")
log = _elementwise(np.log, "log", 1, "Elementwise natural logarithm.")
sqrt = _elementwise(np.sqrt, "sqrt", 1, "Elementwise square root.")
absolute = _elementwise(np.abs, "abs", 1, "Elementwise absolute value.")
arccos = _elementwise(np.arccos, "acos", 1, "Elementwise arc cosine.")
arctan2 = _elementwise(np.arctan2, "atan2", 2, "Elementwise angle of the point (second, first).")
minimum = _elementwise(np.minimum, "min", 2, "Elementwise smaller value.")
maximum = _elementwise(np.maximum, "max", 2, "Elementwise larger value.")


def less(a: Any, b: Any) -> Any:
    """Elementwise a < b, for `where` (the sign `<` serves numbers and single symbols, not arrays of symbols)."""
    return np.less(a, b, dtype=object) if is_symbolic(a, b) else np.less(a, b)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """`yes` where the condition holds, else `no`; both are evaluated, so keep both finite."""
    if isinstance(condition, bool | np.bool_) and np.shape(yes) == np.shape(no):
        return yes if condition else no
    if not is_symbolic(condition, yes, no):
        return np.where(condition, yes, no)[()]

    def pick(c: Any, a: Any, b: Any) -> Any:
        return symbol.apply("select", c, a, b) if isinstance(c, Symbol) else (a if c else b)

    return np.frompyfunc(pick, 3, 1)(condition, yes, no)


def cross(a: Any, b: Any) -> Array:
    """Cross product a × b of 3-vectors."""
    a, b = np.asarray(a), np.asarray(b)
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def norm(a: Any) -> Any:
    """Euclidean length of a vector."""
    a = np.asarray(a)
    return sqrt(a @ a) if is_symbolic(a) else float(np.linalg.norm(a))


def solve(matrix: Any, right: Any) -> Array:
    """X in `matrix @ X = right`.

    Symbols are solved by Gauss elimination without pivoting: meant for matrices that are positive definite or
    triangular, which is what the algorithms of this package need.
    """
    matrix, right = np.asarray(matrix), np.asarray(right)
    if not is_symbolic(matrix, right):
        return np.linalg.solve(matrix, right)
    a = matrix.astype(object).copy()
    b = right.astype(object).reshape(len(a), -1).copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            factor = a[i, k] / a[k, k]
            a[i, k:] = a[i, k:] - factor * a[k, k:]
            b[i] = b[i] - factor * b[k]
    for k in reversed(range(len(a))):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k] if k + 1 < len(a) else b[k] / a[k, k]
    return b.reshape(right.shape)


def solve_symmetric(matrix: Any, right: Any) -> Array:
    """X (n,) in `matrix @ x = right` for a symmetric positive definite matrix, by its factors L D Lᵀ.

    Only the lower triangle is read; entries that are zero cost nothing while tracing.
    """
    matrix, right = np.asarray(matrix), np.asarray(right)
    if not is_symbolic(matrix, right):
        return np.linalg.solve(matrix, right)
    n, a, x = len(matrix), matrix.astype(object), right.astype(object)
    inverse = []
    for k in range(n):
        inverse.append(1.0 / a[k, k])
        for i in range(k + 1, n):
            column, factor = a[i, k], a[i, k] * inverse[k]
            a[i, k] = factor
            for j in range(k + 1, i):
                a[i, j] = a[i, j] - a[j, k] * column
            a[i, i] = a[i, i] - factor * column
            x[i] = x[i] - factor * x[k]
    for k in reversed(range(n)):
        x[k] = x[k] * inverse[k] - a[k + 1 :, k] @ x[k + 1 :] if k + 1 < n else x[k] * inverse[k]
    return x


def symbols(name: str, shape: int | tuple[int, ...]) -> Array:
    """An object array of fresh symbols called name_0, name_1, … in row order."""
    count = math.prod(shape) if isinstance(shape, tuple) else shape
    flat = np.empty(count, dtype=object)
    flat[:] = [Symbol("input", (f"{name}_{i}",)) for i in range(count)]
    return flat.reshape(shape)
