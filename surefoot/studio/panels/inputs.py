"""Inputs and texts of a panel, set by the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import viser

from surefoot.markup import Html, html, joined


def add_html(gui: viser.GuiApi, content: Html | None = None) -> viser.GuiHtmlHandle:
    """A text in the panel. It is HTML and never Markdown, which hides HTML in names from whoever escapes them.

    Args:
        gui: The panel of the tab.
        content: What it says; nothing yet if omitted.
    """
    return gui.add_html(_block(content or Html()))


def set_html(handle: viser.GuiHtmlHandle, content: Html) -> None:
    """Replace the content of a text."""
    handle.content = _block(content)


def _block(content: Html) -> str:
    """In our style; a plain string, since viser packs no other."""
    return str(html('<div class="surefoot-text">{}</div>', content)) if content else ""


def table_html(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """A table for the panel."""
    lines = [joined(html("<th>{}</th>", title) for title in head)]
    lines += [joined(html("<td>{}</td>", cell) for cell in row) for row in rows]
    return html("<table>{}</table>", joined(html("<tr>{}</tr>", line) for line in lines))


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
