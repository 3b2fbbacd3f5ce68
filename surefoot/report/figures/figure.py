"""A figure with lines and areas on two linear axes, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.markup import Html, html, joined

COLOURS = (
    "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#e08020", "#777777", "#44aa99", "#882255",
    "#999933", "#6699cc",
)  # fmt: skip
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _ABOVE, _BELOW, _KEY = 460, 300, 58, 14, 12, 40, 18  # px
_POINTS = 400


class Line(NamedTuple):
    """A line.

    Args:
        x: (n,).
        y: (n,); NaN breaks it.
        name: In the key; "" for none.
        colour: CSS; "" for the next of the palette.
        width: [px].
        dashed: Whether it is dashed.
    """

    x: ArrayLike
    y: ArrayLike
    name: str = ""
    colour: str = ""
    width: float = 2.0
    dashed: bool = False


class Area(NamedTuple):
    """A filled polygon.

    Args:
        corners: (k, 2).
        name: In the key.
        colour: CSS.
    """

    corners: ArrayLike
    name: str
    colour: str


def figure_svg(
    lines: Sequence[Line],
    labels: tuple[str, str],
    areas: Sequence[Area] = (),
    limits: ArrayLike | None = None,
    caption: str = "",
) -> Html:
    """The figure.

    Args:
        lines: What to draw, the later ones above.
        labels: Of the axes, with units.
        areas: Below the lines.
        limits: ((x_min, x_max), (y_min, y_max)); those of the lines if omitted.
        caption: For readers of screens; of the axes if omitted.
    """
    drawn = [line if line.colour else _coloured(line, k) for k, line in enumerate(lines)]
    box = _Box(_limits(drawn) if limits is None else np.asarray(limits, dtype=float))
    named = [(a.name, _pale(a.colour), False) for a in areas if a.name]
    named += [(line.name, line.colour, line.dashed) for line in drawn if line.name]
    height = _HEIGHT + _KEY * ((len(named) + 1) // 2)
    parts = [
        html(
            '<svg viewBox="0 0 {} {}" role="img" font-family="system-ui, sans-serif" aria-label="{}">',
            _WIDTH, height, caption or f"{labels[1]} over {labels[0]}",
        ),
        *(box.area(area) for area in areas),
        *box.grid(labels),
        *(box.line(line) for line in drawn),
    ]  # fmt: skip
    for k, (name, colour, dashed) in enumerate(named):
        x, y = _LEFT + (_WIDTH - _LEFT) // 2 * (k % 2), _HEIGHT + _KEY * (k // 2)
        for left, width in ((0, 6), (8, 6)) if dashed else ((0, 14),):
            parts.append(
                html('<rect x="{}" y="{}" width="{}" height="9" rx="2" fill="{}"/>', x + left, y + 3, width, colour)
            )
        parts.append(_text(x + 19, y + 12, name, "start"))
    return joined([*parts, Html("</svg>")])


def _limits(lines: Sequence[Line]) -> Array:
    """The range of all lines with a little room; (2, 2)."""
    ranges = []
    for values in (np.concatenate([np.ravel(line[k]) for line in lines]).astype(float) for k in (0, 1)):
        seen = values[np.isfinite(values)]
        low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
        room = 0.04 * (high - low) or 0.5
        ranges.append((low - room, high + room))
    ranges[0] = (ranges[0][0] + 0.037 * np.ptp(ranges[0]), ranges[0][1] - 0.037 * np.ptp(ranges[0]))
    return np.array(ranges)


class _Box:
    """Where values lie in the drawing [px]."""

    def __init__(self, limits: Array) -> None:
        self.limits = limits

    def at(self, points: Array) -> Array:
        """(n, 2) in pixels, within the frame."""
        low, high = self.limits.T
        share = np.clip((points - low) / (high - low), 0.0, 1.0)
        across, down = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _ABOVE - _BELOW
        return np.stack([_LEFT + across * share[:, 0], _ABOVE + down * (1.0 - share[:, 1])], axis=1)

    def area(self, area: Area) -> Html:
        """A polygon, cut at the frame."""
        corners = _cut(np.asarray(area.corners, dtype=float), self.limits)
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in self.at(corners)) if len(corners) else ""
        return html('<polygon points="{}" fill="{}" stroke="none"/>', text, _pale(area.colour))

    def line(self, line: Line) -> Html:
        """A line, thinned, interrupted where it is outside or NaN."""
        points = np.stack([np.ravel(line.x), np.ravel(line.y)], axis=1).astype(float)
        if len(points) > _POINTS:
            points = points[np.unique(np.linspace(0, len(points) - 1, _POINTS).astype(int))]
        room = 1e-9 * np.ptp(self.limits, axis=1)
        inside = ((points >= self.limits[:, 0] - room) & (points <= self.limits[:, 1] + room)).all(axis=1)
        path, pen = [], False
        for shown, (x, y) in zip(inside, self.at(np.nan_to_num(points)), strict=True):
            if shown:
                path.append(f"{'L' if pen else 'M'}{x:.1f} {y:.1f}")
            pen = bool(shown)
        dash = "6 4" if line.dashed else "none"
        return html(
            '<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-dasharray="{}"><title>{}</title></path>',
            "".join(path), line.colour, line.width, dash, line.name,
        )  # fmt: skip

    def grid(self, labels: tuple[str, str]) -> list[Html]:
        """Lines and numbers at round values."""
        parts = []
        for axis in (0, 1):
            for value in round_values(*self.limits[axis]):
                place = self.limits[:, 0].copy()
                place[axis] = value
                end = np.array([place[0], self.limits[1, 1]]) if axis == 0 else np.array([self.limits[0, 1], place[1]])
                (x1, y1), (x2, y2) = self.at(np.array([place, end]))
                parts.append(
                    html(
                        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="currentColor" '
                        'stroke-opacity=".18"/>', x1, y1, x2, y2,
                    )
                )  # fmt: skip
                text = f"{value:.6g}".replace("-", "−")
                parts.append(_text(x1, y1 + 16, text) if axis == 0 else _text(x1 - 6, y1 + 4, text, "end"))
        middle = _ABOVE + 0.5 * (_HEIGHT - _ABOVE - _BELOW)
        parts.append(_text(_LEFT + 0.5 * (_WIDTH - _LEFT - _RIGHT), _HEIGHT - 6, labels[0]))
        parts.append(
            html(
                '<text transform="translate(13 {:.0f}) rotate(-90)" font-size="12" fill="currentColor" '
                'text-anchor="middle">{}</text>', middle, labels[1],
            )
        )  # fmt: skip
        return parts


def _coloured(line: Line, k: int) -> Line:
    """The line in the k-th colour of the palette; dashed after its end."""
    return line._replace(colour=COLOURS[k % len(COLOURS)], dashed=line.dashed or k >= len(COLOURS))


def _pale(colour: str) -> str:
    """The colour of an area: opaque, so that the key shows it also where areas overlap."""
    return f"color-mix(in srgb, {colour} 35%, Canvas)"


def round_values(low: float, high: float) -> Array:
    """About five multiples of 1, 2 or 5 times a power of ten within a range."""
    rough = max(high - low, 1e-12) / 5.0
    power = 10.0 ** np.floor(np.log10(rough))
    unit = float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k * power - rough)))
    values = unit * np.arange(np.ceil(low / unit), np.floor(high / unit) + 1)
    return np.asarray(np.where(np.abs(values) < 1e-9 * unit, 0.0, values))


def _cut(corners: Array, limits: Array) -> Array:
    """A polygon within a box (Sutherland and Hodgman 1974)."""
    for axis, sign, bound in ((0, 1, limits[0, 0]), (0, -1, limits[0, 1]), (1, 1, limits[1, 0]), (1, -1, limits[1, 1])):
        if not len(corners):
            return corners
        depth = sign * (corners[:, axis] - bound)
        out: list[Array] = []
        for k in range(len(corners)):
            before, here = depth[k - 1], depth[k]
            if (before < 0.0) != (here < 0.0):
                out.append(corners[k - 1] + before / (before - here) * (corners[k] - corners[k - 1]))
            if here >= 0.0:
                out.append(corners[k])
        corners = np.array(out).reshape(-1, 2)
    return corners


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Html:
    return html(
        '<text x="{:.1f}" y="{:.1f}" font-size="12" fill="currentColor" text-anchor="{}">{}</text>', x, y, anchor, text
    )
