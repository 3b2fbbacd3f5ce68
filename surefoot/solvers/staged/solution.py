"""What a solver of staged programs takes and returns: options, iterations, multipliers, gains, outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from surefoot.arrays import Array, number
from surefoot.errors import ShapeError

Outcome = Literal[
    "solved", "acceptable", "infeasible", "iteration limit", "time limit", "interrupted", "diverged", "failed"
]


@dataclass(frozen=True)
class SolverOptions:
    """Limits and settings that all solvers of staged programs understand.

    Attributes:
        tolerance: of the scaled optimality error (Wächter and Biegler 2006, equation 5).
        max_iterations: then the best iterate is returned.
        max_seconds: wall-clock limit [s]; the iteration at hand is finished.
        barrier: first barrier parameter μ; None: 0.1, and 1e-4 after a warm start.
        feasibility_rounds: restoration phases before a program counts as infeasible (`riccati`).
    """

    tolerance: float = 1e-6
    max_iterations: int = 500
    max_seconds: float = np.inf
    barrier: float | None = None
    feasibility_rounds: int = 100

    def __post_init__(self) -> None:
        number(self.tolerance, "tolerance", positive=True)
        if self.barrier is not None:
            number(self.barrier, "barrier", positive=True)
        whole = [self.max_iterations, self.feasibility_rounds]
        times = isinstance(self.max_seconds, float | int) and self.max_seconds > 0.0
        if not times or not all(isinstance(count, int | np.integer) and count >= 0 for count in whole):
            raise ShapeError(
                "limits of a solver must be positive, and counts whole numbers",
                evidence={
                    name: getattr(self, name) for name in ("max_iterations", "max_seconds", "feasibility_rounds")
                },
            )


@dataclass(frozen=True)
class Iteration:
    """One line of the iteration table.

    Attributes:
        number: from 0.
        cost: objective.
        infeasibility: largest violation of gaps, rows and end rows.
        stationarity: largest entry of the Lagrangian's gradient; NaN where the solver does not report it in time.
        barrier: μ.
        step: largest change of a variable.
        regularization: added to the diagonal of the Hessian.
        primal_step, dual_step: accepted step lengths.
        kind: "" for a normal step, "c" with second-order correction, "r" in restoration.
    """

    number: int
    cost: float
    infeasibility: float
    stationarity: float
    barrier: float
    step: float
    regularization: float
    primal_step: float
    dual_step: float
    kind: str = ""


Progress = Callable[[Iteration], bool | None]
"""Called in every iteration; a true answer stops the solver, which then returns its best iterate."""


@dataclass(frozen=True)
class Multipliers:
    """Multipliers λ of L = f + gaps·F + rows·c + end_rows·e + bounds·w; positive at upper bounds, negative at lower.

    −λ is the change of the optimal cost for one unit by which an active bound is moved up.
    """

    gaps: Array
    rows: Array
    end_rows: Array
    bounds: Array


@dataclass(frozen=True)
class Gains:
    """Feedback from the last factorisation: u_k = u*_k + K_k (x_k − x*_k), with p held.

    Attributes:
        feedback: K_k (nu_k, nx_k), one for each stage.
        feedforward: (nu_k,) change of u_k that the last Newton step made beside its feedback; small at the end.
    """

    feedback: tuple[Array, ...]
    feedforward: tuple[Array, ...]


@dataclass(frozen=True)
class Seconds:
    """Wall-clock time [s]: in the problem's functions, and everything else."""

    evaluation: float = 0.0
    algebra: float = 0.0

    @property
    def total(self) -> float:
        """Evaluation and algebra."""
        return self.evaluation + self.algebra


@dataclass(frozen=True)
class StagedSolution:
    """The end of a solve, good or bad: the best iterate and what is known about it.

    Attributes:
        success: the optimality error is below the tolerance.
        outcome: why the solver ended.
        w: variables.
        multipliers: of all constraints.
        cost: objective at w.
        iterations: Newton steps.
        kkt_residual: scaled optimality error at w (`kkt_residual`), evaluated the same way for all solvers.
        message: the outcome in a sentence.
        table: iterations.
        gains: feedback, where the solver has it.
        seconds: time in functions and in algebra.
        violated: names of the rows that are violated most, the worst first; empty after success.
    """

    success: bool
    outcome: Outcome
    w: Array = field(repr=False)
    multipliers: Multipliers = field(repr=False)
    cost: float
    iterations: int
    kkt_residual: float
    message: str
    table: tuple[Iteration, ...] = field(default=(), repr=False)
    gains: Gains | None = field(default=None, repr=False)
    seconds: Seconds = field(default_factory=Seconds)
    violated: tuple[str, ...] = ()
