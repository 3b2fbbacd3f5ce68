"""`surefoot regions`: phase portraits and balance regions."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from surefoot.cli.frame import Json, RobotName


def regions(
    robot: RobotName,
    moment: Annotated[
        float | None, typer.Option(metavar="N_M", help="Largest moment of angular momentum; default: 10 % of M g z.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="HTML file; default: regions-ROBOT.html.")] = None,
    as_json: Json = False,
) -> int:
    """Draw phase portraits and balance regions of a robot that stands: margins, regulators, admissible sets."""
    from surefoot.files import write_text
    from surefoot.report.figures import balance_regions, regions_page
    from surefoot.robot import load

    found = balance_regions(load(robot, base="floating"), moment)
    if out is not None or not as_json:
        page = out or Path(f"regions-{Path(robot).stem}.html")
        write_text(page, regions_page(found))
    if as_json:
        print(json.dumps({**asdict(found), "impulse_ns": found.impulse}, indent=1, ensure_ascii=False))
        return 0
    print(f"{found.robot}: ω {found.omega:.3f} 1/s, support {found.support[0]:.3f} … {found.support[1]:.3f} m, "
          f"tipped by {found.impulse:.2f} N s")  # fmt: skip
    print(page)
    return 0
