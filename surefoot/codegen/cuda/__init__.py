"""CUDA C of a traced program, one thread per state."""

from surefoot.codegen.cuda.kernel import GpuKernel
from surefoot.codegen.cuda.module import spread_source
from surefoot.codegen.cuda.plan import RESULTS
from surefoot.codegen.cuda.text import kernel_source

__all__ = ["RESULTS", "GpuKernel", "kernel_source", "spread_source"]
