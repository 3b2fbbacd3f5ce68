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
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from surefoot.codegen import cache
from surefoot.codegen.artifact import cached_code
from surefoot.codegen.llvm import load_object
from surefoot.errors import NotSupportedError

Floats = Any
Ints = Any
_C_TYPES = {"Floats": ctypes.c_void_p, "Ints": ctypes.c_void_p, "int": ctypes.c_int64, "float": ctypes.c_double}


class NativeCode:
    """Functions as machine code of this CPU, compiled at the first call of any process and then kept in the cache.

    Args:
        functions: The functions; they may call those before them.
        entries: Names of those that are called from Python; by default all.
        exact: Round as Python does; else sums may be reordered and products be fused with them, which is faster.
    """

    def __init__(
        self, functions: Sequence[Callable[..., Any]], entries: Sequence[str] | None = None, exact: bool = False
    ) -> None:
        self._flags = () if exact else _FAST
        self._functions = list(functions)
        self._entries = [function.__name__ for function in functions] if entries is None else list(entries)

    def __getitem__(self, name: str) -> Any:
        """The function of a name, as `ctypes` calls it: arrays by their addresses."""
        return self._compiled[name]

    def bind(self, name: str, *args: Any) -> BoundCode:
        """A function with arguments that are given once: `ctypes` takes 0.1 µs for each argument of each call.

        Args:
            name: Of the function.
            *args: All its arguments: numbers, and contiguous arrays or their addresses.
        """
        kinds, _, address = self._loaded[name]
        return BoundCode(kinds, address, args)

    @cached_property
    def _compiled(self) -> dict[str, Any]:
        return {name: ctypes.CFUNCTYPE(*kinds)(at) for name, (kinds, at, _) in self._loaded.items()}

    @cached_property
    def _loaded(self) -> dict[str, tuple[list[Any], int, int]]:
        """By name, the types of result and arguments, and where the function is; last for arguments in one block."""
        parts = _read(self._functions)
        digest = cache.key(*self._entries, *self._flags, *(part.text for part in parts))
        symbols = {name: f"n{digest[:24]}.{name}" for name in self._entries}

        def text() -> str:
            return translate([(part.tree, part.words) for part in parts], symbols, self._flags)

        code = cached_code(self._functions[-1].__module__, text, digest)
        where = load_object(code, tuple(name for symbol in symbols.values() for name in (symbol, symbol + _BLOCK)))
        kinds: dict[str, list[Any]] = {part.tree.name: [_C_TYPES.get(word) for word in part.words] for part in parts}
        return {name: (kinds[name], where[symbol], where[symbol + _BLOCK]) for name, symbol in symbols.items()}


class BoundCode:
    """A function of `NativeCode` that reads its arguments from one block.

    Args:
        kinds: Types of the result and the arguments.
        address: Of the function that takes the block.
        args: The arguments; arrays are kept.
    """

    def __init__(self, kinds: Sequence[Any], address: int, args: Sequence[Any]) -> None:
        self._kept, block = args, np.zeros(len(args), dtype=np.int64)
        self.whole, self.real = block, block.view(np.float64)
        """(arguments,) the same block as whole and as real numbers, to change numbers by their places."""
        for k, (kind, given) in enumerate(zip(kinds[1:], args, strict=True)):
            if kind is ctypes.c_double:
                self.real[k] = given
            else:
                block[k] = given.ctypes.data if isinstance(given, np.ndarray) else given
        self.run = partial(ctypes.CFUNCTYPE(kinds[0], ctypes.c_void_p)(address), block.ctypes.data)
        """Call the function."""


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


_INT, _FLOAT, _BIT, _VOID = ir.IntType(64), ir.DoubleType(), ir.IntType(1), ir.VoidType()
_TYPES = {"Floats": _FLOAT.as_pointer(), "Ints": _INT.as_pointer(), "int": _INT, "float": _FLOAT, "None": _VOID}
_FAST = ("reassoc", "contract", "nsz")
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_MANY_CALLS = 8
_BLOCK = ".block"  # at the end of the name of a function that takes its arguments in one block
_ARITHMETIC = {ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul")}


def translate(
    functions: Sequence[tuple[ast.FunctionDef, Sequence[str]]], symbols: Mapping[str, str], flags: Sequence[str] = _FAST
) -> str:
    """Assembly of functions.

    Args:
        functions: Syntax tree of each, and the kinds of its result and arguments; they may call those before them.
        symbols: Names in the assembly of those that are called from outside.
        flags: What LLVM may do to arithmetic.
    """
    module = ir.Module(name="native")
    known: dict[str, ir.Function] = {}
    for tree, words in functions:
        known[tree.name] = _Translation(module, tree, words, symbols.get(tree.name, tree.name), known, flags).target
        if tree.name not in symbols:
            known[tree.name].linkage = "internal"
        else:
            _add_block_entry(module, known[tree.name], symbols[tree.name] + _BLOCK)
    return str(module)


def _add_block_entry(module: ir.Module, target: ir.Function, symbol: str) -> None:
    """A function that calls another with arguments from one block of 8 bytes each."""
    kind = target.function_type
    entry = ir.Function(module, ir.FunctionType(kind.return_type, [_INT.as_pointer()]), name=symbol)
    build, args = ir.IRBuilder(entry.append_basic_block()), []
    for k, wanted in enumerate(kind.args):
        word = build.load(build.gep(entry.args[0], [ir.Constant(_INT, k)]))
        convert = build.inttoptr if isinstance(wanted, ir.PointerType) else build.bitcast
        args.append(convert(word, wanted))
    result = build.call(target, args, attrs=("noinline",))
    build.ret_void() if kind.return_type == _VOID else build.ret(result)


class _Translation:
    """One function in LLVM."""

    def __init__(
        self,
        module: ir.Module,
        tree: ast.FunctionDef,
        words: Sequence[str],
        symbol: str,
        known: dict[str, ir.Function],
        flags: Sequence[str],
    ) -> None:
        self.flags = flags
        self.known = known
        back, *words = words
        kind = ir.FunctionType(_TYPES[back], [_TYPES[word] for word in words])
        self.target = ir.Function(module, kind, name=symbol)
        if _is_large(tree):
            self.target.attributes.add("noinline")
        self.entry = self.target.append_basic_block("entry")
        self.build = ir.IRBuilder(self.target.append_basic_block("body"))
        self.names: dict[str, Any] = {}
        self.ends: list[Any] = []
        for argument, given, word in zip(tree.args.args, self.target.args, words, strict=True):
            if word in ("Floats", "Ints"):
                given.add_attribute("noalias")
                self.names[argument.arg] = given
            else:
                self.build.store(given, self._place(argument.arg, given.type))
        self._statements(tree.body)
        if not self.build.block.is_terminated:
            self.build.ret_void() if back == "None" else self.build.unreachable()
        ir.IRBuilder(self.entry).branch(self.target.blocks[1])

    # -- statements -----------------------------------------------------------------------------------------------

    def _statements(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            getattr(self, f"_do_{type(statement).__name__.lower()}", self._refuse)(statement)

    def _refuse(self, node: ast.AST) -> Any:
        raise NotSupportedError(f"line {getattr(node, 'lineno', '?')}: `{ast.unparse(node)}` cannot be translated")

    def _do_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._value(node.value)

    def _do_assign(self, node: ast.Assign) -> None:
        (target,) = node.targets
        self._store(target, self._value(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        read = ast.copy_location(ast.BinOp(_loaded(node.target), node.op, node.value), node)
        self._store(node.target, self._value(read))

    def _do_if(self, node: ast.If) -> None:
        with self.build.if_else(self._bit(node.test)) as (yes, no):
            with yes:
                self._statements(node.body)
            with no:
                self._statements(node.orelse)

    def _do_while(self, node: ast.While) -> None:
        if node.orelse:
            self._refuse(node)
        self._loop(lambda: self._bit(node.test), node.body, lambda: None)

    def _do_for(self, node: ast.For) -> None:
        if node.orelse:
            self._refuse(node)
        bounds = [self._value(argument) for argument in node.iter.args]  # type: ignore[attr-defined]
        start, stop = (ir.Constant(_INT, 0), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = int(ast.literal_eval(node.iter.args[2])) if len(bounds) == 3 else 1  # type: ignore[attr-defined]
        place = self._place(node.target.id, _INT)  # type: ignore[attr-defined]
        self.build.store(start, place)
        sign = "<" if step > 0 else ">"
        self._loop(
            lambda: self.build.icmp_signed(sign, self.build.load(place), stop),
            node.body,
            lambda: self.build.store(self.build.add(self.build.load(place), ir.Constant(_INT, step)), place),
        )

    def _loop(self, test: Callable[[], Any], body: Sequence[ast.stmt], after: Callable[[], Any]) -> None:
        blocks = [self.target.append_basic_block(name) for name in ("test", "loop", "end")]
        self.build.branch(blocks[0])
        self.build.position_at_end(blocks[0])
        self.build.cbranch(test(), *blocks[1:])
        self.build.position_at_end(blocks[1])
        self.ends.append(blocks[2])
        self._statements(body)
        self.ends.pop()
        if not self.build.block.is_terminated:
            after()
            self.build.branch(blocks[0])
        self.build.position_at_end(blocks[2])

    def _do_break(self, node: ast.Break) -> None:
        self.build.branch(self.ends[-1])

    def _do_return(self, node: ast.Return) -> None:
        if node.value is None:
            self.build.ret_void()
            return
        value = self._value(node.value)
        self.build.ret(self._as(value, self.target.function_type.return_type))

    # -- places ---------------------------------------------------------------------------------------------------

    def _place(self, name: str, kind: Any) -> Any:
        if name not in self.names:
            self.names[name] = ir.IRBuilder(self.entry).alloca(kind, name=name)
        return self.names[name]

    def _store(self, target: ast.expr, value: Any) -> None:
        place = self._place(target.id, value.type) if isinstance(target, ast.Name) else self._element(target)
        self.build.store(self._as(value, place.type.pointee), place)

    def _element(self, node: Any) -> Any:
        return self.build.gep(self.names[node.value.id], [self._value(node.slice)])

    # -- values ---------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Any:
        return getattr(self, f"_of_{type(node).__name__.lower()}", self._refuse)(node)

    def _bit(self, node: ast.expr) -> Any:
        value = self._value(node)
        return value if value.type == _BIT else self.build.icmp_signed("!=", value, ir.Constant(_INT, 0))

    def _as(self, value: Any, kind: Any) -> Any:
        if value.type == kind:
            return value
        if kind == _FLOAT and value.type == _INT:
            return self.build.sitofp(value, _FLOAT)
        if kind == _INT and value.type == _BIT:
            return self.build.zext(value, _INT)
        raise NotSupportedError(f"a value of type {value.type} cannot become {kind}")

    def _alike(self, *values: Any) -> list[Any]:
        kind = _FLOAT if any(value.type == _FLOAT for value in values) else _INT
        return [self._as(value, kind) for value in values]

    def _of_constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool):
            return ir.Constant(_BIT, int(node.value))
        return ir.Constant(_INT if isinstance(node.value, int) else _FLOAT, node.value)

    def _of_name(self, node: ast.Name) -> Any:
        place = self.names[node.id]
        return place if place in self.target.args else self.build.load(place)

    def _of_subscript(self, node: ast.Subscript) -> Any:
        return self.build.load(self._element(node))

    def _of_unaryop(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return self.build.not_(self._bit(node.operand))
        value = self._value(node.operand)
        return self.build.fneg(value, flags=self.flags) if value.type == _FLOAT else self.build.neg(value)

    def _of_binop(self, node: ast.BinOp) -> Any:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, ast.FloorDiv):
            return self._floor(left, right)
        if isinstance(node.op, ast.Div):
            return self.build.fdiv(self._as(left, _FLOAT), self._as(right, _FLOAT), flags=self.flags)
        if type(node.op) not in _ARITHMETIC:
            return self._refuse(node)
        left, right = self._alike(left, right)
        whole, real = _ARITHMETIC[type(node.op)]
        if left.type == _FLOAT:
            return getattr(self.build, real)(left, right, flags=self.flags)
        return getattr(self.build, whole)(left, right, flags=("nsw",))

    def _floor(self, left: Any, right: Any) -> Any:
        """Division towards −∞, as Python does it; that of the machine is towards 0."""
        zero, one = ir.Constant(_INT, 0), ir.Constant(_INT, 1)
        rest = self.build.srem(left, right)
        signs = self.build.icmp_signed("<", self.build.xor(rest, right), zero)
        below = self.build.and_(self.build.icmp_signed("!=", rest, zero), signs)
        towards_zero = self.build.sdiv(left, right)
        return self.build.select(below, self.build.sub(towards_zero, one), towards_zero)

    def _of_compare(self, node: ast.Compare) -> Any:
        if len(node.ops) > 1 or type(node.ops[0]) not in _COMPARE:
            return self._refuse(node)
        left, right = self._alike(self._value(node.left), self._value(node.comparators[0]))
        return self._compared(_COMPARE[type(node.ops[0])], left, right)

    def _compared(self, sign: str, left: Any, right: Any) -> Any:
        if left.type != _FLOAT:
            return self.build.icmp_signed(sign, left, right)
        compare = self.build.fcmp_unordered if sign == "!=" else self.build.fcmp_ordered  # NaN differs from all
        return compare(sign, left, right)

    def _of_boolop(self, node: ast.BoolOp) -> Any:
        """Short-circuit: what follows is evaluated only if it matters."""
        place = ir.IRBuilder(self.entry).alloca(_BIT)
        self.build.store(self._bit(node.values[0]), place)
        for item in node.values[1:]:
            so_far = self.build.load(place)
            with self.build.if_then(so_far if isinstance(node.op, ast.And) else self.build.not_(so_far)):
                self.build.store(self._bit(item), place)
        return self.build.load(place)

    def _of_ifexp(self, node: ast.IfExp) -> Any:
        test = self._bit(node.test)
        return self.build.select(test, *self._alike(self._value(node.body), self._value(node.orelse)))

    def _of_call(self, node: ast.Call) -> Any:
        if node.keywords:
            return self._refuse(node)
        name, values = node.func.id, [self._value(argument) for argument in node.args]  # type: ignore[attr-defined]
        if name in ("sqrt", "abs"):
            intrinsic = self.target.module.declare_intrinsic(f"llvm.{'fabs' if name == 'abs' else name}", [_FLOAT])
            return self.build.call(intrinsic, [self._as(values[0], _FLOAT)])
        if name in ("min", "max"):
            left, right = self._alike(*values)
            return self.build.select(self._compared("<" if name == "min" else ">", left, right), left, right)
        if name not in self.known:
            return self._refuse(node)
        target = self.known[name]
        return self.build.call(target, [self._as(v, a.type) for v, a in zip(values, target.args, strict=True)])


def _is_large(tree: ast.AST) -> bool:
    """Whether a function has loops in loops or many calls: copies of it at every call would take long to compile."""
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]
    nested = any(isinstance(node, ast.For | ast.While) for loop in loops for node in ast.walk(loop) if node is not loop)
    return nested or sum(isinstance(node, ast.Call) for node in ast.walk(tree)) > _MANY_CALLS


def _loaded(target: Any) -> ast.expr:
    """The same place, to read from."""
    return ast.Name(target.id) if isinstance(target, ast.Name) else ast.Subscript(target.value, target.slice)
