"""The frame of every page: one HTML file without any outside resource."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_page", "html_table"]

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: #1f77b4; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; } .figures figure { flex: 1 1 20rem; margin: 0; min-width: 0; }
figcaption { font-size: .85rem; opacity: .8; } svg, canvas { width: 100%; height: auto; background: var(--soft); border-radius: 6px; }
.error { color: #c0392b; font-weight: 600; } .warning { color: #b9770e; font-weight: 600; } .note { opacity: .7; }
.verdict { font-weight: 600; } .scroll { overflow-x: auto; }
"""


def html_page(title: str, body: str) -> str:
    """A whole page.

    Args:
        title: Its title.
        body: HTML of its body.
    """
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
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
