"""The bench of optimal control: derivatives of the squat, agreement of solvers, a result that can be printed."""

from __future__ import annotations

import numpy as np
import pytest

from bench.cases import ocp
from bench.cases.ocp_squat import Squat
from surefoot.arrays import Array
from surefoot.robot import load
from surefoot.solvers.staged import SolverOptions, StagedProblem, solve_staged

NODES = 4


@pytest.fixture(scope="module")
def problem() -> StagedProblem:
    return Squat(load("humanoid"), NODES).problem()


@pytest.mark.slow
def test_derivatives_are_those_of_differences(problem: StagedProblem) -> None:
    """Jacobian against values, Hessian against the Lagrangian's gradient, along a random direction."""
    s, f, rng = problem.sizes, problem.functions, np.random.default_rng(0)
    w = problem.w0 + 0.05 * rng.normal(size=s.variables)
    d, by = rng.normal(size=s.variables), 1e-6
    y = rng.normal(size=int(s.row_starts[-1]))

    def slope(at: Array) -> Array:
        found = f.derivatives(at)
        out = found.gradient.copy()
        for k, C in enumerate(found.rows):
            out[s.block(k)] += y[s.row_starts[k] : s.row_starts[k + 1]] @ C
        return out

    first = f.derivatives(w)
    rows = np.concatenate([C @ d[s.block(k)] for k, C in enumerate(first.rows)])
    differences = (f.values(w + by * d).rows - f.values(w - by * d).rows) / (2.0 * by)
    np.testing.assert_allclose(rows, differences, atol=1e-6 * np.abs(rows).max())
    blocks, _ = f.hessian(w, 1.0, np.zeros(s.gaps), y, np.zeros(0))
    bent = np.zeros(s.variables)
    for k, H in enumerate(blocks):
        bent[s.block(k)] += H @ d[s.block(k)]
    np.testing.assert_allclose(
        bent, (slope(w + by * d) - slope(w - by * d)) / (2.0 * by), atol=1e-6 * np.abs(bent).max()
    )


@pytest.mark.slow
def test_solvers_agree_on_a_squat(problem: StagedProblem) -> None:
    found = [solve_staged(problem, name, SolverOptions(tolerance=1e-7)) for name in ("riccati", "fatrop", "ipopt")]
    assert all(x.success for x in found), [x.message for x in found]
    np.testing.assert_allclose([x.cost for x in found], found[0].cost, rtol=1e-6)
    assert max(x.kkt_residual for x in found) < 1e-5


@pytest.mark.slow
def test_result_is_plain_data_and_can_be_printed(capsys: pytest.CaptureFixture[str]) -> None:
    result = ocp.run("humanoid", nodes=NODES, repeats=1, casadi=False)
    ocp.show(result)
    assert [row["name"] for row in result["rows"]] == ["surefoot, riccati", "surefoot, fatrop", "surefoot, ipopt"]
    assert "riccati" in capsys.readouterr().out
