"""The rooms and their levels, module and function sizes, `__all__`, docstrings: the design, enforced."""

from __future__ import annotations

import importlib
import inspect
import re
import statistics
from pathlib import Path

import pytest

from tests.source_facts import facts_of

PACKAGE = Path(__file__).parents[1] / "surefoot"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_MODULE, MAX_FUNCTION, MEDIAN_FUNCTION, P90_FUNCTION = 500, 60, 10, 30

LEVELS = [
    {"errors"},  # level 0 of the design, in the order of its imports
    {"arrays", "files", "words"},
    {"ops", "tables"},
    {"spatial", "geometry", "solvers"},
    {"robot"},
    {"motion", "kinematics"},
    {"dynamics", "reduced", "redundant"},
    {"compiler"},
    {"contact", "collision", "tasks"},
    {"ik", "estimation"},
    {"gait", "planning", "ocp", "control", "sim"},
    {"feasibility"},
    {"report"},
    {"scenario"},
    {"studio"},
    {"cli"},
]
LEVEL_OF = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
ids = [str(path.relative_to(PACKAGE)) for path in MODULES]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path, *, top_only: bool = False) -> set[str]:
    """Modules of the package that a module imports (with the imported names, which may be modules)."""
    facts = facts_of(path)
    assert not facts.relative, f"{path}: relative import"
    return {name for name in (facts.top_imports if top_only else facts.imports) if name.startswith("surefoot")}


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_rooms_import_only_lower_levels(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    assert room in LEVEL_OF, f"room `{room}` is not in the design"
    for name in imports(path):
        other = name.split(".")[1] if "." in name else ""
        if other in LEVEL_OF and other != room:
            assert LEVEL_OF[other] < LEVEL_OF[room], f"{room} (level {LEVEL_OF[room]}) imports {name}"


def test_no_import_cycles() -> None:
    known = {module_name(path): path for path in MODULES}
    edges = {name: imports(path, top_only=True) & set(known) - {name} for name, path in known.items()}
    # a package's __init__ gathers its modules; importing the package from inside it is the cycle to look for
    state: dict[str, int] = {}

    def visit(name: str, trail: list[str]) -> None:
        state[name] = 1
        for other in sorted(edges[name]):
            if name.startswith(other + "."):
                continue  # every module of a package runs after its __init__ has started
            assert state.get(other) != 1, f"import cycle: {' -> '.join([*trail, name, other])}"
            if other not in state:
                visit(other, [*trail, name])
        state[name] = 2

    for name in sorted(edges):
        if name not in state:
            visit(name, [])


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_modules_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_MODULE
    for name, length in facts_of(path).functions:
        assert length <= MAX_FUNCTION, f"{name}: {length} lines"


def test_most_functions_are_small() -> None:
    lengths = sorted(length for path in MODULES for _, length in facts_of(path).functions)
    assert statistics.median(lengths) <= MEDIAN_FUNCTION
    assert lengths[int(0.9 * len(lengths))] <= P90_FUNCTION


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_all_is_true(path: Path) -> None:
    """Every name in `__all__` exists; every public function or class defined here is in it."""
    module = importlib.import_module(module_name(path))
    listed = getattr(module, "__all__", None)
    assert listed is not None, "module has no __all__"
    assert len(set(listed)) == len(listed)
    for name in listed:
        assert hasattr(module, name), f"`{name}` is in __all__ and does not exist"
    if path.name == "__init__.py":
        return
    defined = facts_of(path).public
    assert defined <= set(listed), f"public, not in __all__: {sorted(defined - set(listed))}"


def documented_arguments(text: str) -> list[str]:
    """Names in the Args section of a Google-style docstring."""
    match = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)*)", inspect.cleandoc(text) + "\n", re.MULTILINE)
    return re.findall(r"^    \*{0,2}(\w+):", match[1], re.MULTILINE) if match else []


def public_callables() -> list[tuple[str, object]]:
    out = []
    for path in MODULES:
        module = importlib.import_module(module_name(path))
        for name in getattr(module, "__all__", []):
            item = getattr(module, name)
            if getattr(item, "__module__", "") != module.__name__:
                continue
            out.append((f"{module.__name__}.{name}", item))
            if inspect.isclass(item):
                members = [(k, v) for k, v in vars(item).items() if not k.startswith("_") and inspect.isfunction(v)]
                out += [(f"{module.__name__}.{name}.{k}", v) for k, v in members]
    return out


def test_docstring_arguments_match_the_signature() -> None:
    wrong = []
    for name, item in public_callables():
        if not (inspect.isfunction(item) or inspect.isclass(item)):
            continue
        if not item.__doc__ or item.__doc__.startswith(f"{item.__name__}("):
            wrong.append(f"{name}: no docstring")
            continue
        documented = documented_arguments(item.__doc__)
        if not documented:
            continue
        expected = [p for p in inspect.signature(item).parameters if p not in ("self", "cls")]
        if documented != expected:
            wrong.append(f"{name}: documents {documented}, takes {expected}")
    assert not wrong, "\n".join(wrong)


def test_no_forbidden_files_or_words() -> None:
    assert not list(PACKAGE.rglob("utils.py"))
    for path in MODULES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*assert ", text, re.MULTILINE), f"{path}: assert is not validation"
        assert "except Exception: pass" not in text
        assert "NotImplementedError" not in text, f"{path}: no stubs"


def test_the_package_exports_few_names() -> None:
    import surefoot

    assert len(surefoot.__all__) <= 25
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    functions_exported = {n for n in surefoot.__all__ if inspect.isfunction(getattr(surefoot, n))}
    assert not rooms & functions_exported, "a room has the name of an exported function"
