"""Tiles into rows by whole lines of the cache, with AVX-512.

Rows lie anywhere in memory, so that most stores of a whole register would touch two lines; such stores take twice the
time in the cache, and more where lines go to memory. Here every line is put together in a register from the end of one
block and the beginning of the next, and written once.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from surefoot.compiler.ir_builder import I32, I64, number
from surefoot.compiler.row_transfers import RowTransfers

__all__ = ["AlignedRows"]

_LINE = 64  # bytes


class AlignedRows(RowTransfers):
    """Results into rows without gaps."""

    def scatter_dense(
        self, target: Any, size: Any, tables: tuple[Any, Any], results: tuple[Any, Any], states: tuple[Any, Any, Any]
    ) -> None:
        """As `scatter`; by whole lines where registers are as long as lines and rows as long as registers.

        `states`: the first, how many tiles, and the one after the last.
        """
        row = self.row_bytes(size)
        if self.build.stride != _LINE:
            self.scatter((target, row), size, tables, results, *states)
            return
        with self.b.if_else(self.b.icmp_signed(">=", size, number(self.build.width))) as (long, short):
            with long:
                self.scatter_lines(target, size, tables, results, states)
            with short:
                self.scatter((target, row), size, tables, results, *states)

    def scatter_lines(
        self, target: Any, size: Any, tables: tuple[Any, Any], results: tuple[Any, Any], states: tuple[Any, Any, Any]
    ) -> None:
        """As `scatter`, line by line, into rows of at least one block."""
        b, width, row = self.b, self.build.width, self.row_bytes(size)
        start, count, last = states
        with self.loop(count) as t:
            first = b.add(start, b.mul(t, number(width)))
            tile = self.at(results[0], b.mul(t, results[1]))
            rows = [self.row(target, row, first, lane, last) for lane in range(width)]
            shifts = [self.places_into_its_line(x) for x in rows]
            lines = [self.at(x, b.neg(self.row_bytes(m))) for x, m in zip(rows, shifts, strict=True)]
            indices = [self.seam(m) for m in shifts]
            begin = self.block_of(tile, tables, number(0))
            for value, line, index, m in zip(begin, lines, indices, shifts, strict=True):
                self.masked_store(self.joined(value, index, value), line, self.mask_from(m))
            whole = b.mul(b.sdiv(size, number(width)), number(width))
            ends = self.join_blocks(tile, tables, whole, begin, lines, indices)
            left = b.sub(size, whole)
            rest = self.block_of(tile, tables, whole)
            for before, value, line, index, m in zip(ends, rest, lines, indices, shifts, strict=True):
                here, reach = self.at(line, self.row_bytes(whole)), b.add(m, left)
                self.masked_store(self.joined(before, index, value), here, self.mask(reach))
                with b.if_then(b.icmp_signed(">", reach, number(width))):
                    beyond = self.mask(b.sub(reach, number(width)))
                    self.masked_store(self.joined(value, index, value), self.at(here, number(_LINE)), beyond)

    def join_blocks(
        self, tile: Any, tables: tuple[Any, Any], whole: Any, begin: list[Any], lines: list[Any], indices: list[Any]
    ) -> list[Any]:
        """Write the lines between the first block and the end of the whole ones; the last block."""
        b, before = self.b, self.b.block
        head, body, after = (b.append_basic_block(name) for name in ("join", "line", "joined"))
        b.branch(head)
        b.position_at_end(head)
        e = b.phi(I64)
        e.add_incoming(number(self.build.width), before)
        last = [b.phi(self.vector) for _ in begin]
        for phi, value in zip(last, begin, strict=True):
            phi.add_incoming(value, before)
        b.cbranch(b.icmp_signed("<", e, whole), body, after)
        b.position_at_end(body)
        values = self.block_or_constant(tile, tables, e)
        for phi, value, line, index in zip(last, values, lines, indices, strict=True):
            joined = self.joined(phi, index, value)
            b.store(joined, self.at(line, b.mul(e, number(self.bytes))), align=_LINE)
            phi.add_incoming(value, b.block)
        e.add_incoming(b.add(e, number(self.build.width)), b.block)
        b.branch(head)
        b.position_at_end(after)
        return last

    def block_or_constant(self, tile: Any, tables: tuple[Any, Any], e: Any) -> list[Any]:
        """The next `width` elements of every lane from element e on."""
        b, width = self.b, self.build.width
        flag = self.item(tables[1], b.sdiv(e, number(width)))
        with b.if_else(b.icmp_signed("!=", flag, number(0))) as (same, different):
            with same:
                one = self.load(self.at(tile, self.word(self.at(tables[0], b.mul(e, number(8))), 0)))
                here = b.block
            with different:
                values = self.block_of(tile, tables, e)
                there = b.block
        merged = []
        for value in values:
            phi = b.phi(self.vector)
            phi.add_incoming(one, here)
            phi.add_incoming(value, there)
            merged.append(phi)
        return merged

    def block_of(self, tile: Any, tables: tuple[Any, Any], e: Any) -> list[Any]:
        """The same, whatever it is."""
        entries = self.at(tables[0], self.b.mul(e, number(8)))
        return self.transposed([self.load(self.at(tile, self.word(entries, k))) for k in range(self.build.width)])

    def places_into_its_line(self, address: Any) -> Any:
        """By how many numbers an address is beyond the start of its line of the cache."""
        places = self.b.sdiv(self.b.ptrtoint(address, I64), number(self.bytes))
        return self.b.and_(places, number(self.build.width - 1))

    def seam(self, shift: Any) -> Any:
        """Indices into two blocks, for `joined`: the last `shift` of the first, then the second."""
        kind = ir.VectorType(ir.IntType(self.build.bits), self.build.width)
        lanes = ir.Constant(kind, list(range(self.build.width)))
        begin = self.b.sub(number(self.build.width), shift)
        begin = begin if self.build.bits == 64 else self.b.trunc(begin, I32)
        one = self.b.insert_element(ir.Constant(kind, ir.Undefined), begin, ir.Constant(I32, 0))
        zero = ir.Constant(ir.VectorType(I32, self.build.width), [0] * self.build.width)
        return self.b.add(lanes, self.b.shuffle_vector(one, one, zero))

    def joined(self, first: Any, seam: Any, second: Any) -> Any:
        """Elements of two blocks; needs AVX-512."""
        name = f"llvm.x86.avx512.vpermi2var.{'pd' if self.build.bits == 64 else 'ps'}.512"
        kind = ir.FunctionType(self.vector, [self.vector, seam.type, self.vector])
        found = self.function.module.globals.get(name) or ir.Function(self.function.module, kind, name)
        return self.b.call(found, [first, seam, second])

    def mask_from(self, first: Any) -> Any:
        """Which elements are not before the first."""
        return self.b.not_(self.mask(first))
