"""Python processes that import nothing from the folders that the user works in."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext
from typing import Any

__all__ = ["isolated_python", "isolated_spawn"]

# Without the first, a process of `multiprocessing` imports `multiprocessing` itself from the working folder.
_SPAWNED = ("PYTHONSAFEPATH", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@contextmanager
def isolated_python(*program: str) -> Iterator[dict[str, Any]]:
    """The command of a Python process and its working folder, as arguments of `subprocess.run` and `subprocess.Popen`.

        with isolated_python("-m", "surefoot.studio.jobs.worker") as process:
            subprocess.run(**process, check=True)

    A folder with robots may come from anybody. A file `numpy.py` or `sitecustomize.py` in it must not be imported:
    neither the folder of the program nor the working folder is put on Python's path, and the process works in an empty
    folder of its own, which relative entries of PYTHONPATH lead to as well. The folder is removed afterwards.

    Args:
        *program: What Python runs: a file, or `-m` and a module.

    Yields:
        `args` and `cwd`.
    """
    with tempfile.TemporaryDirectory(prefix="surefoot-process-", ignore_cleanup_errors=True) as folder:
        yield {"args": [sys.executable, "-P", *program], "cwd": folder}


@contextmanager
def isolated_spawn() -> Iterator[SpawnContext]:
    """The context of `multiprocessing` for processes that import nothing from the working folder; one thread each.

    Yields:
        The context. Processes must start, and queues and locks be made, before the end.
    """
    before = {name: os.environ.get(name) for name in _SPAWNED}
    os.environ.update(dict.fromkeys(_SPAWNED, "1"))
    try:
        yield multiprocessing.get_context("spawn")
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
