"""Where a solver starts: postures along a path, contact forces that carry the weight, or those of a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Trajectory
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.stage import Structure
from surefoot.ocp.timeline import guessed
from surefoot.solvers.staged import Sizes


class Timed(Protocol):
    """A stage: its functions, and when it begins in the guess [s]."""

    @property
    def structure(self) -> Structure:
        """Its functions."""
        ...

    @property
    def time(self) -> float:
        """When it begins [s]."""
        ...


def first_guess(problem: ProblemSpec, stages: Sequence[Timed], sizes: Sizes, free: Sequence[int]) -> Array:
    """Along the given path, or from the first to the last posture; at rest, the weight shared by the contacts.

    Args:
        problem: With its guess.
        stages: Its stages.
        sizes: Of the staged program.
        free: Numbers of the phases whose durations are free.

    Returns:
        (variables,) of the staged program.
    """
    n, w = problem.robot.nv, np.zeros(sizes.variables)
    home = problem.chart.coordinates(problem.robot.home)
    ends = [np.array([ends.y.get(k, home[k]) for k in range(n)]) for ends in (problem.first, problem.last)]
    if not problem.last.y:
        ends[1] = ends[0]
    total = stages[-1].time

    def place(t: float) -> Array:
        if problem.path is None:
            return (1.0 - t / total) * ends[0] + t / total * ends[1]
        return problem.chart.coordinates(guessed(problem.robot, problem.path, t))

    path = np.array([place(stage.time) for stage in stages])
    times = np.array([stage.time for stage in stages])
    for k, stage in enumerate(stages):
        start, s = sizes.starts[k], stage.structure
        w[start : start + n] = path[k]
        if k + 1 < len(stages) and times[k + 1] > times[k] and problem.path is not None:
            rates = start + (sizes.states[k] if problem.formulation.dynamics == "centroidal" else n)
            w[rates : rates + n] = (path[k + 1] - path[k]) / (times[k + 1] - times[k])
        if s.controls and s.forces and (problem.formulation.has_wrenches or s.kind == "impact"):
            u = w[start + sizes.states[k] : start + sizes.states[k] + s.controls]
            _share_weight(s, u)
            if problem.motion is not None and s.kind == "interval" and s.points == 1:
                _take_wrenches(problem.motion, s, stage.time, u)
                if problem.formulation.dynamics == "inverse" and problem.motion.v is not None:
                    u[:n] = _second_rates(problem, problem.motion, stage.time, times[k + 1])
    values = [problem.phases[k].duration for k in free] + list(problem.parameters.values())
    w[int(sizes.starts[-1]) :] = [value[1] for value in values]
    return w


def _second_rates(problem: ProblemSpec, motion: Trajectory, start: float, end: float) -> Array:
    """Mean second rates of the coordinates between two times of the trajectory that is the guess."""
    rates = []
    for t in (start, end):
        now = motion.sample(float(np.clip(t, motion.start, motion.end)))
        rates.append(problem.chart.rates(problem.chart.coordinates(now.q), np.asarray(now.v)))
    return (rates[1] - rates[0]) / (end - start)


def _take_wrenches(motion: Trajectory, structure: Structure, t: float, u: Array) -> None:
    """Contact forces of a trajectory, in the controls of an interval, where it has all of them."""
    if not set(structure.tied) <= set(motion.wrenches):
        return
    at, row = structure.robot.nv, int(np.clip(np.searchsorted(motion.time, t + 1e-9) - 1, 0, len(motion.time) - 1))
    for name, directions in structure.tied.items():
        u[at : at + len(directions)] = motion.wrenches[name][row, list(directions)] / structure.scale
        at += len(directions)


def _share_weight(structure: Structure, u: Array) -> None:
    """Normal forces that carry the weight, in the controls of an interval."""
    n, size = structure.robot.nv, structure.robot.nv + structure.forces
    points = 1 if structure.kind == "impact" else structure.points
    for point in range(points):
        at = point * size + n
        for directions in structure.tied.values():
            if 2 in directions:
                u[at + directions.index(2)] = (0.1 if structure.kind == "impact" else 1.0) / len(structure.tied)
            at += len(directions)
