"""Small matrices on one core.

Threads of BLAS save nothing on matrices of a few hundred rows; where another process keeps a core busy, they wait for
each other, and a factorisation takes forty times as long. One core also rounds the same way on every machine of a kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["on_one_core"]


class _Limit:
    """Held by all who are inside: the first takes the threads, and the last gives them back."""

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limit: Any = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._limit = _libraries().limit(limits=1, user_api="blas")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_limit = _Limit()


@contextmanager
def on_one_core() -> Iterator[None]:
    """Let BLAS use one thread inside. Also a decorator."""
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


@cache
def _libraries() -> ThreadpoolController:
    """Those of this process: numpy's and scipy's."""
    return ThreadpoolController()
