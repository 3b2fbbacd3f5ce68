"""What goes to the worker and comes back: plain data that can be pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError, one_of

PLANNERS = (
    "SBL", "STRIDE", "KPIECE1", "LBKPIECE1", "RRTConnect", "LazyRRT", "RRT", "RRTstar", "BFMT", "PRM", "EST",
)  # fmt: skip
"""Planners by their names in OMPL. `BFMT` draws its samples (parameter `num_samples`) at the start."""


class Checks(Protocol):
    """Whether states and straight edges of a chart are valid, many at a time."""

    def valid(self, states: Array) -> NDArray[np.bool_]:
        """(n,) of states (n, m)."""

    def edges(self, starts: Array, ends: Array) -> NDArray[np.bool_]:
        """(n,) of straight lines between states (n, m); the starts are valid, the ends are checked by `valid`."""


@dataclass(frozen=True, eq=False)
class Query:
    """From where to where, in a box of ℝᵐ, and with which planner.

    Args:
        start: (m,).
        goal: (m,).
        lower: (m,) bounds of the coordinates; start and goal lie within.
        upper: (m,).
        weights: (m,) of the coordinates in distances: √Σ (w Δx)²; None for 1.
        planner: One of `PLANNERS`.
        seed: ≥ 1; the same one gives the same plan unless time runs out.
        evaluations: Most states and edges that are checked, together.
        time_limit: [s]; a safeguard, since plans that it ends depend on the machine.
        parameters: Of the planner, by their names in OMPL, e.g. {"range": "0.2"}.
    """

    start: Array
    goal: Array
    lower: Array
    upper: Array
    weights: Array | None = None
    planner: str = "RRTConnect"
    seed: int = 1
    evaluations: int = 100_000
    time_limit: float = 60.0
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "start", finite_array(self.start, (None,), "start of the query"))
        m = len(self.start)
        given = np.ones(m) if self.weights is None else self.weights
        for name, value in (("goal", self.goal), ("lower", self.lower), ("upper", self.upper), ("weights", given)):
            put(self, name, finite_array(value, (m,), f"{name} of the query"))
        if not m or np.any(self.lower >= self.upper) or np.any(np.asarray(self.weights) <= 0.0):
            raise ShapeError("the query needs lower < upper and weights > 0")
        for name in ("start", "goal"):
            state = getattr(self, name)
            if (state < self.lower).any() or (state > self.upper).any():
                raise ShapeError(f"the {name} of the query lies outside of its bounds")
        if self.planner not in PLANNERS:
            raise one_of("planner", self.planner, PLANNERS)
        if int(self.seed) < 1 or int(self.evaluations) < 1:
            raise ShapeError("seed and evaluations of a query must be 1 or more")
        put(self, "time_limit", number(self.time_limit, "time limit", positive=True))


@dataclass(frozen=True, eq=False)
class OmplPlan:
    """What a planner found.

    Args:
        path: (k, m) from start to goal; (0, m) without success.
        success: Whether it leads to the goal.
        stopped: Why it ended: "solved", "evaluations", "time", "samples" (the planner has no more), or "ends" (start
            or goal is not valid).
        states_checked: Calls for the validity of a state.
        edges_checked: Calls for the validity of an edge.
        states_kept: In the trees or the roadmap of the planner.
        seconds: Of planning, without the start of the process and of the problem.
        build_seconds: Of building the problem; 0 if it was known.
    """

    path: Array
    success: bool
    stopped: str
    states_checked: int
    edges_checked: int
    states_kept: int
    seconds: float
    build_seconds: float = 0.0
