"""What the syntax trees of the package's modules say; each module is parsed once, and the trees are not kept."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Facts:
    """Of one module.

    `imports` and `top_imports` (those that run with the module) have the imported names too, which may be modules;
    `functions` are name and length without docstring, nested ones and methods included; `public` are functions and
    classes of the module itself; `relative` tells whether there is a relative import.
    """

    imports: frozenset[str]
    top_imports: frozenset[str]
    functions: tuple[tuple[str, int], ...]
    public: frozenset[str]
    relative: bool


@cache
def facts_of(path: Path) -> Facts:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom | FunctionNode)]
    inside = [node for node in nodes if not isinstance(node, FunctionNode)]
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return Facts(
        imports=frozenset().union(*map(_names, inside)),
        top_imports=frozenset().union(*map(_names, top)),
        functions=tuple((node.name, _length(node)) for node in nodes if isinstance(node, FunctionNode)),
        public=frozenset(name for name in defined if not name.startswith("_")),
        relative=any(isinstance(node, ast.ImportFrom) and node.level > 0 for node in inside),
    )


def _names(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    return {node.module} | {f"{node.module}.{alias.name}" for alias in node.names} if node.module else set()


def _length(node: FunctionNode) -> int:
    docstring = node.body[0].end_lineno - node.lineno if ast.get_docstring(node) else 0
    return node.end_lineno - node.lineno + 1 - docstring
