"""Single operations as LLVM assembly, on values of all lanes."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.codegen.build import Build
from surefoot.codegen.llvm.sincos import SINCOS_NAME

ALIGNMENT = 64
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "min": "minimum", "max": "maximum"}


class Operations:
    """Writes lines of a function. `used` collects the declarations that they need, `numbers` the constants.

    Args:
        build: Lanes and type.
    """

    def __init__(self, build: Build) -> None:
        self.build = build
        self.lines: list[str] = []
        self.used: set[str] = set()
        self.numbers: dict[float, int] = {}
        self.scratch_size = 0
        self.fresh = 0
        self._bits: tuple[list[str], dict[str, str]] = (self.lines, {})

    @property
    def bits(self) -> dict[str, str]:
        """Comparisons of the function that is being written, as one bit per lane, by the name of their 1 or 0."""
        if self._bits[0] is not self.lines:
            self._bits = (self.lines, {})
        return self._bits[1]

    def pointer(self, base: str, element: int) -> str:
        """The address of a value: an element of a tile."""
        self.fresh += 1
        self.lines.append(f"%p{self.fresh} = getelementptr i8, ptr {base}, i64 {element * self.build.stride}")
        return f"%p{self.fresh}"

    def load(self, name: str, base: str, element: int) -> None:
        """Read a value from a tile."""
        where = self.pointer(base, element)
        self.lines.append(f"{name} = load {self.build.vector}, ptr {where}, align {self.alignment}")

    def store(self, value: str, base: str, element: int) -> None:
        """Write a value to a tile."""
        where = self.pointer(base, element)
        self.lines.append(f"store {self.build.vector} {value}, ptr {where}, align {self.alignment}")

    @property
    def alignment(self) -> int:
        """Alignment of values in tiles, in bytes."""
        return min(ALIGNMENT, self.build.stride)

    def take(self, count: int = 1) -> int:
        """Scratch slots, of every tile."""
        self.scratch_size += count
        return self.scratch_size - count

    def load_scalar(self, base: str, element: int) -> str:
        """One number for all lanes."""
        self.fresh += 1
        n, s, t = self.fresh, self.build.scalar, self.build.vector
        self.lines.append(f"%q{n} = getelementptr {s}, ptr {base}, i64 {element}")
        self.lines.append(f"%k{n} = load {s}, ptr %q{n}")
        if self.build.width == 1:
            return f"%k{n}"
        self.lines.append(f"%i{n} = insertelement {t} poison, {s} %k{n}, i64 0")
        self.lines.append(f"%s{n} = shufflevector {t} %i{n}, {t} poison, <{self.build.width} x i32> zeroinitializer")
        return f"%s{n}"

    def number(self, value: float) -> str:
        """A constant: read from the table `%numbers` at each use, where it folds into the operation."""
        return self.load_scalar("%numbers", self.numbers.setdefault(value, len(self.numbers)))

    def compute(self, name: str, op: str, values: list[str]) -> None:
        """One operation."""
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
        """Call a function on values."""
        t = self.build.vector
        self.used.add(f"declare {t} @{function}({', '.join([t] * len(values))})")
        flags = "nsz " if function.startswith(("llvm.minimum", "llvm.maximum")) else ""
        self.lines.append(f"{name} = call {flags}{t} @{function}({', '.join(f'{t} {x}' for x in values)})")

    def fused(self, name: str, op: str, values: list[str]) -> None:
        """A fused multiply-add, with signs."""
        a, b, c = values
        if op != "fma":
            self.fresh += 1
            self.lines.append(f"%n{self.fresh} = fneg {self.build.vector} {c if op == 'fms' else a}")
            a, c = (a, f"%n{self.fresh}") if op == "fms" else (f"%n{self.fresh}", c)
        self.call(name, f"llvm.fma.{self.build.suffix}", [a, b, c])

    def compare(self, name: str, op: str, values: list[str]) -> None:
        """1 where a comparison holds, else 0."""
        self.fresh += 1
        t, bit = self.build.vector, f"%c{self.fresh}"
        self.lines.append(f"{bit} = fcmp o{op} {t} {values[0]}, {values[1]}")
        self.bits[name] = bit
        yes, no = self.build.number(1.0), self.build.number(0.0)
        self.lines.append(f"{name} = select {self.bits_type} {bit}, {t} {yes}, {t} {no}")

    @property
    def bits_type(self) -> str:
        """LLVM's name of one bit per lane."""
        return "i1" if self.build.width == 1 else f"<{self.build.width} x i1>"

    def choose(self, name: str, values: list[str]) -> None:
        """One of two values, by a third."""
        self.fresh += 1
        t, bit = self.build.vector, self.bits.get(values[0], f"%c{self.fresh}")
        if values[0] not in self.bits:
            self.lines.append(f"{bit} = fcmp une {t} {values[0]}, {self.build.number(0.0)}")
        self.lines.append(f"{name} = select {self.bits_type} {bit}, {t} {values[1]}, {t} {values[2]}")

    def sincos(self, name: str, op: str, value: str) -> None:
        """Sine and cosine of a computed angle: through memory, by the same function as for the inputs."""
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
