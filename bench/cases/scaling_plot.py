"""Time over number of bodies, both logarithmic: one panel for each family, as SVG or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import NotSupportedError
from surefoot.files import write_text
from surefoot.report.page import html_page, html_table

__all__ = ["gather", "plot_svg", "require_plot_name", "write_plot"]

Json = dict[str, Any]
Rows = Sequence[Json]
_COLOURS = {"O(n)": "#1f77b4", "CRBA": "#d35400", "NE": "#27ae60"}
_DASHES = {"base": "5 4", "compiled": "none"}
_PANEL, _MARGIN = (340, 250), (76, 28, 14, 44)  # width, height; left, top, right, bottom [px]
_HEAD, _LEGEND_WIDTH = 40, 600
_COLUMNS = 3
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def require_plot_name(path: Path) -> None:
    """Refuse a file that is neither SVG nor HTML."""
    if path.suffix.lower() not in (".svg", ".html"):
        raise NotSupportedError(
            f"a plot cannot be written as `{path.name}`", next_step="give a file that ends with .svg or .html"
        )


def write_plot(path: Path, result: Json) -> None:
    """The plot as SVG, or a page with the plot and the tables."""
    require_plot_name(path)
    svg = plot_svg(result["rows"])
    text = svg if path.suffix.lower() == ".svg" else _page(svg, result)
    write_text(path, text)


def _page(svg: str, result: Json) -> str:
    table = [
        (f"{r['family']}, {r['bodies']} bodies", r["method"], r["kind"], r["time_us"], r["ratio"], r["source_ratio"])
        for r in result["table_3_1"]
    ]
    readings = [
        (r["text"], f"{r['ratio']:.2f}", "–" if r["source_ratio"] is None else f"{r['source_ratio']:.2f}",
         "yes" if r["holds"] else "no")
        for r in result["readings"]
    ]  # fmt: skip
    machine, titles = result["machine"], ("tree", "method", "kind", "time [µs]", "over O(n)", "there")
    body = [
        f"<h1>Forward dynamics of growing trees</h1><p>{escape(machine['cpu'])} · {escape(result['date'])} · seed "
        f"{result['seed']}</p><figure>{svg}</figure>",
        "<h2>Table 3.1 of Buschmann 2014</h2>" + html_table(titles, table),
        "<h2>Readings</h2>" + html_table(("what it says", "measured", "there", "true here"), readings),
        "<h2>Left out</h2>" + html_table(("tree", "what", "why"), gather(result["left_out"])),
    ]
    return html_page("Forward dynamics of growing trees", "\n".join(body))


def gather(left_out: Sequence[Json]) -> list[tuple[str, str, str]]:
    """What was left out, a row for each tree and reason: tree, methods, reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    for item in left_out:
        tree = f"{item['family']}, from {item['from_bodies']} bodies on"
        rows.setdefault((tree, item["why"]), []).append(f"{item['method']} {item['kind']}")
    return [(tree, ", ".join(methods), why) for (tree, why), methods in rows.items()]


@dataclass(frozen=True)
class _Panel:
    """Where sizes and times lie in the picture [px]; the same ranges in all panels."""

    left: float
    top: float
    sizes: tuple[int, int]
    decades: tuple[int, int]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the axes."""
        left, top, right, bottom = _MARGIN
        x, y = self.left + left, self.top + top
        return x, y, self.left + _PANEL[0] - right, self.top + _PANEL[1] - bottom

    def x(self, bodies: float) -> float:
        left, _, right, _ = self.box
        low, high = np.log2(self.sizes)
        return float(left + (np.log2(bodies) - low) / max(high - low, 1.0) * (right - left))

    def y(self, seconds: float) -> float:
        _, top, _, bottom = self.box
        low, high = self.decades
        return float(bottom - (np.log10(seconds) - low) / (high - low) * (bottom - top))

    def axes(self, title: str) -> str:
        left, top, right, bottom = self.box
        parts = [_text((left + right) / 2, top - 9, title, size=14, weight="bold")]
        for k in range(self.decades[0], self.decades[1] + 1):
            y = self.y(10.0**k)
            parts += [_line(left, y, right, y), _text(left - 6, y + 4, _seconds(10.0**k), "end")]
        for bodies in (2**k for k in range(int(np.log2(self.sizes[0])), int(np.log2(self.sizes[1])) + 1)):
            x = self.x(bodies)
            parts += [_line(x, top, x, bottom), _text(x, bottom + 16, str(bodies))]
        middle = (top + bottom) / 2
        turned = f'transform="rotate(-90 {self.left + 14:.1f} {middle:.1f})"'
        parts.append(_text((left + right) / 2, bottom + 34, "bodies"))
        parts.append(_text(self.left + 14, middle, "time of one call", extra=turned))
        return "".join(parts)

    def curve(self, rows: Rows, method: str, kind: str) -> str:
        points = sorted((r["bodies"], 1e-6 * r["p50_us"]) for r in rows if (r["method"], r["kind"]) == (method, kind))
        places = [(self.x(n), self.y(t)) for n, t in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{_COLOURS[method]}"/>' for x, y in places)
        return f'<polyline points="{line}" fill="none" {_stroke(method, kind)}/>{dots}' if places else ""


def plot_svg(rows: Rows) -> str:
    """Panels side by side, a legend above them."""
    families = list(dict.fromkeys(row["family"] for row in rows))
    times = [1e-6 * row["p50_us"] for row in rows]
    sizes = min(row["bodies"] for row in rows), max(row["bodies"] for row in rows)
    decades = int(np.floor(np.log10(min(times)))), int(np.ceil(np.log10(max(times))))
    decades = (decades[0], max(decades[1], decades[0] + 1))
    across, down = min(_COLUMNS, len(families)), -(-len(families) // _COLUMNS)
    width, height = max(across * _PANEL[0], _LEGEND_WIDTH), _HEAD + down * _PANEL[1]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="time of one forward dynamics over the number of bodies" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _legend(),
    ]
    for k, family in enumerate(families):
        panel = _Panel(k % _COLUMNS * _PANEL[0], _HEAD + k // _COLUMNS * _PANEL[1], sizes, decades)
        own = [row for row in rows if row["family"] == family]
        parts.append(panel.axes(family))
        parts += [panel.curve(own, method, kind) for method in _COLOURS for kind in _DASHES]
    return "".join([*parts, "</svg>\n"])


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
    colour = _COLOURS.get(method, "#555555")
    return f'stroke="{colour}" stroke-width="1.8" stroke-dasharray="{_DASHES[kind]}"'


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="#d0d0d0" stroke-width="1"/>'


def _text(
    x: float, y: float, text: str, anchor: str = "middle", size: int = 12, weight: str = "normal", extra: str = ""
) -> str:
    style = f'font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" fill="#222222"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style} {extra}>{escape(text)}</text>'


def _seconds(value: float) -> str:
    """A time with its unit: `10 µs`."""
    size, unit = next((size, unit) for size, unit in (*_UNITS, (1e-9, "ns")) if value >= 0.999 * size or unit == "ns")
    return f"{value / size:.3g} {unit}"
