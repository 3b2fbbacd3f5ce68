"""`Mailbox`: one thread that does posted work in order, and of each kind only the newest."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import count

Work = Callable[[], None]


class Mailbox:
    """A thread for all the work of a tab, so that nothing of it runs at the same time.

    Work that is posted under a key takes the place of work under the same key that has not begun: a slider that moves
    faster than the robot can be drawn leaves only its last position. A ticker is called again and again while it is
    asked for.

    Args:
        guard: Calls work, and deals with its errors.
        name: Of the thread.
    """

    def __init__(self, guard: Callable[[Work], None], name: str) -> None:
        self._guard = guard
        self._work: dict[object, Work] = {}
        self._numbers = count()
        self._changed = threading.Condition()
        self._closed = False
        self._ticker: tuple[Work, float] | None = None
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    def post(self, work: Work, key: object = None) -> None:
        """Ask for work.

        Args:
            work: What to do.
            key: Work with the same key that waits is dropped; None for work that must not be.
        """
        with self._changed:
            if self._closed:
                return
            place = ("unique", next(self._numbers)) if key is None else key
            self._work.pop(place, None)
            self._work[place] = work
            self._changed.notify()

    def tick(self, ticker: Work | None, period: float = 1.0 / 30.0) -> None:
        """Call something again and again between other work.

        Args:
            ticker: What to call; None to stop.
            period: Time from call to call [s].
        """
        with self._changed:
            self._ticker = None if ticker is None else (ticker, period)
            self._changed.notify()

    def close(self) -> None:
        """Do nothing more; work that has begun goes on to its end."""
        with self._changed:
            self._closed = True
            self._work.clear()
            self._changed.notify()

    def _loop(self) -> None:
        due = time.monotonic()
        while True:
            work, due = self._next(due)
            if work is None:
                return
            self._guard(work)

    def _next(self, due: float) -> tuple[Work | None, float]:
        """The next work, or the ticker when it is due; None when all is over."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                if self._ticker is not None and now >= due:
                    return self._ticker[0], now + self._ticker[1]
                if self._work:
                    return self._work.pop(next(iter(self._work))), due
                self._changed.wait(None if self._ticker is None else max(0.0, due - now))
            return None, due
