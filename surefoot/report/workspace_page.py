"""The page about a workspace: sections through it, with the robot, and its numbers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.files import write_text
from surefoot.markup import Html, html, joined
from surefoot.report.page import html_page, html_table
from surefoot.report.stick_figure import figure_lines
from surefoot.robot import Robot

if TYPE_CHECKING:
    from surefoot.ik.analysis import Workspace


_SIZE, _MARGIN, _KEY = 430, 44, 46  # px: width of the drawing, room for axes, room for the key below
_COLOURS = np.array(  # dark to bright, equal steps of lightness: points of the map "viridis"
    [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], dtype=float
)
_NAMES = ("x", "y", "z")
_QUANTITIES = {"directions": "share of directions", "manipulability": "manipulability, over its largest"}


def write_workspace_page(path: str | Path, workspace: Workspace, robot: Robot) -> None:
    """Write the page to a file, whole or not at all."""
    write_text(path, workspace_page(workspace, robot))


def workspace_page(workspace: Workspace, robot: Robot) -> Html:
    """The page as HTML."""
    title = f"Workspace of {workspace.frame} on {workspace.robot}"
    unit = {3: "m³", 2: "m²", 1: "m"}[len(workspace.axes)]
    rows = [
        (f"volume [{unit}]", f"{workspace.volume:.4g}"),
        ("farthest from the limb's root [m]", f"{workspace.farthest:.4g}"),
        ("cells", f"{int(workspace.occupied.sum())} of {workspace.cell * 100:.3g} cm"),
        ("cells probably missed", f"{100 * workspace.unseen:.2g} %"),
        ("postures", f"{workspace.samples}"),
    ]
    body = [html("<h1>{}</h1>", title), html_table(("what", "value"), rows)]
    for quantity, text in _QUANTITIES.items():
        figures = joined(
            html(
                "<figure>{}<figcaption>{}</figcaption></figure>",
                section_svg(workspace, robot, pair, quantity),
                caption,
            )
            for pair, caption in _sections(workspace)
        )
        body.append(html('<h2>{}</h2><div class="figures">{}</div>', text.capitalize(), figures))
    return html_page(title, joined(body, "\n"))


def _sections(workspace: Workspace) -> list[tuple[tuple[int, int], str]]:
    """Pairs of grid axes to draw, with captions."""
    if len(workspace.axes) < 3:
        return [((0, min(1, len(workspace.axes) - 1)), "in the plane of the limb")]
    at = [f"{name} = {value:.2f} m" for name, value in zip(_NAMES, workspace.root, strict=True)]
    return [((0, 2), f"side, at {at[1]}"), ((1, 2), f"front, at {at[0]}"), ((0, 1), f"top, at {at[2]}")]


def section_svg(
    workspace: Workspace, robot: Robot, pair: tuple[int, int] = (0, 2), quantity: str = "directions"
) -> Html:
    """A section through the limb's root as SVG, with the robot at home.

    Args:
        workspace: What to show.
        robot: Its robot.
        pair: Grid axes to the right and up.
        quantity: "directions" or "manipulability".
    """
    values, occupied = _section(workspace, pair, quantity)
    box = _Box(workspace, robot, pair)
    parts = [
        html(
            '<svg viewBox="0 0 {} {}" role="img" font-family="sans-serif" aria-label="{} of {}">',
            _SIZE,
            _SIZE + _KEY,
            quantity,
            workspace.frame,
        ),
        *box.cells(values, occupied),
        *box.figure(),
        *box.rulers(),
        _key(_QUANTITIES[quantity]),
        Html("</svg>"),
    ]
    return joined(parts)


def _section(workspace: Workspace, pair: tuple[int, int], quantity: str) -> tuple[Array, NDArray[np.bool_]]:
    """Values and occupancy (right, up) of the layer that the limb's root lies in; of all where there is one layer."""
    values, occupied = getattr(workspace, quantity), workspace.occupied
    if values.ndim == 1:
        return values[:, None], occupied[:, None]
    if values.ndim == 3:
        depth = next(k for k in range(3) if k not in pair)
        at = (workspace.root - workspace.corner) @ workspace.axes[depth] / workspace.cell
        layer = int(np.clip(np.floor(at), 0, values.shape[depth] - 1))
        values, occupied = np.take(values, layer, depth), np.take(occupied, layer, depth)
    return (values, occupied) if pair[0] < pair[1] else (values.T, occupied.T)


class _Box:
    """Where places of the section lie in the drawing [px]."""

    def __init__(self, workspace: Workspace, robot: Robot, pair: tuple[int, int]) -> None:
        axes = workspace.axes
        self.directions = np.array([axes[pair[0]], axes[pair[1]] if len(axes) > 1 else _across(axes[0])])
        self.names = [_axis_name(axis) for axis in self.directions]
        self.cell, self.corner = workspace.cell, workspace.corner @ self.directions.T
        shape = [workspace.counts.shape[k] for k in pair] if len(axes) > 1 else [workspace.counts.shape[0], 1]
        bones, edges = figure_lines(robot, robot.home)
        self.lines = [lines @ self.directions.T for lines in (bones, edges)]
        places = np.vstack([*(lines.reshape(-1, 2) for lines in self.lines), self.corner])
        low = np.minimum(places.min(0), self.corner)
        high = np.maximum(places.max(0), self.corner + self.cell * np.array(shape))
        self.middle, self.scale = 0.5 * (low + high), (_SIZE - 2.0 * _MARGIN) / float((high - low).max())

    def at(self, place: Array) -> tuple[float, float]:
        x, y = (np.asarray(place) - self.middle) * self.scale
        return _SIZE / 2 + x, _SIZE / 2 - y

    def cells(self, values: Array, occupied: NDArray[np.bool_]) -> list[Html]:
        """Rows of equal colour as one rectangle."""
        side, parts = self.cell * self.scale, []
        shades = np.where(occupied, np.round(np.clip(values, 0.0, 1.0) * 20).astype(int), -1)
        for j in range(shades.shape[1]):
            cuts = [0, *(np.flatnonzero(np.diff(shades[:, j])) + 1), shades.shape[0]]
            for start, stop in pairwise(cuts):
                if shades[start, j] < 0:
                    continue
                x, y = self.at(self.corner + self.cell * np.array([start, j + 1]))
                colour = _colour(shades[start, j] / 20)
                parts.append(_rectangle(x, y, (stop - start) * side + 0.3, side + 0.3, colour))
        return parts

    def figure(self) -> list[Html]:
        """The robot at home as lines, on a pale border so that they show on every colour."""
        out = []
        for lines, width in zip(self.lines, (2.0, 2.5), strict=True):
            for segment in lines:
                (x1, y1), (x2, y2) = self.at(segment[0]), self.at(segment[1])
                path = html('d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke-linecap="round"', x1, y1, x2, y2)
                out.append(html('<path {} stroke="#ffffff" stroke-width="{}" stroke-opacity=".8"/>', path, width + 2))
                out.append(html('<path {} stroke="#c0392b" stroke-width="{}"/>', path, width))
        return out

    def rulers(self) -> list[Html]:
        """Ticks at round metres below and to the left."""
        half = (0.5 * _SIZE - _MARGIN) / self.scale
        # 1, 2 or 5 times a power of ten that gives about five ticks
        rough = (2.0 * half) / 5.0
        power = 10.0 ** np.floor(np.log10(rough))
        unit = float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda k: abs(k * power - rough)))
        parts = []
        for axis in (0, 1):
            first, last = self.middle[axis] - half, self.middle[axis] + half
            for value in unit * np.arange(np.ceil(first / unit), np.floor(last / unit) + 1):
                place = self.middle.copy()
                place[axis] = value
                x, y = self.at(place)
                text = f"{value:.4g}".replace("-", "−")
                parts.append(_tick(x, _SIZE - _MARGIN + 6, text) if axis == 0 else _tick(_MARGIN - 10, y, text, "end"))
        parts.append(_tick(_SIZE - _MARGIN + 12, _SIZE - _MARGIN + 6, f"{self.names[0]} [m]", "start"))
        parts.append(_tick(_MARGIN - 10, _MARGIN - 22, f"{self.names[1]} [m]", "end"))
        return parts


def _tick(x: float, y: float, text: str, anchor: str = "middle") -> Html:
    return html(
        '<text x="{:.1f}" y="{:.1f}" font-size="11" fill="currentColor" text-anchor="{}">{}</text>',
        x, y + 5, anchor, text,
    )  # fmt: skip


def _rectangle(x: float, y: float, width: float, height: float, colour: str) -> Html:
    return html('<rect x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" fill="{}"/>', x, y, width, height, colour)


def _key(text: str) -> Html:
    """The colours and what they mean."""
    left, width, top = _MARGIN, _SIZE - 2 * _MARGIN, _SIZE + 8
    boxes = [_rectangle(left + width * k / 21, top, width / 21 + 0.3, 10, _colour(k / 20)) for k in range(21)]
    low, high = _tick(left, top + 18, "0"), _tick(left + width, top + 18, "1")
    return joined([*boxes, low, high, _tick(left + width / 2, top + 18, text)])


def _colour(share: float) -> str:
    at = share * (len(_COLOURS) - 1)
    k = min(int(at), len(_COLOURS) - 2)
    r, g, b = _COLOURS[k] + (at - k) * (_COLOURS[k + 1] - _COLOURS[k])
    return f"#{round(r):02x}{round(g):02x}{round(b):02x}"


def _axis_name(axis: Array) -> str:
    near = int(np.argmax(np.abs(axis)))
    return _NAMES[near] if abs(axis[near]) > 0.999 else "along the plane"


def _across(axis: Array) -> Array:
    """A direction across a line: up, or x for a line that is upright."""
    other = np.eye(3)[2 if abs(axis[2]) < 0.9 else 0]
    across = other - axis * (axis @ other)
    return np.asarray(across / np.linalg.norm(across))
