"""The native loop over time: a few tiles of states go through all steps before the next ones are read.

`repeat(spec, plan, inputs, records, first, last, work)` runs a kernel `steps` times on the states `first` to `last`.
Outputs that are fed back are the next inputs, and stay in the first-level cache meanwhile. A state of which a fed-back
number is not below the limit (or not a number) stays as it was before that step from then on, and does not disturb the
states in the other lanes. Where an output tells that a state is done, tiles stop as soon as enough of their states are.
Returns −1, or the number of a tile in which a part that must have unit length has not.
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


def repeat_module(build: Build) -> str:
    """LLVM assembly of the function.

    Args:
        build: Lanes and type.
    """
    module = ir.Module("surefoot.repeat")
    _Repeat(module, build).write()
    return with_wide_vectors(str(module))


class _Fold:
    """A value that a loop carries from turn to turn."""

    def __init__(self, index: Any, value: Any) -> None:
        self.index, self.value = index, value


class _Repeat(PlannedLoop):
    """`repeat(spec, plan, inputs, records, first, last, work) -> i64`."""

    def __init__(self, module: ir.Module, build: Build) -> None:
        pointers = (POINTER, POINTER, POINTER, POINTER, I64, I64, POINTER)
        super().__init__(module, build, f"repeat.{build.suffix}", *pointers)
        self.mask_type = ir.IntType(1) if build.width == 1 else ir.VectorType(ir.IntType(1), build.width)

    def write(self) -> None:
        b = self.b
        self.spec, self.plan, inputs, records, first, self.last, work = self.arguments
        bad, stopped = self.local(I64), self.local(I64)
        b.store(number(-1), bad)
        self.pointers = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        self.results, self.stride = self.lay_out(self.spec, self.pointers, work)
        tiles, kernel = self.word(self.spec, FIELDS["tiles"]), self.word(self.spec, FIELDS["kernel"])
        self.counts = self.at(self.results, b.mul(tiles, self.stride))
        with self.loop(b.sub(self.last, first), b.mul(tiles, number(self.build.width))) as i:
            self.start = b.add(first, i)
            self.count = self.smaller(tiles, self.count_tiles(b.sub(self.last, self.start)))
            with self.loop(self.count) as t:
                b.store(self.splat(ir.Constant(self.scalar, 0.0)), self.count_of(t), align=self.alignment)
            b.store(number(0), stopped)
            with (
                self.loop(self.word(self.plan, PLAN["steps"])) as now,
                b.if_then(b.icmp_signed("==", b.load(stopped, typ=I64), number(0))),
            ):
                self.read_due(inputs, now)
                with b.if_then(b.icmp_signed("==", now, number(0))):
                    whole = b.sdiv(self.start, number(self.build.width))
                    self.check_units(self.spec, self.pointers, self.count, bad, whole)
                self.call_address(kernel, ir.VoidType(), self.pointers, self.results, self.stride, self.count)
                with self.loop(self.count) as t:
                    self.feed_back(t, now)
                self.record(records, now)
                self.stop_if_done(stopped)
            self.finish()
        b.ret(b.load(bad, typ=I64))

    def count_of(self, tile: Any) -> Any:
        """Where the numbers of good steps of a tile are."""
        return self.at(self.counts, self.in_bytes(tile))

    def read_due(self, inputs: Any, now: Any) -> None:
        """Rows of the inputs that are due: all at the start, then those that change with time."""
        b = self.b
        with self.loop(self.word(self.spec, FIELDS["inputs"])) as k:
            step, hold = self.planned("time_step", k), self.planned("hold", k)
            beginning = b.icmp_signed("==", now, number(0))
            turn = b.icmp_signed("==", b.srem(now, hold), number(0))
            due = b.or_(beginning, b.and_(turn, b.icmp_signed("!=", step, number(0))))
            with b.if_then(due):
                source = self.at(self.item(inputs, k, POINTER), b.mul(b.sdiv(now, hold), step))
                target, size = self.item(self.pointers, k, POINTER), self.row_of(self.spec, "input_size", k)
                self.gather(source, self.planned("row_step", k), size, target, self.start, self.count, self.last)

    # -- feedback -------------------------------------------------------------------------------------------------

    def feed_back(self, tile: Any, now: Any) -> None:
        """Outputs of a tile into inputs, in the lanes that were good until now and still are."""
        b = self.b
        count = self.load(self.count_of(tile))
        until_now = b.fcmp_ordered("==", count, self.splat(b.sitofp(now, self.scalar)))
        good = self.local(self.mask_type)
        b.store(until_now, good)
        with self.states() as (k, source):
            b.store(b.and_(b.load(good, typ=self.mask_type), self.below_limit(k, source, tile)), good)
        mask = b.load(good, typ=self.mask_type)
        with self.states() as (k, source):
            self.replace(k, source, tile, mask)
        more = b.fadd(count, self.splat(ir.Constant(self.scalar, 1.0)))
        b.store(b.select(mask, more, count), self.count_of(tile), align=self.alignment)

    def below_limit(self, k: Any, source: Any, tile: Any) -> Any:
        """The lanes in which all entries of an output are numbers below the limit."""
        b, result = self.b, self.result_tile(tile)
        limit = self.splat(b.fptrunc(self.limit(), self.scalar) if self.build.bits == 32 else self.limit())
        size, table = self.row_of(self.spec, "input_size", k), self.row_of(self.spec, "table", source, POINTER)
        yes = ir.Constant(self.mask_type, [1] * self.build.width if self.build.width > 1 else 1)
        with self.fold(size, yes) as fold:
            x = self.load(self.at(result, self.item(table, fold.index)))
            small = b.fcmp_ordered("<", x, limit)
            large = b.fcmp_ordered(">", x, b.fneg(limit))
            fold.value = b.and_(fold.value, b.and_(small, large))
        return fold.value

    def limit(self) -> Any:
        return self.word(self.plan, PLAN["limit"], ir.DoubleType())

    def replace(self, k: Any, source: Any, tile: Any, mask: Any) -> None:
        """The entries of an input by those of an output, in the lanes of the mask."""
        b, result = self.b, self.result_tile(tile)
        size, table = self.row_of(self.spec, "input_size", k), self.row_of(self.spec, "table", source, POINTER)
        target = self.state_tile(k, tile)
        with self.loop(size) as e:
            place = self.at(target, self.in_bytes(e))
            new = self.load(self.at(result, self.item(table, e)))
            b.store(b.select(mask, new, self.load(place)), place, align=self.alignment)

    def state_tile(self, k: Any, tile: Any) -> Any:
        size = self.row_of(self.spec, "input_size", k)
        return self.at(self.item(self.pointers, k, POINTER), self.in_bytes(self.b.mul(tile, size)))

    @contextmanager
    def fold(self, count: Any, initial: Any) -> Iterator[_Fold]:
        """For i = 0, 1, … while i < count, with a value in a register that the body changes."""
        b, before = self.b, self.b.block
        head, body, after = (b.append_basic_block(name) for name in ("fold", "turn", "folded"))
        b.branch(head)
        b.position_at_end(head)
        i, value = b.phi(I64), b.phi(initial.type)
        i.add_incoming(number(0), before)
        value.add_incoming(initial, before)
        b.cbranch(b.icmp_signed("<", i, count), body, after)
        b.position_at_end(body)
        carried = _Fold(i, value)
        yield carried
        i.add_incoming(b.add(i, number(1)), b.block)
        value.add_incoming(carried.value, b.block)
        b.branch(head)
        b.position_at_end(after)
        carried.value = value

    # -- early end ------------------------------------------------------------------------------------------------

    def stop_if_done(self, stopped: Any) -> None:
        """Mark the tiles as stopped if enough of their states are done."""
        b, until = self.b, self.word(self.plan, PLAN["until"])
        with b.if_then(b.icmp_signed(">=", until, number(0))):
            table = self.row_of(self.spec, "table", until, POINTER)
            with self.fold(self.count, number(0)) as fold:
                flag = self.load(self.at(self.result_tile(fold.index), self.item(table, number(0))))
                fold.value = b.add(fold.value, self.count_true(flag))
            lanes = b.mul(self.count, number(self.build.width))
            enough = self.smaller(lanes, self.word(self.plan, PLAN["enough"]))
            b.store(b.zext(b.icmp_signed(">=", fold.value, enough), I64), stopped)

    def count_true(self, flag: Any) -> Any:
        """In how many lanes a flag is above one half."""
        b, half = self.b, self.splat(ir.Constant(self.scalar, 0.5))
        mask = b.fcmp_ordered(">", flag, half)
        bits = mask if self.build.width == 1 else b.bitcast(mask, ir.IntType(self.build.width))
        return b.ctpop(b.zext(bits, I64))

    # -- results --------------------------------------------------------------------------------------------------

    def record(self, records: Any, now: Any) -> None:
        """Rows of the outputs that are due; of one that is fed back, what is the input now."""
        b, done = self.b, self.b.add(now, number(1))
        with self.loop(self.word(self.spec, FIELDS["outputs"])) as k:
            every = self.planned("every", k)
            with (
                b.if_then(b.icmp_signed(">", every, number(0))),
                b.if_then(b.icmp_signed("==", b.srem(done, every), number(0))),
            ):
                index = b.sub(b.sdiv(done, every), number(1))
                base = self.at(self.item(records, k, POINTER), b.mul(index, self.planned("record_time_step", k)))
                size, tables, tiles = self.source_of(k)
                target = base, self.planned("record_row_step", k)
                self.scatter(target, size, tables, tiles, self.start, self.count, self.last)

    def source_of(self, k: Any) -> tuple[Any, tuple[Any, Any], tuple[Any, Any]]:
        """Size, tables and tiles of an output: in the results, or in the input that it is fed back into."""
        b, state = self.b, self.planned("state", k)
        size = self.row_of(self.spec, "output_size", k)
        fed = b.icmp_signed(">=", state, number(0))
        place = self.item(self.pointers, b.select(fed, state, number(0)), POINTER)
        table, uniform = (self.row_of(self.spec, name, k, POINTER) for name in ("table", "uniform"))
        tables = b.select(fed, self.whole[0], table), b.select(fed, self.whole[1], uniform)
        return size, tables, (b.select(fed, place, self.results), b.select(fed, self.in_bytes(size), self.stride))

    @property
    def whole(self) -> tuple[Any, Any]:
        """Tables of an array that is stored entry after entry."""
        return self.word(self.plan, PLAN["whole"], POINTER), self.word(self.plan, PLAN["mixed"], POINTER)

    def finish(self) -> None:
        """Rows of the states at the end, and the numbers of good steps."""
        with self.states() as (k, _):
            size = self.row_of(self.spec, "input_size", k)
            target = self.planned("final", k, POINTER), self.row_bytes(size)
            tiles = self.item(self.pointers, k, POINTER), self.in_bytes(size)
            self.scatter(target, size, self.whole, tiles, self.start, self.count, self.last)
        counts = self.word(self.plan, PLAN["counts"], POINTER), number(self.bytes)
        self.scatter(
            counts, number(1), self.whole, (self.counts, self.in_bytes(number(1))), self.start, self.count, self.last
        )
