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
    if row.tolerance is None:
        return bool(row.remark) and abs(row.ours - row.printed) > 0.001
    return bool(row.ours == pytest.approx(row.printed, abs=row.tolerance))


def test_page_is_up_to_date(table: list[Row]) -> None:
    written = (ROOT / "docs" / "golden-numbers.md").read_text(encoding="utf-8")
    assert written == golden_page(table), "run python scripts/make_pages.py"
