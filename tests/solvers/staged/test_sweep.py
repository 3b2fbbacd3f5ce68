"""The Riccati sweep in machine code against the whole system, dense, in numpy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.arrays import Array
from surefoot.solvers.staged import Patterns, StagedProblem
from surefoot.solvers.staged.riccati.barrier import Barrier
from surefoot.solvers.staged.riccati.form import Form
from surefoot.solvers.staged.riccati.sweep import Quadratic, Sweep, WrongInertiaError
from surefoot.solvers.staged.watch import TimedFunctions
from tests.solvers.staged.problems import QuadraticFunctions, random_program

KINDS = ("convex", "soft gaps", "sparse gaps", "singular", "indefinite")


class System:
    """A Newton system of a random program, for the sweep and dense.

    Args:
        seed: Of all numbers.
        kind: Of the second derivatives.
    """

    def __init__(self, seed: int, kind: str) -> None:
        rng, problem = np.random.default_rng(1000 + seed), random_program(seed)
        problem = _with_frozen_variables(rng, problem)
        if kind == "sparse gaps":
            problem = _with_sparse_gaps(rng, problem)
        self.form = Form(problem, TimedFunctions(problem), problem.w0)
        s, n = problem.sizes, problem.sizes.variables
        barrier = Barrier(self.form, 1e-8)
        self.slopes = self.form.slopes(problem.w0)
        H, E = np.zeros((n, n)), np.zeros((len(s.end_block),) * 2)
        blocks = []
        for k in range(s.stages):
            at = s.block(k)
            root = rng.normal(size=(len(at), max(1, len(at) // 2) if kind == "singular" else len(at)))
            block = root @ root.T - (rng.uniform(0.0, 3.0) if kind == "indefinite" else 0.0) * np.eye(len(at))
            blocks.append(block)
            H[np.ix_(at, at)] += block
        if len(self.form.end_rows):
            root = 0.3 * rng.normal(size=E.shape)
            E = root @ root.T
            H[np.ix_(s.end_block, s.end_block)] += E
        diagonal = np.full(n, 0.0 if kind == "singular" else 0.1) * rng.random(n)
        weight = np.where(barrier.hard, 0.0, 10.0 ** rng.uniform(-2, 4, len(barrier.hard)))
        give = 10.0 ** rng.uniform(-6, 1, s.gaps) if kind == "soft gaps" else None
        flat = np.concatenate([block.ravel() for block in blocks])
        self.quadratic = Quadratic(flat, E, diagonal, weight, barrier.hard, give)
        J = np.array([np.concatenate(self.form.product(self.slopes, column)) for column in np.eye(n)]).T
        self.G, C = J[: s.gaps], J[s.gaps :]
        self.H, self.C, self.give = H + np.diag(diagonal) + C.T @ (weight[:, None] * C), C[barrier.hard], give
        self.free, self.hard = ~self.form.frozen, barrier.hard
        self.h, self.gaps, self.rows = rng.normal(size=n), rng.normal(size=s.gaps), rng.normal(size=len(weight))

    def matrix(self, delta: Array) -> Array:
        """Of the free variables, gaps and hard rows."""
        J = np.vstack([self.G, self.C])[:, self.free]
        give = np.zeros(len(self.G)) if self.give is None else self.give
        return np.block([[self.H[np.ix_(self.free, self.free)], J.T], [J, -np.diag(np.r_[give, delta])]])

    def solve(self, sweep: Sweep, left: Array) -> tuple[Array, Array, Array]:
        """Step for the gradient of free variables and residuals of gaps and hard rows."""
        h, rows, count = np.zeros(len(self.free)), np.zeros(len(self.hard)), int(self.free.sum())
        h[self.free], rows[self.hard] = left[:count], left[count + len(self.G) :]
        return sweep.solve(h, left[count : count + len(self.G)], rows)

    def has_right_inertia(self, delta: float) -> bool | None:
        """As many positive eigenvalues as variables; None where the sign of one is lost in rounding."""
        values = np.linalg.eigvalsh(self.matrix(np.full(len(self.C), delta)))
        if np.abs(values).min() < 1e-9 * np.abs(values).max():
            return None
        return int((values > 0.0).sum()) == int(self.free.sum())


def _with_frozen_variables(rng: np.random.Generator, problem: StagedProblem) -> StagedProblem:
    """Now and then a control, a parameter or an entry of x_0 is fixed, too."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    fixed = rng.random(len(lower)) < 0.1
    for k in range(1, problem.sizes.stages):
        fixed[problem.sizes.starts[k] : problem.sizes.starts[k] + problem.sizes.states[k]] = False
    lower[fixed] = upper[fixed] = problem.w0[fixed]
    return replace(problem, lower=lower, upper=upper)


def _with_sparse_gaps(rng: np.random.Generator, problem: StagedProblem) -> StagedProblem:
    """Most entries of ∂F are zero, and known to be."""
    s, functions = problem.sizes, problem.functions
    assert isinstance(functions, QuadraticFunctions)
    masks = [rng.random(A.shape) < 0.1 for A in functions.A]
    rows = [np.ones(C.shape, dtype=bool) for C in functions.C]
    hessians = [np.ones((len(s.block(k)),) * 2, dtype=bool) for k in range(s.stages)]
    functions.A = [A * mask for A, mask in zip(functions.A, masks, strict=True)]
    return replace(problem, patterns=Patterns(masks, rows, hessians))


@pytest.mark.parametrize("kind", KINDS)
def test_sweep_solves_the_whole_system(kind: str) -> None:
    solved, refused = 0, 0
    for seed in range(40):
        system = System(seed, kind)
        right = system.has_right_inertia(1e-8)
        try:
            sweep = Sweep(system.form, system.slopes, system.quadratic)
        except WrongInertiaError:
            refused += 1
            assert right is not True, f"seed {seed}: the inertia is right, but the sweep refuses it"
            continue
        assert right is not False, f"seed {seed}: the sweep accepts a wrong inertia"
        K = system.matrix(sweep.delta[system.hard])
        found = np.zeros(len(K))
        left = np.concatenate([system.h[system.free], system.gaps, system.rows[system.hard]])
        for _ in range(3):  # the second and third refine
            dw, dgaps, dy = system.solve(sweep, left)
            step = np.concatenate([dw[system.free], dgaps, dy[system.hard]])
            left, found = left + K @ step, found + step
        assert np.abs(left).max() < 1e-9 * np.abs(K).max() * (1.0 + np.abs(found).max()), f"seed {seed}"
        assert not dw[~system.free].any()
        assert not dy[~system.hard].any()
        solved += 1
    assert solved > (5 if kind == "indefinite" else 30)
    assert kind != "indefinite" or refused > 5


def test_sweep_sees_what_is_not_a_number() -> None:
    system = System(3, "convex")
    for part in (system.slopes.values, system.quadratic.hessian):
        kept = part.copy()
        part[len(part) // 2] = np.nan
        with pytest.raises(WrongInertiaError):
            Sweep(system.form, system.slopes, system.quadratic)
        part[:] = kept
    Sweep(system.form, system.slopes, system.quadratic)
