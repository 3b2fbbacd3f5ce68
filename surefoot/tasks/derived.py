"""`derived`: a property that is computed once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

__all__ = ["derived"]

if TYPE_CHECKING:
    derived = cached_property
else:

    class derived:  # noqa: N801  (as `property`)
        """As `functools.cached_property`, which until Python 3.12 takes a lock and so three times as long.

        Two threads may both compute the value; that does no harm where it is the same.

        Args:
            function: Of the object: the value.
        """

        def __init__(self, function: Any) -> None:
            self._function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self._name = name

        def __get__(self, instance: Any, owner: type) -> Any:
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self._function(instance)
            return found
