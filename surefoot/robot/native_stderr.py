"""What C++ libraries print on stderr, caught, so that it can become evidence."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["caught_stderr"]

_ONE_AT_A_TIME = threading.RLock()


@contextmanager
def caught_stderr() -> Iterator[list[str]]:
    """While inside, file descriptor 2 goes to a list of lines, which is filled at the end. One thread at a time."""
    lines: list[str] = []
    sys.stderr.flush()
    with _ONE_AT_A_TIME, tempfile.TemporaryFile() as sink:
        saved = os.dup(2)
        try:
            os.dup2(sink.fileno(), 2)
            yield lines
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)
            sink.seek(0)
            text = sink.read(100_000).decode("utf-8", "replace")
            lines.extend(line for line in text.splitlines() if line.strip())
