"""MuJoCo's warnings, kept for the thread that causes them.

MuJoCo has one handler of warnings for the whole process; without one it writes a file in the working folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import mujoco

__all__ = ["warnings_kept"]


class _Keeper(threading.local):
    """The list that collects in this thread; None outside `warnings_kept`."""

    messages: list[str] | None = None


class _Handler:
    """Stands in for the process's handler while any thread collects."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: Callable[[str], None] | None = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = mujoco.get_mju_user_warning()
                mujoco.set_mju_user_warning(self._take)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                mujoco.set_mju_user_warning(self._before)

    def _take(self, message: str) -> None:
        """Keep a warning of a thread that collects; others go where they would have gone."""
        if _KEEPER.messages is not None:
            _KEEPER.messages.append(message)
        elif self._before is not None:
            self._before(message)


_KEEPER, _HANDLER = _Keeper(), _Handler()


@contextmanager
def warnings_kept() -> Iterator[list[str]]:
    """Collect the warnings that MuJoCo has in this thread; any number of threads may do so at once."""
    outer, _KEEPER.messages = _KEEPER.messages, []
    _HANDLER.enter()
    try:
        yield _KEEPER.messages
    finally:
        _HANDLER.leave()
        _KEEPER.messages = outer
