"""Traced arrays as CasADi expressions and functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.ops.symbol import Symbol

__all__ = ["expression", "function", "to_sx"]

_BY_NAME = {"abs": "fabs", "min": "fmin", "max": "fmax", "select": "if_else"}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "neg": lambda x: -x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
}


def expression(symbol: Symbol) -> Any:
    """The SX of a symbol; the nodes below it keep theirs, so that shared ones stay shared."""
    stack = [symbol]
    while stack:
        node = stack[-1]
        open_args = [x for x in node.args if isinstance(x, Symbol) and x._sx is None]
        if node._sx is None and open_args:
            stack.extend(open_args)
            continue
        if node._sx is None:
            node._sx = _node(node)
        stack.pop()
    return symbol._sx


def _node(node: Symbol) -> Any:
    import casadi

    if node.op == "input":
        return casadi.SX.sym(node.args[0])
    args = [x._sx if isinstance(x, Symbol) else x for x in node.args]
    if node.op in _ARITHMETIC:
        return _ARITHMETIC[node.op](*args)
    return getattr(casadi, _BY_NAME.get(node.op, node.op))(*args)


def to_sx(values: ArrayLike | Any) -> Any:
    """A CasADi SX matrix with the entries of an array (vectors become columns)."""
    import casadi

    values = np.asarray(values)
    rows = values.reshape(len(values), math.prod(values.shape[1:])) if values.ndim else values.reshape(1, 1)
    if not rows.size:
        return casadi.SX(*rows.shape)
    flat = [casadi.SX(entry.sx if isinstance(entry, Symbol) else float(entry)) for entry in rows.T.ravel()]
    return casadi.reshape(casadi.vertcat(*flat), *rows.shape)


def function(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """The CasADi function from arrays of symbols to traced arrays."""
    import casadi

    return casadi.Function(name, [to_sx(x) for x in inputs], [to_sx(y) for y in outputs])
