"""Are the packages here that surefoot says it needs, in the versions that it asks for, and can they be imported?

What it needs is read from `pyproject.toml` where surefoot runs from a clone, else from the metadata of the package.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import operator
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Diagnosis", "Need", "fits", "needs", "packages"]

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


@dataclass(frozen=True)
class Diagnosis:
    """One row: what was looked at, what was found, and the remedy if it is broken.

    Args:
        what: The thing.
        found: Version, path or state.
        ok: Whether it works; a missing extra is no defect.
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
    """What surefoot says that it needs at run time.

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
    """Whether a version is one of those that are asked for.

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
        return Diagnosis(need.name, f"{version}, but {need.versions} is needed", False, _REINSTALL)
    return Diagnosis(need.name, f"{version}{label}")
