"""Which robots of the zoo stand: `python bench/stand.py [--speed 0.1] [NAME ...]` prints a table.

Every robot runs the scenario `stand` (5 s, one push that gives the whole robot that speed in m/s). Without names:
the robots that are promised to stand.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from surefoot.errors import SurefootError
from surefoot.scenario import run_scenario

PROMISED = (
    "g1 talos simple_humanoid icub romeo anymal anymal_c solo12 go1 go2 a1 b1 hyq laikago "
    "biped hexapod small-humanoid humanoid lola"
)
HEAD = ("robot", "verdict", "slip [mm]", "torque / limit", "tracking [mrad]", "energy residual [J]", "wall [s]")


def row(name: str, speed: float) -> list[str]:
    """One robot, as cells of the table."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        try:
            result = run_scenario("stand", robot=name, out=Path(folder) / "run", overrides=[f"events.0.speed={speed}"])
        except SurefootError as error:
            return [name, f"refused: {error.message}", *["–"] * 5]
        m = result.metrics
        figures = (m["slip_m"], m["max_torque_ratio"], m["tracking_rms"], m["energy_residual_j"])
        scaled = [None if x is None else x * f for x, f in zip(figures, (1e3, 1.0, 1e3, 1.0), strict=True)]
        cells = ["–" if x is None else f"{x:.2g}" for x in scaled]
        return [name, result.verdict, *cells, f"{time.perf_counter() - start:.1f}"]


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=PROMISED.split())
    parser.add_argument("--speed", type=float, default=0.1, help="speed that the push gives the robot [m/s]")
    options = parser.parse_args()
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    for name in options.names:
        print("| " + " | ".join(row(name, options.speed)) + " |", flush=True)


if __name__ == "__main__":
    main()
