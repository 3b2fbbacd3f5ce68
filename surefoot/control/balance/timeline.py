"""`Timeline`: which moves are made when."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.control.balance.moves import Move, Timed

__all__ = ["Timeline"]


class Timeline:
    """Moves begin at their start, or when the one before them has ended; those that overlap are made together.

    Args:
        moves: In order.
    """

    def __init__(self, moves: Sequence[Move]) -> None:
        self.moves = tuple(moves)
        self.begun: dict[int, float] = {}
        """When moves began [s], by number."""
        self.ended: set[int] = set()
        """Numbers of moves that have ended."""

    def running(self, t: float) -> list[tuple[int, Move, float]]:
        """Number, move and time since it began, of all that are made now.

        Args:
            t: Now [s].
        """
        found = []
        for k, move in enumerate(self.moves):
            if k not in self.begun and self._is_due(k, move, t):
                self.begun[k] = t
            if k in self.begun and k not in self.ended:
                s = t - self.begun[k]
                if isinstance(move, Timed) and s >= move.duration:
                    self.ended.add(k)
                else:
                    found.append((k, move, s))
        return found

    def _is_due(self, k: int, move: Move, t: float) -> bool:
        if move.start is not None:
            return t >= move.start
        return k == 0 or k - 1 in self.ended

    def end(self, k: int) -> None:
        """End a move whose end does not depend on time alone.

        Args:
            k: Its number.
        """
        self.ended.add(k)
