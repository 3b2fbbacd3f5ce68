"""What a run is doing, on a terminal: the stage, a bar that moves, and what is made for the first time."""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

__all__ = ["FirstTime", "FirstTimeColumn", "RunProgress", "share_of_run"]

LOADING = "loading"
# Where the bar stands when a stage begins; the last one ends at 1.
_BEGINS = {LOADING: 0.0, "compiling": 0.05, "simulating": 0.1, "auditing": 0.4, "writing the report": 0.9}
_KINDS = {"swept volumes": "collision volumes of {n} link{s}", "scene meshes": "meshes of the report"}
_LOOK_EVERY = 1.0  # [s]


def share_of_run(stage: str, share: float) -> float:
    """Share of the whole run, 0…1.

    Args:
        stage: What is done now.
        share: How much of it is done, 0…1.
    """
    begins = _BEGINS[stage]
    ends = min((later for later in _BEGINS.values() if later > begins), default=1.0)
    return begins + share * (ends - begins)


class FirstTime:
    """What was made and put into surefoot's cache since this object was made."""

    def __init__(self) -> None:
        self._known = _keys()

    def text(self) -> str:
        """`first time: collision volumes of 3 links, 1 kernel; kept for later`, or ""."""
        new = _keys() - self._known
        if not new:
            return ""
        made = Counter(_KINDS.get(name, "{n} kernel{s}") for name in _algorithms(new))
        words = ", ".join(kind.format(n=n, s="" if n == 1 else "s") for kind, n in made.items())
        return f"first time: {words}; kept for later" if words else ""


def _keys() -> set[str]:
    """Names of what is in the cache; nothing where it cannot be read: those who need it say what is wrong with it."""
    from surefoot.compiler.cache import CacheError, kernel_folder

    try:
        return {path.stem for path in kernel_folder().iterdir() if not path.name.startswith(".")}
    except (CacheError, OSError):
        return set()


def _algorithms(keys: set[str]) -> list[str]:
    """What made these entries of the cache."""
    from surefoot.compiler.cache import CacheError, entries

    try:
        return [str(entry.description.get("algorithm", "")) for entry in entries() if entry.key in keys]
    except (CacheError, OSError):
        return []


class FirstTimeColumn(ProgressColumn):
    """What is made for the first time, in a bar of rich; looks into the cache once a second."""

    def __init__(self) -> None:
        super().__init__()
        self._first_time = FirstTime()
        self._text, self._looked = "", time.monotonic()

    def render(self, task: Task) -> Text:
        """The text of `FirstTime`.

        Args:
            task: Of the bar.
        """
        if time.monotonic() - self._looked >= _LOOK_EVERY:
            self._text, self._looked = self._first_time.text(), time.monotonic()
        return Text(self._text, style="dim")


class RunProgress:
    """A bar on stderr if that is a terminal; it is gone when the run ends."""

    def __init__(self) -> None:
        console = Console(file=sys.stderr)
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:3.0f} %"),
            TimeElapsedColumn(),
            FirstTimeColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(LOADING, total=1.0)

    def tell(self, stage: str, share: float) -> None:
        """Show a stage of a run.

        Args:
            stage: What is done now.
            share: How much of it is done, 0…1.
        """
        self._bar.update(self._task, description=stage, completed=share_of_run(stage, share))

    def stop(self) -> None:
        """Take the bar away."""
        self._bar.stop()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
