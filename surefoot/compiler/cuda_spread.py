"""From packed columns to dense rows, on a GPU.

A program with many results finishes them in an order of its own, a few at a time. Written to rows, each would touch
another piece of device memory. So they are stored packed, one column per slot, which neighbouring threads write
together; and this kernel copies them to the rows, 32 states and 32 neighbouring entries at a time.
"""

from __future__ import annotations

import math

from surefoot.compiler.cuda_plan import PITCH, WARP
from surefoot.compiler.cuda_prelude import literal, prelude
from surefoot.compiler.cuda_text import KernelSource
from surefoot.compiler.program import Program

__all__ = ["spread_source"]

_WARPS = 4

_FUNCTION = """
// Entries of one output: slots of the input, or numbers.
__device__ __forceinline__ void spread(unsigned tile, const int* table, index entries, const real* in, index element,
                                       index state, real* out, index oe, index os, index first, index n) {{
  const int lane = threadIdx.x % {warp};
  const real* own = in + (first + lane < n ? first + lane : n - 1) * state;
  const int states = (int)(n - first < {warp} ? n - first : {warp});
  for (index e = 0; e < entries; e += {warp}) {{
    const int some = (int)(entries - e < {warp} ? entries - e : {warp});
#pragma unroll 8
    for (int k = 0; k < some; ++k) {{
      const int slot = table[e + k];
      put(tile + k * {pitch} + lane * {size}, slot >= 0 ? own[slot * element] : number[-1 - slot]);
    }}
    __syncwarp();
    if (lane < some) {{
#pragma unroll 8
      for (int s = 0; s < states; ++s)
        out[(first + s) * os + (e + lane) * oe] = get(tile + lane * {pitch} + s * {size});
    }}
    __syncwarp();
  }}
}}
"""


def spread_source(program: Program, bits: int, name: str) -> KernelSource:
    """The kernel that makes the outputs of a program from those of `program.packed`.

    Args:
        program: With dense outputs.
        bits: 64 or 32.
        name: Letters, digits and underscores; the kernel is called surefoot_name.
    """
    tile, size = WARP * PITCH * bits // 8, bits // 8
    outputs = range(len(program.output_shapes))
    numbers = ", ".join(literal(x, bits) for x in (*program.numbers, 0.0))
    tables = [
        f"__device__ const int table{k}[] = {{{', '.join(map(str, program.layout[k])) or '0'}}};" for k in outputs
    ]
    arguments = ", ".join(
        ["const real* in0, index ie, index is", *(f"real* out{k}, index oe{k}, index os{k}" for k in outputs)]
    )
    lines = [
        prelude(bits),
        f"__device__ const real number[] = {{{numbers}}};",
        *tables,
        _FUNCTION.format(warp=WARP, pitch=PITCH * size, size=size),
        f'extern "C" __global__ void surefoot_{name}({arguments}, index n) {{',
        f"  const index first = blockIdx.x * (index){_WARPS * WARP} + threadIdx.x / {WARP} * {WARP};",
        "  if (first >= n) return;",
        f"  const unsigned tile = start() + threadIdx.x / {WARP} * {tile}u;",
    ]
    for k in outputs:
        entries = math.prod(program.output_shapes[k])
        lines.append(f"  spread(tile, table{k}, {entries}, in0, ie, is, out{k}, oe{k}, os{k}, first, n);")
    shapes = program.packed.output_shapes, program.output_shapes
    return KernelSource(
        f"surefoot_{name}", "\n".join([*lines, "}", "}", ""]), bits, _WARPS * WARP, tile * _WARPS, *shapes
    )
