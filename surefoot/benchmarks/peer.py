"""What another library has to offer to be measured beside Pinocchio and us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from surefoot.benchmarks.timing import Effort, Times

__all__ = ["Peer"]


class Peer(Protocol):
    """Another library with a robot and states."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def calls(self) -> Mapping[str, str]:
        """By case, its calls for people; other cases it has not."""

    @property
    def frames(self) -> Sequence[str]:
        """Whose Jacobians it computes."""

    @property
    def all_cores(self) -> bool:
        """Whether it uses all cores; else one."""

    def answers(self, case: str, count: int) -> NDArray[Any]:
        """Results of the first states in Pinocchio's coordinates: forces, accelerations, M, or Jacobians (k, m, 6, nv).

        Args:
            case: A key of `calls`, but "controller", which is made of the same calls as the others.
            count: How many at most.
        """

    def times(self, case: str, effort: Effort) -> Times:
        """Times for one state.

        Args:
            case: A key of `calls`.
            effort: How long to measure.
        """
