"""`surefoot doctor`: what is here, what is broken, and what to do about it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from surefoot.cli.doctor_packages import Diagnosis, packages
from surefoot.words import counted

__all__ = ["Diagnosis", "diagnose", "doctor_command", "vector_width"]

_WIDTHS = (("avx512f", 8), ("avx2", 4), ("asimd", 2), ("sse2", 2))


def doctor_command(as_json: bool) -> int:
    """Print the diagnosis; 1 if something is broken."""
    rows = diagnose()
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    else:
        for row in rows:
            print(f"{'ok ' if row.ok else 'BAD'}  {row.what:<28}{row.found}")
            if row.remedy:
                print(f"       {'':<28}-> {row.remedy}")
    return 0 if all(row.ok for row in rows) else 1


def diagnose() -> list[Diagnosis]:
    """Every check in turn."""
    return [
        _surefoot(),
        _python(),
        _cpu(),
        *packages(),
        _trial("loads a robot", _load_robot, "reinstall: `rm -rf .venv && make run`"),
        _trial("steps physics", _step_physics, "reinstall: `rm -rf .venv && make run`"),
        _chromium(),
        _cache(),
    ]


def _surefoot() -> Diagnosis:
    return Diagnosis("surefoot", f"{importlib.metadata.version('surefoot')} in {Path(__file__).parents[1]}")


def _python() -> Diagnosis:
    version = platform.python_version()
    remedy = (
        "" if sys.version_info < (3, 13) else "3.11 and 3.12 are supported in full; the planners have no wheels here"
    )
    return Diagnosis("python", version, True, remedy)


def vector_width() -> tuple[int, str]:
    """Doubles in a vector register of this CPU and the feature that says so; (1, "unknown") where it cannot be read."""
    if platform.machine().lower() in ("arm64", "aarch64"):
        return 2, "neon"
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 1, "unknown"
    words = set(text.split())
    return next(((width, name) for name, width in _WIDTHS if name in words), (1, "unknown"))


def _cpu() -> Diagnosis:
    width, name = vector_width()
    return Diagnosis("cpu", f"{platform.machine()}, {os.cpu_count()} cores, {width} doubles per vector ({name})")


def _trial(what: str, attempt: Callable[[], str], remedy: str) -> Diagnosis:
    """Try a thing; any failure is what the doctor is here to report."""
    try:
        return Diagnosis(what, attempt())
    except Exception as error:  # noqa: BLE001
        return Diagnosis(what, f"{type(error).__name__}: {error}", False, remedy)


def _load_robot() -> str:
    from surefoot.robot.load import load

    robot = load("g1")
    return f"g1: {robot.nv} degrees of freedom, {robot.mass:.1f} kg"


def _step_physics() -> str:
    import mujoco

    from surefoot.robot.load import load
    from surefoot.sim import build_mujoco

    model = build_mujoco(load("pendulum")).mj
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    return f"MuJoCo {mujoco.__version__}, one step of the pendulum"


def _chromium() -> Diagnosis:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    return Diagnosis("chromium", path or "missing (browser tests)", True, "" if path else "`make browser` (needs root)")


def _cache() -> Diagnosis:
    from surefoot.compiler.cache import CacheError, cache_folder, entries

    try:
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        return Diagnosis("cache folder", f"{folder} ({counted(len(entries()), 'kernel')})")
    except CacheError as error:
        return Diagnosis("cache folder", f"{error.place}: {error.message}", False, error.next_step)
    except OSError as error:
        return Diagnosis(
            "cache folder", f"{folder}: {error.strerror}", False, "set SUREFOOT_CACHE to a folder that you can write"
        )
