"""Small matrices on one core.

Threads of BLAS save nothing on matrices of a few hundred rows; where another process keeps a core busy, they wait for
each other, and a factorisation takes forty times as long. One core also rounds the same way on every machine of a kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController

_taken = Lock()


@contextmanager
def on_one_core() -> Iterator[None]:
    """Let BLAS use one thread inside. Also a decorator; where somebody else has done so, nothing changes."""
    if not _taken.acquire(blocking=False):
        yield
        return
    try:
        with _libraries().limit(limits=1, user_api="blas"):
            yield
    finally:
        _taken.release()


@cache
def _libraries() -> ThreadpoolController:
    """Thread pools of this process: numpy's and scipy's."""
    return ThreadpoolController()
