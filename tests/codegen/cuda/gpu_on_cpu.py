"""Runs the text of a CUDA kernel on the CPU: g++ reads it as C++, threads of the GPU become threads of the system."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from surefoot.codegen.cuda.text import KernelSource

__all__ = ["COMPILER", "Emulated"]

COMPILER = shutil.which("g++")

BEFORE = """
#include <math.h>
#include <pthread.h>
#define __global__
#define __device__
#define __constant__ static const
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx;
static pthread_barrier_t barriers[32];
static void __syncwarp() { pthread_barrier_wait(&barriers[threadIdx.x / 32]); }
"""

AFTER = """
namespace surefoot {{ real memory[{shared} / sizeof(real) + 1]; }}
static void** p;
static long long *s, n;
static unsigned block;
static void* thread(void* number) {{
  using surefoot::real;
  threadIdx.x = (unsigned)(long long)number;
  blockIdx.x = block;
  surefoot::{name}({arguments}, n);
  return 0;
}}
extern "C" void launch(void** pointers, long long* strides, long long states) {{
  p = pointers, s = strides, n = states;
  for (int k = 0; k < {threads} / 32; ++k) pthread_barrier_init(&barriers[k], 0, 32);
  for (block = 0; block * {states} < n; ++block) {{
    for (auto& x : surefoot::memory) x = NAN;
    pthread_t threads[{threads}];
    for (long long t = 0; t < {threads}; ++t) pthread_create(&threads[t], 0, thread, (void*)t);
    for (long long t = 0; t < {threads}; ++t) pthread_join(threads[t], 0);
  }}
}}
"""


class Emulated:
    """A kernel on the CPU.

    Args:
        source: Its text.
        folder: For the files of the compiler.
    """

    def __init__(self, source: KernelSource, folder: Path) -> None:
        self.source = source
        inputs, outputs = len(source.input_shapes), len(source.output_shapes)
        pointers = [
            f"({'const ' * (k < inputs)}real*)p[{k}], s[{2 * k}], s[{2 * k + 1}]" for k in range(inputs + outputs)
        ]
        shape = {"shared": source.shared_bytes, "threads": source.threads, "states": source.states, "name": source.name}
        path = folder / f"{source.name}.cpp"
        path.write_text(BEFORE + source.text + AFTER.format(arguments=", ".join(pointers), **shape))
        command = [COMPILER, "-std=c++17", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-pthread"]
        subprocess.run([*command, "-o", path.with_suffix(".so"), path], check=True)
        self.library = ctypes.CDLL(str(path.with_suffix(".so")))

    def __call__(self, *inputs: np.ndarray, columns: bool = False) -> list[np.ndarray]:
        """Outputs (n, …) of inputs (n, …), both kept state by state or, as columns, element by element."""
        n, dtype = len(inputs[0]), np.dtype(f"f{self.source.bits // 8}")
        order = "F" if columns else "C"
        given = [np.array(x.reshape(n, -1), dtype, order=order) for x in inputs]
        found = [np.full((n, int(np.prod(shape))), np.nan, dtype, order=order) for shape in self.source.output_shapes]
        self.launch([*given, *found], n)
        return [x.reshape(n, *shape) for x, shape in zip(found, self.source.output_shapes, strict=True)]

    def launch(self, arrays: Sequence[np.ndarray], n: int) -> None:
        addresses = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
        strides = [stride // x.itemsize for x in arrays for stride in (x.strides[1], x.strides[0])]
        self.library.launch(addresses, (ctypes.c_longlong * len(strides))(*strides), ctypes.c_longlong(n))
