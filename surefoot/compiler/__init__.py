"""The robot compiler: all quantities of a robot as kernels, each built on first use by `codegen`."""

from surefoot.compiler.kernel_set import STANDARD, KernelSet, compile_robot
from surefoot.compiler.large_trees import LOOP_FROM

__all__ = ["LOOP_FROM", "STANDARD", "KernelSet", "compile_robot"]
