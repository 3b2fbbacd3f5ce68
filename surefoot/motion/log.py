"""`Log`: everything measured at every tick, in columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, increasing_times
from surefoot.errors import ShapeError, one_of
from surefoot.motion.files import LOG_FORMAT, Bundle, contradiction, entry_names, read_bundle, write_bundle


class Channel(NamedTuple):
    """A column of a log and where its values come from.

    Args:
        name: Of the column.
        unit: Its unit.
        size: Entries per tick; None for a column (n,).
        read: The value now, of this size.
    """

    name: str
    unit: str
    size: int | None
    read: Callable[[], ArrayLike]


def _require_distinct(sizes: Mapping[str, int | None]) -> None:
    """Refuse columns whose entries have the same name in a flat table, such as `x` (n, 2) and `x[0]` (n,)."""
    owner: dict[str, str] = {}
    for name, size in sizes.items():
        for entry in entry_names(name, size):
            if entry in owner:
                raise ShapeError(
                    f"columns `{owner[entry]}` and `{name}` of the log both have an entry `{entry}`",
                    next_step="rename one of them",
                )
            owner[entry] = name


@dataclass(frozen=True, eq=False)
class Column:
    """One measured quantity.

    Args:
        name: Such as "base.height".
        unit: Such as "m"; "1" for pure numbers.
        data: (n,) or (n, k); NaN where nothing was measured.
    """

    name: str
    unit: str
    data: Array

    def __post_init__(self) -> None:
        data = np.array(self.data, dtype=float)
        if data.ndim not in (1, 2):
            raise ShapeError(f"column `{self.name}` has shape {data.shape}, expected (n,) or (n, k)")
        data.setflags(write=False)
        object.__setattr__(self, "data", data)

    @property
    def size(self) -> int | None:
        """Entries per tick; None for data (n,)."""
        return None if self.data.ndim == 1 else self.data.shape[1]

    @property
    def entries(self) -> dict[str, Array]:
        """The single series (n,) by their `entry_names`."""
        series = [self.data] if self.size is None else self.data.T
        return dict(zip(entry_names(self.name, self.size), series, strict=True))


@dataclass(frozen=True, eq=False)
class Log:
    """Columns of equal length; the one called `time` [s] increases.

    Args:
        columns: By name.
        partial: Whether the run stopped before its end.
        metadata: Texts and numbers about the run (as JSON knows them).
    """

    columns: Mapping[str, Column]
    partial: bool = False
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if "time" not in self.columns:
            raise ShapeError("a log needs a column `time`", evidence={"columns": sorted(self.columns)})
        if len(self.time):
            increasing_times(self.time, "time of the log")
        for name, column in self.columns.items():
            if name != column.name or len(column.data) != len(self.time):
                lengths = {"length": len(column.data), "length of time": len(self.time)}
                raise ShapeError(f"column `{name}` does not fit", evidence={"name": column.name, **lengths})
        _require_distinct({column.name: column.size for column in self.columns.values()})
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    @classmethod
    def of(cls, *columns: Column, partial: bool = False, metadata: Mapping[str, Any] | None = None) -> Log:
        """A log of these columns."""
        return cls({column.name: column for column in columns}, partial, metadata or {})

    @classmethod
    def load(cls, path: str | Path) -> Log:
        """Read a file that `save` wrote.

        Raises:
            FileFormatError: The file is missing, cut off, of another kind or newer version, or contradicts itself.
        """
        bundle = read_bundle(path, LOG_FORMAT)
        facts = bundle.facts
        try:
            columns = [Column(name, facts["units"][name], bundle.arrays[f"columns/{name}"]) for name in facts["order"]]
            return cls.of(*columns, partial=bool(facts["partial"]), metadata=facts["metadata"])
        except (ShapeError, KeyError, TypeError, AttributeError, ValueError) as error:
            raise contradiction(path, LOG_FORMAT, error) from error

    def save(self, path: str | Path) -> None:
        """Write to `.npz` or `.parquet`, whole or not at all."""
        arrays = {f"columns/{column.name}": column.data for column in self}
        units = {column.name: column.unit for column in self}
        facts = {"units": units, "order": list(self.columns), "partial": self.partial, "metadata": dict(self.metadata)}
        write_bundle(path, Bundle(LOG_FORMAT, arrays, facts))

    @property
    def time(self) -> Array:
        """(n,) [s]."""
        return self.columns["time"].data

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns.values())

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Array:
        return self.column(name).data

    def column(self, name: str) -> Column:
        """A column by name, with its unit."""
        if name not in self.columns:
            raise one_of("column", name, self.columns)
        return self.columns[name]

    def between(self, start: float, end: float) -> Log:
        """The ticks with start ≤ time ≤ end [s]."""
        keep = slice(*np.searchsorted(self.time, [start, np.nextafter(end, np.inf)]))
        return replace(self, columns={c.name: replace(c, data=c.data[keep]) for c in self})


class LogWriter:
    """Collects ticks cheaply; `log()` returns those so far.

    Args:
        units: Column name → unit; `time` [s] is added.
        sizes: Column name → k of columns with k entries per tick; one for omitted columns.
        capacity: Ticks to make room for at first.
    """

    def __init__(self, units: Mapping[str, str], sizes: Mapping[str, int] | None = None, capacity: int = 1024) -> None:
        self._units = {"time": "s", **units}
        for name in sizes or {}:
            if name not in self._units:
                raise one_of("column", name, self._units)
        _require_distinct({name: (sizes or {}).get(name) for name in self._units})
        self._shapes = {name: (sizes[name],) if sizes and name in sizes else () for name in self._units}
        self._data = {name: np.empty((max(1, capacity), *shape)) for name, shape in self._shapes.items()}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, tick: Mapping[str, ArrayLike]) -> None:
        """Add one tick.

        Args:
            tick: Column name → value, `time` among them; omitted columns are NaN.

        Raises:
            UnknownNameError: A column was not announced.
            ShapeError: `time` is missing or does not increase, or a value has the wrong size.
        """
        k = self._count
        self._check_time(tick)
        if k == len(self._data["time"]):
            self._data = {name: np.concatenate([old, np.empty_like(old)]) for name, old in self._data.items()}
        for name in self._units:
            if name not in tick:
                self._data[name][k] = np.nan
        for name, value in tick.items():
            if name not in self._units:
                raise one_of("column", name, self._units)
            if np.shape(value) != self._shapes[name]:
                wanted = self._shapes[name]
                raise ShapeError(f"value of column `{name}` has shape {np.shape(value)}, expected {wanted}")
            self._data[name][k] = value
        self._count = k + 1

    def _check_time(self, tick: Mapping[str, ArrayLike]) -> None:
        if "time" not in tick:
            raise ShapeError("a tick needs `time`", evidence={"columns": sorted(tick)})
        now = np.asarray(tick["time"], dtype=float)
        before = self._data["time"][self._count - 1] if self._count else -np.inf
        if now.shape != () or not np.isfinite(now) or now <= before:
            raise ShapeError("time of the log does not increase", evidence={"before": before, "now": now})

    def log(self, partial: bool = False, metadata: Mapping[str, Any] | None = None) -> Log:
        """The log so far.

        Args:
            partial: Whether the run stopped before its end.
            metadata: About the run.
        """
        columns = [Column(name, unit, self._data[name][: self._count]) for name, unit in self._units.items()]
        return Log.of(*columns, partial=partial, metadata=metadata)
