"""What a measurement was made on: machine and versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from surefoot.benchmarks.cpu_probe import clock_rate, peak_rate
from surefoot.benchmarks.timing import pinned
from surefoot.compiler.native import vector_width

__all__ = ["header", "second_level_cache"]

_DISTRIBUTIONS = ("surefoot", "pin", "mujoco", "numpy", "llvmlite")
_FEATURES = ("avx512f", "avx2", "fma", "neon", "asimd", "sse2")
_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
_SOME_CACHE = 1 << 20


def header(bench: str, seed: int) -> dict[str, Any]:
    """What every result begins with: what, when, where and with what.

    Args:
        bench: Name of the benchmark.
        seed: Seed of the states.
    """
    versions = {name: importlib.metadata.version(name) for name in _DISTRIBUTIONS}
    return {
        "schema": 1,
        "bench": bench,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "machine": _machine(),
        "versions": versions | {"python": platform.python_version()},
    }


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
    """The facts of the first processor; empty where the system does not tell."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split("\n\n")[0]
    except OSError:
        return {}
    pairs = [line.partition(":") for line in text.splitlines()]
    return {name.strip(): value.strip() for name, _, value in pairs}


def second_level_cache() -> int:
    """Bytes of the second-level cache of a core; 1 MiB where the system does not tell."""
    try:
        text = _CACHE.read_text(encoding="ascii").strip()
    except OSError:
        return _SOME_CACHE
    digits, unit = (text[:-1], text[-1]) if text[-1:] in "KM" else (text, "")
    return int(digits) * {"": 1, "K": 1 << 10, "M": 1 << 20}[unit] if digits.isdigit() else _SOME_CACHE
