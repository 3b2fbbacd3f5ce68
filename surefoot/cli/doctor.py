"""`surefoot doctor`: check the installation and suggest remedies."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import operator
import os
import platform
import re
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from surefoot.words import counted

_WIDTHS = (("avx512f", 8), ("avx2", 4), ("asimd", 2), ("sse2", 2))
_OTHER_MODULES = {
    "pin": "pinocchio",
    "llvmlite": "llvmlite.binding",
    "example-robot-data": "",  # data alone
    "example-robot-data-loaders": "example_robot_data",
}
_PROJECT = Path(__file__).parents[2] / "pyproject.toml"
_OPTIONAL = ("studio",)
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_REINSTALL = "reinstall the locked versions: `rm -rf .venv && make run`"


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
        Diagnosis("surefoot", f"{importlib.metadata.version('surefoot')} in {Path(__file__).parents[1]}"),
        _python(),
        _cpu(),
        *packages(),
        _trial("loads a robot", _load_robot, "reinstall: `rm -rf .venv && make run`"),
        _trial("steps physics", _step_physics, "reinstall: `rm -rf .venv && make run`"),
        _chromium(),
        _cache(),
    ]


def _python() -> Diagnosis:
    version = platform.python_version()
    remedy = (
        ""
        if sys.version_info < (3, 13)
        else "3.11 and 3.12 are fully supported; the planners have no wheels for this version"
    )
    return Diagnosis("python", version, True, remedy)


def vector_width() -> tuple[int, str]:
    """Doubles in a vector register of this CPU and the CPU feature behind it; (1, "unknown") if it cannot be read."""
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
    """Try something and report any failure."""
    try:
        return Diagnosis(what, attempt())
    except Exception as error:  # noqa: BLE001
        return Diagnosis(what, f"{type(error).__name__}: {error}", False, remedy)


def _load_robot() -> str:
    from surefoot.robot import load

    robot = load("g1")
    return f"g1: {robot.nv} degrees of freedom, {robot.mass:.1f} kg"


def _step_physics() -> str:
    import mujoco

    from surefoot.robot import load
    from surefoot.sim import build_mujoco

    model = build_mujoco(load("pendulum")).mj
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    return f"MuJoCo {mujoco.__version__}, one step of the pendulum"


def _chromium() -> Diagnosis:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    return Diagnosis("chromium", path or "missing (browser tests)", True, "" if path else "`make browser` (needs root)")


def _cache() -> Diagnosis:
    from surefoot.codegen import CacheError, cache_folder, entries

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
            "cache folder", f"{folder}: {error.strerror}", False, "set SUREFOOT_CACHE to a writable folder"
        )


@dataclass(frozen=True)
class Diagnosis:
    """One row: the checked thing, its state, and the remedy if it is broken.

    Args:
        what: The thing.
        found: Version, path or state.
        ok: Whether it works; a missing extra is not a defect.
        remedy: What to do, or "".
    """

    what: str
    found: str
    ok: bool = True
    remedy: str = ""


@dataclass(frozen=True)
class Need:
    """A package that is needed.

    Args:
        name: Of the distribution.
        versions: Which ones, as ">=4.1,<4.2"; "" for any.
        extra: The extra that needs it; "" if surefoot cannot do without it.
    """

    name: str
    versions: str = ""
    extra: str = ""


def packages() -> list[Diagnosis]:
    """A row for each package that surefoot needs, and for those of its extra parts."""
    return [_package(need) for need in needs()]


def needs(project: Path = _PROJECT) -> list[Need]:
    """The run-time requirements of surefoot.

    Args:
        project: `pyproject.toml` of a clone; it need not exist.
    """
    if not project.is_file():
        return [need for text in importlib.metadata.requires("surefoot") or () if (need := _need(text)) is not None]
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table.get("optional-dependencies", {})
    texts = [*table["dependencies"], *(f"{text}; extra == '{name}'" for name in _OPTIONAL for text in extras[name])]
    return [need for text in texts if (need := _need(text)) is not None]


def _need(text: str) -> Need | None:
    """`viser<1.2,>=1.1; extra == "studio"`; None for extras that nobody needs at run time."""
    wanted, _, condition = text.partition(";")
    extra = re.search(r"extra == ['\"]([\w-]+)['\"]", condition)
    parts = re.fullmatch(r"([\w.-]+)(?:\[[^]]*\])?\s*\(?([^)]*)\)?", wanted.strip())
    if parts is None or (extra is not None and extra[1] not in _OPTIONAL):
        return None
    return Need(parts[1], parts[2].replace(" ", ""), "" if extra is None else extra[1])


def fits(version: str, versions: str) -> bool:
    """Whether a version satisfies a requirement.

    Args:
        version: As "4.1.2".
        versions: As ">=4.1,<4.2"; terms with other signs than these pass.
    """
    terms = re.findall(r"([<>]=?)([\w.]+)", versions)
    return all(_SIGNS[sign](_numbers(version), _numbers(limit)) for sign, limit in terms)


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers, without zeros at the end: 2.10.0rc1 → (2, 10)."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def _package(need: Need) -> Diagnosis:
    """Whether a package is here, of the right version, and can be imported."""
    label = f"  (for the {need.extra})" if need.extra else ""
    try:
        version = importlib.metadata.version(need.name)
        module = _OTHER_MODULES.get(need.name, need.name.replace("-", "_"))
        if module:
            importlib.import_module(module)
    except importlib.metadata.PackageNotFoundError:
        return Diagnosis(need.name, f"missing{label}", bool(need.extra), f"`pip install '{need.name}{need.versions}'`")
    except (ImportError, OSError) as error:
        return Diagnosis(need.name, f"broken: {error}", False, _REINSTALL)
    if not fits(version, need.versions):
        return Diagnosis(need.name, f"{version}, but {need.versions} is required", False, _REINSTALL)
    return Diagnosis(need.name, f"{version}{label}")
