"""Numbers of things, for people: "1 column", "3 columns"."""

from __future__ import annotations

__all__ = ["are_missing", "counted"]


def counted(number: int, noun: str) -> str:
    """`counted(1, "column")` → "1 column", `counted(3, "column")` → "3 columns".

    Args:
        number: How many.
        noun: Of one; its plural ends in s.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def are_missing(number: int, noun: str) -> str:
    """`are_missing(1, "column")` → "1 column is missing", "3 columns are missing".

    Args:
        number: How many.
        noun: Of one.
    """
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'} missing"
