"""The house, enforced: levels, doors, sizes, names, docstrings. Each test lists all offenders."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import statistics
from functools import cache
from pathlib import Path

from scripts.measure_house import (
    Module,
    exported_names,
    functions,
    import_cycles,
    parameters,
    past_doors,
    read_package,
)

PACKAGE = Path(__file__).parents[1] / "surefoot"
LEVELS = [
    {"errors"},
    {"arrays", "files", "markup", "processes", "words"},
    {"ops", "tables"},
    {"codegen", "spatial", "geometry"},
    {"solvers"},
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
MOST_FILES, MOST_LINES, MOST_CLASS_LINES, MOST_FUNCTION_LINES = 14, 500, 250, 60
MOST_PARAMETERS, MOST_EXPORTS, MEDIAN_FUNCTION, P90_FUNCTION = 10, 30, 10, 30
NATIVE = re.compile(
    r"surefoot\.(codegen|solvers\.(hierarchy|dyadic|staged\.riccati\.(elimination|matrices))|contact\.cone_search|control\.whole_body\.outcome|estimation\.(covariance|tick)|sim\.native\.(constrained_kernels|rigid|step))\b"
)
"""Modules whose functions become machine code: arrays are passed one by one there, as in C."""
COMMANDS = "surefoot.cli.main"
"""Module whose functions are commands: each parameter is an option of the command line."""


@cache
def modules() -> dict[str, Module]:
    return read_package(PACKAGE)


def room_of(name: str) -> str:
    return (name + ".").split(".")[1]


def test_rooms_import_only_lower_levels() -> None:
    wrong = []
    for module in modules().values():
        room = room_of(module.name)
        if not room:
            continue
        assert room in LEVEL_OF, f"room `{room}` is not in the design"
        others = {room_of(name) for name in module.imports} - {room, ""}
        wrong += [f"{module.name} imports {other}" for other in others if LEVEL_OF[other] >= LEVEL_OF[room]]
    assert not wrong, "\n".join(wrong)


def test_no_import_cycles() -> None:
    """Imports inside functions and imports for types only count as well."""
    cycles = import_cycles(modules())
    assert not cycles, "\n".join(" - ".join(cycle) for cycle in cycles)


def test_imports_go_through_doors() -> None:
    """Other rooms import a room's or a sub-package's `__init__`; inside a room, sub-packages import their siblings'."""
    wrong, _ = past_doors(modules())
    for module in modules().values():
        folder = module.name if module.is_door else module.name.rpartition(".")[0]
        for name in module.imports:
            target = modules()[name]
            inner = name.rpartition(".")[0]
            same_room = target.room == module.room and name.count(".") > 2
            if same_room and not target.is_door and not (folder + ".").startswith(inner + "."):
                wrong.append(f"{module.name} -> {name}")
            if name == "surefoot" and module.name != "surefoot" and module.room != "surefoot.cli":
                wrong.append(f"{module.name} imports the whole package")
    assert not wrong, "\n".join(wrong)


def test_sizes() -> None:
    """Files in a folder, lines of modules, classes and functions, parameters, exported names."""
    wrong = []
    folders: dict[Path, int] = {}
    for module in modules().values():
        if not module.is_door:
            folders[module.path.parent] = folders.get(module.path.parent, 0) + 1
        elif len(exported_names(module.tree)) > MOST_EXPORTS:
            wrong.append(f"{module.name} exports {len(exported_names(module.tree))} names")
        length = len(module.path.read_text(encoding="utf-8").splitlines())
        if length > MOST_LINES:
            wrong.append(f"{module.name}: {length} lines")
        wrong += _large_parts(module)
    wrong += [f"{folder}: {count} files" for folder, count in folders.items() if count > MOST_FILES]
    assert not wrong, "\n".join(wrong)


def _large_parts(module: Module) -> list[str]:
    wrong = []
    for node in module.nodes:
        if isinstance(node, ast.ClassDef) and _lines(node) > MOST_CLASS_LINES:
            wrong.append(f"{module.name}.{node.name}: {_lines(node)} lines")
    for node in functions(module):
        if _lines(node) > MOST_FUNCTION_LINES:
            wrong.append(f"{module.name}.{node.name}: {_lines(node)} lines")
        if parameters(node) > MOST_PARAMETERS and module.name != COMMANDS and not NATIVE.match(module.name):
            wrong.append(f"{module.name}.{node.name}: {parameters(node)} parameters")
    return wrong


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    docstring = (node.body[0].end_lineno or 0) - node.lineno if ast.get_docstring(node) else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


def test_most_functions_are_small() -> None:
    lengths = sorted(_lines(node) for module in modules().values() for node in functions(module))
    assert statistics.median(lengths) <= MEDIAN_FUNCTION
    assert lengths[int(0.9 * len(lengths))] <= P90_FUNCTION


def public_names(module: Module) -> list[str]:
    """Names of a module's functions and classes without an underscore."""
    nodes = [node for node in module.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [node.name for node in nodes if not node.name.startswith("_")]


def test_all_is_true() -> None:
    """A door lists its exports in `__all__`. Behind doors, the underscore alone tells what is private to a module."""
    wrong = []
    doors = {name for name, module in modules().items() if module.is_door or name.count(".") == 1}
    exported = [getattr(loaded, item) for loaded in map(importlib.import_module, doors) for item in loaded.__all__]
    doors |= {value.__name__ for value in exported if inspect.ismodule(value)}
    for name, module in modules().items():
        loaded = importlib.import_module(name)
        listed = getattr(loaded, "__all__", None)
        if listed is None:
            if name in doors:
                wrong.append(f"{name} has no __all__")
            continue
        wrong += [f"{name}: `{item}` does not exist" for item in listed if not hasattr(loaded, item)]
        if len(set(listed)) != len(listed):
            wrong.append(f"{name}: a name is listed twice")
        if not module.is_door:
            missing = sorted(set(public_names(module)) - set(listed))
            wrong += [f"{name}: `{item}` is not in __all__" for item in missing]
    assert not wrong, "\n".join(wrong)


def documented_arguments(text: str) -> list[str]:
    """Names in the Args section of a Google-style docstring."""
    match = re.search(r"^Args:\n((?:[ \t]+.*\n?|\n)*)", inspect.cleandoc(text) + "\n", re.MULTILINE)
    return re.findall(r"^    \*{0,2}(\w+):", match[1], re.MULTILINE) if match else []


def public_callables() -> list[tuple[str, object]]:
    out = []
    for name, parsed in modules().items():
        module = importlib.import_module(name)
        for exported in public_names(parsed):
            item = getattr(module, exported)
            if getattr(item, "__module__", "") != name:
                continue
            out.append((f"{name}.{exported}", item))
            if inspect.isclass(item):
                members = [(k, v) for k, v in vars(item).items() if not k.startswith("_") and inspect.isfunction(v)]
                out += [(f"{name}.{exported}.{k}", v) for k, v in members]
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
    wrong = [str(path) for path in PACKAGE.rglob("utils.py")]
    for name, module in modules().items():
        text = module.path.read_text(encoding="utf-8")
        if re.search(r"^\s*assert ", text, re.MULTILINE):
            wrong.append(f"{name}: assert is not validation")
        if "except Exception: pass" in text or "NotImplementedError" in text:
            wrong.append(f"{name}: a stub, or an error that is swallowed")
        if any(isinstance(node, ast.ImportFrom) and node.level for node in module.nodes):
            wrong.append(f"{name}: relative import")
    assert not wrong, "\n".join(wrong)


def test_the_package_exports_few_names() -> None:
    import surefoot

    assert len(surefoot.__all__) <= 25
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    functions_exported = {n for n in surefoot.__all__ if inspect.isfunction(getattr(surefoot, n))}
    assert not rooms & functions_exported, "a room has the name of an exported function"


def test_texts_become_markup_at_one_border() -> None:
    """`markup` alone escapes HTML, and the studio's texts go through one module, which knows no Markdown."""
    border = {"surefoot.markup", "surefoot.studio.panels.inputs"}
    pattern = re.compile(r"html import escape|html\.escape|add_markdown|gui\.add_html|\.content = ")
    wrong = [
        module.name
        for module in modules().values()
        if module.name not in border and pattern.search(module.path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)
