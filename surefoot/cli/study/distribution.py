"""`surefoot compare-distribution`: a load shared by every method."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from surefoot.cli.console import names_in
from surefoot.cli.frame import Json, RobotName
from surefoot.errors import ShapeError


def compare_distribution(
    robot: RobotName,
    contacts: Annotated[
        str | None, typer.Option(metavar="A,B", help="Loaded contact surfaces; default: those on the ground.")
    ] = None,
    acceleration: Annotated[str, typer.Option(metavar="X,Y,Z", help="Of the CoM, in m/s².")] = "0,0,0",
    dcm: Annotated[
        str | None, typer.Option(metavar="X,Y", help="DCM from the CoM in metres, for the method `dcm`.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Share the load of a standing robot among its contacts by every method, side by side."""
    from surefoot.contact.distribution import compare_distributions
    from surefoot.robot import load

    model = load(robot, base="floating")
    named = names_in(contacts) if contacts else None
    point = None if dcm is None else _numbers(dcm, 2)
    rows = compare_distributions(model, None, named, _numbers(acceleration, 3), point)
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
        return 0
    known = next((row.vertical for row in rows if row.vertical), {}) or {}
    print(f"{'method':<14}" + "".join(f"{f'f_z {name} [N]':>32}" for name in known)
          + f"{'ankle [N m]':>13}{'joints [N m]':>14}{'internal [N]':>14}  within cones")  # fmt: skip
    yes = {True: "yes", False: "no"}
    for row in rows:
        if row.trouble is not None or row.vertical is None:
            print(f"{row.method:<14}  {row.trouble}")
            continue
        numbers = (row.ankle_moment or 0.0, row.torque or 0.0, row.internal or 0.0)
        print(f"{row.method:<14}" + "".join(f"{force:>32.2f}" for force in row.vertical.values())
              + f"{numbers[0]:>13.3f}{numbers[1]:>14.2f}{numbers[2]:>14.2f}  {yes[bool(row.within)]}")  # fmt: skip
    return 0


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
