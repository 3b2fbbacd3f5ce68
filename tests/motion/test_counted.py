"""Numbers of things."""

from __future__ import annotations

import pytest

from surefoot.motion.counted import are_missing, counted


@pytest.mark.parametrize(("number", "text"), [(0, "0 columns"), (1, "1 column"), (2, "2 columns")])
def test_one_is_no_plural(number: int, text: str) -> None:
    assert counted(number, "column") == text
    assert are_missing(number, "column") == f"{text} {'is' if number == 1 else 'are'} missing"
