"""`surefoot compare-distribution`: a load shared by every method."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from surefoot.cli.console import names_in
from surefoot.cli.frame import Json, RobotName
from surefoot.errors import ShapeError

if TYPE_CHECKING:
    from surefoot.contact.distribution import DistributionRow, Stance
    from surefoot.markup import Html


_HEAD = ("ankle [N m]", "joints [N m]", "internal [N]", "within cones")


def compare_distribution(
    robot: RobotName,
    contacts: Annotated[
        str | None, typer.Option(metavar="A,B", help="Loaded contact surfaces; default: those on the ground.")
    ] = None,
    acceleration: Annotated[str, typer.Option(metavar="X,Y,Z", help="Of the CoM, in m/s².")] = "0,0,0",
    dcm: Annotated[
        str | None, typer.Option(metavar="X,Y", help="DCM from the CoM in metres, for the method `dcm`.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: distribution-ROBOT.html.")] = None,
    as_json: Json = False,
) -> int:
    """Share the load of a standing robot among its contacts by every method, side by side."""
    from surefoot.contact.distribution import compare_distributions, stance_of
    from surefoot.files import write_text
    from surefoot.robot import load

    model = load(robot, base="floating")
    named = names_in(contacts) if contacts else None
    point = None if dcm is None else _numbers(dcm, 2)
    push = _numbers(acceleration, 3)
    rows = compare_distributions(model, None, named, push, point)
    stance = stance_of(model, None, named)
    if out is not None or not as_json:
        page = out or Path(f"distribution-{Path(robot).stem}.html")
        write_text(page, _page(model.name, push, stance, rows))
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
        return 0
    for row in [("method", *(f"f_z {name} [N]" for name in stance.names), *_HEAD), *map(_cells, rows)]:
        print(f"{row[0]:<14}" + "".join(f"  {cell:>24}" if len(row) > 2 else f"  {cell}" for cell in row[1:]))
    print(page)
    return 0


def _cells(row: DistributionRow) -> tuple[str, ...]:
    """Method, vertical forces, and the columns of `_HEAD`; or why there are none."""
    if row.vertical is None:
        return row.method, row.trouble or ""
    forces = (f"{force:.2f}" for force in row.vertical.values())
    numbers = (f"{row.ankle_moment:.3f}", f"{row.torque:.2f}", f"{row.internal:.2f}", "yes" if row.within else "no")
    return row.method, *forces, *numbers


def _page(robot: str, push: list[float], stance: Stance, rows: list[DistributionRow]) -> Html:
    import numpy as np

    from surefoot.markup import html, joined
    from surefoot.report.figures import Area, Line, figure_svg
    from surefoot.report.page import html_page, html_table

    lines, size = [], 0.02 * float(np.ptp(np.vstack(stance.corners)[:, :2]))
    for k, row in enumerate(rows):
        seen = zip(stance.points, (row.wrenches or {}).values(), strict=False)
        cops = [point[:2] + np.array([-w[4], w[3]]) / w[2] for point, w in seen if w[2] > 1e-3]
        arm = size * (1.8 - 0.9 * k / len(rows))  # methods that agree stay visible
        crosses = [cop + arm * np.array([[-1, -1], [1, 1], [np.nan, 0], [-1, 1], [1, -1], [np.nan, 0]]) for cop in cops]
        if crosses:
            x, y = np.vstack(crosses).T
            lines.append(Line(x, y, row.method))
    soles = [Area(corners[:, :2], "", "#888888") for corners in stance.corners]
    low, high = np.vstack(stance.corners)[:, :2].min(0) - 3 * size, np.vstack(stance.corners)[:, :2].max(0) + 3 * size
    limits = np.array([low, high]).T
    short = int(np.argmin((high - low) / (1.0, 0.64)))  # equal scales: the drawing is 1 wide and 0.64 high
    wide = (high - low)[1 - short] * (0.64 if short else 1.0 / 0.64)
    limits[short] = limits[short].mean() + np.array([-0.5, 0.5]) * wide
    cells = [row if len(row) > 2 else (*row, *[""] * (len(stance.names) + 3)) for row in map(_cells, rows)]
    body = [
        html("<h1>One load, shared by every method: {}</h1><p>Standing at home, with an acceleration of the CoM of {} "
             "m/s². Columns: vertical forces; largest horizontal moment at an ankle's projection; √Σ τ² of the "
             "joints; forces that cancel each other; whether all wrenches are within their friction cones.</p>",
             robot, ", ".join(f"{x:g}" for x in push)),
        html_table(("method", *(f"f_z {name} [N]" for name in stance.names), *_HEAD), cells),
        html('<h2>Where each method puts the centres of pressure</h2><figure style="max-width:44rem">{}</figure>',
             figure_svg(lines, ("x [m]", "y [m]"), soles, limits)),
    ]  # fmt: skip
    return html_page(f"Wrench distribution of {robot}", joined(body))


def _numbers(text: str, count: int) -> list[float]:
    """Comma-separated numbers.

    Raises:
        ShapeError: The text is something else.
    """
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise ShapeError(f"`{text}` is not {count} numbers", next_step=f"write e.g. {','.join(['0.1'] * count)}")
    return values
