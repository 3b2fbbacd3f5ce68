"""ROS 2 messages as bytes, whole batches at once: the Common Data Representation (OMG CDR, XCDR1, little endian).

The texts of a message are the same at all times, so every number has a fixed place: a table of places is made once and
filled by columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MessageLayout"]

_HEAD = b"\x00\x01\x00\x00"  # plain CDR, little endian


class MessageLayout:
    """The places of all fields of a message; fields are added in the order of its definition."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._fields: list[tuple[str, Any, int]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The fields to fill."""
        return tuple(name for name, _, _ in self._fields)

    def text(self, value: str) -> MessageLayout:
        """Add a constant `string`."""
        content = value.encode() + b"\0"
        return self.count(len(content))._add(content)

    def count(self, value: int) -> MessageLayout:
        """Add a constant `uint32`, such as the length of a sequence."""
        self._align(4)
        return self._add(int(value).to_bytes(4, "little"))

    def texts(self, values: tuple[str, ...]) -> MessageLayout:
        """Add a constant `string[]`."""
        self.count(len(values))
        for value in values:
            self.text(value)
        return self

    def number(self, name: str, kind: str) -> MessageLayout:
        """Add a field that is filled later.

        Args:
            name: For `encoded`.
            kind: NumPy's name of its type: "<f8", "<i4" or "<u4".
        """
        return self._field(name, np.dtype(kind), 1)

    def numbers(self, name: str, size: int) -> MessageLayout:
        """Add a `float64[size]` that is filled later; its entries only, without a count.

        Args:
            name: For `encoded`.
            size: Entries.
        """
        return self._field(name, np.dtype(("<f8", (size,))), size)

    def sequence(self, name: str, size: int) -> MessageLayout:
        """Add a `float64[]` of fixed length that is filled later.

        Args:
            name: For `encoded`.
            size: Entries; 0 for an empty one.
        """
        self.count(size)
        return self.numbers(name, size) if size else self

    def encoded(self, columns: Mapping[str, NDArray[Any]], rows: int) -> list[bytes]:
        """One message for each row.

        Args:
            columns: (n,) or (n, k) by the name of the field.
            rows: n.
        """
        names, formats, offsets = zip(*self._fields, strict=True) if self._fields else ((), (), ())
        kind = np.dtype(
            {"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": len(self._content)}
        )
        table = np.frombuffer(bytearray(bytes(self._content) * rows), dtype=kind)
        for name in names:
            table[name] = columns[name]
        content, size = table.tobytes(), len(self._content)
        return [_HEAD + content[k * size : (k + 1) * size] for k in range(rows)]

    def _field(self, name: str, kind: Any, size: int) -> MessageLayout:
        self._align(min(8, kind.base.itemsize) if size else 1)
        self._fields.append((name, kind, len(self._content)))
        return self._add(bytes(kind.itemsize))

    def _align(self, size: int) -> None:
        self._content.extend(bytes(-len(self._content) % size))

    def _add(self, content: bytes) -> MessageLayout:
        self._content.extend(content)
        return self
