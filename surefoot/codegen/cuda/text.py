"""Straight-line programs as CUDA C: one thread per state.

    void name(const real* in0, long long element0, long long state0, …, real* out0, long long …, long long n)

Entry e of state s of an array is at e · element + s · state: rows (n, dim) and columns (dim, n) are both taken as they
are. Warps copy rows element by element and columns state by state, so that neighbouring threads touch neighbouring
memory in either case, and turn them in shared memory. See `cuda_plan` for what is where.

The text needs no header. Other compilers than NVIDIA's see plain C++, for which a few definitions make threads
(`tests/compiler/test_cuda.py`), so that the text can be run without a GPU.

What every kernel text begins with: memory of the warp, copies to it, results from it; and numbers as text.

NVIDIA's compilers see assembler for what must stay where it is written. Other compilers see plain C++.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from surefoot.codegen.cuda.plan import PITCH, WARP, Placement, Step, place
from surefoot.codegen.cuda.shape import HOPPER, Device, Shape, choose
from surefoot.codegen.program import Program

_HEAD = """\
namespace surefoot {{
typedef {real} real;
typedef long long index;
extern __shared__ real memory[];

#ifdef __CUDACC__
// The assembler keeps these where they are written: the compiler neither moves them nor makes registers of them.
__device__ __forceinline__ unsigned start() {{ return (unsigned)__cvta_generic_to_shared(memory); }}
__device__ __forceinline__ real get(unsigned at) {{
  real x;
  asm volatile("ld.volatile.shared.f{bits} %0, [%1];" : "={letter}"(x) : "r"(at));
  return x;
}}
__device__ __forceinline__ void put(unsigned at, real x) {{
  asm volatile("st.volatile.shared.f{bits} [%0], %1;" ::"r"(at), "{letter}"(x));
}}
__device__ __forceinline__ index start_of(real* far) {{ return (index)__cvta_generic_to_local(far); }}
__device__ __forceinline__ real recall(index at) {{
  real x;
  asm volatile("ld.local.f{bits} %0, [%1];" : "={letter}"(x) : "l"(at));
  return x;
}}
__device__ __forceinline__ void leave(index at, real x) {{
  asm volatile("st.local.f{bits} [%0], %1;" ::"l"(at), "{letter}"(x));
}}
#else
static inline index start_of(real* far) {{ return (index)far; }}
static inline real recall(index at) {{ return *(real*)at; }}
static inline void leave(index at, real x) {{ *(real*)at = x; }}
static inline unsigned start() {{ return 0; }}
static inline real get(unsigned at) {{ return memory[at / {size}]; }}
static inline void put(unsigned at, real x) {{ memory[at / {size}] = x; }}
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
__device__ __forceinline__ void copy(unsigned to, const real* from) {{
  asm volatile("cp.async.ca.shared.global [%0], [%1], {size};" ::"r"(to), "l"(from));
}}
__device__ __forceinline__ void end_of_group() {{ asm volatile("cp.async.commit_group;"); }}
__device__ __forceinline__ void wait_for_first_group() {{ asm volatile("cp.async.wait_group 1;" ::: "memory"); }}
__device__ __forceinline__ void wait_for_copies() {{ asm volatile("cp.async.wait_all;" ::: "memory"); }}
#else
__device__ __forceinline__ void copy(unsigned to, const real* from) {{ put(to, *from); }}
__device__ __forceinline__ void end_of_group() {{}}
__device__ __forceinline__ void wait_for_first_group() {{}}
__device__ __forceinline__ void wait_for_copies() {{}}
#endif

// Elements of an input, of the {warp} states from `first` on, to neighbouring slots of the tile.
template <int count>
__device__ __forceinline__ void take(unsigned tile, const real* in, index element, index state, index first, index n) {{
  const int lane = threadIdx.x % {warp};
  if (state == 1) {{
    const real* from = in + (first + lane < n ? first + lane : n - 1);
    unsigned to = tile + lane * {size};
#pragma unroll 4
    for (int e = 0; e < count; ++e, to += {pitch}, from += element) copy(to, from);
  }} else {{
#pragma unroll 2
    for (int s = 0; s < {warp}; ++s) {{
      const real* from = in + (first + s < n ? first + s : n - 1) * state;
#pragma unroll
      for (int e = lane; e < count; e += {warp}) copy(tile + e * {pitch} + s * {size}, from + e * element);
    }}
  }}
}}

// Results that wait in the tile, to an output: `table` holds their place in the tile and their element.
__device__ __forceinline__ void give(unsigned tile, const int (*table)[2], int count, real* out, index element,
                                     index state, index first, index n) {{
  const int lane = threadIdx.x % {warp};
  if (state == 1) {{
    real* to = out + first + lane;
    if (first + lane < n) {{
#pragma unroll 4
      for (int k = 0; k < count; ++k) to[table[k][1] * element] = get(tile + table[k][0] + lane * {size});
    }}
  }} else {{
    const int states = (int)(n - first < {warp} ? n - first : {warp});
    for (int k = lane; k < count; k += {warp}) {{
      real* to = out + first * state + table[k][1] * element;
      unsigned from = tile + table[k][0];
#pragma unroll 4
      for (int s = 0; s < states; ++s, to += state, from += {size}) *to = get(from);
    }}
  }}
}}
"""


def prelude(bits: int) -> str:
    """The text; it opens the namespace `surefoot`, which the kernel must close.

    Args:
        bits: 64 or 32.
    """
    real, letter = ("double", "d") if bits == 64 else ("float", "f")
    return _HEAD.format(real=real, letter=letter, bits=bits, size=bits // 8, pitch=PITCH * bits // 8, warp=WARP)


def literal(number: float, bits: int) -> str:
    """The exact number, or the nearest one of single precision.

    Args:
        number: May be infinite or not a number.
        bits: 64 or 32.
    """
    with np.errstate(over="ignore"):
        exact = float(np.float32(number)) if bits == 32 else float(number)
    if math.isfinite(exact):
        return exact.hex() + ("f" if bits == 32 else "")
    return "(real(0) / real(0))" if math.isnan(exact) else f"({'-' if exact < 0 else ''}real(1) / real(0))"


_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_FORMS = {"neg": "-({0})", "lt": "real({0} < {1})", "le": "real({0} <= {1})",
          "select": "({0} != real(0) ? {1} : {2})"}  # fmt: skip
_CALLS = {"fma": "fma{f}({0}, {1}, {2})", "fms": "fma{f}({0}, {1}, -({2}))", "fnma": "fma{f}(-({0}), {1}, {2})",
          "abs": "fabs{f}({0})", "min": "({0} < {1} || {0} != {0} ? {0} : {1})",
          "max": "({0} > {1} || {0} != {0} ? {0} : {1})", "pow": "pow{f}({0}, {1})",
          "atan2": "atan2{f}({0}, {1})"}  # fmt: skip
_CONSTANT_ENTRIES = 2048  # of tables in constant memory, which is small
_UNARY = ("sqrt", "tan", "exp", "log", "acos")


@dataclass(frozen=True)
class KernelSource:
    """The text of a kernel and how to start it.

    Args:
        name: Of the kernel.
        text: CUDA C.
        bits: 64 or 32.
        threads: Of a block.
        states: That a block computes; there are as many blocks as it takes.
        shared_bytes: Shared memory of a block.
        input_shapes: Of one state.
        output_shapes: Of one state.
    """

    name: str
    text: str
    bits: int
    threads: int
    states: int
    shared_bytes: int
    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]


def kernel_source(
    program: Program,
    bits: int,
    name: str,
    device: Device = HOPPER,
    shape: Shape | None = None,
) -> KernelSource:
    """CUDA C of a program.

    Args:
        program: What to compute; traced without interleaving, which would only keep more values alive.
        bits: 64 or 32.
        name: Letters, digits and underscores; the kernel is called surefoot_name.
        device: The GPU that it is for.
        shape: How to spread it; chosen by default.
    """
    if shape is None:
        shape, placement = choose(program, bits, device)
    else:
        placement = place(program, shape.values, shape.slots)
    name = f"surefoot_{name}"
    text = _Writer(program, bits, name, shape, placement).text()
    shared = placement.slots * PITCH * bits // 8 * shape.warps
    threads, shapes = shape.warps * WARP, (program.input_shapes, program.output_shapes)
    return KernelSource(name, text, bits, threads, threads, shared, *shapes)


class _Writer:
    def __init__(self, program: Program, bits: int, name: str, shape: Shape, placement: Placement) -> None:
        self.program, self.bits, self.name, self.shape, self.placement = program, bits, name, shape, placement
        self.suffix = "" if bits == 64 else "f"
        self.pitch = PITCH * bits // 8
        self.arrays = len(program.output_shapes)
        self.entries = _entries(program)
        self.names: dict[int, str] = {}
        self.lines: list[str] = []
        self.numbers: dict[float, int] = {}
        self.pairs: dict[int, dict[str, int]] = {}
        for i, (op, args) in enumerate(program.instructions):
            if op in ("sin", "cos"):
                self.pairs.setdefault(args[0], {})[op] = i

    def text(self) -> str:
        for step in self.placement.steps:
            getattr(self, step.action)(step)
        body, self.lines = self.lines, []
        self.start()
        return "\n".join([prelude(self.bits), *self.tables(), self.signature(), *self.lines, *body, "}", "}", ""])

    def add(self, line: str) -> None:
        self.lines.append("  " + line)

    # -- around the program ---------------------------------------------------------------------------------------

    def tables(self) -> list[str]:
        """Numbers of double precision, which do not fit into instructions; slots of angles and of results."""
        lines = []
        if self.numbers:
            lines.append(f"__constant__ real number[] = {{{', '.join(literal(x, self.bits) for x in self.numbers)}}};")
        if self.placement.angles:
            rows = ", ".join(
                f"{{{a * self.pitch}, {s * self.pitch}, {c * self.pitch}}}" for a, s, c in self.placement.angles
            )
            lines.append(f"__constant__ unsigned angle[][3] = {{{rows}}};")
        gifts = self.gifts()
        memory = "__constant__" if sum(len(rows) for _, _, rows in gifts) <= _CONSTANT_ENTRIES else "__device__ const"
        for group, array, entries in gifts:
            rows = ", ".join(f"{{{slot * self.pitch}, {element}}}" for slot, element in entries)
            lines.append(f"{memory} int result{group}_{array}[][2] = {{{rows}}};")
        return lines

    def gifts(self) -> list[tuple[int, int, list[tuple[int, int]]]]:
        """(group, array, [(slot, element)]) of everything that is stored."""
        found = []
        for group, waiting in enumerate(self.placement.groups):
            for array in range(self.arrays):
                rows = [(slot, e) for source, slot in waiting for k, e in self.entries[source] if k == array]
                if rows:
                    found.append((group, array, sorted(rows, key=lambda row: row[1])))
        return found

    def signature(self) -> str:
        inputs = [f"const real* in{k}, index ie{k}, index is{k}" for k in range(len(self.program.input_shapes))]
        outputs = [f"real* out{k}, index oe{k}, index os{k}" for k in range(self.arrays)]
        bounds = f"__launch_bounds__({self.shape.warps * WARP}, {self.shape.blocks})"
        return f'extern "C" __global__ void {bounds} {self.name}({", ".join([*inputs, *outputs, "index n"])}) {{'

    def start(self) -> None:
        """Inputs and angles."""
        tile_size = self.placement.slots * self.pitch
        self.add(f"const int lane = threadIdx.x % {WARP}, warp = threadIdx.x / {WARP};")
        self.add(f"const index first = blockIdx.x * (index){self.shape.warps * WARP} + warp * {WARP};")
        if any(step.action == "fetch" for step in self.placement.steps):
            self.add("const index state = first + lane < n ? first + lane : n - 1;")
        self.add("if (first >= n) return;")
        self.add(f"const unsigned tile = start() + warp * {tile_size}u, m = tile + lane * {self.bits // 8}u;")
        if self.placement.far:
            self.add(f"real far_values[{self.placement.far}];\n  const index far = start_of(far_values) + (n >> 62);")
        for k, (array, e, count, slot) in enumerate(self.placement.runs):
            where = f"tile + {slot * self.pitch}u, in{array} + {e} * ie{array}, ie{array}, is{array}"
            self.add(f"take<{count}>({where}, first, n);")
            if k == self.placement.early - 1:
                self.add("end_of_group();")
        self.add("end_of_group();")
        self.angles()
        self.add("wait_for_copies();\n  __syncwarp();")

    def angles(self) -> None:
        count = len(self.placement.angles)
        if count:
            self.add("wait_for_first_group();\n  __syncwarp();")
            self.lines.append("#pragma unroll 1")
            self.add(f"for (int k = 0; k < {count}; ++k) {{")
            self.add(f"  real s, c;\n    sincos{self.suffix}(get(m + angle[k][0]), &s, &c);")
            self.add("  put(m + angle[k][1], s);\n    put(m + angle[k][2], c);\n  }")

    # -- steps ----------------------------------------------------------------------------------------------------

    def value(self, i: int, text: str) -> None:
        """A new name for the value of an instruction; loaded again, it is another one."""
        self.names[i] = f"v{i}" if i not in self.names else self.names[i] + "_"
        self.add(f"const real {self.names[i]} = {text};")

    def read(self, step: Step) -> None:
        self.value(step.value, f"get(m + {step.where * self.pitch}u)")

    def recall(self, step: Step) -> None:
        self.value(step.value, f"recall(far + {step.where * self.bits // 8})")

    def fetch(self, step: Step) -> None:
        k = self.program.instructions[step.value][1][0]
        for array, shape in enumerate(self.program.input_shapes):
            if k < math.prod(shape):
                self.value(step.value, f"in{array}[{k} * ie{array} + state * is{array}]")
                return
            k -= math.prod(shape)

    def keep(self, step: Step) -> None:
        self.add(f"put(m + {step.where * self.pitch}u, {self.names[step.value]});")

    stage = keep

    def leave(self, step: Step) -> None:
        self.add(f"leave(far + {step.where * self.bits // 8}, {self.names[step.value]});")

    def number(self, step: Step) -> None:
        self.add(f"put(m + {step.where * self.pitch}u, {literal(self.program.numbers[step.value], self.bits)});")

    def flush(self, step: Step) -> None:
        self.add("__syncwarp();")
        for group, k, rows in self.gifts():
            if group == step.value:
                self.add(f"give(tile, result{group}_{k}, {len(rows)}, out{k}, oe{k}, os{k}, first, n);")
        self.add("__syncwarp();")

    def compute(self, step: Step) -> None:
        op, args = self.program.instructions[step.value]
        values = [self.operand(x) for x in args]
        if op in ("sin", "cos"):
            self.sine_and_cosine(step.value, args[0], values[0])
        elif op in _INFIX:
            self.value(step.value, f"{values[0]} {_INFIX[op]} {values[1]}")
        elif op in _UNARY:
            self.value(step.value, f"{op}{self.suffix}({values[0]})")
        else:
            self.value(step.value, {**_FORMS, **_CALLS}[op].format(*values, f=self.suffix))

    def sine_and_cosine(self, i: int, angle: int, value: str) -> None:
        """Sine and cosine of a computed angle: both at once, when the first of them is needed."""
        if i not in self.names:
            both = {op: self.pairs[angle].get(op, -1) for op in ("sin", "cos")}
            self.add(f"real s{angle}, c{angle};\n  sincos{self.suffix}({value}, &s{angle}, &c{angle});")
            self.names.update({k: f"{op[0]}{angle}" for op, k in both.items() if k >= 0})

    def operand(self, i: int) -> str:
        op, args = self.program.instructions[i]
        if op != "const":
            return self.names[i]
        if self.bits == 32:
            return literal(args[0], self.bits)
        return f"number[{self.numbers.setdefault(args[0], len(self.numbers))}]"


def _entries(program: Program) -> dict[int, list[tuple[int, int]]]:
    """(array, element) of every entry that shows a slot k of the program, or number k as −1 − k."""
    found: dict[int, list[tuple[int, int]]] = {}
    for array, layout in enumerate(program.layout):
        for element, source in enumerate(layout):
            found.setdefault(source, []).append((array, element))
    return found
