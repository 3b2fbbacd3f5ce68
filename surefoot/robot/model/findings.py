"""Findings about a robot by a reader or a check: one line each, with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One defect, doubt or remark.

    Args:
        level: "error" (the robot cannot be used as it is), "warning" or "note".
        place: Where: `file:line`, a link, a joint.
        message: What, with the values.
        line: Line in the file; 0 where unknown.
        bare: Links that lost a collision shape by it.
    """

    level: Level
    place: str
    message: str
    line: int = 0
    bare: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.level}: {self.place}: {self.message}"
