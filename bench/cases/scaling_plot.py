"""Time over number of bodies, both logarithmic: one panel for each family, as SVG or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench.page import Json
from surefoot.errors import NotSupportedError
from surefoot.files import atomic_write
from surefoot.markup import Html, html, joined
from surefoot.report.page import html_page, html_table

__all__ = ["gather", "plot_svg", "require_plot_name", "write_plot"]

_COLOURS = {"O(n)": "#1f77b4", "CRBA": "#d35400", "NE": "#27ae60"}
_DASHES = {"base": "5 4", "compiled": "none"}
_PANEL, _MARGIN = (340, 250), (76, 28, 14, 44)  # width, height; left, top, right, bottom [px]
_HEAD, _LEGEND_WIDTH, _COLUMNS = 40, 600, 3
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def require_plot_name(path: Path) -> None:
    """Refuse a file that is neither SVG nor HTML."""
    if path.suffix.lower() not in (".svg", ".html"):
        raise NotSupportedError(
            f"a plot cannot be written as `{path.name}`", next_step="give a file that ends with .svg or .html"
        )


def write_plot(path: Path, result: Json) -> None:
    """The plot as SVG, or a page with the plot and the tables; the ending of the file decides."""
    require_plot_name(path)
    svg = plot_svg(result["rows"])
    with atomic_write(path) as temporary:
        temporary.write_text(svg if path.suffix.lower() == ".svg" else _page(svg, result), encoding="utf-8")


def _page(svg: str, result: Json) -> str:
    keys = ("method", "kind", "time_us", "ratio", "source_ratio")
    table = [(f"{r['family']}, {r['bodies']} bodies", *(r[key] for key in keys)) for r in result["table_3_1"]]
    readings = [
        (r["text"], f"{r['ratio']:.2f}", "–" if r["source_ratio"] is None else f"{r['source_ratio']:.2f}",
         "yes" if r["holds"] else "no")
        for r in result["readings"]
    ]  # fmt: skip
    body = [
        html(
            "<h1>Forward dynamics of growing trees</h1><p>{} · {} · seed {}</p><figure>{}</figure>",
            result["machine"]["cpu"],
            result["date"],
            result["seed"],
            Html(svg),
        ),
        Html("<h2>Table 3.1 of Buschmann 2014</h2>"),
        html_table(("tree", "method", "kind", "time [µs]", "over O(n)", "there"), table),
        Html("<h2>Readings</h2>"),
        html_table(("what it says", "measured", "there", "true here"), readings),
        Html("<h2>Left out</h2>"),
        html_table(("tree", "what", "why"), gather(result["left_out"])),
    ]
    return html_page("Forward dynamics of growing trees", joined(body, "\n"))


def gather(left_out: Sequence[Json]) -> list[tuple[str, str, str]]:
    """What was left out, a row for each tree and reason: tree, methods, reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    for item in left_out:
        tree = f"{item['family']}, from {item['from_bodies']} bodies on"
        rows.setdefault((tree, item["why"]), []).append(f"{item['method']} {item['kind']}")
    return [(tree, ", ".join(methods), why) for (tree, why), methods in rows.items()]


def plot_svg(rows: Sequence[Json]) -> str:
    """Panels side by side, with the same ranges, and a legend above them."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    times = np.log10([1e-6 * row["p50_us"] for row in rows])
    sizes = np.log2([row["bodies"] for row in rows])
    low = int(np.floor(times.min()))
    ranges = (int(sizes.min()), int(sizes.max())), (low, max(int(np.ceil(times.max())), low + 1))
    across, down = min(_COLUMNS, len(families)), -(-len(families) // _COLUMNS)
    width, height = max(across * _PANEL[0], _LEGEND_WIDTH), _HEAD + down * _PANEL[1]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="time of one forward dynamics over the number of bodies" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _legend(),
    ]
    for k, family in enumerate(families):
        corner = (k % _COLUMNS * _PANEL[0], _HEAD + k // _COLUMNS * _PANEL[1])
        parts.append(_panel(family, [row for row in rows if row["family"] == family], corner, ranges))
    return "".join([*parts, "</svg>\n"])


def _panel(
    title: str, rows: Sequence[Json], corner: tuple[int, int], ranges: tuple[tuple[int, int], tuple[int, int]]
) -> str:
    """Axes and curves of one family; ranges are powers of two of bodies and of ten of seconds."""
    (few, many), (short, long) = ranges
    left, top = corner[0] + _MARGIN[0], corner[1] + _MARGIN[1]
    right, bottom = corner[0] + _PANEL[0] - _MARGIN[2], corner[1] + _PANEL[1] - _MARGIN[3]

    def x(power: float) -> float:
        return float(left + (power - few) / max(many - few, 1) * (right - left))

    def y(power: float) -> float:
        return float(bottom - (power - short) / (long - short) * (bottom - top))

    parts = [_text((left + right) / 2, top - 9, title, size=14, weight="bold")]
    for k in range(short, long + 1):
        parts += [_line(left, y(k), right, y(k)), _text(left - 6, y(k) + 4, _seconds(10.0**k), "end")]
    for k in range(few, many + 1):
        parts += [_line(x(k), top, x(k), bottom), _text(x(k), bottom + 16, str(2**k))]
    at, middle = corner[0] + 14, (top + bottom) / 2
    parts.append(_text((left + right) / 2, bottom + 34, "bodies"))
    parts.append(_text(at, middle, "time of one call", extra=f'transform="rotate(-90 {at:.1f} {middle:.1f})"'))
    for method, kind in ((method, kind) for method in _COLOURS for kind in _DASHES):
        own = sorted((r["bodies"], r["p50_us"]) for r in rows if (r["method"], r["kind"]) == (method, kind))
        places = [(x(np.log2(n)), y(np.log10(1e-6 * t))) for n, t in own]
        if places:
            line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            parts.append(f'<polyline points="{line}" fill="none" {_stroke(method, kind)}/>')
        parts += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.6" fill="{_COLOURS[method]}"/>' for a, b in places]
    return "".join(parts)


def _legend() -> str:
    """Colours are methods, dashes the base."""
    parts, at = [], 20.0
    entries = [(method, method, "compiled") for method in _COLOURS]
    for text, method, kind in [*entries, ("compiled, one state", "", "compiled"), ("base: numpy", "", "base")]:
        parts.append(f'<path d="M{at:.0f} 20h26" fill="none" {_stroke(method, kind)}/>')
        parts.append(_text(at + 32, 24, text, "start", 13))
        at += 32 + 6.6 * len(text) + 26
    return "".join(parts)


def _stroke(method: str, kind: str) -> str:
    return f'stroke="{_COLOURS.get(method, "#555555")}" stroke-width="1.8" stroke-dasharray="{_DASHES[kind]}"'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#d0d0d0" stroke-width="1"/>'


def _text(
    x: float, y: float, text: str, anchor: str = "middle", size: int = 12, weight: str = "normal", extra: str = ""
) -> str:
    style = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#222222"'
    return html('<text x="{:.1f}" y="{:.1f}" {} {}>{}</text>', x, y, Html(style), Html(extra), text)


def _seconds(value: float) -> str:
    """A time with its unit: `10 µs`."""
    size, unit = next((pair for pair in _UNITS if value >= 0.999 * pair[0]), _UNITS[-1])
    return f"{value / size:.3g} {unit}"
