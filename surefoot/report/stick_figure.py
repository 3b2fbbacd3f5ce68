"""A robot as lines between its joints, seen from the side or the front."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.markup import Html, html, joined
from surefoot.robot import Robot

_VIEWS = {"side": (0, 2, 1.0, "x", "z"), "front": (1, 2, -1.0, "−y", "z")}


def figure_lines(robot: Robot, q: ArrayLike) -> tuple[Array, Array]:
    """Line segments of the skeleton and outlines of the contact surfaces.

    Args:
        robot: The robot.
        q: (nq,) configuration.

    Returns:
        Skeleton (n, 2, 3) and contact edges (m, 2, 3), in world [m].
    """
    frames = robot.placements(q)
    tree = robot.tree
    origin = [frames[name][:3, 3] for name in tree.body_names]
    bones = [(origin[int(tree.parents[i])], origin[i]) for i in range(tree.n) if tree.parents[i] >= 0]
    if robot.base_joint is None:
        bones += [(np.zeros(3), origin[i]) for i in range(tree.n) if tree.parents[i] < 0]
    edges = []
    footed = set()
    for name, corners in robot.contact_corners(q).items():
        body = robot.body_of(robot.contacts[name].frame)
        footed.add(body)
        edges += [(corners[i - 1], corners[i]) for i in range(len(corners))]
        bones += [(origin[body], corners.mean(axis=0))] if body >= 0 else []
    bones += [(origin[i], _tip(robot, frames, i)) for i in _ends(robot) if i not in footed]
    return np.array(bones).reshape(-1, 2, 3), np.array(edges).reshape(-1, 2, 3)


def _ends(robot: Robot) -> list[int]:
    """Bodies that carry no further joint."""
    return sorted(set(range(robot.tree.n)) - {int(p) for p in robot.tree.parents})


def _tip(robot: Robot, frames: dict[str, Array], body: int) -> Array:
    """The farthest link that is fixed to an end body, or its centre of mass: so that hands and heads show."""
    T = frames[robot.tree.body_names[body]]
    com = T[:3, :3] @ robot.tree.coms[body] + T[:3, 3]
    fixed = [frames[name][:3, 3] for name in robot.link_names if robot.body_of(name) == body]
    return max([com, *fixed], key=lambda point: float(np.linalg.norm(point - T[:3, 3])))


def figure_svg(robot: Robot, q: ArrayLike, view: str = "side", size: int = 360) -> Html:
    """The figure as SVG with a ground line and a scale in metres.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        view: "side" (x to the right) or "front" (the robot looks at the reader).
        size: Height and width [px].
    """
    bones, edges = figure_lines(robot, q)
    h, v, sign, h_name, v_name = _VIEWS[view]
    flat = [np.stack([sign * lines[..., h], lines[..., v]], axis=-1) for lines in (bones, edges)]
    points = np.vstack([flat[0].reshape(-1, 2), flat[1].reshape(-1, 2), [[0.0, 0.0]]])
    middle, span = 0.5 * (points.min(0) + points.max(0)), max(float(np.ptp(points, axis=0).max()), 0.1)
    scale = 0.8 * size / span

    def at(point: Array) -> tuple[float, float]:
        x, y = (point - middle) * scale
        return size / 2 + x, size / 2 - y

    def line(segment: Array, colour: str, width: float) -> Html:
        (x1, y1), (x2, y2) = at(segment[0]), at(segment[1])
        path = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
        return html('<path d="{}" stroke="{}" stroke-width="{}" stroke-linecap="round"/>', path, colour, width)

    ground = at(np.array([0.0, 0.0]))[1]
    unit = 10.0 ** np.floor(np.log10(span / 2))
    ruler = unit * scale
    parts = [html('<svg viewBox="0 0 {0} {0}" role="img" aria-label="{1}, {2}">', size, robot.name, view)]
    if robot.base == "floating":
        parts.append(html('<path d="M0 {:.1f}H{}" stroke="currentColor" stroke-opacity=".4"/>', ground, size))
    parts += [line(segment, "#1f77b4", 3) for segment in flat[0]]
    parts += [line(segment, "#d35400", 4) for segment in flat[1]]
    parts += [html('<circle cx="{:.1f}" cy="{:.1f}" r="2.5" fill="currentColor"/>', *at(p)) for p in flat[0][:, 0]]
    parts.append(
        html(
            '<path d="M10 {low}h{ruler:.1f}" stroke="currentColor" stroke-width="2"/>'
            '<text x="10" y="{above}" font-size="12" fill="currentColor">{unit:g} m</text>'
            '<text x="{right}" y="{low}" font-size="12" fill="currentColor" text-anchor="end">{across} →, {up} ↑</text>'
            "</svg>",
            low=size - 12,
            above=size - 18,
            right=size - 10,
            ruler=ruler,
            unit=unit,
            across=h_name,
            up=v_name,
        )
    )
    return joined(parts)
