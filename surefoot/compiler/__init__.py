"""The robot compiler: traced functions become machine code, one SIMD lane per state.

trace (program) → clean-up (graph, fuse) → order (order, residence) → LLVM assembly (llvm_text) or CUDA C (cuda_text) →
object code (native) → disk (cache, artifact) → Kernel, KernelSet.
"""

from surefoot.codegen.function import compile_function
from surefoot.codegen.kernel import Kernel
from surefoot.codegen.repeated import Repeated, Repeats
from surefoot.compiler.kernel_set import STANDARD, KernelSet, compile_robot
from surefoot.compiler.large_trees import LOOP_FROM

__all__ = ["LOOP_FROM", "STANDARD", "Kernel", "KernelSet", "Repeated", "Repeats", "compile_function", "compile_robot"]
