"""What native loops over batches share: lanes, checks of unit lengths, rows into tiles and back.

Tiles into rows by whole lines of the cache, with AVX-512.

Rows lie anywhere in memory, so that most stores of a whole register would touch two lines; such stores take twice the
time in the cache, and more where lines go to memory. Here every line is put together in a register from the end of one
block and the beginning of the next, and written once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from surefoot.codegen.build import Build
from surefoot.codegen.drivers.ir_builder import I32, I64, POINTER, Writer, number
from surefoot.codegen.spec import FIELDS, PLAN

UNIT_TOLERANCE = 1e-6  # of the length of quaternions and (cos, sin) pairs; also for the entry point


class Driver(Writer):
    """Base of both drivers."""

    def __init__(self, module: ir.Module, build: Build, name: str, *arguments: ir.Type) -> None:
        super().__init__(module, name, I64, *arguments)
        self.build = build
        self.function.attributes.add("nounwind")
        self.scalar = ir.DoubleType() if build.bits == 64 else ir.FloatType()
        self.vector = self.scalar if build.width == 1 else ir.VectorType(self.scalar, build.width)
        self.bytes = build.bits // 8

    def count_tiles(self, states: Any) -> Any:
        """Tiles that hold so many states."""
        return self.b.sdiv(self.b.add(states, number(self.build.width - 1)), number(self.build.width))

    @property
    def alignment(self) -> int:
        """Alignment of tiles [bytes]."""
        return min(64, self.build.stride)

    def load(self, address: Any) -> Any:
        """A value of all lanes."""
        return self.b.load(address, typ=self.vector, align=self.alignment)

    def splat(self, value: Any) -> Any:
        """The same for all lanes."""
        if self.build.width == 1:
            return value
        one = self.b.insert_element(ir.Constant(self.vector, ir.Undefined), value, ir.Constant(I32, 0))
        mask = ir.Constant(ir.VectorType(I32, self.build.width), [0] * self.build.width)
        return self.b.shuffle_vector(one, one, mask)

    def check_units(self, spec: Any, pointers: Any, count: Any, bad: Any, first: Any) -> None:
        """Write the number of a tile of which a part that must have unit length has not into `bad`."""
        table = self.word(spec, FIELDS["unit_table"], POINTER)
        with self.loop(count) as t, self.loop(self.word(spec, FIELDS["units"])) as u:
            place = self.at(table, self.b.mul(u, number(24)))
            k, offset, length = (self.word(place, e) for e in range(3))
            size = self.row_of(spec, "input_size", k)
            tile = self.at(self.item(pointers, k, POINTER), self.b.mul(self.b.mul(t, size), number(self.build.stride)))
            wrong = self.unequal_one(self.at(tile, self.b.mul(offset, number(self.build.stride))), length)
            unset = self.b.icmp_signed("<", self.b.load(bad, typ=I64), number(0))
            with self.b.if_then(self.b.and_(wrong, unset)):
                self.b.store(self.b.add(first, t), bad)

    def unequal_one(self, address: Any, length: Any) -> Any:
        """Whether a lane of the sum of squares is off 1."""
        total = self.local(self.vector)
        self.b.store(self.splat(ir.Constant(self.scalar, -1.0)), total)
        with self.loop(length) as e:
            x = self.load(self.at(address, self.b.mul(e, number(self.build.stride))))
            so_far = self.b.load(total, typ=self.vector)
            self.b.store(self.b.fadd(so_far, self.b.fmul(x, x)), total)
        excess = self.b.load(total, typ=self.vector)
        limit = self.splat(ir.Constant(self.scalar, 2.0 * UNIT_TOLERANCE))
        above = self.b.fcmp_unordered(">", excess, limit)
        below = self.b.fcmp_unordered("<", excess, self.b.fneg(limit))
        lanes = self.b.or_(below, above)
        if self.build.width == 1:
            return lanes
        return self.b.icmp_unsigned(
            "!=", self.b.bitcast(lanes, ir.IntType(self.build.width)), ir.IntType(self.build.width)(0)
        )


class RowTransfers(Driver):
    """Rows into tiles and back; rows are any number of bytes apart."""

    def lay_out(self, spec: Any, pointers: Any, work: Any) -> tuple[Any, Any]:
        """Tiles of every input and of the results in the work space; results are slots, then constants, filled in."""
        b, place = self.b, self.local(POINTER)
        tiles, width = self.word(spec, FIELDS["tiles"]), number(self.build.width)
        b.store(work, place)
        with self.loop(self.word(spec, FIELDS["inputs"])) as k:
            here = b.load(place, typ=POINTER)
            b.store(here, self.at(pointers, b.mul(k, number(8))))
            size = self.row_of(spec, "input_size", k)
            values = b.add(b.mul(size, tiles), width)  # the last block may reach over the end
            b.store(self.at(here, self.in_bytes(values)), place)
        results = b.load(place, typ=POINTER)
        slots, constants = self.word(spec, FIELDS["slots"]), self.word(spec, FIELDS["constants"])
        stride = self.in_bytes(b.add(slots, constants))
        values = self.word(spec, FIELDS["constant_values"], POINTER)
        with self.loop(tiles) as t, self.loop(constants) as k:
            value = b.load(self.at(values, b.mul(k, number(self.bytes))), typ=self.scalar)
            tile = self.at(results, b.mul(t, stride))
            b.store(self.splat(value), self.at(tile, self.in_bytes(b.add(slots, k))), align=self.alignment)
        return results, stride

    def in_bytes(self, values: Any) -> Any:
        """Bytes of so many values of all lanes."""
        return self.b.mul(values, number(self.build.stride))

    def row_bytes(self, size: Any) -> Any:
        """Bytes of a row of so many numbers."""
        return self.b.mul(size, number(self.bytes))

    def row(self, base: Any, step: Any, start: Any, lane: int, last: Any) -> Any:
        """The address of a lane's row; lanes beyond the end repeat the last state."""
        state = self.smaller(self.b.add(start, number(lane)), self.b.sub(last, number(1)))
        return self.at(base, self.b.mul(state, step))

    def gather(self, source: Any, step: Any, size: Any, target: Any, start: Any, count: Any, last: Any) -> None:
        """Rows of all lanes, `step` bytes apart, into tiles."""
        b, width = self.b, self.build.width
        with self.loop(count) as t:
            first = b.add(start, b.mul(t, number(width)))
            rows = [self.row(source, step, first, lane, last) for lane in range(width)]
            tile = self.at(target, self.in_bytes(b.mul(t, size)))

            def block(e: Any, mask: Any) -> None:
                place = self.at(tile, self.in_bytes(e))
                here = [self.at(row, b.mul(e, number(self.bytes))) for row in rows]
                for k, value in enumerate(self.transposed(self.read(here, mask), mask is None)):
                    b.store(value, self.at(place, number(k * self.build.stride)), align=self.alignment)

            self.each_block(size, block)

    def scatter(
        self,
        target: tuple[Any, Any],
        size: Any,
        tables: tuple[Any, Any],
        results: tuple[Any, Any],
        start: Any,
        count: Any,
        last: Any,
    ) -> None:
        """Slots and constants of all lanes into rows; `target` is their address and how many bytes they are apart.

        The tables have the offset of each entry in a tile of results, and which blocks are one constant throughout.
        """
        b, width, (table, uniform) = self.b, self.build.width, tables
        with self.loop(count) as t:
            first = b.add(start, b.mul(t, number(width)))
            rows = [self.row(*target, first, lane, last) for lane in range(width)]
            tile = self.at(results[0], b.mul(t, results[1]))

            def block(e: Any, mask: Any) -> None:
                entries = self.at(table, b.mul(e, number(8)))
                here = [self.at(row, b.mul(e, number(self.bytes))) for row in rows]
                flag = self.item(uniform, b.sdiv(e, number(width)))
                with b.if_else(b.icmp_signed("!=", flag, number(0))) as (same, different):
                    with same:
                        self.write_rows([self.load(self.at(tile, self.word(entries, 0)))] * width, here, mask)
                    with different:
                        values = [self.load(self.at(tile, self.word(entries, k))) for k in range(width)]
                        self.write_rows(self.transposed(values), here, mask)

            self.each_block(size, block)

    def each_block(self, size: Any, block: Callable[[Any, Any], None]) -> None:
        """block(first element, mask) for every `width` elements; only the last one, if it is not whole, has a mask."""
        b, width = self.b, number(self.build.width)
        whole = b.mul(b.sdiv(size, width), width)
        with self.loop(whole, width) as e:
            block(e, None)
        if self.build.width > 1:
            with b.if_then(b.icmp_signed("<", whole, size)):
                block(whole, self.mask(b.sub(size, whole)))

    def read(self, rows: list[Any], mask: Any) -> list[Any]:
        """Blocks of all rows; whole ones as halves of two rows each, which saves the first exchange."""
        if mask is not None:
            return [self.masked_load(row, mask) for row in rows]
        if self.build.width == 1:
            return [self.b.load(rows[0], typ=self.vector)]
        half = self.build.width // 2
        kind = ir.VectorType(self.scalar, half)
        both = ir.Constant(ir.VectorType(I32, 2 * half), list(range(2 * half)))
        halves = [
            [self.b.load(self.at(row, number(side * half * self.bytes)), typ=kind, align=self.bytes) for row in rows]
            for side in (0, 1)
        ]
        return [self.b.shuffle_vector(side[i], side[i + half], both) for side in halves for i in range(half)]

    def write_rows(self, values: list[Any], rows: list[Any], mask: Any) -> None:
        """Blocks into all rows."""
        for value, row in zip(values, rows, strict=True):
            if mask is None:
                self.b.store(value, row, align=self.bytes)
            else:
                self.masked_store(value, row, mask)

    def mask(self, left: Any) -> Any:
        """Which of the next elements exist."""
        width = self.build.width
        lanes = ir.Constant(ir.VectorType(I64, width), list(range(width)))
        one = self.b.insert_element(ir.Constant(lanes.type, ir.Undefined), left, ir.Constant(I32, 0))
        zero = ir.Constant(ir.VectorType(I32, width), [0] * width)
        return self.b.icmp_signed("<", lanes, self.b.shuffle_vector(one, one, zero))

    def masked_load(self, address: Any, mask: Any) -> Any:
        """The elements that exist; zeros in place of the others."""
        zero = self.splat(ir.Constant(self.scalar, 0.0))
        return self.b.call(self.masked("load"), [address, ir.Constant(I32, self.bytes), mask, zero])

    def masked_store(self, value: Any, address: Any, mask: Any) -> None:
        """Write the elements that exist."""
        self.b.call(self.masked("store"), [value, address, ir.Constant(I32, self.bytes), mask])

    def masked(self, what: str) -> ir.Function:
        """LLVM's masked load or store."""
        bits = ir.VectorType(ir.IntType(1), self.build.width)
        name = f"llvm.masked.{what}.{self.build.suffix}.p0"
        if what == "load":
            kind = ir.FunctionType(self.vector, [POINTER, I32, bits, self.vector])
        else:
            kind = ir.FunctionType(ir.VoidType(), [self.vector, POINTER, I32, bits])
        found = self.function.module.globals.get(name)
        return found or ir.Function(self.function.module, kind, name)

    def transposed(self, rows: list[Any], halved: bool = False) -> list[Any]:
        """The transpose of a square block of numbers in registers: exchange ever smaller off-diagonal blocks.

        `halved`: the largest blocks are exchanged already.
        """
        width = self.build.width
        half = width // 4 if halved else width // 2
        rows = list(rows)
        while half:
            upper = [e if not e & half else width + e - half for e in range(width)]
            lower = [e + half if not e & half else width + e for e in range(width)]
            masks = [ir.Constant(ir.VectorType(I32, width), x) for x in (upper, lower)]
            for i in range(width):
                if not i & half:
                    a, c = rows[i], rows[i + half]
                    rows[i], rows[i + half] = (self.b.shuffle_vector(a, c, mask) for mask in masks)
            half //= 2
        return rows


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


class PlannedLoop(RowTransfers):
    """A loop with `spec`, `plan`, `results` and `stride` set by the subclass."""

    spec: Any
    plan: Any
    results: Any
    stride: Any

    def planned(self, name: str, k: Any, kind: ir.Type = I64) -> Any:
        """Word k of a row of the plan."""
        return self.item(self.at(self.plan, number(8 * PLAN[name])), k, kind)

    @contextmanager
    def states(self) -> Iterator[tuple[Any, Any]]:
        """For every input k that is fed back, with the number of the output that it comes from."""
        with self.loop(self.word(self.spec, FIELDS["inputs"])) as k:
            source = self.planned("feedback", k)
            with self.b.if_then(self.b.icmp_signed(">=", source, number(0))):
                yield k, source

    def result_tile(self, tile: Any) -> Any:
        """Where the results of a tile begin."""
        return self.at(self.results, self.b.mul(tile, self.stride))
