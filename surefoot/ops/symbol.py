"""Scalar expressions: what an entry of a traced array is.

A `Symbol` is a node of an expression graph. Building one costs well under a microsecond, so that whole robots are
traced in a fraction of a second; exact zeros and ones fold on the way. CasADi expressions are made from it on demand.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

__all__ = ["Symbol", "apply"]

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
            from surefoot.ops.to_casadi import expression

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
