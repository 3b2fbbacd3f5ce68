"""Which robots of the zoo stand.

Every robot runs the scenario `stand-pd` four times, pushed along +x, −x, +y and −y: on its base, at the height of its
centre of mass, for 0.1 s, with that share of the impulse M ω s after which its capture point is at the edge of its
support.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from bench.machine import header
from bench.page import Json
from bench.timing import tell
from surefoot.errors import SurefootError
from surefoot.scenario import run_scenario

__all__ = ["run", "show"]

_PROMISED = (
    "g1 talos simple_humanoid icub romeo anymal anymal_c solo12 go1 go2 a1 b1 hyq laikago "
    "hexapod small-humanoid humanoid lola"
)
_HEAD = ("robot", "passed", "base height", "tilt [°]", "slip [mm]", "torque / limit", "energy residual [J]", "wall [s]")
_DIRECTIONS = ("[1,0,0]", "[-1,0,0]", "[0,1,0]", "[0,-1,0]")


def run(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME …]", help="Robots; else those that are promised to stand.")
    ] = None,
    margin: Annotated[float, typer.Option(help="Impulse of the push over M ω s.")] = 0.3,
) -> Json:
    """Push each robot from four sides."""
    robots = names or _PROMISED.split()
    result: Json = header("stand", 0) | {"margin": margin, "rows": []}
    for k, name in enumerate(robots):
        tell(k / len(robots), name)
        result["rows"].append(_row(name, margin))
    return result


def _row(name: str, margin: float) -> list[str]:
    """One robot, as cells of the table: the worst of four pushes."""
    start, runs = time.perf_counter(), []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for k, direction in enumerate(_DIRECTIONS):
                changes = [f"events.0.margin={margin}", f"events.0.direction={direction}"]
                runs.append(run_scenario("stand-pd", robot=name, out=Path(folder) / str(k), overrides=changes))
        except SurefootError as error:
            return [name, f"refused: {error.message}", *["–"] * 6]
    verdicts = sorted({x.verdict for x in runs if not x.passed})
    keys = ("largest_tilt_deg", "slip_m", "max_torque_ratio")
    tilt, slip, torque = (max(x.metrics.get(key, 0.0) for x in runs) for key in keys)
    height = min(x.metrics.get("least_height_share", 0.0) for x in runs)
    residual = max(x.metrics["energy_residual_j"] for x in runs)
    passed = f"{sum(x.passed for x in runs)} of 4" + "".join(f"; {text}" for text in verdicts)
    cells = [f"{height:.1%}", f"{tilt:.2g}", f"{1e3 * slip:.2g}", f"{torque:.2g}", f"{residual:.2g}"]
    return [name, passed, *cells, f"{time.perf_counter() - start:.1f}"]


def show(result: Json) -> None:
    """Print a table in Markdown."""
    print("| " + " | ".join(_HEAD) + " |\n|" + "---|" * len(_HEAD))
    for row in result["rows"]:
        print("| " + " | ".join(row) + " |")
