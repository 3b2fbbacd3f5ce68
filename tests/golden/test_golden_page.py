"""The generated table of golden numbers: printed and computed values agree, or the difference is explained."""

import pytest

from scripts.golden_page import Row, rows


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_row(row: Row) -> None:
    if row.tolerance is None:
        assert row.remark
        assert abs(row.ours - row.printed) > 0.001
    else:
        assert row.ours == pytest.approx(row.printed, abs=row.tolerance)
