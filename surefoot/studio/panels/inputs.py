"""Inputs of a panel, set by the program."""

from __future__ import annotations

from typing import Any

__all__ = ["set_options", "set_value"]


def set_value(handle: Any, value: Any) -> None:
    """Show another value; what the user's changes set off does not happen.

    Args:
        handle: An input of viser, whose annotations do not tell that its value can be set.
        value: The value.
    """
    handle.value = value


def set_options(handle: Any, options: list[str], value: str) -> None:
    """Other choices of a dropdown, and which one is chosen.

    Args:
        handle: The dropdown.
        options: The choices; the value is added where it is missing.
        value: The choice.
    """
    handle.options = tuple(dict.fromkeys([*options, value]))
    handle.value = value
