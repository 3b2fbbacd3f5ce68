"""A few words on top of llvmlite's builder, to write small native functions that read like code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from surefoot.codegen.spec import FIELDS

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
POINTER = ir.PointerType()
DOUBLE = ir.DoubleType()


def number(value: int) -> ir.Constant:
    """A 64-bit integer."""
    return ir.Constant(I64, value)


class Writer:
    """Writes one function.

    Args:
        module: The module.
        name: Name of the function.
        result: Its type.
        arguments: Types of the arguments.
    """

    def __init__(self, module: ir.Module, name: str, result: ir.Type, *arguments: ir.Type) -> None:
        self.function = ir.Function(module, ir.FunctionType(result, arguments), name)
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of the function."""
        return tuple(self.function.args)

    def local(self, kind: ir.Type) -> Any:
        """The address of a variable of the function."""
        with self.b.goto_entry_block():
            return _untyped(self.b.alloca(kind))

    def array(self, kind: ir.Type, count: Any) -> Any:
        """The address of `count` fresh variables."""
        return _untyped(self.b.alloca(kind, size=count))

    def word(self, base: Any, index: int, kind: ir.Type = I64) -> Any:
        """The 8-byte word number `index` after an address."""
        return self.b.load(self.at(base, number(8 * index)), typ=kind)

    def at(self, base: Any, offset: Any) -> Any:
        """An address plus bytes."""
        return self.b.gep(base, [offset], source_etype=I8)

    def item(self, base: Any, index: Any, kind: ir.Type = I64) -> Any:
        """The 8-byte word number `index` (a value) after an address."""
        return self.b.load(self.at(base, self.b.mul(index, number(8))), typ=kind)

    def row_of(self, spec: Any, name: str, k: Any, kind: ir.Type = I64) -> Any:
        """Word k of a row of a spec."""
        return self.item(self.at(spec, number(8 * FIELDS[name])), k, kind)

    @contextmanager
    def loop(self, count: Any, step: Any = None) -> Iterator[Any]:
        """For i = 0, step, … while i < count."""
        b, before = self.b, self.b.block
        head = b.append_basic_block("loop")
        body, after = b.append_basic_block("body"), b.append_basic_block("after")
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(I64)
        i.add_incoming(number(0), before)
        b.cbranch(b.icmp_signed("<", i, count), body, after)
        b.position_at_end(body)
        yield i
        i.add_incoming(b.add(i, number(1) if step is None else step), b.block)
        b.branch(head)
        b.position_at_end(after)

    def smaller(self, x: Any, y: Any) -> Any:
        """The smaller of two integers."""
        return self.b.select(self.b.icmp_signed("<", x, y), x, y)

    def leave_if(self, condition: Any, target: Any) -> None:
        """Go to another block if the condition holds."""
        further = self.b.append_basic_block("further")
        self.b.cbranch(condition, target, further)
        self.b.position_at_end(further)

    def call_address(self, address: Any, result: ir.Type, *arguments: Any) -> Any:
        """Call the function at an address."""
        kind = ir.FunctionType(result, [x.type for x in arguments])
        return self.b.call(self.b.inttoptr(address, kind.as_pointer()), arguments)


def _untyped(address: Any) -> Any:
    """The address without the type that llvmlite still attaches to it."""
    address.type = POINTER
    return address
