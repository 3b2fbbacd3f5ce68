"""Which robots of the zoo stand: `python bench/stand.py [--margin 0.3] [NAME ...]` prints a table.

Every robot runs the scenario `stand` four times, pushed along +x, −x, +y and −y: on its base, at the height of its
centre of mass, for 0.1 s, with that share of the impulse M ω s after which its capture point is at the edge of its
support.
Without names: the robots that are promised to stand.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from surefoot.errors import SurefootError
from surefoot.scenario import RunResult, run_scenario

PROMISED = (
    "g1 talos simple_humanoid icub romeo anymal anymal_c solo12 go1 go2 a1 b1 hyq laikago "
    "hexapod small-humanoid humanoid lola"
)
HEAD = ("robot", "passed", "base height", "tilt [°]", "slip [mm]", "torque / limit", "energy residual [J]", "wall [s]")
DIRECTIONS = ("[1,0,0]", "[-1,0,0]", "[0,1,0]", "[0,-1,0]")


def pushed(name: str, margin: float, direction: str, folder: Path) -> RunResult:
    """One run."""
    changes = [f"events.0.margin={margin}", f"events.0.direction={direction}"]
    return run_scenario("stand", robot=name, out=folder, overrides=changes)


def row(name: str, margin: float) -> list[str]:
    """One robot, as cells of the table: the worst of four pushes."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            runs = [pushed(name, margin, way, Path(folder) / str(k)) for k, way in enumerate(DIRECTIONS)]
        except SurefootError as error:
            return [name, f"refused: {error.message}", *["–"] * 6]
    verdicts = sorted({run.verdict for run in runs if not run.passed})
    worst = [
        max(run.metrics.get(key, 0.0) for run in runs) for key in ("largest_tilt_deg", "slip_m", "max_torque_ratio")
    ]
    height = min(run.metrics.get("least_height_share", 0.0) for run in runs)
    residual = max(run.metrics["energy_residual_j"] for run in runs)
    passed = f"{sum(run.passed for run in runs)} of 4" + "".join(f"; {text}" for text in verdicts)
    cells = [f"{height:.1%}", f"{worst[0]:.2g}", f"{1e3 * worst[1]:.2g}", f"{worst[2]:.2g}", f"{residual:.2g}"]
    return [name, passed, *cells, f"{time.perf_counter() - start:.1f}"]


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=PROMISED.split())
    parser.add_argument("--margin", type=float, default=0.3, help="impulse of the push over M ω s")
    options = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for name in options.names:
        print("| " + " | ".join(row(name, options.margin)) + " |", flush=True)


if __name__ == "__main__":
    main()
