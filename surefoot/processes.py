"""Python processes that import nothing from the folders that the user works in."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["isolated_python"]


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
