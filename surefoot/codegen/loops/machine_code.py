"""Machine code of loops: a small part of Python, translated to LLVM.

What is needed for active sets, factorisations and searches is loops over numbers in arrays, with decisions: neither
numpy nor traced expressions do that fast. A function for `NativeCode` is plain Python over flat arrays, so it can also
be run as it is, to debug. It may use

    Floats: an array of float64          Ints: an array of int64          int, float: numbers (by their annotations)
    x = …, x += …, array[i] = …, if, while, for i in range(…), break, return, + - * / //, comparisons, and, or, not,
    sqrt, abs, min, max, and functions given before it, which return an int, a float or nothing.

Different arrays must not overlap.
"""

from __future__ import annotations

import ast
import ctypes
import linecache
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from surefoot.codegen import cache
from surefoot.codegen.artifact import cached_code
from surefoot.codegen.llvm import load_object

Floats = Any
Ints = Any
_C_TYPES = {"Floats": ctypes.c_void_p, "Ints": ctypes.c_void_p, "int": ctypes.c_int64, "float": ctypes.c_double}


class NativeCode:
    """Functions as machine code of this CPU, compiled at the first call of any process and then kept in the cache.

    Args:
        functions: The functions; they may call those before them.
        entries: Names of those that are called from Python; by default all.
    """

    def __init__(self, functions: Sequence[Callable[..., Any]], entries: Sequence[str] | None = None) -> None:
        self._functions = list(functions)
        self._entries = [function.__name__ for function in functions] if entries is None else list(entries)

    def __getitem__(self, name: str) -> Any:
        """The function of a name, as `ctypes` calls it: arrays by their addresses."""
        return self._compiled[name]

    @cached_property
    def _compiled(self) -> dict[str, Any]:
        parts = _read(self._functions)
        digest = cache.key(*self._entries, *(part.text for part in parts))
        symbols = {name: f"n{digest[:24]}.{name}" for name in self._entries}

        def text() -> str:
            from surefoot.codegen.loops.translator import translate

            return translate([(part.tree, part.words) for part in parts], symbols)

        code = cached_code(self._functions[-1].__module__, text, digest)
        where = load_object(code, tuple(symbols.values()))
        kinds: dict[str, list[Any]] = {part.tree.name: [_C_TYPES.get(word) for word in part.words] for part in parts}
        return {name: ctypes.CFUNCTYPE(*kinds[name])(where[symbol]) for name, symbol in symbols.items()}


class _Part(NamedTuple):
    """A function: its text and syntax tree, and the kinds of its result and arguments as they are annotated."""

    text: str
    tree: ast.FunctionDef
    words: list[str]


def _read(functions: Sequence[Callable[..., Any]]) -> list[_Part]:
    """The functions, from files that are parsed once each, which is much faster than `inspect.getsource`."""
    parts = {}
    for path in dict.fromkeys(function.__code__.co_filename for function in functions):
        lines = linecache.getlines(path)
        for tree in ast.walk(ast.parse("".join(lines))):
            if isinstance(tree, ast.FunctionDef):
                words = [_word(x) for x in (tree.returns, *(argument.annotation for argument in tree.args.args))]
                text = "".join(lines[tree.lineno - 1 : tree.end_lineno])
                parts[path, tree.lineno] = _Part(text, tree, words)
    codes = [function.__code__ for function in functions]
    return [parts[code.co_filename, code.co_firstlineno] for code in codes]


def _word(annotation: ast.expr | None) -> str:
    if annotation is None:
        return ""
    return str(annotation.value) if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
