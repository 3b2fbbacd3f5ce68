"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a scenario key, e.g. simulation.duration=2; repeatable."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RobotName = Annotated[
    str, typer.Argument(metavar="ROBOT", help="Robot name (see `surefoot robots`), or a URDF or MJCF file.")
]
