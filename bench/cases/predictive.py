"""Predictive inverse kinematics: times of a control cycle and of a step of its descent, peaks of the pseudo-energy."""

from __future__ import annotations

import gc
import time
from typing import Annotated

import numpy as np
import typer

from bench.machine import header
from bench.page import Json, named, number_text, print_table
from bench.timing import pinned, summarise, tell
from surefoot.errors import one_of
from surefoot.ik.predictive import (
    DescentSettings,
    PredictiveIk,
    Study,
    arm4_study,
    compare,
    harvester_study,
    plan_whole,
    predictive_ik,
    stems_study,
)

__all__ = ["run", "show"]

_STUDIES = {
    "arm4": (arm4_study, (1.0,)),
    "harvester": (harvester_study, (0.15, 2.0)),
    "stems": (stems_study, (0.15, 2.0)),
}
_ALL = ",".join(_STUDIES)
_REPEATS = 3  # passes over a motion; their median counts
_MORE = 11  # steps of a descent that is timed against one step


def run(
    studies: Annotated[str, typer.Option(metavar="NAMES", help="arm4, harvester, stems; separated by commas.")] = _ALL,
    quick: Annotated[bool, typer.Option("--quick", help="One pass over each motion.")] = False,
) -> Json:
    """Measure on one core."""
    names = named(studies, "study", f"--studies {_ALL}")
    for name in names:
        if name not in _STUDIES:
            raise one_of("study", name, _STUDIES)
    result: Json = header("predictive", 0) | {"studies": {}}
    for k, name in enumerate(names):
        tell(k / len(names), name)
        make, horizons = _STUDIES[name]
        study = make()
        with pinned():
            result["studies"][name] = {
                "robot": study.robot.name,
                "cycle_ms": 1e3 * study.dt,
                "peaks": _peaks(study, horizons),
                "times": {f"{h} s": _times(study, h, 1 if quick else _REPEATS) for h in horizons},
            }
    return result


def _peaks(study: Study, horizons: tuple[float, ...]) -> Json:
    """Peak of the pseudo-energy [rad²/s²] and smallest distance [m] of every method."""
    histories = compare(study, horizons)
    histories["global"] = plan_whole(study, histories[f"predictive {horizons[-1]} s"])[0]
    return {
        name: {"pseudo_energy": history.peak, "distance_m": float(history.distances.min())}
        for name, history in histories.items()
    }


def _times(study: Study, horizon: float, repeats: int) -> Json:
    """Times of a cycle, and of one step of conjugate gradients in it."""
    one = predictive_ik(study, horizon)
    cycles = [_cycle_times(study, one) for _ in range(repeats)]
    whole = {"prediction_steps": one.steps, "sampling_ms": 1e3 * one.h, "cycle": summarise(cycles, 1).json()}
    whole["longest_cycle_ms"] = 1e3 * float(np.median([max(group) for group in cycles]))
    more = predictive_ik(study, horizon, DescentSettings(iterations=_MORE, tolerance=0.0))
    return whole | {"step_of_descent_us": 1e6 * _step_time(study, one, more)}


def _cycle_times(study: Study, ik: PredictiveIk) -> list[float]:
    """Duration of every cycle [s] along the motion."""
    ik.reset()
    q, durations = study.q0, []
    gc.collect()
    for k in range(study.cycles):
        start = time.perf_counter()
        v = ik.step(k * study.dt, q)
        durations.append(time.perf_counter() - start)
        q = q + study.dt * v
    return durations


def _step_time(study: Study, one: PredictiveIk, more: PredictiveIk) -> float:
    """Time of one step of the descent [s]: the cost of further steps at the start of the motion."""

    def spent(ik: PredictiveIk) -> tuple[float, int]:
        ik.reset()
        start = time.perf_counter()
        ik.step(0.0, study.q0)
        return time.perf_counter() - start, len(ik.costs) - 1

    rounds = [(spent(one), spent(more)) for _ in range(15)]
    return float(np.median([(long - short) / max(1, m - k) for (short, k), (long, m) in rounds]))


def show(result: Json) -> None:
    """Print peaks and cycles of each study; the last column is how many cycles would fit into the one that there is."""
    for name, study in result["studies"].items():
        print(f"\n{name}: {study['robot']}, cycle of {study['cycle_ms']:g} ms, one core")
        peaks = [(x, number_text(r["pseudo_energy"]), f"{r['distance_m']:.4f}") for x, r in study["peaks"].items()]
        print_table(("method", "peak of pseudo-energy (rad²/s²)", "smallest distance (m)"), peaks)
        cycles = []
        for horizon, row in study["times"].items():
            times = [1e-3 * row["cycle"][f"{p}_us"] for p in ("p5", "p50", "p95")]
            cells = [*times, row["longest_cycle_ms"], 1e-3 * row["step_of_descent_us"], study["cycle_ms"] / times[2]]
            cycles.append([f"horizon {horizon}", str(row["prediction_steps"]), *map(number_text, cells)])
        heads = ("ms per cycle", "steps", "p5", "p50", "p95", "longest", "step of descent", "cycle / p95")
        print_table(heads, cycles)
