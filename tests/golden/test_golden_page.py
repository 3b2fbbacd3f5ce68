"""The generated table of golden numbers: printed and computed values agree, or the difference is explained."""

import pytest

from scripts.golden_page import Row, golden_page, rows
from tests.doc_blocks import ROOT


@pytest.fixture(scope="module")
def table() -> list[Row]:
    return rows()


def test_printed_and_computed_numbers_agree_or_differ_as_explained(table: list[Row]) -> None:
    wrong = [row.text() for row in table if not _is_true(row)]
    assert not wrong, "\n".join(wrong)


def _is_true(row: Row) -> bool:
    if row.own is None:
        return bool(row.ours == pytest.approx(row.printed, abs=row.tolerance))
    explained = bool(row.remark) and abs(row.own - row.printed) > 0.001
    return explained and bool(row.ours == pytest.approx(row.own, abs=row.tolerance))


def test_page_is_up_to_date(table: list[Row]) -> None:
    """All texts, and numbers to 1e-4: another processor may round the last digit in another way."""
    written = (ROOT / "docs" / "golden-numbers.md").read_text(encoding="utf-8").splitlines()
    made = golden_page(table).splitlines()
    assert len(written) == len(made), "run python scripts/make_pages.py"
    for old, new in zip(written, made, strict=True):
        a, b = ([cell.strip() for cell in line.split(" | ")] for line in (old, new))
        assert len(a) == len(b), new
        for was, now in zip(a, b, strict=True):
            assert was == now or _number(was) == pytest.approx(_number(now), rel=1e-4, abs=1e-9), new


def _number(cell: str) -> float:
    """NaN for a text."""
    try:
        return float(cell)
    except ValueError:
        return float("nan")
