"""What a scenario file says about motions that are planned before the run."""

from __future__ import annotations

from typing import ClassVar, Literal

from surefoot.scenario.schema_kinds import KindTable, Positive

__all__ = ["MotionTable"]


class MotionTable(KindTable):
    """`[motion]`: what is planned; the controller `follow` follows it.

    Args:
        kind: Which motion.
        duration: Of the motion [s].
    """

    KEYS: ClassVar[dict[str, set[str]]] = {}
    NEEDS: ClassVar[dict[str, set[str]]] = {}

    kind: Literal["reach"] = "reach"
    duration: Positive | None = None
