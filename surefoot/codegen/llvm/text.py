"""Straight-line programs as LLVM assembly: one SIMD lane per state.

A kernel is `void name(ptr inputs, ptr out, i64 stride, i64 tiles)`: `inputs` points to the tiles `[tile][element]
[lane]` of each input, `out` takes the slots, tiles `stride` bytes apart, and there are at most `TILES` of them. Long
programs are cut into functions; what crosses a cut goes through scratch tiles. There are two reasons. The time that
LLVM needs for one function grows faster than its length. And straight-line code does not fit into the instruction
cache, so that fetching it would be the limit: each function runs over all tiles before the next, and is fetched once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from surefoot.codegen.build import Build
from surefoot.codegen.llvm.operations import ALIGNMENT, Operations
from surefoot.codegen.llvm.sincos import SINCOS_NAME, sincos_text
from surefoot.codegen.program import Program
from surefoot.codegen.residence import Event, plan

CHUNK = 1500  # instructions of a function
TILES = 8  # that a kernel works on at a time
_STACK = 32_768  # bytes of scratch of a tile that are taken from the stack; threads may have little of it
_ATTRIBUTES = 'nounwind alignstack=64 "min-legal-vector-width"="512" "prefer-vector-width"="512"'


class KernelText(NamedTuple):
    """Assembly, and what running it takes.

    Args:
        text: LLVM assembly.
        scratch: Values that it keeps in memory for every tile.
    """

    text: str
    scratch: int


def kernel_text(program: Program, build: Build, name: str) -> KernelText:
    """LLVM assembly of a program.

    Args:
        program: What to compute.
        build: Lanes and type.
        name: Name of the function.
    """
    writer = KernelWriter(program, build, name)
    return KernelText(module_text(build, [writer.functions()], [writer]), writer.scratch_size)


def module_text(build: Build, functions: Iterable[str], writers: Sequence[Operations], declarations: str = "") -> str:
    """A whole module: functions, what they need, and their attributes.

    Args:
        build: Lanes and type.
        functions: Texts of functions.
        writers: What wrote them.
        declarations: Further declarations.
    """
    used = {line for writer in writers for line in writer.used}
    sincos = sincos_text(build)
    own = sorted(used - set(sincos.splitlines()))
    return "\n".join([*functions, sincos, *own, declarations, f"attributes #0 = {{ {_ATTRIBUTES} }}", ""])


class KernelWriter(Operations):
    """Writes one program; values live in named registers inside a chunk and in scratch slots across chunks.

    Args:
        program: What to compute.
        build: Lanes and type.
        name: Name of the function.
        shared: Inputs that hold one number for all lanes, in place of one for each.
        direct: Results, by slot, that are written into an input (number and element) in place of `out`; nothing may
            read that element after the result is there.
    """

    def __init__(
        self,
        program: Program,
        build: Build,
        name: str,
        shared: frozenset[int] = frozenset(),
        direct: Mapping[int, tuple[int, int]] | None = None,
    ) -> None:
        super().__init__(build)
        self.program, self.name, self.shared, self.direct = program, name, shared, dict(direct or {})
        sizes = [int(np.prod(shape)) for shape in program.input_shapes]
        self.input_of = [(k, e) for k, size in enumerate(sizes) for e in range(size)]
        self.slot_of: dict[int, list[int]] = {}
        for slot, i in enumerate(program.slots):
            self.slot_of.setdefault(i, []).append(slot)
        self.scratch: dict[int, int] = {}
        self.names: dict[int, str] = {}

    def functions(self) -> str:
        """The functions of the kernel, and its table of numbers."""
        angles = self.trigonometry()
        chunks = self.residence()
        bodies = {"angles": self.angles_text(angles)}
        bodies |= {str(k): self.chunk_text(events) for k, events in enumerate(chunks)}
        parts = [self.looped(name, lines) for name, lines in bodies.items()]  # now that the size of scratch is known
        return "\n".join([*parts, self.kernel(len(chunks)), self.table()])

    def trigonometry(self) -> dict[int, int]:
        """Scratch slots (of the sine; the cosine follows) by input entry, of the angles that are inputs."""
        angles: dict[int, int] = {}
        for i, (op, args) in enumerate(self.program.instructions):
            if op in ("sin", "cos") and self.program.instructions[args[0]][0] == "input":
                angle = self.program.instructions[args[0]][1][0]
                if angle not in angles:
                    angles[angle] = self.take(2)
                self.scratch[i] = angles[angle] + (op == "cos")
        return angles

    def residence(self) -> list[list[Event]]:
        """The residence plan, chunk by chunk."""
        instructions = self.program.instructions
        inputs = {i for i, (op, _) in enumerate(instructions) if op == "input"}
        early = set(self.scratch)
        in_memory = inputs | early | set(self.slot_of)
        found = plan(instructions, in_memory, early, self.build.registers, CHUNK, self.scratch_size)
        self.scratch |= found.scratch
        self.scratch_size = found.size
        self.local, self.local_size = found.local, found.local_size
        return found.chunks

    def angles_text(self, angles: dict[int, int]) -> list[str]:
        """Sines and cosines of the inputs; outputs that are one of these, or an input, are stored at once."""
        self.lines, self.names = [], {}
        for angle, slot in angles.items():
            source, element = self.input_of[angle]
            x, y = self.pointer(f"%in{source}", element), self.pointer("%scratch", slot)
            self.lines.append(f"call void @{SINCOS_NAME}(ptr {x}, ptr {y})")
        for i in self.slot_of:
            if self.program.instructions[i][0] == "input" or i in self.scratch:
                self.load_value(i)
                self.store_output(i)
        return self.lines

    def chunk_text(self, events: Sequence[Event]) -> list[str]:
        """LLVM assembly of the instructions of one chunk."""
        self.lines, self.names = [], {}
        for what, i in events:
            if what == "load":
                self.load_value(i)
            elif what == "store":
                self.store(self.names[i], *self.home(i))
            else:
                self.instruction(i)
        return self.lines

    def looped(self, name: str, lines: Sequence[str]) -> str:
        """A function that runs the lines over all tiles."""
        steps = self.strides()
        phis = [f"%{x} = phi ptr [ %{x}.first, %entry ], [ %{x}.next, %loop ]" for x in steps]
        nexts = [f"%{x}.next = getelementptr i8, ptr %{x}, i64 {step}" for x, step in steps.items()]
        counter = "%t = phi i64 [ %tiles, %entry ], [ %t.next, %loop ]"
        end = ["%t.next = sub i64 %t, 1", "%more = icmp ne i64 %t.next, 0", "br i1 %more, label %loop, label %done"]
        body = "\n  ".join([counter, *phis, *lines, *nexts, *end])
        head = (
            f"define internal void @{self.name}.{name}({self.parameters()}) #0 {{\nentry:\n  br label %loop\nloop:\n  "
        )
        return f"{head}{body}\ndone:\n  ret void\n}}\n"

    def strides(self) -> dict[str, str]:
        """The pointers that move from tile to tile, and by how many bytes."""
        sizes = {f"in{k}": int(np.prod(shape)) for k, shape in enumerate(self.program.input_shapes)}
        sizes |= {"scratch": self.scratch_size}
        return {name: str(size * self.build.stride) for name, size in sizes.items()} | {"out": "%stride"}

    def parameters(self) -> str:
        """Parameters of the function of a chunk."""
        written = {source for source, _ in self.direct.values()}
        words = ["ptr" if k in written else "ptr noalias readonly" for k in range(len(self.program.input_shapes))]
        inputs = [f"{word} %in{k}.first" for k, word in enumerate(words)]
        return ", ".join(
            [
                *inputs,
                "ptr noalias %out.first",
                "ptr noalias %scratch.first",
                "ptr noalias %local",
                "ptr noalias readonly %numbers",
                "i64 %stride",
                "i64 %tiles",
            ]
        )

    def load_value(self, i: int) -> None:
        """Into a register, from where it is in memory."""
        op, args = self.program.instructions[i]
        self.fresh += 1
        self.names[i] = f"%v{i}.{self.fresh}"
        if op == "input":
            source, element = self.input_of[args[0]]
            if source in self.shared:
                self.names[i] = self.load_scalar(f"%in{source}", element)
            else:
                self.load(self.names[i], f"%in{source}", element)
        else:
            self.load(self.names[i], *self.home(i))

    def home(self, i: int) -> tuple[str, int]:
        """Where a computed value is in memory."""
        if i in self.local:
            return "%local", self.local[i]
        return ("%scratch", self.scratch[i]) if i in self.scratch else self.result_place(self.slot_of[i][0])

    def operand(self, i: int) -> str:
        """The register of a value; numbers are read from their table at each use, and fold into the operation."""
        op, args = self.program.instructions[i]
        return self.number(args[0]) if op == "const" else self.names[i]

    def instruction(self, i: int) -> None:
        """Compute a value, and store it if it is a result."""
        op, args = self.program.instructions[i]
        values = [self.operand(x) for x in args]
        self.names[i] = f"%v{i}"
        self.compute(f"%v{i}", op, values)
        self.store_output(i)

    def store_output(self, i: int) -> None:
        """Store a value where it is a result."""
        for slot in self.slot_of.get(i, ()):
            self.store(self.names[i], *self.result_place(slot))

    def result_place(self, slot: int) -> tuple[str, int]:
        """Where a result goes."""
        if slot in self.direct:
            source, element = self.direct[slot]
            return f"%in{source}", element
        return "%out", slot

    def kernel(self, chunks: int) -> str:
        """The function that is called from outside."""
        size = max(1, self.scratch_size) * self.build.stride
        on_heap = size > _STACK
        room = (
            f"call ptr @aligned_alloc(i64 {ALIGNMENT}, i64 %bytes)"
            if on_heap
            else f"alloca i8, i64 %bytes, align {ALIGNMENT}"
        )
        lines = [
            f"%local = alloca [{max(1, self.local_size) * self.build.stride} x i8], align {ALIGNMENT}",
            f"%bytes = mul i64 %tiles, {-(-size // ALIGNMENT) * ALIGNMENT}",
            f"%scratch = {room}",
        ]
        for k in range(len(self.program.input_shapes)):
            lines.append(f"%a{k} = getelementptr ptr, ptr %inputs, i64 {k}")
            lines.append(f"%in{k} = load ptr, ptr %a{k}")
        inputs = [f"ptr %in{k}" for k in range(len(self.program.input_shapes))]
        arguments = ", ".join(
            [
                *inputs,
                "ptr %out",
                "ptr %scratch",
                "ptr %local",
                f"ptr @{self.name}.numbers",
                "i64 %stride",
                "i64 %tiles",
            ]
        )
        lines += [f"call void @{self.name}.{k}({arguments})" for k in ("angles", *range(chunks))]
        if on_heap:
            self.used |= {"declare ptr @aligned_alloc(i64, i64)", "declare void @free(ptr)"}
            lines.append("call void @free(ptr %scratch)")
        body = "\n  ".join([*lines, "ret void"])
        return f"define void @{self.name}(ptr %inputs, ptr noalias %out, i64 %stride, i64 %tiles) #0 {{\n  {body}\n}}\n"

    def table(self) -> str:
        """The numbers that the program uses."""
        scalar = Build(1, self.build.bits)
        values = ", ".join(f"{self.build.scalar} {scalar.number(x)}" for x in self.numbers)
        kind = f"[{len(self.numbers)} x {self.build.scalar}]"
        return f"@{self.name}.numbers = internal constant {kind} [{values}], align {ALIGNMENT}"
