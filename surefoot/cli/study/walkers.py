"""`surefoot compare-walkers`: periodic gaits of small study walkers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.console import names_in, progress
from surefoot.cli.frame import Json
from surefoot.errors import one_of

if TYPE_CHECKING:
    from surefoot.markup import Html
    from surefoot.reduced.walkers import LimitCycle, Walker


_KICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
_STEPS = 12


def compare_walkers(
    walkers: Annotated[str | None, typer.Option(metavar="A,B", help="Comma-separated walkers; default: all.")] = None,
    out: Annotated[Path, typer.Option(help="HTML file.")] = Path("walkers.html"),
    as_json: Json = False,
) -> int:
    """Find the periodic gaits of small study walkers: speed, eigenvalues of the stride, kicks survived, on one page."""
    from surefoot.files import write_text
    from surefoot.reduced.walkers import WALKERS, limit_cycle

    known = {walker.name: walker for walker in WALKERS}
    chosen = names_in(walkers) or list(known)
    for name in chosen:
        if name not in known:
            raise one_of("walker", name, known)
    found = []
    with progress("walking") as tell:
        for k, name in enumerate(chosen):
            tell(k / len(chosen), name)
            cycle = limit_cycle(known[name])
            found.append((known[name], cycle, _figures(known[name], cycle)))
    if as_json:
        print(json.dumps([figures for _, _, figures in found], indent=1))
        return 0
    for _, _, figures in found:
        name, _, *cells = _row(figures)
        print(f"{name:<18}", *(f"{cell:<10}" for cell in cells))
    write_text(out, _page(found))
    print(out)
    return 0


def _figures(walker: Walker, cycle: LimitCycle) -> dict[str, Any]:
    from surefoot.reduced.walkers import survived_kick

    stride = cycle.stride
    return {
        "walker": walker.name,
        "idea": walker.idea,
        "speed": cycle.speed,
        "step_time": stride.duration,
        "step_length": stride.length,
        "eigenvalue": float(abs(cycle.eigenvalues[0])),
        "kick": survived_kick(walker, cycle.section, _KICKS, _STEPS),
        "cost_of_transport": stride.work / (walker.weight * stride.length),
    }


def _row(figures: dict[str, Any]) -> list[str]:
    return [
        figures["walker"], figures["idea"], f"{figures['speed']:.3f}", f"{figures['step_time']:.3f}",
        f"{figures['step_length']:.3f}", f"{figures['eigenvalue']:.3f}", f"±{100.0 * figures['kick']:.0f} %",
        f"{figures['cost_of_transport']:.3f}",
    ]  # fmt: skip


def _page(found: list[tuple[Walker, LimitCycle, dict[str, Any]]]) -> Html:
    from surefoot.markup import html, joined
    from surefoot.reduced.walkers import walk
    from surefoot.report.figures import Line, figure_svg
    from surefoot.report.page import html_page, html_table

    head = ("walker", "idea", "speed [m/s]", "step [s]", "step [m]", "|λ|", "survived", "cost of transport")
    figures = []
    for walker, cycle, measured in found:
        kicked = cycle.section.copy()
        kicked[walker.pace] *= 1.0 + 0.5 * (measured["kick"] or 0.01)
        lines = [Line(s.motion[:, 0], s.motion[:, 1], "after a kick" if k == 0 else "", colour="#b8bfcc")
                 for k, s in enumerate(walk(walker, kicked, 8))]  # fmt: skip
        lines.append(Line(cycle.stride.motion[:, 0], cycle.stride.motion[:, 1], "gait", colour="#2a6fdb", width=2.5))
        axes = {"hopper": ("height in stance [m]", "vertical speed [m/s]"),
                "virtual model": ("trunk ahead of the foot [m]", "speed [m/s]")}  # fmt: skip
        svg = figure_svg(lines, axes.get(walker.name, ("stance leg [rad]", "rate")))
        figures.append(html("<figure><h2>{}</h2>{}</figure>", walker.name, svg))
    body = [
        html("<h1>Study walkers</h1><p>Periodic gaits, found by Newton's method on the map from one step to the next. "
             "Below 1, the largest eigenvalue λ of that map is the share of a small disturbance that a step leaves; "
             "<em>survived</em>: errors of the pace from which twelve steps follow. The passive walker is in units of "
             "leg length and √(l/g). Cost of transport: positive work of actuators per weight and distance.</p>"),
        html_table(head, [_row(figure) for _, _, figure in found]),
        html('<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));gap:1rem">{}</div>',
             joined(figures)),
    ]  # fmt: skip
    return html_page("Study walkers", joined(body))
