"""`Recorder`: a log of channels that are read once a tick into one preallocated row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from surefoot.errors import ShapeError
from surefoot.files import MAX_DATA_BYTES
from surefoot.motion import Channel, Column, Log


class Recorder:
    """One row of numbers for each tick.

    Args:
        channels: The columns, `time` [s] among them.
        capacity: Most rows.

    Raises:
        ShapeError: Two columns have entries of the same name, or the rows take too much memory.
    """

    def __init__(self, channels: Sequence[Channel], capacity: int) -> None:
        self._channels = tuple(channels)
        ends = np.cumsum([1 if channel.size is None else channel.size for channel in channels]).tolist()
        places: list[int | slice] = []
        for channel, start, end in zip(channels, [0, *ends], ends, strict=False):
            places.append(start if channel.size is None else slice(start, end))
        self._places = tuple(places)
        self._cells = tuple((place, channel.read) for place, channel in zip(places, channels, strict=True))
        if (size := 8 * capacity * ends[-1]) > MAX_DATA_BYTES:
            raise ShapeError(
                f"the log would take {size / 2**30:.3g} GiB",
                evidence={"rows": capacity, "columns": ends[-1], "most": f"{MAX_DATA_BYTES >> 30} GiB"},
                next_step="shorten the run (`duration`), or take longer steps (`dt`, `control_dt`)",
            )
        self._rows, self._count = np.empty((capacity, ends[-1])), 0
        self.log()

    def __len__(self) -> int:
        return self._count

    def append(self) -> None:
        """Read all channels.

        Raises:
            ShapeError: A value is not of the size of its column.
        """
        row, k = self._rows[self._count], 0
        try:
            for k, (place, read) in enumerate(self._cells):  # noqa: B007
                row[place] = read()
        except (TypeError, ValueError) as error:
            name, _, size, _ = self._channels[k]
            wanted = "a number" if size is None else f"{size} numbers"
            raise ShapeError(f"column `{name}` of the log needs {wanted}", evidence={"reason": error}) from error
        self._count += 1

    def log(self, partial: bool = False, metadata: Mapping[str, Any] | None = None) -> Log:
        """The log so far.

        Args:
            partial: Whether the run stopped before its end.
            metadata: About the run.
        """
        done = self._rows[: self._count]
        pairs = zip(self._channels, self._places, strict=True)
        return Log.of(*(Column(x.name, x.unit, done[:, at]) for x, at in pairs), partial=partial, metadata=metadata)
