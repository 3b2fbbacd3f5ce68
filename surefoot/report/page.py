"""The frame of every page: one HTML file without any outside resource."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

__all__ = ["asset", "html_page", "html_table"]


def asset(name: str) -> str:
    """The text of a style or script file of this room."""
    return resources.files("surefoot.report").joinpath(name).read_text(encoding="utf-8")


_STYLE = asset("page.css")


def html_page(title: str, body: str) -> str:
    """A whole page.

    Args:
        title: Its title.
        body: HTML of its body.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{body}\n</body></html>\n"
    )


def html_table(head: Sequence[str], rows: Iterable[Sequence[str | float]]) -> str:
    """A table; numbers stand to the right.

    Args:
        head: Column titles.
        rows: Texts (escaped here) and numbers.
    """
    body = list(rows)
    numeric = [all(isinstance(row[i], int | float) for row in body) and bool(body) for i in range(len(head))]
    cells = ["".join(_cell("th", text, numeric[i]) for i, text in enumerate(head))]
    cells += ["".join(_cell("td", value, numeric[i]) for i, value in enumerate(row)) for row in body]
    return '<div class="scroll"><table>' + "".join(f"<tr>{row}</tr>" for row in cells) + "</table></div>"


def _cell(tag: str, value: str | float, is_number: bool) -> str:
    text = f"{value:.4g}".replace("inf", "∞").replace("-", "−") if isinstance(value, int | float) else escape(value)
    return f'<{tag} class="number">{text}</{tag}>' if is_number else f"<{tag}>{text}</{tag}>"
