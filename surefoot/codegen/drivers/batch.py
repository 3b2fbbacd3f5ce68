"""Native loops over batches: rows into tiles, the kernel, tiles into rows.

`rows(spec, inputs, outputs, first, last, work)` takes row-major arrays (state, element): blocks of lanes × lanes
numbers are transposed in registers on the way in and out. `tiles(spec, inputs, output, first, last)` takes arrays that
are laid out in tiles already. Both return −1, or the number of the first tile in which a part of input 0 that must
have unit length has not; they touch no Python object, so that many threads can run them at once.
"""

from __future__ import annotations

from llvmlite import ir

from surefoot.codegen.build import Build
from surefoot.codegen.drivers.ir_builder import I64, POINTER, number
from surefoot.codegen.drivers.rows import AlignedRows, Driver
from surefoot.codegen.spec import FIELDS, MAX_ARRAYS


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


class _Tiles(Driver):
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


class _Rows(AlignedRows):
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
                self.scatter_dense(target, size, (table, uniform), (results, stride), (start, count, last))
        b.ret(b.load(bad, typ=I64))
