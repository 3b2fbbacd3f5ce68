"""From a traced graph to machine code: SIMD kernels, CUDA, loops of plain Python; batches and the cache on disk.

trace (program) → clean-up (graph) → order (program, residence) → LLVM assembly (llvm) or CUDA C (cuda) → object code
(llvm.native) → disk (cache, artifact) → Kernel. Knows no robot.
"""

from surefoot.codegen import cache
from surefoot.codegen.artifact import Recipe, identity_of
from surefoot.codegen.batch import thread_count
from surefoot.codegen.build import Build
from surefoot.codegen.cache import Entry, bound, cache_folder, clear, entries, kernel_folder, read_size, size_limit
from surefoot.codegen.cache_files import CacheError
from surefoot.codegen.function import compile_function, trace_key
from surefoot.codegen.kernel import Kernel, ReferenceKernel
from surefoot.codegen.program import Program, trace
from surefoot.codegen.spec import MAX_ARRAYS

__all__ = [
    "MAX_ARRAYS",
    "Build",
    "CacheError",
    "Entry",
    "Kernel",
    "Program",
    "Recipe",
    "ReferenceKernel",
    "bound",
    "cache",
    "cache_folder",
    "clear",
    "compile_function",
    "entries",
    "identity_of",
    "kernel_folder",
    "read_size",
    "size_limit",
    "thread_count",
    "trace",
    "trace_key",
]
