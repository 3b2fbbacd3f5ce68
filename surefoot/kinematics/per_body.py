"""Values of all bodies, each computed when it is first asked for.

The order in which an algorithm computes is the order of its compiled code, and values that are used late are kept in
memory until then. Asking for results limb by limb, from the tip inwards, makes everything else follow: what a limb
needs is computed just before, and forgotten when the limb is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

__all__ = ["PerBody"]

T = TypeVar("T")
_DEEP = 100  # bodies; more are computed in order from the start, because Python does not recurse that deep


class PerBody(Sequence[T], Generic[T]):
    """A sequence with one entry for each body.

    Args:
        count: Number of bodies.
        compute: compute(i) -> the entry of body i; may ask for entries of this and other sequences.
        outward: Whether entries depend on those of the parent (True) or of the children (False).
    """

    def __init__(self, count: int, compute: Callable[[int], T], *, outward: bool = True) -> None:
        self._compute, self._known = compute, dict[int, T]()
        self._count = count
        if count > _DEEP:
            for i in range(count) if outward else reversed(range(count)):
                self[i]

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
            self._known[i] = self._compute(i)
        return self._known[i]

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(self._count))
