"""Scalar expressions: what an entry of a traced array is.

A `Symbol` is a node of an expression graph. Building one costs well under a microsecond, so that whole robots are
traced in a fraction of a second; exact zeros and ones fold on the way. `to_sx` and `function` hand traced arrays to
CasADi, which is optional.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.errors import NotSupportedError

_next_serial = itertools.count().__next__


class Symbol:
    """A scalar expression that numpy leaves alone, so that object arrays of it behave as arrays.

    Args:
        op: Name of the operation; "input" for a free symbol.
        args: Its arguments: symbols and floats; the name of a free symbol.

    `serial` grows with every symbol: the order in which an algorithm computes is a good one to compute in.
    """

    __slots__ = ("_sx", "args", "op", "serial")

    def __init__(self, op: str, args: tuple[Any, ...]) -> None:
        self.op = op
        self.args = args
        self.serial = _next_serial()
        self._sx = None

    def __add__(self, other: Any) -> Any:
        if type(other) is not Symbol:
            other = _number(other)
            if other is NotImplemented:
                return other
            if other == 0.0:
                return self
        return Symbol("add", (self, other))

    def __radd__(self, other: Any) -> Any:
        other = _number(other)
        if other is NotImplemented:
            return other
        return self if other == 0.0 else Symbol("add", (other, self))

    def __sub__(self, other: Any) -> Any:
        if type(other) is not Symbol:
            other = _number(other)
            if other is NotImplemented:
                return other
            if other == 0.0:
                return self
        elif other is self:
            return 0.0
        return Symbol("sub", (self, other))

    def __rsub__(self, other: Any) -> Any:
        other = _number(other)
        if other is NotImplemented:
            return other
        return -self if other == 0.0 else Symbol("sub", (other, self))

    def __mul__(self, other: Any) -> Any:
        if type(other) is Symbol:
            return Symbol("mul", (self, other))
        other = _number(other)
        return other if other is NotImplemented else self._scaled(other)

    def __rmul__(self, other: Any) -> Any:
        other = _number(other)
        return other if other is NotImplemented else self._scaled(other)

    def _scaled(self, factor: float) -> Any:
        if factor == 0.0:
            return 0.0
        if factor == 1.0:
            return self
        return -self if factor == -1.0 else Symbol("mul", (self, factor))

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Symbol:
            return Symbol("div", (self, other))
        other = _number(other)
        if other is NotImplemented or other == 1.0:
            return other if other is NotImplemented else self
        return Symbol("div", (self, other))

    def __rtruediv__(self, other: Any) -> Any:
        other = _number(other)
        if other is NotImplemented:
            return other
        return 0.0 if other == 0.0 else Symbol("div", (other, self))

    def __pow__(self, other: Any) -> Any:
        other = _scalar(other)
        if other is NotImplemented or isinstance(other, Symbol):
            return other if other is NotImplemented else Symbol("pow", (self, other))
        if other == 0.5:
            return Symbol("sqrt", (self,))
        small = {0.0: lambda x: 1.0, 1.0: lambda x: x, 2.0: lambda x: x * x, 3.0: lambda x: x * x * x}
        return small[other](self) if other in small else Symbol("pow", (self, other))

    def __rpow__(self, other: Any) -> Any:
        other = _scalar(other)
        return other if other is NotImplemented else Symbol("pow", (other, self))

    def __lt__(self, other: Any) -> Any:
        return _compared("lt", self, _scalar(other))

    def __le__(self, other: Any) -> Any:
        return _compared("le", self, _scalar(other))

    def __gt__(self, other: Any) -> Any:
        return _compared("lt", _scalar(other), self)

    def __ge__(self, other: Any) -> Any:
        return _compared("le", _scalar(other), self)

    def __neg__(self) -> Symbol:
        return self.args[0] if self.op == "neg" else Symbol("neg", (self,))

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol("abs", (self,))

    def __bool__(self) -> bool:
        raise TypeError("the truth of a symbol is not known while tracing; use ops.where(condition, yes, no)")

    def __repr__(self) -> str:
        return f"Symbol({self.sx})"

    @property
    def sx(self) -> Any:
        """The same as a CasADi SX; equal nodes give the identical expression."""
        if self._sx is None:
            expression(self)
        return self._sx


def _number(value: Any) -> Any:
    """A scalar as a float (or the symbol it holds); arrays are numpy's business."""
    if type(value) is float:
        return value
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, Symbol):
        return value
    if isinstance(value, np.ndarray):
        return NotImplemented if value.ndim else _scalar(value[()])
    return float(value)


def _compared(op: str, a: Any, b: Any) -> Any:
    return NotImplemented if a is NotImplemented or b is NotImplemented else Symbol(op, (a, b))


def apply(op: str, *args: Any) -> Symbol:
    """The symbol of an operation on scalars, at least one of them a symbol."""
    return Symbol(op, tuple(_scalar(x) for x in args))


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


def _casadi() -> Any:
    try:
        return importlib.import_module("casadi")
    except ImportError as error:
        raise NotSupportedError(
            "CasADi is not installed", next_step="install the extra: pip install 'surefoot[casadi]'"
        ) from error


def _node(node: Symbol) -> Any:
    casadi = _casadi()
    if node.op == "input":
        return casadi.SX.sym(node.args[0])
    args = [x._sx if isinstance(x, Symbol) else x for x in node.args]
    if node.op in _ARITHMETIC:
        return _ARITHMETIC[node.op](*args)
    return getattr(casadi, _BY_NAME.get(node.op, node.op))(*args)


def to_sx(values: ArrayLike | Any) -> Any:
    """A CasADi SX matrix with the entries of an array (vectors become columns)."""
    casadi = _casadi()
    values = np.asarray(values)
    rows = values.reshape(len(values), math.prod(values.shape[1:])) if values.ndim else values.reshape(1, 1)
    if not rows.size:
        return casadi.SX(*rows.shape)
    flat = [casadi.SX(entry.sx if isinstance(entry, Symbol) else float(entry)) for entry in rows.T.ravel()]
    return casadi.reshape(casadi.vertcat(*flat), *rows.shape)


def function(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
    """The CasADi function from arrays of symbols to traced arrays."""
    return _casadi().Function(name, [to_sx(x) for x in inputs], [to_sx(y) for y in outputs])
