"""The native loop over a queue of states: a lane whose state is done takes the next one.

`queue(spec, plan, inputs, first, last, work)` runs a kernel on the states `first` to `last`, each until an output tells
that it is done, or for `steps` steps. All lanes of a few tiles are at work until the queue is empty, however many steps
each state needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from surefoot.codegen.build import Build
from surefoot.codegen.drivers.batch import with_wide_vectors
from surefoot.codegen.drivers.ir_builder import I64, POINTER, number
from surefoot.codegen.drivers.rows import PlannedLoop
from surefoot.codegen.spec import FIELDS, MAX_ARRAYS, PLAN


def queue_module(build: Build) -> str:
    """LLVM assembly of the function.

    Args:
        build: Lanes and type.
    """
    module = ir.Module("surefoot.queue")
    _Queue(module, build).write()
    return with_wide_vectors(str(module))


class _Queue(PlannedLoop):
    """`queue(spec, plan, inputs, first, last, work) -> i64`, always −1."""

    def __init__(self, module: ir.Module, build: Build) -> None:
        super().__init__(module, build, f"queue.{build.suffix}", POINTER, POINTER, POINTER, I64, I64, POINTER)

    def write(self) -> None:
        b = self.b
        self.spec, self.plan, self.inputs, self.first, self.last, work = self.arguments
        self.pointers = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        self.results, self.stride = self.lay_out(self.spec, self.pointers, work)
        kernel = self.word(self.spec, FIELDS["kernel"])
        most = self.word(self.spec, FIELDS["tiles"])
        tiles = self.smaller(most, self.count_tiles(b.sub(self.last, self.first)))
        lanes = b.mul(tiles, number(self.build.width))
        self.jobs, self.counts = self.array(I64, lanes), self.array(I64, lanes)
        self.next, self.active = self.local(I64), self.local(I64)
        b.store(self.first, self.next)
        b.store(number(0), self.active)
        with self.loop(lanes) as lane:
            self.take(lane)
        with self.while_active():
            self.call_address(kernel, ir.VoidType(), self.pointers, self.results, self.stride, tiles)
            with self.loop(tiles) as tile:
                self.feed_back(tile)
            with self.loop(lanes) as lane:
                self.look_at(lane)
        b.ret(number(-1))

    @contextmanager
    def while_active(self) -> Iterator[None]:
        """While a lane has work."""
        b = self.b
        head, body, after = (b.append_basic_block(name) for name in ("head", "work", "empty"))
        b.branch(head)
        b.position_at_end(head)
        b.cbranch(b.icmp_signed(">", b.load(self.active, typ=I64), number(0)), body, after)
        b.position_at_end(body)
        yield
        b.branch(head)
        b.position_at_end(after)

    # -- lanes ----------------------------------------------------------------------------------------------------

    def take(self, lane: Any) -> None:
        """Give a lane the next state; an idle one repeats the first."""
        b, n = self.b, self.b.load(self.next, typ=I64)
        has = b.icmp_signed("<", n, self.last)
        b.store(b.select(has, n, number(-1)), self.word_of(self.jobs, lane))
        b.store(number(0), self.word_of(self.counts, lane))
        self.copy_in(b.select(has, n, self.first), lane)
        one = b.zext(has, I64)
        b.store(b.add(n, one), self.next)
        b.store(b.add(b.load(self.active, typ=I64), one), self.active)

    def look_at(self, lane: Any) -> None:
        """Count a step; hand over a state that is done, and take the next one."""
        b, job = self.b, self.b.load(self.word_of(self.jobs, lane), typ=I64)
        with b.if_then(b.icmp_signed(">=", job, number(0))):
            count = b.add(b.load(self.word_of(self.counts, lane), typ=I64), number(1))
            b.store(count, self.word_of(self.counts, lane))
            table = self.row_of(self.spec, "table", self.word(self.plan, PLAN["until"]), POINTER)
            tile, within = self.place(lane)
            flags = self.at(self.result_tile(tile), self.item(table, number(0)))
            flag = b.load(self.at(flags, within), typ=self.scalar)
            told = b.fcmp_ordered(">", flag, ir.Constant(self.scalar, 0.5))
            late = b.icmp_signed(">=", count, self.word(self.plan, PLAN["steps"]))
            with b.if_then(b.or_(told, late)):
                self.copy_out(job, lane)
                b.store(b.sub(b.load(self.active, typ=I64), number(1)), self.active)
                self.take(lane)

    def word_of(self, base: Any, index: Any) -> Any:
        return self.at(base, self.b.mul(index, number(8)))

    def place(self, lane: Any) -> tuple[Any, Any]:
        """The tile of a lane, and how many bytes into a vector it is."""
        width = number(self.build.width)
        return self.b.sdiv(lane, width), self.b.mul(self.b.srem(lane, width), number(self.bytes))

    # -- rows -----------------------------------------------------------------------------------------------------

    def copy_in(self, row: Any, lane: Any) -> None:
        """A row of every input into a lane."""
        b = self.b
        with self.loop(self.word(self.spec, FIELDS["inputs"])) as k:
            source = self.at(self.item(self.inputs, k, POINTER), b.mul(row, self.planned("row_step", k)))
            target = self.entry(k, lane)
            with self.loop(self.row_of(self.spec, "input_size", k)) as e:
                value = b.load(self.at(source, b.mul(e, number(self.bytes))), typ=self.scalar)
                b.store(value, self.at(target, self.in_bytes(e)))

    def copy_out(self, row: Any, lane: Any) -> None:
        """Copy the fed-back values of a lane into its rows."""
        b = self.b
        with self.states() as (k, _):
            size, source = self.row_of(self.spec, "input_size", k), self.entry(k, lane)
            target = self.at(self.planned("final", k, POINTER), b.mul(row, b.mul(size, number(self.bytes))))
            with self.loop(size) as e:
                value = b.load(self.at(source, self.in_bytes(e)), typ=self.scalar)
                b.store(value, self.at(target, b.mul(e, number(self.bytes))))

    def entry(self, k: Any, lane: Any) -> Any:
        """Where a lane of the first entry of an input is."""
        tile, within = self.place(lane)
        size = self.row_of(self.spec, "input_size", k)
        return self.at(self.at(self.item(self.pointers, k, POINTER), self.in_bytes(self.b.mul(tile, size))), within)

    def feed_back(self, tile: Any) -> None:
        """Outputs of a tile into inputs."""
        b = self.b
        with self.states() as (k, source):
            size, table = self.row_of(self.spec, "input_size", k), self.row_of(self.spec, "table", source, POINTER)
            target = self.at(self.item(self.pointers, k, POINTER), self.in_bytes(b.mul(tile, size)))
            with self.loop(size) as e:
                value = self.load(self.at(self.result_tile(tile), self.item(table, e)))
                b.store(value, self.at(target, self.in_bytes(e)), align=self.alignment)
