"""Derivatives of traced arrays, as traced arrays: along a direction (forward), and of a scalar (reverse).

    rate(y, x, ẋ) = ∂y/∂x ẋ        gradient(y, x) = ∂y/∂x        [ops.derivative]   Griewank & Walther 2008, chapter 3
    of a vector, gradient is the Jacobian, column by column; each visits only what depends on its input

Comparisons have no derivative; `where`, `minimum`, `maximum` and `absolute` have that of the side that is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot.ops import functions as f
from surefoot.ops.symbol import Symbol

Array = np.ndarray[Any, Any]


def _power(x: Any, n: Any, _: Any) -> tuple[Any, ...]:
    if isinstance(n, Symbol):
        return n * x ** (n - 1.0), f.log(x) * x**n
    return n * x ** (n - 1.0), 0.0


_PARTIALS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "add": lambda x, y, out: (1.0, 1.0),
    "sub": lambda x, y, out: (1.0, -1.0),
    "mul": lambda x, y, out: (y, x),
    "div": lambda x, y, out: (1.0 / y, -(out / y)),
    "pow": _power,
    "neg": lambda x, out: (-1.0,),
    "abs": lambda x, out: (f.where(f.less(x, 0.0), -1.0, 1.0),),
    "sqrt": lambda x, out: (0.5 / out,),
    "sin": lambda x, out: (f.cos(x),),
    "cos": lambda x, out: (-f.sin(x),),
    "tan": lambda x, out: (1.0 + out * out,),
    "exp": lambda x, out: (out,),
    "log": lambda x, out: (1.0 / x,),
    "acos": lambda x, out: (-1.0 / f.sqrt(1.0 - x * x),),
    "atan2": lambda y, x, out: (x / (x * x + y * y), -(y / (x * x + y * y))),
    "min": lambda x, y, out: (f.where(f.less(y, x), 0.0, 1.0), f.where(f.less(y, x), 1.0, 0.0)),
    "max": lambda x, y, out: (f.where(f.less(x, y), 0.0, 1.0), f.where(f.less(x, y), 1.0, 0.0)),
    "select": lambda c, x, y, out: (0.0, f.where(c, 1.0, 0.0), f.where(c, 0.0, 1.0)),
    "lt": lambda x, y, out: (0.0, 0.0),
    "le": lambda x, y, out: (0.0, 0.0),
}


def rate(outputs: Any, inputs: Any, rates: Any) -> Array:
    """∂outputs/∂inputs · rates, with the shape of the outputs.

    Args:
        outputs: Traced array.
        inputs: Array of symbols.
        rates: As many numbers or symbols: how the inputs change.
    """
    outputs = np.asarray(outputs, dtype=object)
    known: dict[int, Any] = {}
    for symbol, speed in zip(np.ravel(np.asarray(inputs, dtype=object)), np.ravel(np.asarray(rates)), strict=True):
        known[id(symbol)] = speed
    for node in _nodes(outputs, set(known)):
        total: Any = 0.0
        for argument, partial in _edges(node):
            total = total + partial * known.get(id(argument), 0.0)
        known[id(node)] = total
    found = [known.get(id(x), 0.0) if isinstance(x, Symbol) else 0.0 for x in outputs.ravel()]
    return f.array(found).reshape(outputs.shape)


def gradient(output: Any, inputs: Any) -> Array:
    """∂output/∂inputs of a scalar, with the shape of the inputs; of a vector (m,) by a vector (n,) the Jacobian (m, n).

    Entries of a Jacobian that are always zero are the number 0.

    Args:
        output: One symbol, or a traced vector.
        inputs: Array of symbols.
    """
    inputs = np.asarray(inputs, dtype=object)
    if np.ndim(output) == 1:
        return _jacobian(np.asarray(output, dtype=object), inputs)
    output = np.asarray(output, dtype=object)[()]
    seeds: dict[int, Any] = {id(output): 1.0}
    stops = {id(x) for x in inputs.ravel()}
    for node in reversed(_nodes(np.array([output], dtype=object), stops)):
        weight = seeds.get(id(node), 0.0)
        for argument, partial in _edges(node):
            seeds[id(argument)] = seeds.get(id(argument), 0.0) + weight * partial
    return f.array([seeds.get(id(x), 0.0) for x in inputs.ravel()]).reshape(inputs.shape)


def _jacobian(outputs: Array, inputs: Array) -> Array:
    """∂outputs/∂inputs (m, n)."""
    edges: dict[int, list[tuple[Symbol, Any]]] = {}
    users: dict[int, list[Symbol]] = {}
    for node in _nodes(outputs, {id(x) for x in inputs}):
        edges[id(node)] = _edges(node)
        for argument, _ in edges[id(node)]:
            users.setdefault(id(argument), []).append(node)
    found = np.zeros((len(outputs), len(inputs)), dtype=object)
    for column, symbol in enumerate(inputs):
        known: dict[int, Any] = {id(symbol): 1.0}
        for node in _dependents(symbol, users):
            known[id(node)] = sum((d * known[id(x)] for x, d in edges[id(node)] if id(x) in known), start=0.0)
        found[:, column] = [known.get(id(x), 0.0) for x in outputs]
    return found


def _dependents(symbol: Symbol, users: dict[int, list[Symbol]]) -> list[Symbol]:
    """Operations that depend on a symbol, arguments first."""
    found: dict[int, Symbol] = {}
    stack = list(users.get(id(symbol), ()))
    while stack:
        node = stack.pop()
        if id(node) not in found:
            found[id(node)] = node
            stack.extend(users.get(id(node), ()))
    return sorted(found.values(), key=lambda node: node.serial)


def _edges(node: Symbol) -> list[tuple[Symbol, Any]]:
    """The arguments of a node that are symbols, with the partial derivative by each."""
    partials = _PARTIALS[node.op](*node.args, node)
    return [(x, d) for x, d in zip(node.args, partials, strict=True) if isinstance(x, Symbol)]


def _nodes(outputs: Array, stops: set[int]) -> list[Symbol]:
    """Operations below the outputs, arguments first; not beyond the symbols to stop at."""
    found: dict[int, Symbol] = {}
    stack = [x for x in outputs.ravel() if isinstance(x, Symbol)]
    while stack:
        node = stack.pop()
        if id(node) in found or id(node) in stops or node.op == "input":
            continue
        found[id(node)] = node
        stack.extend(x for x in node.args if isinstance(x, Symbol))
    return sorted(found.values(), key=lambda node: node.serial)
