"""Machine code of loops: a small part of Python, translated to LLVM.

What is needed for active sets, factorisations and searches is loops over numbers in arrays, with decisions: neither
numpy nor traced expressions do that fast. A function for `NativeCode` is plain Python over flat arrays, so it can also
be run as it is, to debug. It may use

    Floats: an array of float64          Ints: an array of int64          int, float: numbers (by their annotations)
    x = …, x += …, array[i] = …, if, while, for i in range(…), break, return, + - * / //, comparisons, and, or, not,
    sqrt, abs, min, max, and functions given before it, which return an int, a float or nothing.

Different arrays must not overlap.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

__all__ = ["Floats", "Ints", "NativeCode"]

Floats = Any
Ints = Any
_C_TYPES = {"Floats": ctypes.c_void_p, "Ints": ctypes.c_void_p, "int": ctypes.c_int64, "float": ctypes.c_double}
_LOCK = threading.Lock()
_ENGINES: list[Any] = []  # code stays for the life of the process, as functions point into it


class NativeCode:
    """Functions as machine code of this CPU, compiled at the first call.

    Args:
        functions: The functions; they may call those before them.
        entries: Names of those that are called from Python; all if left out.
    """

    def __init__(self, functions: Sequence[Callable[..., Any]], entries: Sequence[str] | None = None) -> None:
        self._functions = list(functions)
        self._entries = [function.__name__ for function in functions] if entries is None else list(entries)

    def __getitem__(self, name: str) -> Any:
        """The function of a name, as `ctypes` calls it: arrays by their addresses."""
        return self._compiled[name]

    @cached_property
    def _compiled(self) -> dict[str, Any]:
        from surefoot.codegen.loops.translator import translated

        with _LOCK:
            text, words = translated(self._functions, self._entries)
            engine = _engine(text)
            kinds: dict[str, list[Any]] = {name: [_C_TYPES.get(word) for word in words[name]] for name in self._entries}
            return {name: ctypes.CFUNCTYPE(*kinds[name])(engine.get_function_address(name)) for name in self._entries}


def _engine(text: str) -> Any:
    """Assembly, optimised and made executable."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2, jit=True
    )
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = True
    options.loop_interleaving = False  # rows are short: it is slower with it, and takes longer to compile
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _ENGINES.append(engine)
    return engine
