"""Derivatives of whole horizons: phases of different structure, free durations, a parameter, against differences."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.arrays import Array
from surefoot.ocp import Formulation, Problem
from surefoot.ocp.transcription import Transcription, transcribe


@pytest.fixture(scope="module")
def transcription() -> Transcription:
    robot = sf.load("cartpole:bearing")
    problem = Problem(robot, formulation=Formulation("forward", "rk4", "plc"))
    problem.parameter("height", 0.0, 1.0)
    problem.phase("back", (), 2, (0.5, 1.0, 2.0))
    problem.phase("still", (), 1, 0.4)
    problem.phase("up", (), 2, (0.5, 0.8, 2.0))
    problem.start(robot.q_of({"swing": -3.0}))
    problem.end(robot.q_of({}), only=("slide", "swing"))
    problem.cost("torque")
    problem.cost("speedy", 0.3, lambda node: node.dy * node.parameters["height"], phases=["up"])
    problem.constrain("room", lambda node: node.y[:1] - node.parameters["height"] * node.dy[:1], -1.0, 1.0)
    return transcribe(problem)


def dense(t: Transcription, w: Array) -> tuple[Array, Array, Array]:
    """Gradient; Jacobians of gaps and of rows from flat derivatives."""
    s, functions = t.program.sizes, t.functions
    gradient, flat, _ = functions.flat_derivatives(w)
    entries, J = functions.entries, np.zeros((s.gaps + len(t.program.row_lower), len(w)))
    stages = np.concatenate([np.repeat(np.arange(s.stages - 1), s.states[1:]), np.repeat(np.arange(s.stages), s.rows)])
    for i, k in enumerate(stages):
        at = slice(entries.starts[i], entries.starts[i + 1])
        J[i, s.block(int(k))[entries.columns[at]]] = flat[entries.positions[at]]
    after = np.concatenate([s.starts[k] + np.arange(s.states[k]) for k in range(1, s.stages)])
    J[np.arange(s.gaps), after] -= 1.0
    return gradient.copy(), J[: s.gaps], J[s.gaps :]


def test_flat_derivatives_are_those_of_the_values(transcription: Transcription) -> None:
    t, rng = transcription, np.random.default_rng(2)
    w = t.program.w0 + 0.1 * rng.normal(size=len(t.program.w0))
    gradient, gaps, rows = dense(t, w)
    assert t.program.sizes.parameters == 3
    for k, step in enumerate(1e-6 * np.eye(len(w))):
        high, low = t.functions.values(w + step), t.functions.values(w - step)
        assert (high.cost - low.cost) / 2e-6 == pytest.approx(gradient[k], rel=1e-5, abs=1e-6)
        np.testing.assert_allclose((high.gaps - low.gaps) / 2e-6, gaps[:, k], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose((high.rows - low.rows) / 2e-6, rows[:, k], rtol=1e-5, atol=1e-6)
    blocks = t.functions.derivatives(w)
    for k, block in enumerate(blocks.rows):
        at = slice(*t.program.sizes.row_starts[k : k + 2])
        np.testing.assert_array_equal(block, rows[at][:, t.program.sizes.block(k)])


@pytest.mark.parametrize("gauss_newton", [False, True])
def test_flat_hessian_is_that_of_the_lagrangian(transcription: Transcription, gauss_newton: bool) -> None:
    t, rng, s = transcription, np.random.default_rng(3), transcription.program.sizes
    w = t.program.w0 + 0.1 * rng.normal(size=len(t.program.w0))
    m = 0.7, rng.normal(size=s.gaps), rng.normal(size=len(t.program.row_lower))
    t.functions.gauss_newton = gauss_newton
    try:
        flat = t.functions.flat_hessian(w, *m, np.zeros(0))[0].copy()
    finally:
        t.functions.gauss_newton = False
    H, begin = np.zeros((len(w), len(w))), 0
    for k in range(s.stages):
        at = s.block(k)
        H[np.ix_(at, at)] += flat[begin : begin + len(at) ** 2].reshape(len(at), -1)
        begin += len(at) ** 2
    np.testing.assert_array_equal(H, H.T)
    if gauss_newton:
        assert np.linalg.eigvalsh(H).min() > -1e-9 * np.abs(H).max()
        return

    def slope(w: Array) -> Array:
        gradient, gaps, rows = dense(t, w)
        return np.asarray(m[0] * gradient + m[1] @ gaps + m[2] @ rows)

    for k, step in enumerate(1e-5 * np.eye(len(w))):
        found = (slope(w + step) - slope(w - step)) / 2e-5
        np.testing.assert_allclose(found, H[:, k], rtol=1e-5, atol=1e-5 * np.abs(H).max())
