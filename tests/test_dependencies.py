"""Every package that surefoot imports is a dependency of its own."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.test_architecture import modules

ROOT = Path(__file__).parents[1]
OPTIONAL = {"cupy", "IPython", "casadi", "ompl"}  # imported where they are installed
SHIPPED_WITH = {
    "pinocchio": "pin",
    "coal": "pin",
    "annotated-types": "pydantic",
    "pydantic-core": "pydantic",
    "websockets": "viser",
}


def imported() -> set[str]:
    found = set()
    for node in (node for module in modules().values() for node in module.nodes):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"surefoot"} - OPTIONAL


def test_imports_are_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["studio"]]
    declared = {re.split(r"[<>=\[ ]", entry)[0].lower() for entry in listed}
    known = packages_distributions()
    for module in sorted(imported()):
        names = {name.lower().replace("_", "-") for name in known.get(module, [module])}
        names |= {SHIPPED_WITH[name] for name in names if name in SHIPPED_WITH}
        assert names & declared, f"`{module}` ({', '.join(names)}) is imported and not declared"


def test_running_installs_no_tools_of_developers() -> None:
    """`make run` installs what `pyproject.toml` asks for without its extra `dev`, in the versions of the other lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tools = {re.split(r"[<>=\[ ;]", entry)[0].lower() for entry in project["optional-dependencies"]["dev"]}
    run, full = (
        dict(line.split(";")[0].strip().split("==") for line in (ROOT / name).read_text().splitlines() if "==" in line)
        for name in ("requirements-run.lock", "requirements.lock")
    )
    assert tools >= {"mypy", "ruff", "pytest", "playwright"}
    assert tools & set(run) <= {"setuptools"}  # which builds the package itself
    assert set(run.items()) <= set(full.items())
