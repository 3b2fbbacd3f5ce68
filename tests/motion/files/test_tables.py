"""Tables in text files: separators, decimal commas, numbers that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import FileFormatError
from surefoot.motion.files.columns import SEPARATOR, SEPARATORS, Table, read_csv

_NUMBERS = np.array([[0.0, -1.5, 2e-3], [0.1, 3.0, 4.0]])


def _written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "m.csv").write_text(text)
    return tmp_path / "m.csv"


def _text(separator: str, header: str | None) -> str:
    rows = [separator.join(map(repr, row)) for row in _NUMBERS.tolist()]
    return "\n".join([*([] if header is None else [header]), *rows]) + "\n"


@pytest.mark.parametrize("separator", [",", *SEPARATORS])
@pytest.mark.parametrize("names", [None, ("time", "a", "b"), ("# time", "a", "b")])
def test_separators_are_told_by_the_first_line(separator: str, names: tuple[str, ...] | None, tmp_path: Path) -> None:
    header = None if names is None else separator.join(names)
    found = read_csv(_written(tmp_path, _text(separator, header)))
    np.testing.assert_array_equal(found.numbers, _NUMBERS)
    assert found.header == (None if names is None else ("time", "a", "b"))
    assert found.metadata.get(SEPARATOR) == (SEPARATORS[separator] if separator != "," else None)


def test_names_with_units_and_other_separators_inside(tmp_path: Path) -> None:
    assert _header(tmp_path, "time [s];a [rad]\n0;1\n") == ("time [s]", "a [rad]")
    assert _header(tmp_path, "time [s],a;b\n0,1\n") == ("time [s]", "a;b")


def _header(tmp_path: Path, text: str) -> tuple[str, ...] | None:
    table: Table = read_csv(_written(tmp_path, text))
    return table.header


@pytest.mark.parametrize("text", ["time;a\n0,5;1,25\n", "0,5;1,25\n0,6;1,5\n", "time\ta\n0,5\t-1,25e-3\n"])
def test_decimal_commas_are_refused_by_name(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="decimal commas, such as 0,5") as info:
        read_csv(_written(tmp_path, text))
    assert info.value.next_step == "write decimals with points"


def test_rows_of_other_length_and_words_are_named_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="row has 4 entries, the first one has 2") as info:
        read_csv(_written(tmp_path, "time,a\n0,1\n0,5,1,25\n"))
    assert info.value.line == 3
    assert "points" in info.value.next_step
    with pytest.raises(FileFormatError, match=r"column 2 \(`a`\) holds 'x'"):
        read_csv(_written(tmp_path, "time,a\n0,x\n"))
    with pytest.raises(FileFormatError) as info:
        read_csv(_written(tmp_path, "a very long header " * 100 + "\nword\n"))
    assert len(info.value.message) < 200


def test_numbers_that_are_not_finite_are_read_where_asked_for(tmp_path: Path) -> None:
    file = _written(tmp_path, "time,a\n0,nan\n1,2\n")
    with pytest.raises(FileFormatError, match="holds 'nan'"):
        read_csv(file)
    assert np.isnan(read_csv(file, finite=False).numbers[0, 1])
