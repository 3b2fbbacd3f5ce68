"""What tasks have in common whose value is a vector in world axes, of which a mask keeps some rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.tasks.task import Task, rows_of

__all__ = ["VectorTask"]


@dataclass(frozen=True, eq=False)
class VectorTask(Task):
    """A task with a target (3,) in world axes, and a mask of "xyz"."""

    target: ArrayLike = (0.0, 0.0, 0.0)
    mask: Sequence[bool] | str | None = None

    def __post_init__(self) -> None:
        _ = self.kept, self.numbers  # refuse wrong ones now
        super().__post_init__()

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Rows that count."""
        return rows_of(self.mask, "xyz", f"task `{self.name}`")

    def numbers_of(self, target: Any) -> Array:
        """The vector (3,).

        Args:
            target: As in the constructor.
        """
        return self.checked_target(target, (3,))
