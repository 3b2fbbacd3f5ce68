"""Predictive inverse kinematics: times of a control cycle and of a step of its descent, peaks of the pseudo-energy."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefoot.benchmarks.machine import header
from surefoot.benchmarks.timing import Progress, pinned, silent, summarise
from surefoot.ik.predictive import PredictiveIk
from surefoot.ik.predictive_descent import DescentSettings
from surefoot.ik.predictive_study import (
    Study,
    arm4_study,
    compare,
    harvester_study,
    plan_whole,
    predictive_ik,
    stems_study,
)

__all__ = ["PredictiveBench", "run_predictive"]

Json = dict[str, Any]
_STUDIES = {
    "arm4": (arm4_study, (1.0,)),
    "harvester": (harvester_study, (0.15, 2.0)),
    "stems": (stems_study, (0.15, 2.0)),
}
_MORE = 11  # steps of a descent that is timed against one step


@dataclass(frozen=True)
class PredictiveBench:
    """What to measure.

    Args:
        studies: Names: arm4, harvester, stems.
        repeats: Passes over the motion; their median counts.
        progress: progress(share done, what is next).
    """

    studies: tuple[str, ...] = tuple(_STUDIES)
    repeats: int = 3
    progress: Progress = field(default_factory=lambda: silent)


def run_predictive(bench: PredictiveBench) -> Json:
    """Measure on one core; the result as plain data.

    Args:
        bench: What to measure.
    """
    result: Json = header("predictive", 0) | {"studies": {}}
    for k, name in enumerate(bench.studies):
        bench.progress(k / len(bench.studies), name)
        make, horizons = _STUDIES[name]
        study = make()
        with pinned():
            result["studies"][name] = {
                "robot": study.robot.name,
                "cycle_ms": 1e3 * study.dt,
                "peaks": _peaks(study, horizons),
                "times": {f"{h} s": _times(study, h, bench.repeats) for h in horizons},
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
    q, found = study.start, []
    gc.collect()
    for k in range(study.cycles):
        start = time.perf_counter()
        v = ik.step(k * study.dt, q)
        found.append(time.perf_counter() - start)
        q = q + study.dt * v
    return found


def _step_time(study: Study, one: PredictiveIk, more: PredictiveIk) -> float:
    """Time of one step of the descent [s]: what further steps at the start of the motion cost."""

    def spent(ik: PredictiveIk) -> tuple[float, int]:
        ik.reset()
        start = time.perf_counter()
        ik.step(0.0, study.start)
        return time.perf_counter() - start, len(ik.costs) - 1

    rounds = [(spent(one), spent(more)) for _ in range(15)]
    return float(np.median([(long - short) / max(1, m - k) for (short, k), (long, m) in rounds]))
