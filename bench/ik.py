"""Inverse kinematics against placo, pink and mink: `python bench/ik.py [--peers DIR] [--robots g1] [--json FILE]`.

DIR holds the virtual environments that `scripts/make_ik_peers.sh DIR` makes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from surefoot.benchmarks.ik import IkBench, run_ik
from surefoot.benchmarks.ik_peers import peer_pythons
from surefoot.motion.atomic import atomic_write

HEAD = ("", "success", "ms/target", "processor ms", "iterations", "restarts", "x slower than batch")


def table(robot: dict[str, Any]) -> list[list[str]]:
    """Rows of one robot."""
    rows = {f"surefoot, {way}": row for way, row in robot["ours"].items()}
    for name, peer in robot["peers"].items():
        rows |= {f"{name}, with restarts": peer["with_restarts"], f"{name}, once": peer["once"]}
    best = robot["ours"]["batch"]["solves_per_second"]
    return [[
        name, f"{row['success']:.1%}", f"{row['ms_per_target']:.4f}", f"{row['processor_ms_per_target']:.4f}",
        f"{row['iterations']:.1f}", f"{row['restarts']:.2f}", f"{best / max(1e-9, row['solves_per_second']):.2f}",
    ] for name, row in rows.items()]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--robots", default="panda,talos,g1")
    parser.add_argument("--targets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    pythons = peer_pythons(given.peers) if given.peers else {}
    result = run_ik(IkBench(given.robots.split(","), given.targets, given.seed, given.quick, pythons))
    if given.json:
        with atomic_write(given.json) as temporary:
            temporary.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for name, robot in result["robots"].items():
        print(f"\n{name}: nv {robot['nv']}, hand {robot['hand']}, feet {robot['feet']}, {result['targets']} targets")
        print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
        for row in table(robot):
            print("| " + " | ".join(row) + " |")
        for peer, facts in robot["peers"].items():
            print(f"{peer} {facts['versions']}: best of {facts['settings_tried']} settings: {facts['settings']}")
        print("ratios:", robot["ratios"])
    print("\n".join(result["skipped"]))


if __name__ == "__main__":
    main()
