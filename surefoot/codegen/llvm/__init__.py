"""LLVM IR of a traced program, its elementary functions, and the loader of object code."""

from surefoot.codegen.llvm.native import compile_text, load_object, vector_width
from surefoot.codegen.llvm.operations import ALIGNMENT, Operations
from surefoot.codegen.llvm.text import TILES, KernelText, KernelWriter, kernel_text, module_text

__all__ = [
    "ALIGNMENT",
    "TILES",
    "KernelText",
    "KernelWriter",
    "Operations",
    "compile_text",
    "kernel_text",
    "load_object",
    "module_text",
    "vector_width",
]
