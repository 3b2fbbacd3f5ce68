"""Native loops over batches: rows into tiles, the kernel, tiles into rows.

`rows(spec, inputs, outputs, first, last, work)` takes row-major arrays (state, element): blocks of lanes × lanes
numbers are transposed in registers on the way in and out. `tiles(spec, inputs, output, first, last)` takes arrays that
are laid out in tiles already. Both return −1, or the number of the first tile in which a part of input 0 that must
have unit length has not; they touch no Python object, so that many threads can run them at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from surefoot.compiler.build import Build
from surefoot.compiler.ir_builder import I32, I64, POINTER, Writer, number
from surefoot.compiler.spec import FIELDS, MAX_ARRAYS

__all__ = ["IMAGE_BYTES", "UNIT_TOLERANCE", "RowTransfers", "driver_module", "with_wide_vectors"]

IMAGE_BYTES = 20_000  # of an output's rows of one tile, up to which they stay in the first-level cache
UNIT_TOLERANCE = 1e-6  # of the length of quaternions and (cos, sin) pairs; also for the entry point


def driver_module(build: Build) -> str:
    """LLVM assembly of both functions.

    Args:
        build: Lanes and type.
    """
    module = ir.Module("surefoot.driver")
    _Rows(module, build).write()
    _Tiles(module, build).write()
    return with_wide_vectors(str(module))


def with_wide_vectors(text: str) -> str:
    """LLVM assembly whose functions may use the widest registers of the CPU.

    Args:
        text: Assembly in which every function is `nounwind`.
    """
    return text.replace(" nounwind\n", ' nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512"\n')


class _Driver(Writer):
    """What both share."""

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
        return min(64, self.build.stride)

    def load(self, address: Any) -> Any:
        return self.b.load(address, typ=self.vector, align=self.alignment)

    def splat(self, value: Any) -> Any:
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


class _Tiles(_Driver):
    """`tiles(spec, inputs, output, first, last) -> i64`; inputs and output as the kernel takes them."""

    def __init__(self, module: ir.Module, build: Build) -> None:
        super().__init__(module, build, f"tiles.{build.suffix}", POINTER, POINTER, POINTER, I64, I64)

    def write(self) -> None:
        b = self.b
        spec, inputs, output, first, last = self.arguments
        bad = self.local(I64)
        b.store(number(-1), bad)
        pointers = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        kernel = self.word(spec, FIELDS["kernel"])
        out_stride = b.mul(self.word(spec, FIELDS["slots"]), number(self.build.stride))
        tiles = self.word(spec, FIELDS["tiles"])
        with self.loop(b.sub(last, first), tiles) as i:
            start = b.add(first, i)
            count = self.smaller(tiles, b.sub(last, start))
            with self.loop(self.word(spec, FIELDS["inputs"])) as k:
                size = self.row_of(spec, "input_size", k)
                offset = b.mul(b.mul(size, number(self.build.stride)), start)
                b.store(self.at(self.item(inputs, k, POINTER), offset), self.at(pointers, b.mul(k, number(8))))
            self.check_units(spec, pointers, count, bad, start)
            self.call_address(
                kernel, ir.VoidType(), pointers, self.at(output, b.mul(start, out_stride)), out_stride, count
            )
        b.ret(b.load(bad, typ=I64))


class RowTransfers(_Driver):
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

    def scatter_dense(
        self,
        image: Any,
        target: Any,
        size: Any,
        tables: tuple[Any, Any],
        results: tuple[Any, Any],
        start: Any,
        count: Any,
        last: Any,
    ) -> None:
        """As `scatter`, into rows without gaps: by way of an image of the rows of one tile if it fits into the cache.

        Rows of all lanes are as many places in memory that are written by turns, a line at a time; the image is copied
        in one go, which memory likes better.
        """
        b, width, row = self.b, number(self.build.width), self.row_bytes(size)
        with b.if_else(b.icmp_signed("<=", self.in_bytes(size), number(IMAGE_BYTES))) as (small, large):
            with small, self.loop(count) as t:
                first = b.add(start, b.mul(t, width))
                tile = self.at(results[0], b.mul(t, results[1])), number(0)
                self.scatter((image, row), size, tables, tile, number(0), number(1), width)
                rows = self.smaller(width, b.sub(last, first))
                self.copy(self.at(target, b.mul(first, row)), image, b.mul(rows, row))
            with large:
                self.scatter((target, row), size, tables, results, start, count, last)

    def copy(self, target: Any, source: Any, count: Any) -> None:
        """Copy so many bytes."""
        name = "llvm.memcpy.p0.p0.i64"
        kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, I64, ir.IntType(1)])
        found = self.function.module.globals.get(name) or ir.Function(self.function.module, kind, name)
        self.b.call(found, [target, source, count, ir.Constant(ir.IntType(1), 0)])

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


class _Rows(RowTransfers):
    """`rows(spec, inputs, outputs, first, last, work) -> i64`, states `first` to `last`."""

    def __init__(self, module: ir.Module, build: Build) -> None:
        super().__init__(module, build, f"rows.{build.suffix}", POINTER, POINTER, POINTER, I64, I64, POINTER)

    def write(self) -> None:
        b = self.b
        spec, inputs, outputs, first, last, work = self.arguments
        bad = self.local(I64)
        b.store(number(-1), bad)
        pointers = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        results, stride = self.lay_out(spec, pointers, work)
        kernel = self.word(spec, FIELDS["kernel"])
        tiles = self.word(spec, FIELDS["tiles"])
        image = self.at(results, b.mul(stride, tiles))  # IMAGE_BYTES
        with self.loop(b.sub(last, first), b.mul(tiles, number(self.build.width))) as i:
            start = b.add(first, i)
            count = self.smaller(tiles, self.count_tiles(b.sub(last, start)))
            with self.loop(self.word(spec, FIELDS["inputs"])) as k:
                size = self.row_of(spec, "input_size", k)
                target = self.item(pointers, k, POINTER)
                row = self.row_bytes(size)
                self.gather(self.item(inputs, k, POINTER), row, size, target, start, count, last)
            whole = b.sdiv(start, number(self.build.width))
            self.check_units(spec, pointers, count, bad, whole)
            self.call_address(kernel, ir.VoidType(), pointers, results, stride, count)
            with self.loop(self.word(spec, FIELDS["outputs"])) as k:
                size = self.row_of(spec, "output_size", k)
                table, uniform = (self.row_of(spec, name, k, POINTER) for name in ("table", "uniform"))
                target = self.item(outputs, k, POINTER)
                self.scatter_dense(image, target, size, (table, uniform), (results, stride), start, count, last)
        b.ret(b.load(bad, typ=I64))
