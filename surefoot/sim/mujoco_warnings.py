"""MuJoCo's warnings, kept for the thread that causes them.

MuJoCo has one handler of warnings for the whole process; without one it writes a file in the working folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

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


class warnings_kept:  # noqa: N801 (reads as a statement: `with warnings_kept() as messages`)
    """Collect the warnings that MuJoCo has in this thread; any number of threads may do so at once."""

    __slots__ = ("_messages", "_outer")

    def __enter__(self) -> list[str]:
        self._outer = _KEEPER.messages
        self._messages: list[str] = []
        _KEEPER.messages = self._messages
        _HANDLER.enter()
        return self._messages

    def __exit__(self, *_: object) -> None:
        _HANDLER.leave()
        _KEEPER.messages = self._outer
