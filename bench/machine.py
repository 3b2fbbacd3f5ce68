"""Machine and versions of a measurement; clock and peak of the CPU are measured.

A chain of integer operations, each of which needs the result of the one before, takes one cycle for each on all CPUs of
the last decades: that gives the clock. Fused multiply-adds that need nothing of each other are limited by the vector
units alone: that gives the most arithmetic instructions per cycle.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import os
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.timing import pinned
from surefoot.codegen import Build
from surefoot.codegen.llvm import compile_text, load_object, vector_width

__all__ = ["clock_rate", "header", "peak_rate", "second_level_cache"]

_DISTRIBUTIONS = ("surefoot", "pin", "mujoco", "numpy", "llvmlite")
_FEATURES = ("avx512f", "avx2", "fma", "neon", "asimd", "sse2")
_CACHE, _SOME_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index2/size"), 1 << 20
_PAIRS, _SUMS, _ROUNDS, _LOOPS, _RUNS = 64, 16, 8, 2000, 40


def header(bench: str, seed: int) -> dict[str, Any]:
    """The first entries of every result: benchmark, date, seed, machine and versions."""
    versions = {name: importlib.metadata.version(name) for name in _DISTRIBUTIONS}
    date = datetime.now(UTC).isoformat(timespec="seconds")
    result = {"schema": 1, "bench": bench, "date": date, "seed": seed, "machine": _machine()}
    return result | {"versions": versions | {"python": platform.python_version()}}


def _machine() -> dict[str, Any]:
    with pinned() as core:
        clock = clock_rate()
        peak = peak_rate() / clock
    facts = _cpuinfo()
    words = set(facts.get("flags", facts.get("Features", "")).split())
    return {
        "cpu": facts.get("model name", platform.processor() or platform.machine()),
        "features": [name for name in _FEATURES if name in words],
        "doubles_per_vector": vector_width(64),
        "cores": os.cpu_count(),
        "core_used": core,
        "clock_hz": clock,
        "clock_from": "timed: a chain of dependent integer operations",
        "peak_instructions_per_cycle": peak,
        "second_level_cache_bytes": second_level_cache(),
    }


def _cpuinfo() -> dict[str, str]:
    """The facts of the first processor; empty where the system does not report them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def second_level_cache() -> int:
    """Bytes of the second-level cache of a core; 1 MiB where the system does not report it."""
    try:
        text = _CACHE.read_text(encoding="ascii").strip()
    except OSError:
        return _SOME_CACHE
    digits, unit = (text[:-1], text[-1]) if text[-1:] in "KM" else (text, "")
    return int(digits) * {"": 1, "K": 1 << 10, "M": 1 << 20}[unit] if digits.isdigit() else _SOME_CACHE


def clock_rate() -> float:
    """Cycles per second of this core, now."""
    return 2 * _PAIRS * _LOOPS / _fastest(_functions()["surefoot.clock"])


def peak_rate() -> float:
    """The most vector multiply-adds per second of this core."""
    return _SUMS * _ROUNDS * _LOOPS / _fastest(_functions()["surefoot.peak"])


def _fastest(function: Callable[[int], int]) -> float:
    """Shortest time of a call [s]."""
    durations = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        function(_LOOPS)
        durations.append(time.perf_counter() - start)
    return min(durations)


@functools.cache
def _functions() -> dict[str, Callable[[int], int]]:
    build = Build(vector_width(64), 64)
    where = load_object(compile_text(_clock_text() + _peak_text(build)), ("surefoot.clock", "surefoot.peak"))
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    return {name: kind(address) for name, address in where.items()}


def _clock_text() -> str:
    """Replace x by (x + n) xor n, over and over."""
    lines = [x for k in range(_PAIRS) for x in (f"%a{k} = add i64 %x{k}, %n", f"%x{k + 1} = xor i64 %a{k}, %n")]
    return _loop("clock", {"%x0": ("i64", "0", f"%x{_PAIRS}")}, lines, ["ret i64 %x0"])


def _peak_text(build: Build) -> str:
    """Sums s ← s s + s side by side, from zero."""
    t, name = build.vector, f"llvm.fma.{build.suffix}"
    lines, at = [], [f"%s{k}.0" for k in range(_SUMS)]
    for r in range(1, _ROUNDS + 1):
        lines += [f"%s{k}.{r} = call {t} @{name}({t} {at[k]}, {t} {at[k]}, {t} {at[k]})" for k in range(_SUMS)]
        at = [f"%s{k}.{r}" for k in range(_SUMS)]
    sums = {f"%s{k}.0": (t, "zeroinitializer" if build.width > 1 else "0.0", at[k]) for k in range(_SUMS)}
    keep = [f"store volatile {t} {first}, ptr %space, align 8" for first in sums]
    loop = _loop("peak", sums, lines, [*keep, "ret i64 0"], f"%space = alloca {t}, align 64")
    return f"{loop}declare {t} @{name}({t}, {t}, {t})\n"


def _loop(name: str, values: dict[str, tuple[str, str, str]], lines: list[str], end: list[str], first: str = "") -> str:
    """A function of the number of rounds; `values`: type, first value and next value of what a round changes."""
    phis = [f"{x} = phi {t} [ {start}, %entry ], [ {after}, %loop ]" for x, (t, start, after) in values.items()]
    count = ["%i = phi i64 [ %n, %entry ], [ %j, %loop ]", *phis]
    step = ["%j = sub i64 %i, 1", "%more = icmp ne i64 %j, 0", "br i1 %more, label %loop, label %done"]
    parts = ("entry:", first, "br label %loop", "loop:", *count, *lines, *step, "done:", *end)
    return f'define i64 @"surefoot.{name}"(i64 %n) {{\n' + "\n".join(parts) + "\n}\n"
