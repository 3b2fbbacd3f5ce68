"""From packed columns to dense rows, on a GPU.

A program with many results finishes them in an order of its own, a few at a time. Written to rows, each would touch
another piece of device memory. So they are stored packed, one column per slot, which neighbouring threads write
together; and this kernel copies them to the rows, 32 states and 32 neighbouring entries per warp. All warps of a block
have the same states, so that rows are whole before the cache passes them on.
"""

from __future__ import annotations

from surefoot.compiler.cuda_plan import PITCH, WARP
from surefoot.compiler.cuda_prelude import literal, prelude
from surefoot.compiler.cuda_shape import HOPPER, Device
from surefoot.compiler.cuda_text import KernelSource
from surefoot.compiler.program import Program

__all__ = ["spread_source"]

_BYTES = 64  # of values of one state that a block has in hand
_CONSTANT_ENTRIES = 8192  # of tables in constant memory, which is small

_FUNCTION = """
// Entries of one output, {warp} at a time: slots of the input, or numbers.
__device__ __forceinline__ void spread(unsigned tile, const int* table, index entries, const real* in, index element,
                                       index state, real* out, index oe, index os, index first, index n) {{
  const int lane = threadIdx.x % {warp};
  const real* own = in + (first + lane < n ? first + lane : n - 1) * state;
  const int states = (int)(n - first < {warp} ? n - first : {warp});
  for (index e = threadIdx.x / {warp} * {warp}; e < entries; e += {threads}) {{
    const int some = (int)(entries - e < {warp} ? entries - e : {warp});
#pragma unroll 8
    for (int k = 0; k < some; ++k) {{
      const int slot = table[e + k];
      const unsigned to = tile + k * {pitch} + lane * {size};
      if (slot >= 0) copy(to, own + slot * element);
      else put(to, number[-1 - slot]);
    }}
    wait_for_copies();
    __syncwarp();
    if (lane < some) {{
      real* to = out + first * os + (e + lane) * oe;
#pragma unroll 8
      for (int s = 0; s < states; ++s, to += os) *to = get(tile + lane * {pitch} + s * {size});
    }}
    __syncwarp();
  }}
}}
"""


def spread_source(program: Program, bits: int, name: str, device: Device = HOPPER) -> KernelSource:
    """The kernel that makes the outputs of a program from those of `program.packed`.

    Args:
        program: With dense outputs.
        bits: 64 or 32.
        name: Letters, digits and underscores; the kernel is called surefoot_name.
        device: The GPU that it is for.
    """
    name, size = f"surefoot_{name}", bits // 8
    tile = WARP * PITCH * size
    warps = min(_BYTES // size, device.per_block // tile)
    outputs = ", ".join(f"real* out{k}, index oe{k}, index os{k}" for k in range(len(program.layout)))
    lines = [
        prelude(bits),
        *_tables(program, bits),
        _FUNCTION.format(warp=WARP, pitch=PITCH * size, size=size, threads=warps * WARP),
        f'extern "C" __global__ void {name}(const real* in0, index ie, index is, {outputs}, index n) {{',
        f"  const index first = blockIdx.x * (index){WARP};",
        f"  const unsigned tile = start() + threadIdx.x / {WARP} * {tile}u;",
        *(
            f"  spread(tile, table{k}, {len(layout)}, in0, ie, is, out{k}, oe{k}, os{k}, first, n);"
            for k, layout in enumerate(program.layout)
        ),
        "}\n}\n",
    ]
    shapes = program.packed.output_shapes, program.output_shapes
    return KernelSource(name, "\n".join(lines), bits, warps * WARP, WARP, tile * warps, *shapes)


def _tables(program: Program, bits: int) -> list[str]:
    """Slots of the entries of every output, and numbers; with one more than needed, as none may be empty."""
    memory = "__constant__" if sum(map(len, program.layout)) <= _CONSTANT_ENTRIES else "__device__ const"
    numbers = ", ".join(literal(x, bits) for x in (*program.numbers, 0.0))
    slots = [", ".join(map(str, (*layout, 0))) for layout in program.layout]
    tables = [f"{memory} int table{k}[] = {{{row}}};" for k, row in enumerate(slots)]
    return [f"{memory} real number[] = {{{numbers}}};", *tables]
