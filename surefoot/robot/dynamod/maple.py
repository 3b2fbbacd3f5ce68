"""The little of Maple's language that DYNAMOD's files use: assignments of numbers, vectors, matrices and texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError
from surefoot.files import read_bytes

_ASSIGNMENT = re.compile(r'([A-Za-z_]\w*)\s*:=\s*((?:"[^"]*"|[^:;"])*)[:;]')
_SEQUENCE = re.compile(r"seq\(([^,()]+),\s*\w+\s*=\s*([^.()]+)\.\.([^()]+)\)")
_LONGEST = 10_000  # vector


class Declared:
    """A vector without numbers.

    Args:
        size: Its length.
    """

    def __init__(self, size: int) -> None:
        self.size = size


class Maple:
    """The assignments of files, evaluated in their order.

    A value is a number, a text, an array, or, where it depends on the coordinates q, the array (1 + n,) of its constant
    and of the factors of the coordinates.

    Args:
        values: Numbers of parameters that the files declare only.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.given = {name: np.asarray(x, dtype=float) for name, x in values.items()}
        self.known: dict[str, Any] = {}
        self.lines: dict[str, tuple[Path, int]] = {}

    def read(self, path: Path) -> None:
        """Evaluate a file.

        Args:
            path: The file.

        Raises:
            FileFormatError: It says something else than assignments of numbers.
        """
        text = re.sub(r"#[^\n]*", "", read_bytes(path).decode("utf-8", "replace"))
        for found in _ASSIGNMENT.finditer(text):
            name, line = found[1], text.count("\n", 0, found.start()) + 1
            if name == "parameter":  # its names stand in quotes against evaluation
                continue
            self.lines[name] = path, line
            try:
                self.known[name] = self._assigned(name, found[2].strip())
            except (SyntaxError, TypeError, ValueError, IndexError, ZeroDivisionError, RecursionError) as error:
                reason = f"`{name}` is not understood: {error}"
                raise FileFormatError(reason, file=path, line=line) from None

    def _assigned(self, name: str, text: str) -> Any:
        text = _SEQUENCE.sub(r"seq(\1, \2, \3)", text)
        value = self._value(ast.parse(text, mode="eval").body)
        return self.given.get(name, value) if isinstance(value, Declared) and name != "q" else value

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=bool() | complex()):
                raise ValueError("expected a number")
            case ast.Constant(value=int() | float() | str()):
                return node.value
            case ast.Name():
                if node.id not in self.known:
                    raise ValueError(f"`{node.id}` has no value")
                return self.known[node.id]
            case ast.List():
                return self._list([self._value(item) for item in node.elts])
            case ast.UnaryOp(op=ast.USub()):
                return -np.asarray(self._value(node.operand))
            case ast.BinOp():
                return self._combined(node.op, self._value(node.left), self._value(node.right))
            case ast.Subscript(value=ast.Name(id=name)):
                return self._entry(name, int(self._value(node.slice)))
            case ast.Call(func=ast.Name(id=name)):
                return self._called(name, [self._value(item) for item in node.args])
        raise ValueError("expected numbers, vectors, matrices and texts")

    def _list(self, items: list[Any]) -> Array:
        parts = [item for item in items if not isinstance(item, str)]
        if len(parts) < len(items):
            raise ValueError("a text in a list")
        is_flat = all(np.ndim(item) < 2 for item in parts) and any(isinstance(x, _Sequence) for x in parts)
        return np.concatenate([np.atleast_1d(x) for x in parts]) if is_flat else np.array(parts, dtype=float)

    def _combined(self, op: ast.operator, left: Any, right: Any) -> Array:
        left, right = (np.asarray(x, dtype=float) for x in (left, right))
        if isinstance(op, ast.Mult):
            return np.asarray(left * right) if left.ndim == 0 or right.ndim == 0 else _refuse("a product of vectors")
        if isinstance(op, ast.Div):
            return np.asarray(left / float(right))
        if not isinstance(op, ast.Add | ast.Sub):
            raise ValueError("expected + − * /")
        sign = 1.0 if isinstance(op, ast.Add) else -1.0
        if left.shape == right.shape:
            return np.asarray(left + sign * right)
        n = int(self.known["NDDL"])
        left, right = (np.r_[x, np.zeros(n)] if x.ndim == 0 else x for x in (left, right))
        return np.asarray(left + sign * right) if left.shape == right.shape else _refuse("sizes that differ")

    def _entry(self, name: str, k: int) -> Any:
        if name == "q":
            n = int(self.known["NDDL"])
            if not 1 <= k <= n:
                raise ValueError(f"q[{k}] of {n} coordinates")
            return np.eye(1 + n)[k]
        found = self.known.get(name)
        if found is None or isinstance(found, Declared):
            raise ValueError(f"parameter `{name}` has no numbers; write {name} := vector([…]), or pass them")
        if not 1 <= k <= len(found):
            raise ValueError(f"{name}[{k}] of {len(found)} entries")
        return found[k - 1]

    def _called(self, name: str, given: list[Any]) -> Any:
        if name in ("vector", "matrix") and len(given) == 1:
            if np.ndim(given[0]) > 0:
                return np.asarray(given[0], dtype=float)
            if name == "vector" and 0 <= int(given[0]) <= _LONGEST:
                return Declared(int(given[0]))
        if name == "seq" and len(given) == 3 and int(given[2]) - int(given[1]) < _LONGEST:
            count = max(0, int(given[2]) - int(given[1]) + 1)
            return np.full(count, float(given[0])).view(_Sequence)
        raise ValueError(f"`{name}` with {len(given)} arguments")


class _Sequence(np.ndarray):
    """Numbers of `seq`, which are entries of the list around them."""


def _refuse(what: str) -> Array:
    raise ValueError(what)
