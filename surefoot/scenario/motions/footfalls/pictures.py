"""Pictures of a plan of footfalls: from above, the graph of stances, and the order in which it was searched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.markup import Html, html, joined
from surefoot.motion import GroundBox, World
from surefoot.planning import StancePlan
from surefoot.report.figures import Area, Line, figure_svg

_GREY, _INK, _STONE = "#9aa0a6", "#d6492a", "#b8a888"
_EDGES = 120  # of one line of the drawing
_MOST = 1_500  # edges that are drawn
_ASPECT = 388 / 248  # of the frame of a figure


def footfall_pictures(plan: StancePlan) -> Html:
    """Three figures in HTML.

    Args:
        plan: The plan; an unsolved one shows how far it came.
    """
    figures = [("Footfalls from above", _from_above(plan)), *_of_search(plan)]
    shown = joined(
        html('<figure style="margin:0;flex:1 1 22rem">{}<figcaption>{}</figcaption></figure>', svg, text)
        for text, svg in figures
    )
    return html('<h2>Plan</h2><div style="display:flex;flex-wrap:wrap;gap:1.5rem">{}</div>', shown)


def footfall_ways(plan: StancePlan) -> dict[str, Array]:
    """For each limb that stands somewhere (k, 3) its footholds in order [m]."""
    ways: dict[int, list[int]] = {leg: [place] for leg, place in enumerate(plan.start)}
    for move in plan.moves:
        ways[move.leg].append(move.after[move.leg])
    names, points = plan.graph.model.chart.names, plan.graph.footholds.points
    return {names[leg]: points[held] for leg, way in ways.items() if (held := [place for place in way if place >= 0])}


def _from_above(plan: StancePlan) -> Html:
    """Every foot's way from foothold to foothold, over the boxes of the ground."""
    graph, ways = plan.graph, footfall_ways(plan)
    points = graph.footholds.points
    lines = [Line(way[:, 0], way[:, 1], name, width=1.5) for name, way in ways.items()]
    ends = [points[[k for k in key if k >= 0], :2] for key in (plan.start, plan.goal)]
    lines += [_ring(feet, dashed) for feet, dashed in zip(ends, (False, True), strict=True)]
    seen = np.concatenate([way[:, :2] for way in ways.values()] + [ends[1]])
    return figure_svg(
        lines, ("x [m]", "y [m]"), _ground(graph.model.world), _equal(seen),
        "footfalls of each leg from above, with the first stance and the goal",
    )  # fmt: skip


def _ring(feet: Array, dashed: bool) -> Line:
    middle = feet.mean(axis=0)
    order = np.argsort(np.arctan2(*(feet - middle).T[::-1]))
    around = feet[[*order, order[0]]]
    return Line(around[:, 0], around[:, 1], "goal" if dashed else "start", "#555555", 1.2, dashed)


def _ground(world: World) -> list[Area]:
    """Tops of boxes; the first one is named."""
    out: list[Area] = []
    for piece in world.ground:
        if isinstance(piece, GroundBox):
            half = 0.5 * np.asarray(piece.size)
            corners = np.array([[1, 1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, 1]]) * half
            T = np.asarray(piece.pose)
            out.append(Area((corners @ T[:3, :3].T + T[:3, 3])[:, :2], "" if out else "boxes of the ground", _STONE))
    return out


def _equal(points: Array) -> Array:
    """Limits (2, 2) around points, with one scale on both axes."""
    low, high = points.min(axis=0) - 0.05, points.max(axis=0) + 0.05
    middle, size = 0.5 * (low + high), high - low
    size = np.maximum(size, [size[1] * _ASPECT, size[0] / _ASPECT])
    return np.stack([middle - 0.5 * size, middle + 0.5 * size], axis=1)


def _of_search(plan: StancePlan) -> list[tuple[str, Html]]:
    """The graph of stances and the tree of the search; nothing where nothing was explored."""
    if not plan.explored:
        return []
    graph = plan.graph
    whole = float(graph.way_left(plan.start, plan.goal).mean())

    def done(key: tuple[int, ...]) -> float:
        return whole - float(graph.way_left(key, plan.goal).mean())

    keys = [plan.start, *(move.after for move in plan.moves)]
    pairs = [(a, b) for a, moves in graph.moves.items() for b in moves]
    step = max(1, len(pairs) // _MOST)
    place = {key: (done(key), graph.unlikeness(key)) for pair in pairs[::step] for key in pair}
    place |= {key: (done(key), graph.unlikeness(key)) for key in keys}
    edges = [(place[a], place[b]) for a, b in pairs[::step]]
    way = np.array([place[k] for k in keys])
    stances = [*_edges(edges, "moves that were found"), Line(way[:, 0], way[:, 1], "plan", _INK)]
    order = {key: k for k, (key, _) in enumerate(plan.explored)}
    tree = [((done(p), order[p]), (done(k), order[k])) for k, p in plan.explored if p in order]
    used = [key for key in keys if key in order]
    search = [*_edges(tree, "explored"), Line([done(k) for k in used], [order[k] for k in used], "plan", _INK)]
    axis = "mean way of the feet to their goals that is done [m]"
    return [
        (f"Graph of stances: {len(graph.moves)} explored, {len(pairs)} moves found",
         figure_svg(stances, (axis, "unlike home [m]"), caption="graph of stances")),
        ("Tree of the search, in the order of exploring",
         figure_svg(search, (axis, "stances explored before"), caption="tree of the search")),
    ]  # fmt: skip


def _edges(pairs: Sequence[tuple[tuple[float, float], tuple[float, float]]], name: str) -> list[Line]:
    """Edges as few interrupted lines."""
    out = []
    for first in range(0, len(pairs), _EDGES):
        rows = np.array([[a, b, (np.nan, np.nan)] for a, b in pairs[first : first + _EDGES]]).reshape(-1, 2)
        out.append(Line(rows[:, 0], rows[:, 1], "" if first else name, _GREY, 0.6))
    return out
