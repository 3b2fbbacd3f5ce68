"""What decides about the results of this room, for keys of the cache: its source text, and the numbers of a tree."""

from __future__ import annotations

import functools
from dataclasses import fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.compiler import cache
from surefoot.robot import Tree

__all__ = ["source_text", "tree_identity"]


@functools.cache
def source_text() -> str:
    """Hash of this room's source, of all that is compiled, and of numpy's version; read once for each process."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    parts = (part for path in files for part in (path.name, path.read_bytes()))
    return cache.key(cache.source_version(), np.__version__, *parts)


def tree_identity(tree: Tree) -> tuple[str | NDArray[np.generic], ...]:
    """All of a tree that kinematics may depend on.

    Args:
        tree: The tree.
    """
    values = (getattr(tree, item.name) for item in fields(tree))
    return tuple(value if isinstance(value, np.ndarray) else ",".join(value) for value in values)
