"""A property that is computed once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from surefoot.tasks.task import derived


@dataclass(frozen=True, eq=False)
class Square:
    side: float
    calls: list[float] = field(default_factory=list)

    @derived
    def area(self) -> float:
        """Side squared."""
        self.calls.append(self.side)
        if self.side < 0.0:
            raise ValueError("negative")
        return self.side**2


def test_it_is_computed_when_asked_for_and_once() -> None:
    square = Square(3.0)
    assert square.calls == []
    assert [square.area, square.area] == [9.0, 9.0]
    assert square.calls == [3.0]


def test_objects_have_values_of_their_own() -> None:
    first = Square(3.0)
    assert first.area == 9.0
    assert replace(first, side=4.0).area == 16.0
    assert first.area == 9.0


def test_what_failed_is_tried_again() -> None:
    wrong = Square(-1.0)
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            _ = wrong.area
    assert wrong.calls == [-1.0, -1.0]


def test_the_class_shows_what_it_is() -> None:
    assert Square.area.__doc__ == "Side squared."
