"""`surefoot bench`: run the benchmarks of the repository, which are not part of the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from surefoot.errors import NotSupportedError


def bench_folder() -> Path | None:
    """The checkout that this package is run from, or None; code of another folder is never run."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "bench" / "runner.py").is_file() else None


def bench_command(words: list[str]) -> int:
    """Run a benchmark, or list them."""
    root = bench_folder()
    if root is None:
        raise NotSupportedError(
            "benchmarks are part of the repository, not of the installed package",
            next_step="clone the repository and run `surefoot bench` there",
        )
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    status: int = import_module("bench.runner").main(words)
    return status
