"""Output of commands: untruncated pages, progress bars on stderr, and checks that several commands share."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from surefoot.errors import FileFormatError, ShapeError

_KINDS = {"swept volumes": "collision volumes of {n} link{s}", "scene meshes": "report meshes"}
_LOOK_EVERY = 1.0  # [s]


class _Console(Console):
    """A console that passes a closed pipe on to `main`."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def page_console() -> Console:
    """A console that truncates nothing: as wide as the terminal, or 1000 columns into a file or pipe."""
    console = _Console(highlight=False, emoji=False)
    return console if console.is_terminal else _Console(highlight=False, emoji=False, width=1000)


def require_page_name(path: Path | None) -> None:
    """Refuse a page that cannot be written, before the work that it is to show.

    Args:
        path: File of the page, or None.
    """
    if path is not None and path.suffix != ".html":
        raise FileFormatError(f"suffix `{path.suffix}` is not known", file=path, next_step="use .html")
    if path is not None and not path.absolute().parent.is_dir():
        raise FileFormatError(f"there is no folder `{path.parent}`", file=path, next_step="create the folder first")


def names_in(text: str | None) -> list[str] | None:
    """The names in a comma-separated text; None for none.

    Args:
        text: As given to `--joints`.
    """
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def reduction(lock: Sequence[str], only: str | None) -> dict[str, Any]:
    """`lock` and `only` of `surefoot.load`.

    Args:
        lock: `joint=position` texts.
        only: Comma-separated names, or None.
    """
    held: dict[str, float] = {}
    for text in lock:
        joint, _, position = text.rpartition("=")
        try:
            held[joint] = float(position)
        except ValueError:
            raise ShapeError(f"`--lock {text}` is not JOINT=POSITION", next_step="e.g. --lock waist=0.0") from None
    return {"lock": held, "only": names_in(only)}


class Tell(Protocol):
    """Takes the completed share, 0…1, and the current activity."""

    def __call__(self, share: float, text: str | None = None) -> None:
        """Move the bar; without a text, the last one stays."""


@contextmanager
def progress(what: str = "loading") -> Iterator[Tell]:
    """A progress bar on stderr; nothing if that is not a terminal.

    Args:
        what: What is done first.
    """
    console = Console(file=sys.stderr)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(what, total=1.0)

        def tell(share: float, text: str | None = None) -> None:
            bar.update(task, completed=share, description=text)

        yield tell


class FirstTime:
    """Entries added to surefoot's cache since this object was created."""

    def __init__(self) -> None:
        self._known = _keys()

    def text(self) -> str:
        """`built and cached: collision volumes of 3 links, 1 kernel`, or ""."""
        new = _keys() - self._known
        if not new:
            return ""
        made = Counter(_KINDS.get(name, "{n} kernel{s}") for name in _algorithms(new))
        words = ", ".join(kind.format(n=n, s="" if n == 1 else "s") for kind, n in made.items())
        return f"built and cached: {words}" if words else ""


def _keys() -> set[str]:
    """Keys of the cache; none if it cannot be read, which its users report."""
    from surefoot.codegen import CacheError, kernel_folder

    try:
        return {path.stem for path in kernel_folder().iterdir() if not path.name.startswith(".")}
    except (CacheError, OSError):
        return set()


def _algorithms(keys: set[str]) -> list[str]:
    """The algorithms that wrote these cache entries."""
    from surefoot.codegen import CacheError, entries

    try:
        return [str(entry.description.get("algorithm", "")) for entry in entries() if entry.key in keys]
    except (CacheError, OSError):
        return []


class FirstTimeColumn(ProgressColumn):
    """A column of rich's progress bar: what is built for the first time; checks the cache once a second."""

    def __init__(self) -> None:
        super().__init__()
        self._first_time = FirstTime()
        self._text, self._looked = "", time.monotonic()

    def render(self, task: Task) -> Text:
        """The text of `FirstTime`."""
        if time.monotonic() - self._looked >= _LOOK_EVERY:
            self._text, self._looked = self._first_time.text(), time.monotonic()
        return Text(self._text, style="dim")
