"""`surefoot swing-up`: the cart-pole cases of Busenhart 1994."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from surefoot.arrays import Array
from surefoot.cli.console import names_in, progress
from surefoot.cli.frame import Json
from surefoot.errors import one_of

if TYPE_CHECKING:
    from surefoot.control.layered import SwingUp
    from surefoot.markup import Html


def swing_up(
    cases: Annotated[str | None, typer.Option(metavar="A,B", help="Comma-separated cases; default: all.")] = None,
    seed: Annotated[int, typer.Option(help="Of the sensor noise.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="HTML file.")] = Path("swing-up.html"),
    as_json: Json = False,
) -> int:
    """Run the cart-pole cases of Busenhart 1994 with its layered controller, beside what the thesis reports."""
    from surefoot.control.layered import CASES, run_case
    from surefoot.files import write_text

    known = {case.name: case for case in CASES}
    chosen = names_in(cases) or list(known)
    for name in chosen:
        if name not in known:
            raise one_of("case", name, known)
    found = []
    with progress("swinging") as tell:
        for k, name in enumerate(chosen):
            tell(k / len(chosen), f"case {name}")
            found.append(run_case(known[name], seed=seed))
    if as_json:
        keys = ("stable", "upright_at", "swings", "demanded")
        rows = [{"case": run.case.name, "expected": run.case.stable, **{k: getattr(run, k) for k in keys}}
                for run in found]  # fmt: skip
        print(json.dumps(rows, indent=1))
        return 0
    for row in _rows(found):
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, (3, 30, 46, 44, 9), strict=True)).rstrip())
    write_text(out, _page(found))
    print(out)
    return 0


def _rows(found: list[SwingUp]) -> list[tuple[str, ...]]:
    """Case, setting, thesis, ours, agreement."""
    rows: list[tuple[str, ...]] = []
    for run in found:
        up = (
            "not upright"
            if run.upright_at is None
            else f"upright at {run.upright_at:.1f} s, {run.swings} turning points"
        )
        ours = f"{'stable' if run.stable else 'unstable'}, {up}, {run.demanded:.0f} N"
        same = "agrees" if run.stable == run.case.stable else "differs"
        rows.append((run.case.name, run.case.about, run.case.outcome, ours, same))
    return rows


def _whole(tilt: Array) -> Array:
    """The tilt without the strokes from −π to π."""
    turned = np.abs(np.diff(tilt, prepend=tilt[0])) > np.pi
    return np.where(turned, np.nan, tilt)


def _page(found: list[SwingUp]) -> Html:
    from surefoot.markup import html, joined
    from surefoot.report.figures import Line, figure_svg
    from surefoot.report.page import html_page, html_table

    head = ("case", "setting", "thesis", "ours, with the largest demanded force", "stable or not")
    figures = [
        html("<figure><h2>Case {}: {}</h2>{}</figure>", run.case.name, run.case.about,
             figure_svg([Line(run.time, _whole(run.tilt), "tilt [rad]", width=1.5),
                         Line(run.time, run.travel, "cart [m]")], ("time [s]", "tilt, travel")))
        for run in found
    ]  # fmt: skip
    body = [
        html("<h1>Swing-up of a cart-pole by layers of weighted rules</h1><p>Busenhart 1994, section 6.1: ten cases, "
             "and the two limits that the thesis reports. Its execution weights are lost; ours were searched.</p>"),
        html_table(head, _rows(found)),
        html('<div style="display:grid;grid-template-columns:repeat(auto-fit,minmax(360px,1fr));gap:1rem">{}</div>',
             joined(figures)),
    ]  # fmt: skip
    return html_page("Swing-up", joined(body))
