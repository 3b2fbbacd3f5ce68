"""Runs the text of a CUDA kernel on the CPU: g++ reads it as C++, threads of the GPU become threads of the system."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np

from surefoot.compiler.cuda_text import KernelSource

COMPILER = shutil.which("g++")

BEFORE = """
#include <barrier>
#include <cmath>
#include <thread>
#include <vector>
#define __global__
#define __device__
#define __constant__ static const
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx;
static thread_local std::barrier<> *warp_barrier, *block_barrier;
static void __syncwarp() { warp_barrier->arrive_and_wait(); }
static void __syncthreads() { block_barrier->arrive_and_wait(); }
"""

AFTER = """
namespace surefoot {{ real memory[{shared} / sizeof(real) + 1]; }}
extern "C" void launch(void** p, long long* s, long long n) {{
  using surefoot::real;
  for (unsigned block = 0; block * {threads} < n; ++block) {{
    std::vector<std::thread> threads;
    std::barrier<> all({threads});
    std::vector<std::barrier<>*> warps;
    for (int k = 0; k < {threads} / 32; ++k) warps.push_back(new std::barrier<>(32));
    for (unsigned t = 0; t < {threads}; ++t)
      threads.emplace_back([=, &all] {{
        threadIdx.x = t;
        blockIdx.x = block;
        warp_barrier = warps[t / 32];
        block_barrier = &all;
        surefoot::{name}({arguments}, n);
      }});
    for (auto& thread : threads) thread.join();
    for (auto* warp : warps) delete warp;
  }}
}}
"""


def run(source: KernelSource, folder: Path, arrays: list[np.ndarray], outputs: list[np.ndarray], n: int) -> None:
    """Call the kernel on arrays (n, dim), whose strides it is given, and fill the outputs."""
    count = len(arrays) + len(outputs)
    pointers = [f"({'const ' if k < len(arrays) else ''}real*)p[{k}], s[{2 * k}], s[{2 * k + 1}]" for k in range(count)]
    after = AFTER.format(
        shared=source.shared_bytes, threads=source.threads, name=source.name, arguments=", ".join(pointers)
    )
    path = folder / f"{source.name}.cpp"
    path.write_text(BEFORE + source.text + after)
    library = path.with_suffix(".so")
    subprocess.run([COMPILER, "-std=c++20", "-O1", "-ffp-contract=off", "-mfma", "-shared", "-fPIC", "-pthread", "-o",
                    library, path], check=True)  # fmt: skip
    both = [*arrays, *outputs]
    addresses = (ctypes.c_void_p * count)(*(x.ctypes.data for x in both))
    strides = [x.strides[axis] // x.itemsize for x in both for axis in (1, 0)]
    ctypes.CDLL(str(library)).launch(addresses, (ctypes.c_longlong * len(strides))(*strides), ctypes.c_longlong(n))
