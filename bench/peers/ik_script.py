"""Times a peer's inverse kinematics; run by an interpreter that has it: `python ik_script.py FOLDER`.

Imports nothing of surefoot. FOLDER holds robot.urdf, plan.json, tuning.npz and problems.npz (targets and starts, in
Pinocchio's layout), and beside this script ik_solvers.py with the peer's class: `versions`, `load`, `home` in its own
layout, `order` (where the entries of the plan's layout are in it), `aim`, `put`, `step`, `error` (the largest over its
tolerance) and `q`. Every peer has the same loop around it: step until all errors are within the tolerance; start again
from a random configuration when the error does not fall or the iterations are spent. The settings are chosen on targets
of their own, then all targets are solved and timed with the best. results.json and answers.npz are written.
"""

from __future__ import annotations

import gc
import itertools
import json
import math
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Tolerances", "main"]

_LEAVES_ROOM = 0.999  # of the tolerance: the judge's forward kinematics rounds differently
_ENOUGH = 0.995  # share of solved targets from which on settings are compared by time
_GIVE_UP = 4.0  # settings that take so many times as long as the best are given up
_ONCE = {"tries": 1, "iterations": 200, "patience": 200}
_FINALISTS = 5  # settings of a stage that are measured again
_FALLS = 0.7  # to this share an error has to fall while the loop is patient


def main(folder: Path) -> None:
    """Choose settings, then solve all targets; the files are in the folder."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    peer = getattr(import_module(plan["module"]), plan["peer"].title())
    loaded = peer.load(folder / "robot.urdf", plan)
    tuning, problems = (dict(np.load(folder / f"{name}.npz")) for name in ("tuning", "problems"))
    best, tried = _tuned(peer, loaded, plan, tuning)
    results = {"versions": peer.versions(), "tried": tried, "settings": best}
    answers = {}
    for name, settings in (("restarts", best), ("once", best | _ONCE)):
        passes = [_Pass(peer, loaded, problems, settings, plan) for _ in range(plan["passes"])]
        for one in passes:
            one.run()
        fastest = min(passes, key=lambda one: one.seconds)
        results[name] = fastest.summary() | {"all_seconds": [one.seconds for one in passes]}
        answers[name] = fastest.q
    np.savez(folder / "answers.npz", allow_pickle=False, **answers)
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")


def _tuned(peer: Any, loaded: Any, plan: dict[str, Any], tuning: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The best settings, found stage by stage (a stage is a grid over some of them), and all that were tried."""
    best, tried, least = dict(plan["settings"]), [], float("inf")

    def measured(settings: dict[str, Any]) -> dict[str, Any]:
        one = _Pass(peer, loaded, tuning, settings, plan)
        one.run(_GIVE_UP * 1e-3 * least * len(one.hands))
        return one.summary() | {"settings": settings}

    for stage in plan["stages"]:
        rows = []
        for values in itertools.product(*stage.values()):
            rows.append(measured(best | dict(zip(stage, values, strict=True))))
            if rows[-1]["claimed"] >= _ENOUGH:
                least = min(least, rows[-1]["processor_ms"])
        tried += rows
        for row in sorted(rows, key=_rank)[:_FINALISTS]:  # a measurement that was disturbed shall not decide
            again = [measured(row["settings"]) for _ in range(2)]
            row["processor_ms"] = min(x["processor_ms"] for x in (row, *again))
        best = min(rows, key=_rank)["settings"]
    return best, tried


def _rank(row: dict[str, Any]) -> tuple[float, float]:
    """Settings that solve enough by time (of the processor: the clock counts others, too), the rest by success."""
    enough = row["claimed"] >= _ENOUGH
    return (0.0 if enough else 1.0 - row["claimed"], row["processor_ms"])


class Tolerances:
    """Errors over their tolerances, position [m] and angle [rad] of the plan, for peers that do not report them."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.position, self.angle = (_LEAVES_ROOM * plan[name] for name in ("position", "angle"))

    def pose(self, T: Any, goal: Any) -> float:
        """The larger error of position and orientation; ‖R − R'‖² = 8 sin²(θ/2) if two rotations differ by θ."""
        a, b, c, x, d, e, f, y, g, h, i, z = (T - goal).ravel().tolist()[:12]
        turned = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
        return max(math.sqrt(x * x + y * y + z * z) / self.position, math.sqrt(0.5 * turned) / self.angle)

    def point(self, p: Any, goal: Any) -> float:
        """The error of a position."""
        x, y, z = (p - goal).tolist()
        return math.sqrt(x * x + y * y + z * z) / self.position


class _Pass:
    """All targets once, with one solver and its settings."""

    def __init__(self, peer: Any, loaded: Any, problems: Any, settings: dict[str, Any], plan: dict[str, Any]) -> None:
        solver = peer(loaded, plan, settings, Tolerances(plan))
        self.solver, self.settings = solver, settings
        self.hands, self.coms = list(problems["hand"]), list(problems["com"])
        mixed = np.tile(solver.home, (len(problems["starts"]), 1))
        mixed[:, solver.order] += settings["spread"] * (problems["starts"] - np.array(plan["home"]))
        self.starts = list(mixed)
        self.seconds, self.busy = 0.0, 0.0  # by the clock, and of the processor
        self.iterations, self.restarts, self.solved, self.done = 0, 0, 0, 0
        self.q = np.full((len(self.hands), len(solver.order)), np.nan)

    def run(self, most: float = float("inf")) -> None:
        """Solve all; stop after so many seconds of the processor."""
        wall, used = time.perf_counter, time.process_time
        self.solve(0)  # warm
        self.iterations, self.restarts, self.solved = 0, 0, 0
        found = []
        for k in range(len(self.hands)):
            begun, start = used(), wall()
            found.append(self.solve(k))
            self.seconds += wall() - start
            self.busy += used() - begun
            self.done += 1
            if self.busy > most:
                break
        self.q[: len(found)] = np.array(found)[:, self.solver.order]

    def solve(self, k: int) -> Any:
        """One target; the configuration where it ended."""
        solver, settings = self.solver, self.settings
        solver.aim(self.hands[k], self.coms[k])
        solver.put(solver.home)
        for attempt in range(settings["tries"]):
            if attempt:
                solver.put(self.starts[(7 * k + attempt) % len(self.starts)])
                self.restarts += 1
            if self.descend():
                self.solved += 1
                break
        return solver.q()

    def descend(self) -> bool:
        """Step until all errors are small; false when the error stays, the iterations are spent or a step fails."""
        step, error, wait = self.solver.step, self.solver.error, self.settings["patience"]
        mark, since = float("inf"), 0
        for taken in range(self.settings["iterations"]):
            worst = error()
            if worst <= 1.0:
                self.iterations += taken
                return True
            if worst < _FALLS * mark:
                mark, since = worst, 0
            elif since >= wait:
                self.iterations += taken
                return False
            since += 1
            try:
                step()
            except self.solver.failures:
                self.iterations += taken + 1
                return False
        self.iterations += self.settings["iterations"]
        return bool(error() <= 1.0)

    def summary(self) -> dict[str, Any]:
        """Time, iterations and restarts for each target; targets that were not tried count as unsolved."""
        n = max(1, self.done)
        return {
            "seconds": self.seconds,
            "ms": 1e3 * self.seconds / n,
            "processor_ms": 1e3 * self.busy / n,
            "claimed": self.solved / len(self.hands),
            "iterations": self.iterations / n,
            "restarts": self.restarts / n,
        }


if __name__ == "__main__":
    gc.disable()
    main(Path(sys.argv[1]))
