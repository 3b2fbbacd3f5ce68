"""Straight-line programs as LLVM assembly: one SIMD lane per state.

A kernel is `void name(ptr inputs, ptr out, i64 stride, i64 tiles)`: `inputs` points to the tiles `[tile][element]
[lane]` of each input, `out` takes the slots, tiles `stride` bytes apart, and there are at most `TILES` of them. Long programs are cut into functions of
a few hundred instructions; what crosses a cut goes through scratch tiles. There are two reasons. The time that LLVM needs
for one function grows faster than its length. And straight-line code does not fit into the instruction cache, so that
fetching it would be the limit: each function runs over all tiles before the next one starts, and is fetched once.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.compiler.program import Program
from surefoot.compiler.residence import Event, plan
from surefoot.compiler.sincos import SINCOS_NAME, sincos_text

__all__ = ["Build", "kernel_text"]

CHUNK = 1500  # instructions of a function
TILES = 8
_ALIGNMENT = 64
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "min": "minnum", "max": "maxnum"}
_LIBM = ("tan", "exp", "log", "acos", "atan2", "pow")


@dataclass(frozen=True)
class Build:
    """How a kernel is built.

    Args:
        width: SIMD lanes; 1 for single states.
        bits: 64 or 32: the floating-point type.
    """

    width: int
    bits: int

    @property
    def scalar(self) -> str:
        """LLVM's name of the floating-point type."""
        return "double" if self.bits == 64 else "float"

    @property
    def vector(self) -> str:
        """LLVM's name of a value of all lanes."""
        return self.scalar if self.width == 1 else f"<{self.width} x {self.scalar}>"

    @property
    def registers(self) -> int:
        """Values that the CPU holds in registers, but for a few that operations need."""
        return 28 if self.width * self.bits == 512 else 13

    @property
    def suffix(self) -> str:
        """The type in names of intrinsics."""
        return f"f{self.bits}" if self.width == 1 else f"v{self.width}f{self.bits}"

    @property
    def stride(self) -> int:
        """Bytes of one value of all lanes."""
        return self.width * self.bits // 8

    def number(self, value: float) -> str:
        """A constant of all lanes."""
        exact = float(np.float32(value)) if self.bits == 32 else value
        text = f"0x{struct.unpack('>Q', struct.pack('>d', exact))[0]:016X}"
        return text if self.width == 1 else f"splat ({self.scalar} {text})"


class _Emitter:
    """Writes one program; values live in named registers inside a chunk and in scratch slots across chunks."""

    def __init__(self, program: Program, build: Build, name: str) -> None:
        self.program, self.build, self.name = program, build, name
        self.lines: list[str] = []
        self.used: set[str] = set()
        sizes = [int(np.prod(shape)) for shape in program.input_shapes]
        self.input_of = [(k, e) for k, size in enumerate(sizes) for e in range(size)]
        self.slot_of: dict[int, list[int]] = {}
        for slot, i in enumerate(program.slots):
            self.slot_of.setdefault(i, []).append(slot)
        self.scratch: dict[int, int] = {}
        self.scratch_size = 0
        self.fresh = 0
        self.numbers: dict[float, int] = {}

    # -- memory ---------------------------------------------------------------------------------------------------

    def pointer(self, base: str, element: int) -> str:
        self.fresh += 1
        self.lines.append(f"%p{self.fresh} = getelementptr i8, ptr {base}, i64 {element * self.build.stride}")
        return f"%p{self.fresh}"

    def load(self, name: str, base: str, element: int) -> None:
        where = self.pointer(base, element)
        self.lines.append(f"{name} = load {self.build.vector}, ptr {where}, align {self.alignment}")

    def store(self, value: str, base: str, element: int) -> None:
        where = self.pointer(base, element)
        self.lines.append(f"store {self.build.vector} {value}, ptr {where}, align {self.alignment}")

    @property
    def alignment(self) -> int:
        return min(_ALIGNMENT, self.build.stride)

    # -- program --------------------------------------------------------------------------------------------------

    def text(self) -> str:
        angles = self.trigonometry()
        chunks = self.residence()
        functions = [self.angles_text(angles), *(self.chunk_text(k, events) for k, events in enumerate(chunks))]
        return "\n".join([*functions, self.kernel(len(chunks)), self.declarations()])

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

    def take(self, count: int = 1) -> int:
        self.scratch_size += count
        return self.scratch_size - count

    def residence(self) -> list[list[Event]]:
        instructions = self.program.instructions
        inputs = {i for i, (op, _) in enumerate(instructions) if op == "input"}
        early = set(self.scratch)
        in_memory = inputs | early | set(self.slot_of)
        found = plan(instructions, in_memory, early, self.build.registers, CHUNK, self.scratch_size)
        self.scratch |= found.scratch
        self.scratch_size = found.size
        self.local, self.local_size = found.local, found.local_size
        return found.chunks

    def angles_text(self, angles: dict[int, int]) -> str:
        """Sines and cosines of the inputs."""
        self.lines = []
        for angle, slot in angles.items():
            source, element = self.input_of[angle]
            x, y = self.pointer(f"%in{source}", element), self.pointer("%scratch", slot)
            self.lines.append(f"call void @{SINCOS_NAME}(ptr {x}, ptr {y})")
        return self.looped("angles")

    def chunk_text(self, k: int, events: Sequence[Event]) -> str:
        """Some of the instructions."""
        self.lines, self.names = [], {}
        for what, i in events:
            if what == "load":
                self.load_value(i)
            elif what == "store":
                self.store(self.names[i], *self.home(i))
            else:
                self.instruction(i)
        return self.looped(str(k))

    def looped(self, name: str) -> str:
        """A function that runs the lines over all tiles."""
        steps = self.strides()
        phis = [f"%{x} = phi ptr [ %{x}.first, %entry ], [ %{x}.next, %loop ]" for x in steps]
        nexts = [f"%{x}.next = getelementptr i8, ptr %{x}, i64 {step}" for x, step in steps.items()]
        counter = "%t = phi i64 [ %tiles, %entry ], [ %t.next, %loop ]"
        end = ["%t.next = sub i64 %t, 1", "%more = icmp ne i64 %t.next, 0", "br i1 %more, label %loop, label %done"]
        body = "\n  ".join([counter, *phis, *self.lines, *nexts, *end])
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
        inputs = [f"ptr noalias readonly %in{k}.first" for k in range(len(self.program.input_shapes))]
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
            self.load(self.names[i], f"%in{source}", element)
        else:
            self.load(self.names[i], *self.home(i))

    def home(self, i: int) -> tuple[str, int]:
        """Where a computed value is in memory."""
        if i in self.local:
            return "%local", self.local[i]
        return ("%scratch", self.scratch[i]) if i in self.scratch else ("%out", self.slot_of[i][0])

    def operand(self, i: int) -> str:
        """The register of a value; numbers are read from their table at every use, where they fold into the operation."""
        op, args = self.program.instructions[i]
        return self.number(args[0]) if op == "const" else self.names[i]

    def number(self, value: float) -> str:
        k = self.numbers.setdefault(value, len(self.numbers))
        self.fresh += 1
        n, s, t = self.fresh, self.build.scalar, self.build.vector
        self.lines.append(f"%q{n} = getelementptr {s}, ptr %numbers, i64 {k}")
        self.lines.append(f"%k{n} = load {s}, ptr %q{n}")
        if self.build.width == 1:
            return f"%k{n}"
        self.lines.append(f"%i{n} = insertelement {t} poison, {s} %k{n}, i64 0")
        self.lines.append(f"%s{n} = shufflevector {t} %i{n}, {t} poison, <{self.build.width} x i32> zeroinitializer")
        return f"%s{n}"

    def instruction(self, i: int) -> None:
        op, args = self.program.instructions[i]
        values = [self.operand(x) for x in args]
        self.names[i] = f"%v{i}"
        self.compute(f"%v{i}", op, values)
        for slot in self.slot_of.get(i, ()):
            self.store(self.names[i], "%out", slot)

    def compute(self, name: str, op: str, values: list[str]) -> None:
        t = self.build.vector
        if op in _BINARY:
            self.lines.append(f"{name} = {_BINARY[op]} {t} {values[0]}, {values[1]}")
        elif op == "neg":
            self.lines.append(f"{name} = fneg {t} {values[0]}")
        elif op in ("fma", "fms", "fnma"):
            self.fused(name, op, values)
        elif op in ("lt", "le"):
            self.compare(name, op, values)
        elif op == "select":
            self.choose(name, values)
        elif op in ("sin", "cos"):
            self.sincos(name, op, values[0])
        elif op in _INTRINSICS:
            self.call(name, f"llvm.{_INTRINSICS[op]}.{self.build.suffix}", values)
        else:
            self.libm(name, op, values)

    def call(self, name: str, function: str, values: Sequence[str]) -> None:
        t = self.build.vector
        self.used.add(f"declare {t} @{function}({', '.join([t] * len(values))})")
        self.lines.append(f"{name} = call {t} @{function}({', '.join(f'{t} {x}' for x in values)})")

    def fused(self, name: str, op: str, values: list[str]) -> None:
        a, b, c = values
        if op != "fma":
            self.fresh += 1
            self.lines.append(f"%n{self.fresh} = fneg {self.build.vector} {c if op == 'fms' else a}")
            a, c = (a, f"%n{self.fresh}") if op == "fms" else (f"%n{self.fresh}", c)
        self.call(name, f"llvm.fma.{self.build.suffix}", [a, b, c])

    def compare(self, name: str, op: str, values: list[str]) -> None:
        self.fresh += 1
        t, bit = self.build.vector, f"%c{self.fresh}"
        self.lines.append(f"{bit} = fcmp o{op} {t} {values[0]}, {values[1]}")
        yes, no = self.build.number(1.0), self.build.number(0.0)
        self.lines.append(f"{name} = select {self.bits_type} {bit}, {t} {yes}, {t} {no}")

    @property
    def bits_type(self) -> str:
        return "i1" if self.build.width == 1 else f"<{self.build.width} x i1>"

    def choose(self, name: str, values: list[str]) -> None:
        self.fresh += 1
        t, bit = self.build.vector, f"%c{self.fresh}"
        self.lines.append(f"{bit} = fcmp une {t} {values[0]}, {self.build.number(0.0)}")
        self.lines.append(f"{name} = select {self.bits_type} {bit}, {t} {values[1]}, {t} {values[2]}")

    def sincos(self, name: str, op: str, value: str) -> None:
        """Of an angle that is computed: through memory, by the same function as for the inputs."""
        slot = self.take(3)
        self.store(value, "%scratch", slot)
        x, y = self.pointer("%scratch", slot), self.pointer("%scratch", slot + 1)
        self.lines.append(f"call void @{SINCOS_NAME}(ptr {x}, ptr {y})")
        self.load(name, "%scratch", slot + 1 + (op == "cos"))

    def libm(self, name: str, op: str, values: Sequence[str]) -> None:
        """A function of the C library, lane by lane."""
        s, suffix = self.build.scalar, "" if self.build.bits == 64 else "f"
        self.used.add(f"declare {s} @{op}{suffix}({', '.join([s] * len(values))})")
        if self.build.width == 1:
            self.lines.append(f"{name} = call {s} @{op}{suffix}({', '.join(f'{s} {x}' for x in values)})")
            return
        t, so_far = self.build.vector, "poison"
        for lane in range(self.build.width):
            self.fresh += 1
            tag = f"{self.fresh}.{lane}"
            for k, x in enumerate(values):
                self.lines.append(f"%x{tag}.{k} = extractelement {t} {x}, i32 {lane}")
            args = ", ".join(f"{s} %x{tag}.{k}" for k in range(len(values)))
            self.lines.append(f"%y{tag} = call {s} @{op}{suffix}({args})")
            result = name if lane == self.build.width - 1 else f"%z{tag}"
            self.lines.append(f"{result} = insertelement {t} {so_far}, {s} %y{tag}, i32 {lane}")
            so_far = result

    def kernel(self, chunks: int) -> str:
        """The function that is called from outside."""
        size = max(1, self.scratch_size) * self.build.stride * (TILES if self.build.width > 1 else 1)
        local = max(1, self.local_size) * self.build.stride
        lines = [f"%{n} = alloca [{x} x i8], align {_ALIGNMENT}" for n, x in (("scratch", size), ("local", local))]
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
        body = "\n  ".join([*lines, "ret void"])
        return f"define void @{self.name}(ptr %inputs, ptr noalias %out, i64 %stride, i64 %tiles) #0 {{\n  {body}\n}}\n"

    def declarations(self) -> str:
        scalar = Build(1, self.build.bits)
        needs_sincos = any(op in ("sin", "cos") for op, _ in self.program.instructions)
        attributes: dict[str, Any] = {"min-legal-vector-width": 512, "prefer-vector-width": 512}
        words = " ".join(f'"{k}"="{v}"' for k, v in attributes.items())
        parts = [sincos_text(self.build)] if needs_sincos else []
        own = sorted(self.used - set(parts[0].splitlines() if parts else []))
        values = ", ".join(f"{self.build.scalar} {scalar.number(x)}" for x in self.numbers)
        table = (
            f"@{self.name}.numbers = internal constant [{len(self.numbers)} x {self.build.scalar}] [{values}], align 64"
        )
        return "\n".join([*parts, *own, table, f"attributes #0 = {{ nounwind alignstack=64 {words} }}", ""])


def kernel_text(program: Program, build: Build, name: str) -> str:
    """LLVM assembly of a program.

    Args:
        program: What to compute.
        build: Lanes and type.
        name: Name of the function.
    """
    return _Emitter(program, build, name).text()
