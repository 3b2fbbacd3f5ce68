"""Tables of named columns in CSV and Parquet files.

Numpy archives with the same bytes for the same arrays, and a reader that trusts nothing in them.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import FileFormatError
from surefoot.files import MAX_DATA_BYTES, atomic_write, existing_file
from surefoot.words import counted

SEPARATOR = "separator"
"""Metadata of tables whose entries are not separated by commas."""
SEPARATORS = {";": "semicolons", "\t": "tabs", " ": "spaces"}
_MAX_COLUMNS = 10_000  # of a table: more than any robot has joints
_UNPACKED = 256 << 20, 100  # bytes that any file may unpack to, and bytes for each byte of a larger one
_LONGEST = 60  # characters of an entry that is quoted
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers in columns.

    Args:
        header: Column names; None where the file has none.
        numbers: (n, k).
        lines: Line of each row in a text file, counted from 1; empty for other files.
        metadata: Texts by name that came with it.
    """

    header: tuple[str, ...] | None
    numbers: Array
    lines: tuple[int, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Array]:
        """(n,) by name."""
        return dict(zip(self.header or (), self.numbers.T, strict=True))


def write_parquet(path: str | Path, columns: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> None:
    """Write columns (n,), whole or not at all; same bytes for the same numbers.

    Args:
        path: Where.
        columns: By name.
        metadata: Texts to keep with them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: np.ascontiguousarray(values) for name, values in columns.items()})
    with atomic_write(path) as temporary:
        pq.write_table(table.replace_schema_metadata(dict(metadata or {})), temporary)


def read_parquet(path: str | Path) -> Table:
    """The columns of a Parquet file, all of them numbers.

    Raises:
        FileFormatError: No such file, no Parquet file, cut off, or a column that does not hold numbers only.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = existing_file(path)
    try:
        size = pq.read_metadata(file)
        if size.num_columns > _MAX_COLUMNS:
            raise _too_wide(size.num_columns, path)
        _require_plausible(8 * size.num_rows * size.num_columns, file)
        found = pq.read_table(file, partitioning=None)
        names = found.schema.names
        numbers = [_parquet_column(found.column(k), name, path) for k, name in enumerate(names)]
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise FileFormatError(
            "cannot be read as a Parquet file; it is truncated, damaged or of another format",
            file=path,
            evidence={"reader": (str(error).splitlines() or [type(error).__name__])[0]},
            next_step="write or copy the file again",
        ) from error
    texts = {k.decode(errors="replace"): v.decode(errors="replace") for k, v in (found.schema.metadata or {}).items()}
    stacked = np.column_stack(numbers) if numbers else np.zeros((found.num_rows, 0))
    return Table(tuple(names), stacked, metadata=texts)


def _too_wide(columns: int, path: str | Path) -> FileFormatError:
    return FileFormatError(f"has {columns} columns, more than {_MAX_COLUMNS}", file=path)


def _parquet_column(column: Any, name: str, path: str | Path) -> Array:
    import pyarrow as pa

    is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
    if not is_number or column.null_count:
        what = f"is of type {column.type}" if not is_number else f"has no number in {counted(column.null_count, 'row')}"
        raise FileFormatError(f"column `{name}` {what}, expected numbers", file=path)
    return np.asarray(column.to_numpy(), dtype=float)


def write_csv(path: str | Path, columns: Mapping[str, Array]) -> None:
    """Write columns (n,) with a header line; numbers in the shortest form that reads back bit by bit."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    table = pa.table({name: np.ascontiguousarray(values) for name, values in columns.items()})
    with atomic_write(path) as temporary, temporary.open("wb") as stream:
        stream.write((",".join(_quoted(name) for name in columns) + "\n").encode())
        pa_csv.write_csv(table, stream, pa_csv.WriteOptions(include_header=False))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name != name.strip() or any(c in name for c in ',"\n\r') else name


def read_csv(path: str | Path, finite: bool = True) -> Table:
    """The numbers of a CSV file; its first line is a header if it holds anything but numbers, or numbers the columns.

    Entries are separated by commas; by semicolons, tabs or spaces where the first line has no commas, which the
    metadata say (`SEPARATOR`). A `#` before the first name is passed over.

    Args:
        path: The file.
        finite: Whether to refuse numbers that are not finite.

    Raises:
        FileFormatError: No such file, not text, decimal commas, an entry that is not a number, rows of unequal length.
    """
    try:
        return _parsed_csv(path, _lines(path), finite)
    except FileFormatError as error:
        raise error.with_place(path) from error.__cause__


def _parsed_csv(path: str | Path, lines: Sequence[str], finite: bool) -> Table:
    kept = [k for k, line in enumerate(lines) if line.strip()]
    if not kept:
        raise FileFormatError("is empty", file=path, next_step="write it again")
    separator = _separator([lines[k] for k in kept[:2]])
    first = _cells(lines[kept[0]].lstrip("# "), separator)
    if len(first) > _MAX_COLUMNS:
        raise _too_wide(len(first), path)
    header = None if all(_is_number(cell) for cell in first) else tuple(_name(cell, lines[kept[0]]) for cell in first)
    if header is not None and all(_is_number(cell) or _DECIMAL_COMMA.fullmatch(cell.strip()) for cell in first):
        raise _decimal_commas(path, kept[0] + 1, next(cell for cell in first if not _is_number(cell)))
    numbered = _numbered(first)
    body = kept if header is None and not numbered else kept[1:]
    numbers = _numbers([lines[k] for k in body], len(first), separator, finite)
    if numbers is None:
        raise _bad_cell(path, {k + 1: _cells(lines[k], separator) for k in body}, header, len(first), finite)
    said = {} if separator == "," else {SEPARATOR: SEPARATORS[separator]}
    if numbered and header is not None:
        header, numbers = None, numbers[:, 1:]  # the first column counts the rows
    return Table(header, numbers, tuple(k + 1 for k in body), said)


_SURELY_NUMBERED = 6  # columns 0.0, 1.0, … that are not a state by chance


def _numbered(first: Sequence[str]) -> bool:
    """Whether a line numbers the columns from 0 or 1, as data frames without names are written, perhaps as `0.0`.

    The first entry may be empty, above a column that counts the rows.
    """
    cells = [cell.strip() for cell in first]
    cells = cells[1:] if not cells[0] else cells
    if len(cells) <= 2 or not all(_is_number(cell) for cell in cells):
        return False
    plain = all(cell.isdigit() for cell in cells) or len(cells) > _SURELY_NUMBERED
    return plain and any([float(cell) - start for cell in cells] == list(range(len(cells))) for start in (0, 1))


def _separator(lines: Sequence[str]) -> str:
    """The separator of entries, taken from the first line; from the second if the first names one column."""
    first = lines[0]
    if ";" in first and ("," not in first or _DECIMAL_COMMA.fullmatch(first.split(";")[0].strip())):
        return ";"
    if "\t" in first.strip() and ("," not in first or _DECIMAL_COMMA.fullmatch(first.split("\t")[0].strip())):
        return "\t"
    cells = lines[-1].split()
    spaced = "," not in first and len(cells) > 1 and all(_is_number(cell) for cell in cells)
    return " " if spaced and len(first.lstrip("# ").split()) == len(cells) else ","


def _cells(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    if '"' not in line:
        return line.split(separator)
    try:
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=separator, skipinitialspace=True))
    except csv.Error as error:
        raise FileFormatError(f"holds a line that cannot be read: {error}") from error


def _name(cell: str, line: str) -> str:
    """A name without the spaces around it, unless they are in quotes."""
    return cell if _quoted(cell) in line and _quoted(cell) != cell else cell.strip()


def _lines(path: str | Path) -> list[str]:
    """The lines of a text file; a name in the header may have line breaks in quotes, and is one line with them."""
    try:
        text = existing_file(path).read_bytes().decode("utf-8-sig")
        ends = "\n" if "\n" in text else "\r"
        lines = text.split(ends)
        quotes = np.cumsum([line.count('"') for line in lines])
        closed = int(np.argmax(quotes % 2 == 0)) if quotes[0] % 2 else 0
        return [line.removesuffix("\r") for line in (ends.join(lines[: closed + 1]), *lines[closed + 1 :])]
    except UnicodeDecodeError as error:
        raise FileFormatError(
            "is not a text file", file=path, evidence={"reader": error}, next_step="check the suffix"
        ) from error


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _numbers(rows: Sequence[str], width: int, separator: str, finite: bool) -> Array | None:
    """The numbers, or None where one of them is none, or not finite."""
    if not rows:
        return np.zeros((0, width))
    try:
        out = np.loadtxt(rows, delimiter=None if separator == " " else separator, ndmin=2, comments=None)
    except ValueError:
        return None
    return out if out.shape[1] == width and (not finite or np.isfinite(out).all()) else None


def _bad_cell(
    path: str | Path, rows: Mapping[int, Sequence[str]], header: tuple[str, ...] | None, width: int, finite: bool
) -> FileFormatError:
    """The error that names the first wrong entry, of rows by line."""
    for line, cells in rows.items():
        if len(cells) != width:
            return FileFormatError(
                f"row has {len(cells)} entries, the first one has {width}",
                file=path,
                line=line,
                next_step="write the file again; separate entries by commas, write decimals with points",
            )
        for column, cell in enumerate(cells):
            if _DECIMAL_COMMA.fullmatch(cell.strip()):
                return _decimal_commas(path, line, cell)
            if not _is_number(cell) or (finite and not np.isfinite(float(cell))):
                name = f"column {column + 1}" + (f" (`{_short(header[column])}`)" if header else "")
                message = f"{name} holds {_short(cell.strip())!r}, expected a finite number"
                return FileFormatError(message, file=path, line=line)
    return FileFormatError("holds entries that are not numbers", file=path)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _decimal_commas(path: str | Path, line: int, cell: str) -> FileFormatError:
    return FileFormatError(
        f"holds numbers with decimal commas, such as {cell.strip()}",
        file=path,
        line=line,
        next_step="write decimals with points",
    )


_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3


def write_npz(path: str | Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, whole or not at all. Nothing of the time or the machine gets into the file.

    Args:
        path: Where.
        arrays: Numbers or texts; no objects.
    """
    with atomic_write(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for name, value in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            entry.create_system, entry.external_attr = _UNIX, 0o644 << 16
            content = io.BytesIO()
            npy.write_array(content, np.array(value, order="C"), version=(1, 0), allow_pickle=False)
            archive.writestr(entry, content.getbuffer())


def read_npz(path: str | Path, only: str | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of an archive by name.

    Args:
        path: The file.
        only: Name of the one array to read; None for all.

    Raises:
        FileFormatError: There is no such file, it is not an archive, is truncated or damaged, holds pickled objects, or
            would unpack to far more than its size.
    """
    file = existing_file(path)
    try:
        with zipfile.ZipFile(file) as archive:
            _require_plausible(sum(entry.file_size for entry in archive.infolist()), file)
            names = [name for name in archive.namelist() if only is None or name.removesuffix(".npy") == only]
            return {n.removesuffix(".npy"): _array(archive.read(n), n, path) for n in names}
    except FileFormatError:
        raise
    except Exception as error:  # whatever decompressors raise: there are four kinds of them
        raise FileFormatError(
            "cannot be read as a numpy archive (.npz); it is truncated, damaged or of another format",
            file=path,
            evidence={"reader": error},
            next_step="write or copy the file again",
        ) from error


def read_npy(path: str | Path) -> NDArray[Any]:
    """The array of a `.npy` file; raises as `read_npz` does."""
    return _array(existing_file(path).read_bytes(), Path(path).name, path)


def _require_plausible(size: int, file: Path) -> None:
    """Refuse to unpack a small file to much."""
    anyway, factor = _UNPACKED
    if size > min(MAX_DATA_BYTES, max(anyway, factor * file.stat().st_size)):
        raise FileFormatError(
            f"would unpack to {size / 2**30:.2g} GiB",
            file=file,
            evidence={"size of the file": f"{file.stat().st_size / 2**20:.3g} MiB", "most": f"{factor} times as much"},
            next_step="check where the file comes from; store large arrays without compression",
        )


def _array(content: bytes, name: str, path: str | Path) -> NDArray[Any]:
    """One array; the size that its header claims is compared with the data before memory is allocated."""
    stream = io.BytesIO(content)
    try:
        version = npy.read_magic(stream)
        header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
        if header is None:
            raise ValueError(f"version {version} of the array format is not known")
        shape, _, dtype = header(stream)
        if dtype.hasobject:
            raise ValueError("it holds pickled objects, which are not read")
        if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
            raise ValueError(f"shape {shape} of {dtype} does not fit the {len(content)} bytes that are there")
        stream.seek(0)
        return np.asarray(npy.read_array(stream, allow_pickle=False))
    except Exception as error:  # a header is parsed as Python, which fails in many ways
        raise FileFormatError(
            f"array `{name}` cannot be read", file=path, evidence={"reader": error}, next_step="write the file again"
        ) from error
