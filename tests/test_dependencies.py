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
