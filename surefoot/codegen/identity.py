"""What a function depends on, as a digest: so that its kernel is found in the cache without tracing it again."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import fields, is_dataclass
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, MappingProxyType
from typing import Any

__all__ = ["identity_of"]

_KNOWN = ("surefoot", "numpy", "pinocchio", "builtins", "collections", "copyreg", "functools", "operator", "types")
"""Packages whose functions and classes are told apart by name: our source is part of the key."""


def identity_of(*parts: Any) -> str | None:
    """Digest of all that functions and objects depend on beside this package's source; None if it cannot be told.

    It cannot for functions and classes of other packages, whose source may change, nor for handles of native code. What
    is cached on an object (`cached_property`, attributes of data classes that are not fields) follows from the rest.

    Args:
        parts: Functions with the values that they have captured, bound methods, robots, arrays, numbers, …
    """
    sink = _Sink()
    try:
        _Digester(sink, protocol=5).dump(parts)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):  # what `pickle` raises for such objects
        return None
    return sink.sum.hexdigest()


class _Sink:
    """A file that keeps the digest of what is written."""

    def __init__(self) -> None:
        self.sum = hashlib.sha256()

    def write(self, data: Any) -> None:
        self.sum.update(data)


class _Digester(pickle.Pickler):
    """Writes objects by their values; never read back."""

    def reducer_override(self, obj: Any) -> Any:
        """How an object is written: its class, then its values, which may refer back to it."""
        kind = type(obj)
        if isinstance(obj, type | FunctionType | BuiltinFunctionType):
            return self._named(obj)
        if kind is MappingProxyType:
            return dict, (dict(obj),)
        if kind.__module__.split(".")[0] != "surefoot" or isinstance(obj, BaseException):
            return NotImplemented
        if is_dataclass(obj):
            return type, (kind,), [getattr(obj, item.name) for item in fields(obj)]
        if hasattr(obj, "__dict__") and kind.__reduce_ex__ is object.__reduce_ex__:
            state = {k: x for k, x in vars(obj).items() if not isinstance(getattr(kind, k, None), cached_property)}
            return type, (kind,), state
        return NotImplemented

    def _named(self, obj: Any) -> Any:
        if str(obj.__module__).split(".")[0] not in _KNOWN:
            raise pickle.PicklingError(f"the source of {obj!r} is not known")
        if not isinstance(obj, FunctionType):
            return NotImplemented
        code = obj.__code__
        place = obj.__module__, obj.__qualname__, code.co_firstlineno, code.co_code, code.co_names
        captured = tuple(cell.cell_contents for cell in obj.__closure__ or ())
        return tuple, ((*place, captured, obj.__defaults__, obj.__kwdefaults__),)
