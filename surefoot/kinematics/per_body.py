"""Values of all bodies, each computed when it is first asked for.

The order in which an algorithm computes is the order of its compiled code, and values that are used late are kept in
memory until then. Asking for results limb by limb, from the tip inwards, makes everything else follow: what a limb
needs is computed just before, and forgotten when the limb is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar, overload

__all__ = ["PerBody"]

T = TypeVar("T")
_DEEP = 100  # bodies; of more, those before are computed first, because Python does not recurse that deep


class PerBody(Sequence[T], Generic[T]):
    """A sequence with one entry for each body.

    Args:
        count: Number of bodies.
        compute: compute(i) -> the entry of body i; may ask for entries of this and other sequences.
        outward: Whether entries depend on those of the parent (True) or of the children (False).
    """

    def __init__(self, count: int, compute: Callable[[int], T], *, outward: bool = True) -> None:
        self._compute, self._known = compute, dict[int, T]()
        self._count, self._outward = count, outward

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, i: int) -> T: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[T]: ...
    def __getitem__(self, i: int | slice) -> T | Sequence[T]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._count))]
        if not 0 <= i < self._count:
            raise IndexError(i)
        if i not in self._known:
            for k in self._before(i):
                if k not in self._known:
                    self._known[k] = self._compute(k)
            self._known[i] = self._compute(i)
        return self._known[i]

    def _before(self, i: int) -> Iterable[int]:
        """What to compute first, so that no long chain of questions arises."""
        if self._count <= _DEEP:
            return ()
        return range(i) if self._outward else reversed(range(i + 1, self._count))

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(self._count))
