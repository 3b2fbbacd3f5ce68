"""Measures the layout of the package: `python scripts/measure_house.py [FOLDER]`, one line per measure with its aim.

The same numbers for another package: give the folder of its `__init__.py`.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One module: name, file, syntax tree, all its nodes, and the modules that it imports, lazily or for types."""

    name: str
    path: Path
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    imports: frozenset[str]

    @property
    def is_door(self) -> bool:
        """Whether it is the `__init__` of a package."""
        return self.path.name == "__init__.py"

    @property
    def room(self) -> str:
        """First part of the name below the package."""
        return ".".join(self.name.split(".")[:2])


def read_package(folder: Path) -> dict[str, Module]:
    """All modules of a package by name.

    Args:
        folder: With the package's `__init__.py`.
    """
    paths = {_name(folder, path): path for path in sorted(folder.rglob("*.py"))}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}
    exports = {name: frozenset(exported_names(tree)) for name, tree in trees.items()}
    modules = {}
    for name, tree in trees.items():
        nodes = tuple(ast.walk(tree))
        imports = _imports(name, paths[name], nodes, exports) - {name}
        modules[name] = Module(name, paths[name], tree, nodes, frozenset(imports))
    return modules


def _name(folder: Path, path: Path) -> str:
    parts = path.relative_to(folder.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(name: str, path: Path, nodes: Iterable[ast.AST], exports: dict[str, frozenset[str]]) -> set[str]:
    """Modules that a module imports, of those that are keys of `exports`."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
            above = package[: len(package) + 1 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            inside = name.startswith(source + ".")
            exported = frozenset() if inside else exports.get(source, frozenset())
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                found.add(inner if inner in exports and alias.name not in exported else source)
    return found & exports.keys()


def largest_folder(modules: dict[str, Module]) -> tuple[int, str]:
    """Most modules in one folder, doors not counted."""
    folders = Counter(module.path.parent for module in modules.values() if not module.is_door)
    folder, count = folders.most_common(1)[0]
    return count, folder.name


def serving_one_sibling(modules: dict[str, Module]) -> list[str]:
    """Modules that one other module of their room imports, and nobody else; exports by doors count as use."""
    users: dict[str, list[Module]] = {name: [] for name in modules}
    for module in modules.values():
        exported = {f"{module.name}.{item}" for item in exported_names(module.tree)}  # modules that a door names
        for name in module.imports | (exported & modules.keys()):
            users[name].append(module)
    return [
        name
        for name, module in modules.items()
        if not module.is_door and len(users[name]) == 1 and not users[name][0].is_door
    ]


def called_once(modules: dict[str, Module]) -> tuple[int, int]:
    """Private functions of modules that are mentioned in one place only, and how many functions there are."""
    once = total = 0
    for module in modules.values():
        private = {
            node.name
            for node in module.tree.body
            if isinstance(node, FunctionNode) and node.name.startswith("_") and not node.name.startswith("__")
        }
        mentions = Counter(node.id for node in module.nodes if isinstance(node, ast.Name))
        total += len(functions(module))
        once += sum(mentions[name] == 1 for name in private)
    return once, total


def most_parameters(modules: dict[str, Module]) -> tuple[int, str]:
    """Most parameters of a function or method, `self` and `cls` not counted."""
    return max((parameters(node), node.name) for module in modules.values() for node in functions(module))


def functions(module: Module) -> list[FunctionNode]:
    """All functions and methods of a module."""
    return [node for node in module.nodes if isinstance(node, FunctionNode)]


def parameters(node: FunctionNode) -> int:
    """Number of parameters, `self` and `cls` not counted."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    stars = (node.args.vararg is not None) + (node.args.kwarg is not None)
    return sum(item.arg not in ("self", "cls") for item in given) + stars


def import_cycles(modules: dict[str, Module]) -> list[list[str]]:
    """Groups of modules that import each other, imports inside functions and for types included (Tarjan 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(modules[name].imports):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                cycles.append(sorted(group))

    sys.setrecursionlimit(max(sys.getrecursionlimit(), 4 * len(modules)))
    for name in sorted(modules):
        if name not in index:
            visit(name)
    return cycles


def past_doors(modules: dict[str, Module]) -> tuple[list[str], int]:
    """Imports across rooms past a door, as "importer -> module", and how many imports cross rooms at all.

    Doors are the `__init__` of packages, the modules of level 0, and modules that a door exports as namespaces.
    """
    across = [
        (module.name, name)
        for module in modules.values()
        for name in sorted(module.imports)
        if modules[name].room != module.room and name.count(".") > 0 and module.name.count(".") > 0
    ]
    namespaces = {f"{name}.{item}" for name, module in modules.items() for item in exported_names(module.tree)}
    doors = {name for name, module in modules.items() if module.is_door or name.count(".") == 1}
    wrong = [f"{a} -> {b}" for a, b in across if b not in doors | namespaces]
    return wrong, len(across)


def exported_names(tree: ast.Module) -> list[str]:
    """`__all__` of a module."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(node, ast.Assign | ast.AnnAssign):
            return [str(item.value) for item in ast.walk(node) if isinstance(item, ast.Constant)]
    return []


def widest_door(modules: dict[str, Module]) -> tuple[int, str]:
    """Most names that one room or sub-package exports."""
    return max((len(exported_names(module.tree)), name) for name, module in modules.items() if module.is_door)


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "surefoot"
    modules = read_package(folder)
    single, (once, every) = serving_one_sibling(modules), called_once(modules)
    cycles, (wrong, across) = import_cycles(modules), past_doors(modules)
    lines = sum(len(module.path.read_text(encoding="utf-8").splitlines()) for module in modules.values())
    examples = len(list((folder.parent / "examples").rglob("[0-9]*.py")))
    rows = [
        ("modules", len(modules), ""),
        ("lines", lines, "≤ 95,000"),
        ("files in the largest folder", "{} ({})".format(*largest_folder(modules)), "≤ 14"),
        ("modules that serve one sibling only", f"{len(single)} ({len(single) / len(modules):.0%})", "≤ 12 %"),
        ("private functions called from one place", f"{once} ({once / every:.0%})", "≤ 15 %"),
        ("most parameters of a function", "{} ({})".format(*most_parameters(modules)), "≤ 10"),
        ("import cycles", f"{len(cycles)} (largest {max(map(len, cycles), default=0)})", "0"),
        ("imports across rooms past a door", f"{len(wrong)} of {across} ({len(wrong) / max(across, 1):.0%})", "0"),
        ("names exported by one door", "{} ({})".format(*widest_door(modules)), "≤ 30"),
        ("numbered examples", examples, "≥ 20"),
    ]
    for name, value, aim in rows:
        print(f"{name:42} {value!s:42} {aim}")


if __name__ == "__main__":
    main()
