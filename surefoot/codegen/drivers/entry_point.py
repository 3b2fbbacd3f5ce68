"""Functions of the Python interpreter, emitted as machine code: calls without any Python on the way.

`entry` is a built-in function (METH_FASTCALL | METH_KEYWORDS): it looks at the arrays, runs the kernel on one state or
on a batch (other Python threads run meanwhile), and makes the results. Whatever is not the plain case (another type,
keywords other than `out`, a wrong shape, a quaternion that is not of unit length, a build that is not there yet) is
handed to the fallback, which is ordinary Python. `bound` runs a kernel on arrays that were checked before.

Both find their `Spec` through `self`, a tuple whose first item is the address of the spec as bytes; the tuple keeps
alive all that it points to. Tuples, bytes and numpy arrays are laid out as in the headers of CPython and numpy.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from surefoot.codegen.drivers.ir_builder import DOUBLE, I32, I64, POINTER, Writer, number
from surefoot.codegen.drivers.rows import UNIT_TOLERANCE
from surefoot.codegen.spec import FIELDS, MAX_ARRAYS

_TUPLE_ITEMS = 24  # offset of the items in a tuple object
_BYTES_VALUE = 32  # offset of the characters in a bytes object
_TYPE = 8  # offset of the type in an object
_SIZE = 16  # offset of the number of items in a tuple object
_ARRAY = {"data": 16, "nd": 24, "shape": 32, "dtype": 56, "flags": 64}  # of numpy's array object
_PLAIN, _WRITEABLE = 0x0001 | 0x0100, 0x0400  # flags: C-contiguous, aligned; may be written
_MAX_AXES = 66  # one more than numpy allows, with the batch axis
_ON_STACK = 2048  # results of one state; more are put together on the heap
_NULL = POINTER(None)


def entry_module() -> str:
    """LLVM assembly of both functions."""
    module = ir.Module("surefoot.entry")
    _Entry(module).write()
    _Bound(module).write()
    return str(module)


class _Native(Writer):
    def spec_of(self, owner: Any) -> Any:
        """The spec that a function object carries."""
        first = self.b.load(self.at(owner, number(_TUPLE_ITEMS)), typ=POINTER)
        return self.b.load(self.at(first, number(_BYTES_VALUE)), typ=POINTER)

    def run_kernel(self, spec: Any, pointers: Any) -> Any:
        """The slots of one state, the constants after them."""
        b = self.b
        slots, count = self.word(spec, FIELDS["slots"]), self.word(spec, FIELDS["constants"])
        room = self.room(b.add(slots, count))
        self.call_address(self.word(spec, FIELDS["kernel"]), ir.VoidType(), pointers, room, number(0), number(1))
        values = self.word(spec, FIELDS["constant_values"], POINTER)
        with self.loop(count) as k:
            b.store(self.item(values, k, DOUBLE), self.at(room, b.mul(b.add(slots, k), number(8))))
        return room

    def room(self, count: Any) -> Any:
        """Space for some numbers: on the stack, or on the heap if they are many (see `release`)."""
        b, place = self.b, self.local(POINTER)
        many = b.icmp_signed(">", count, number(_ON_STACK))
        b.store(self.array(DOUBLE, b.select(many, number(1), count)), place)
        with b.if_then(many):
            b.store(self.from_heap(b.mul(count, number(8))), place)
        return b.load(place, typ=POINTER)

    def release(self, spec: Any, room: Any) -> None:
        """Give space back that is on the heap."""
        b = self.b
        count = b.add(self.word(spec, FIELDS["slots"]), self.word(spec, FIELDS["constants"]))
        with b.if_then(b.icmp_signed(">", count, number(_ON_STACK))):
            b.call(self.heap_function("free"), [room])

    def from_heap(self, size: Any) -> Any:
        """Bytes that start at a cache line."""
        whole = self.b.and_(self.b.add(size, number(63)), number(-64))
        return self.b.call(self.heap_function("aligned_alloc"), [number(64), whole])

    def heap_function(self, name: str) -> ir.Function:
        """`aligned_alloc` or `free` of the C library."""
        module = self.function.module
        allocates = ir.FunctionType(POINTER, [I64, I64])
        kind = allocates if name == "aligned_alloc" else ir.FunctionType(ir.VoidType(), [POINTER])
        return module.globals.get(name) or ir.Function(module, kind, name)

    def spread(self, spec: Any, k: Any, room: Any, target: Any) -> None:
        """The entries of output k from slots and constants."""
        table = self.row_of(spec, "table", k, POINTER)
        with self.loop(self.row_of(spec, "output_size", k)) as e:
            value = self.b.load(self.at(room, self.item(table, e)), typ=DOUBLE)
            self.b.store(value, self.at(target, self.b.mul(e, number(8))))


class _Entry(_Native):
    """`PyObject *entry(self, args, nargs, kwnames)`."""

    def __init__(self, module: ir.Module) -> None:
        super().__init__(module, "entry", POINTER, POINTER, POINTER, I64, POINTER)

    def write(self) -> None:
        b = self.b
        owner, args, nargs, kwnames = self.arguments
        self.other, self.failed, self.undone = (b.append_basic_block(x) for x in ("other", "failed", "undone"))
        self.front = self.spec_of(owner)
        self.pointers = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        self.arrays = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        self.targets = self.local(ir.ArrayType(POINTER, MAX_ARRAYS))
        self.shape = self.local(ir.ArrayType(I64, _MAX_AXES))
        self.inputs = self.word(self.front, FIELDS["inputs"])
        self.leave_if(b.icmp_signed("!=", nargs, self.inputs), self.other)
        self.given_count, self.made = self.local(I64), self.local(I64)
        self.given = self.given_output(args, kwnames)
        self.leave_if(b.icmp_signed("<", self.inputs, number(1)), self.other)
        extra, states = self.batch_axis(args)
        with self.loop(self.inputs) as k:
            self.check_array(k, self.item(args, k, POINTER), extra, states)
        single = b.append_basic_block("single")
        self.leave_if(b.icmp_signed("==", extra, number(0)), single)
        self.run_batch(states)
        b.position_at_end(single)
        self.run_single()
        b.position_at_end(self.failed)
        self.drop_arrays()
        b.ret(_NULL)
        b.position_at_end(self.undone)
        self.drop_arrays()
        b.branch(self.other)
        b.position_at_end(self.other)
        fallback = self.word(self.front, FIELDS["fallback"], POINTER)
        b.ret(self.call_address(self.word(self.front, FIELDS["call"]), POINTER, fallback, args, nargs, kwnames))

    def given_output(self, args: Any, kwnames: Any) -> Any:
        """Where the arrays of a single keyword argument `out` are noted, which stands after the others; else null.

        One array, or a list or tuple of them; `given_count` says how many.
        """
        b, given = self.b, self.local(POINTER)
        b.store(_NULL, given)
        b.store(number(1), self.given_count)
        with b.if_then(b.icmp_unsigned("!=", kwnames, _NULL)):
            self.leave_if(b.icmp_signed("!=", b.load(self.at(kwnames, number(_SIZE)), typ=I64), number(1)), self.other)
            name = b.load(self.at(kwnames, number(_TUPLE_ITEMS)), typ=I64)
            self.leave_if(b.icmp_unsigned("!=", name, self.word(self.front, FIELDS["out_name"])), self.other)
            place = self.at(args, b.mul(self.inputs, number(8)))
            value = b.load(place, typ=POINTER)
            kind = b.load(self.at(value, number(_TYPE)), typ=I64)
            b.store(place, given)
            inside = self.at(value, number(_TUPLE_ITEMS))
            with b.if_then(b.icmp_unsigned("==", kind, self.word(self.front, FIELDS["tuple_type"]))):
                b.store(inside, given)
                b.store(b.load(self.at(value, number(_SIZE)), typ=I64), self.given_count)
            with b.if_then(b.icmp_unsigned("==", kind, self.word(self.front, FIELDS["list_type"]))):
                b.store(b.load(inside, typ=POINTER), given)  # a list keeps its items elsewhere
                b.store(b.load(self.at(value, number(_SIZE)), typ=I64), self.given_count)
        return b.load(given, typ=POINTER)

    def batch_axis(self, args: Any) -> tuple[Any, Any]:
        """How many axes the first argument has more than one state (0 or 1), and the number of states."""
        b, first = self.b, self.word(args, 0, POINTER)
        self.check_type(first)
        nd = b.sext(b.load(self.at(first, number(_ARRAY["nd"])), typ=I32), I64)
        extra = b.sub(nd, self.word(self.front, FIELDS["input_nd"]))
        self.leave_if(b.icmp_unsigned(">", extra, number(1)), self.other)
        return extra, b.load(self.shape_of(first, nd), typ=I64)

    def shape_of(self, array: Any, nd: Any) -> Any:
        """The address of the shape of an array; of something else if there is none."""
        shape = self.b.load(self.at(array, number(_ARRAY["shape"])), typ=POINTER)
        return self.b.select(self.b.icmp_signed("==", nd, number(0)), self.shape, shape)

    def check_type(self, value: Any, plain: int = _PLAIN, target: Any = None) -> None:
        """Leave unless the argument is a plain array of doubles."""
        b, target = self.b, target or self.other
        kind = b.load(self.at(value, number(_TYPE)), typ=I64)
        self.leave_if(b.icmp_unsigned("!=", kind, self.word(self.front, FIELDS["array_type"])), target)
        dtype = b.load(self.at(value, number(_ARRAY["dtype"])), typ=I64)
        self.leave_if(b.icmp_unsigned("!=", dtype, self.word(self.front, FIELDS["array_dtype"])), target)
        wanted = ir.Constant(I32, plain)
        flags = b.and_(b.load(self.at(value, number(_ARRAY["flags"])), typ=I32), wanted)
        self.leave_if(b.icmp_unsigned("!=", flags, wanted), target)

    def check_array(self, k: Any, value: Any, extra: Any, states: Any) -> None:
        """Leave unless an argument has the right shape; note where its numbers are."""
        b = self.b
        self.check_type(value)
        nd = b.sext(b.load(self.at(value, number(_ARRAY["nd"])), typ=I32), I64)
        own = self.row_of(self.front, "input_nd", k)
        self.leave_if(b.icmp_signed("!=", nd, b.add(own, extra)), self.other)
        shape = self.shape_of(value, nd)
        another = b.and_(b.icmp_signed("!=", extra, number(0)), b.icmp_signed("!=", b.load(shape, typ=I64), states))
        self.leave_if(another, self.other)
        expected = self.row_of(self.front, "input_shape", k, POINTER)
        with self.loop(own) as axis:
            found = self.item(shape, b.add(axis, extra))
            self.leave_if(b.icmp_signed("!=", found, self.item(expected, axis)), self.other)
        data = b.load(self.at(value, number(_ARRAY["data"])), typ=POINTER)
        b.store(data, self.at(self.pointers, b.mul(k, number(8))))

    # -- one state ------------------------------------------------------------------------------------------------

    def run_single(self) -> None:
        spec = self.word(self.front, FIELDS["single"], POINTER)
        self.leave_if(self.b.icmp_unsigned("==", spec, _NULL), self.other)
        self.check_units(spec)
        self.new_arrays(spec, number(0), number(0))
        room = self.run_kernel(spec, self.pointers)
        with self.loop(self.word(spec, FIELDS["outputs"])) as k:
            self.spread(spec, k, room, self.item(self.targets, k, POINTER))
        self.release(spec, room)
        self.give_back(spec)

    def check_units(self, spec: Any) -> None:
        """Leave if a part of an input that must have unit length has not."""
        b = self.b
        table = self.word(spec, FIELDS["unit_table"], POINTER)
        total = self.local(DOUBLE)
        with self.loop(self.word(spec, FIELDS["units"])) as u:
            b.store(ir.Constant(DOUBLE, -1.0), total)
            place = self.at(table, b.mul(u, number(24)))
            k, offset, length = (self.word(place, e) for e in range(3))
            values = self.item(self.pointers, k, POINTER)
            with self.loop(length) as e:
                x = self.item(values, b.add(offset, e), DOUBLE)
                b.store(b.fadd(b.load(total, typ=DOUBLE), b.fmul(x, x)), total)
            excess = b.load(total, typ=DOUBLE)
            high = b.fcmp_unordered(">", excess, ir.Constant(DOUBLE, 2.0 * UNIT_TOLERANCE))
            low = b.fcmp_unordered("<", excess, ir.Constant(DOUBLE, -2.0 * UNIT_TOLERANCE))
            self.leave_if(b.or_(high, low), self.other)

    # -- a batch --------------------------------------------------------------------------------------------------

    def run_batch(self, states: Any) -> None:
        """Run a batch with the interpreter released."""
        b = self.b
        spec = self.word(self.front, FIELDS["batch"], POINTER)
        self.leave_if(b.icmp_unsigned("==", spec, _NULL), self.other)
        self.leave_if(b.icmp_signed("<", states, number(1)), self.other)
        self.new_arrays(spec, number(1), states)
        work = self.from_heap(self.word(self.front, FIELDS["work_bytes"]))
        thread = self.call_address(self.word(self.front, FIELDS["release"]), POINTER)
        rows = self.word(self.front, FIELDS["rows"])
        bad = self.call_address(rows, I64, spec, self.pointers, self.targets, number(0), states, work)
        self.call_address(self.word(self.front, FIELDS["acquire"]), ir.VoidType(), thread)
        b.call(self.heap_function("free"), [work])
        refused = b.append_basic_block("refused")
        self.leave_if(b.icmp_signed(">=", bad, number(0)), refused)
        self.give_back(spec)
        b.position_at_end(refused)
        b.branch(self.undone)

    # -- results --------------------------------------------------------------------------------------------------

    def new_arrays(self, spec: Any, extra: Any, states: Any) -> None:
        """Make the output arrays, with a batch axis if `extra` is 1; note where their numbers go."""
        b = self.b
        b.store(states, self.shape)
        b.store(number(0), self.made)
        different = b.icmp_signed("!=", self.word(spec, FIELDS["outputs"]), b.load(self.given_count, typ=I64))
        self.leave_if(b.and_(b.icmp_unsigned("!=", self.given, _NULL), different), self.other)
        with self.loop(self.word(spec, FIELDS["outputs"])) as k:
            nd, shape = self.row_of(spec, "output_nd", k), self.row_of(spec, "output_shape", k, POINTER)
            with self.loop(nd) as axis:
                place = self.at(self.shape, b.mul(b.add(axis, extra), number(8)))
                b.store(self.item(shape, axis), place)
            with b.if_else(b.icmp_unsigned("==", self.given, _NULL)) as (absent, present):
                with absent:
                    self.new_array(k, b.add(nd, extra))
                with present:
                    self.use_given(
                        spec, k, b.add(nd, extra), b.select(b.icmp_signed("==", extra, number(0)), extra, states)
                    )
            b.store(b.add(k, number(1)), self.made)
            made = self.item(self.arrays, k, POINTER)
            data = b.load(self.at(made, number(_ARRAY["data"])), typ=POINTER)
            b.store(data, self.at(self.targets, b.mul(k, number(8))))

    def new_array(self, k: Any, axes: Any) -> None:
        b, increase = self.b, self.word(self.front, FIELDS["incref"])
        dtype = self.word(self.front, FIELDS["array_dtype"], POINTER)
        self.call_address(increase, ir.VoidType(), dtype)  # the array takes this reference
        create = self.word(self.front, FIELDS["new_array"])
        made = self.call_address(create, POINTER, b.trunc(axes, I32), self.shape, dtype, ir.Constant(I32, 0))
        self.leave_if(b.icmp_unsigned("==", made, _NULL), self.failed)
        b.store(made, self.at(self.arrays, b.mul(k, number(8))))

    def use_given(self, spec: Any, k: Any, axes: Any, states: Any) -> None:
        """The array that the caller gave for output k, if it has its shape and overlaps with no input in part."""
        b, given = self.b, self.item(self.given, k, POINTER)
        self.check_type(given, _PLAIN | _WRITEABLE, self.undone)
        nd = b.sext(b.load(self.at(given, number(_ARRAY["nd"])), typ=I32), I64)
        self.leave_if(b.icmp_signed("!=", nd, axes), self.undone)
        shape = b.load(self.at(given, number(_ARRAY["shape"])), typ=POINTER)
        with self.loop(nd) as axis:
            self.leave_if(b.icmp_signed("!=", self.item(shape, axis), self.item(self.shape, axis)), self.undone)
        count = b.select(b.icmp_signed("==", states, number(0)), number(1), states)
        first = b.load(self.at(given, number(_ARRAY["data"])), typ=I64)
        last = b.add(first, b.mul(b.mul(self.row_of(spec, "output_size", k), count), number(8)))
        with self.loop(self.inputs) as i:
            self.check_overlap(
                self.item(self.pointers, i), b.mul(self.row_of(spec, "input_size", i), count), first, last, True
            )
        with self.loop(k) as j:
            self.check_overlap(
                self.item(self.targets, j), b.mul(self.row_of(spec, "output_size", j), count), first, last, False
            )
        self.call_address(self.word(self.front, FIELDS["incref"]), ir.VoidType(), given)
        b.store(given, self.at(self.arrays, b.mul(k, number(8))))

    def check_overlap(self, start: Any, count: Any, first: Any, last: Any, same_is_fine: bool) -> None:
        """Leave if some numbers share memory with first..last; it may be fine if it is the same memory."""
        b = self.b
        end = b.add(start, b.mul(count, number(8)))
        apart = b.or_(b.icmp_unsigned("<=", end, first), b.icmp_unsigned("<=", last, start))
        same = b.and_(b.icmp_unsigned("==", start, first), b.icmp_unsigned("==", end, last))
        self.leave_if(b.not_(b.or_(apart, same) if same_is_fine else apart), self.undone)

    def give_back(self, spec: Any) -> None:
        """One bare array, or the fields of the result type."""
        b = self.b
        outputs = self.word(spec, FIELDS["outputs"])
        alone = b.append_basic_block("alone")
        bare = b.icmp_signed("!=", self.word(self.front, FIELDS["bare"]), number(0))
        self.leave_if(b.and_(bare, b.icmp_signed("==", outputs, number(1))), alone)
        kind = self.word(self.front, FIELDS["result_type"], POINTER)
        result = self.call_address(self.word(self.front, FIELDS["call"]), POINTER, kind, self.arrays, outputs, _NULL)
        self.drop_arrays()
        b.ret(result)
        b.position_at_end(alone)
        b.ret(b.load(self.arrays, typ=POINTER))

    def drop_arrays(self) -> None:
        """Give up the references to the output arrays that there are."""
        with self.loop(self.b.load(self.made, typ=I64)) as k:
            self.call_address(
                self.word(self.front, FIELDS["decref"]), ir.VoidType(), self.item(self.arrays, k, POINTER)
            )


class _Bound(_Native):
    """`PyObject *bound(self, ignored)`: the second item of `self` holds the addresses of inputs, then outputs."""

    def __init__(self, module: ir.Module) -> None:
        super().__init__(module, "bound", POINTER, POINTER, POINTER)

    def write(self) -> None:
        b = self.b
        owner, _ = self.arguments
        front = self.spec_of(owner)
        spec = self.word(front, FIELDS["single"], POINTER)
        second = b.load(self.at(owner, number(_TUPLE_ITEMS + 8)), typ=POINTER)
        pointers = self.at(second, number(_BYTES_VALUE))
        room = self.run_kernel(spec, pointers)
        outputs = self.at(pointers, b.mul(self.word(spec, FIELDS["inputs"]), number(8)))
        with self.loop(self.word(spec, FIELDS["outputs"])) as k:
            self.spread(spec, k, room, self.item(outputs, k, POINTER))
        self.release(spec, room)
        none = self.word(front, FIELDS["none"], POINTER)
        self.call_address(self.word(front, FIELDS["incref"]), ir.VoidType(), none)
        b.ret(none)
