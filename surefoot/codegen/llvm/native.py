"""LLVM in process: assembly to object code, object code to addresses."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

from surefoot.codegen.llvm.arena import Arena
from surefoot.errors import NotSupportedError, one_of

_LEVELS = {
    "x86-64-v2": (128, ("sse4.2", "popcnt")),
    "x86-64-v3": (256, ("avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe")),
    "x86-64-v4": (512, ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
}
"""Generations of CPUs: bits of a vector register, and what a CPU must have to be one of them, and of those before."""
_OF_LOOPS = "x86-64-v3"
"""Loops are compiled for this generation on every CPU that has it: LLVM sums in vectors, in an order that depends on
their width, and the results of an active set must not depend on the CPU."""

_LOCK = threading.RLock()
_FIRST = Arena()  # as early as possible: little lies above it
os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)
_loaded: dict[tuple[str, ...], dict[str, int]] = {}
_engines: list[tuple[Any, Arena]] = []
_OPTIONS = ("-pre-RA-sched=source", "-enable-misched=false")  # our order of instructions is the one we want


@functools.cache
def _llvm() -> Any:
    """LLVM, set up once for all machine code of this process: its options hold for every later compilation."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for option in _OPTIONS:
        llvm.set_option("surefoot", option)
    return llvm


def _has(level: str) -> bool:
    """Whether this CPU is of a generation."""
    import llvmlite.binding as llvm

    features, names = llvm.get_host_cpu_features(), list(_LEVELS)
    needed = [name for one in names[: names.index(level) + 1] for name in _LEVELS[one][1]]
    return all(features.get(name) for name in needed)


def _chosen_level() -> str:
    """The generation that the environment asks for; "" for this very CPU."""
    level = os.environ.get("SUREFOOT_CPU", "")
    if not level:
        return ""
    if level not in _LEVELS:
        raise one_of("generation of CPUs (SUREFOOT_CPU)", level, _LEVELS)
    if not _has(level):
        raise NotSupportedError(
            f"this CPU lacks what SUREFOOT_CPU={level} asks for", next_step="choose an older generation, or unset it"
        )
    return level


@functools.cache
def _machine(optimise: bool) -> Any:
    """This CPU with all that it has. For straight-line code, a higher `opt` takes twice as long and gains nothing."""
    llvm, level = _llvm(), _chosen_level()
    features = llvm.get_host_cpu_features()
    if not optimise:
        features["prefer-256-bit"] = False
    if optimise and _has(_OF_LOOPS):
        level = min(level or _OF_LOOPS, _OF_LOOPS)
    cpu, has = (level, "-prefer-256-bit") if level else (llvm.get_host_cpu_name(), features.flatten())
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=has, opt=2 if optimise else 1, reloc="pic", codemodel="default", jit=True
    )


def _engine_for(count: int) -> Any:
    """An engine with room for an object file of that size; what it has loaded lies near its addresses."""
    if not _engines or not _engines[-1][1].make_room(count):
        engine = _llvm().create_mcjit_compiler(_llvm().parse_assembly(""), _machine.__wrapped__(False))
        _engines.append((engine, Arena() if _engines else _FIRST))
        _engines[-1][1].make_room(count)
    return _engines[-1][0]


@functools.cache
def vector_width(bits: int = 64) -> int:
    """Floating-point numbers of a vector register of this CPU; 1 where it has none.

    Args:
        bits: 64 or 32.
    """
    import llvmlite.binding as llvm

    if level := _chosen_level():
        return _LEVELS[level][0] // bits
    features = llvm.get_host_cpu_features()
    for name, register in (("avx512f", 512), ("avx2", 256), ("neon", 128), ("sse2", 128)):
        if features.get(name):
            return register // bits
    return 1


def compile_text(text: str, optimise: bool = False) -> bytes:
    """Object code of LLVM assembly, for this CPU.

    Args:
        text: The assembly.
        optimise: Whether LLVM shall inline functions and turn loops into vectors.
    """
    with _LOCK:
        machine, module = _machine(optimise), _llvm().parse_assembly(text)
        if optimise:
            options = _llvm().create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = True
            options.loop_interleaving = False  # rows are short: it is slower with it, and takes longer to compile
            builder = _llvm().create_pass_builder(machine, options)
            builder.getModulePassManager().run(module, builder)
        return bytes(machine.emit_object(module))


def load_object(code: bytes, names: tuple[str, ...]) -> dict[str, int]:
    """Make object code executable; the address of each named function. It stays for the life of the process.

    Args:
        code: Object code made by `compile_text`.
        names: Functions; the names tell what the code is: if it was loaded before, it is not loaded again.
    """
    with _LOCK:
        if names not in _loaded:
            engine = _engine_for(len(code))
            engine.add_object_file(_llvm().ObjectFileRef.from_data(code))
            engine.finalize_object()
            _loaded[names] = {name: int(engine.get_function_address(name)) for name in names}
        return _loaded[names]
