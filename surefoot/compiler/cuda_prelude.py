"""What every kernel text begins with: memory of the warp, copies to it, results from it; and numbers as text.

NVIDIA's compilers see assembler for what must stay where it is written. Other compilers see plain C++.
"""

from __future__ import annotations

import math

import numpy as np

from surefoot.compiler.cuda_plan import PITCH, WARP

__all__ = ["literal", "prelude"]

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
