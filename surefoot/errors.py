"""The errors that surefoot raises: message, place, evidence and next step.

Every error that a user can cause is a `SurefootError`. The command line prints it without a traceback and
leaves with the error's `exit_code`; a program can read `evidence`, `next_step`, and the subject of the
error: `subject`, `kind`, `key` and `suggestions`. No program needs to parse a message.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "FileFormatError",
    "MissingMeshError",
    "ModelError",
    "NotSupportedError",
    "ScenarioError",
    "ShapeError",
    "SimulationError",
    "SurefootError",
    "UnknownNameError",
    "one_of",
]


class SurefootError(Exception):
    """Base of all errors that carry evidence and a next step.

    Args:
        message: One sentence about the defect.
        evidence: The offending values by name, shown below the message.
        next_step: One sentence of advice.
        file: The file in which it was found.
        line: The line in that file, counted from 1.
        subject: The name or text that is wrong, as it was given; the message quotes it.
        kind: What the subject denotes: "joint", "link", "frame", …
        key: Path of the key that is wrong in the tables of a file; entries of lists go by their number.
        suggestions: Names that may be meant instead; the message has them.
    """

    exit_code = 2

    def __init__(
        self,
        message: str,
        *,
        evidence: Mapping[str, Any] | None = None,
        next_step: str = "",
        file: str | Path | None = None,
        line: int | None = None,
        subject: str = "",
        kind: str = "",
        key: Sequence[str | int] = (),
        suggestions: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.evidence = dict(evidence or {})
        self.next_step = next_step
        self.file = None if file is None else str(file)
        self.line = line
        self.subject = subject
        self.kind = kind
        self.key = tuple(key)
        self.suggestions = tuple(suggestions)

    @property
    def place(self) -> str:
        """`file:line`, as far as known."""
        if self.file is None:
            return "" if self.line is None else f"line {self.line}"
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def with_place(self, file: str | Path | None = None, line: int | None = None) -> SurefootError:
        """Fill in the place where it is not known yet; returns the same error."""
        if self.file is None and file is not None:
            self.file = str(file)
        if self.line is None:
            self.line = line
        return self

    def __str__(self) -> str:
        head = f"{self.place}: {self.message}" if self.place else self.message
        facts = [f"  {name}: {value}" for name, value in self.evidence.items()]
        step = [f"  next: {self.next_step}"] if self.next_step else []
        return "\n".join([head, *facts, *step])


class FileFormatError(SurefootError):
    """A file is truncated, foreign, too large, or cannot be parsed."""


class ModelError(SurefootError):
    """A robot description contradicts itself or physics."""


class MissingMeshError(ModelError):
    """A mesh that a robot description names does not exist."""


class ShapeError(SurefootError):
    """An array has the wrong shape or holds values that are not finite."""


class UnknownNameError(SurefootError):
    """A robot, joint, frame, scenario or option of that name does not exist."""


class ScenarioError(SurefootError):
    """A scenario or side file has a wrong key, type or value."""


class NotSupportedError(SurefootError):
    """The request is understood and not available here, for a stated reason."""


class SimulationError(SurefootError):
    """A simulation could not go on; the results so far are kept."""

    exit_code = 1


def one_of(kind: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """The error for a wrong name, with the nearest right ones.

    Args:
        kind: What the name should denote, e.g. "robot".
        name: The name that was given.
        known: The names that exist.
    """
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(f'`{n}`' for n in near)}?" if near else ""
    listing = ", ".join(names[:30]) + (", …" if len(names) > 30 else "")
    return UnknownNameError(
        f"there is no {kind} `{name}`" + (f"; {hint}" if hint else ""),
        evidence={} if near else {"known": listing or "none"},
        next_step="" if near else "choose one of those that exist",
        subject=name,
        kind=kind,
        suggestions=near,
    )
