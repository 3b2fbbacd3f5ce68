"""OMPL's planners in their process: valid paths, the same ones for the same seed, within their budgets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from surefoot.errors import ShapeError, SimulationError, UnknownNameError
from surefoot.planning.ompl import PLANNERS, OmplWorker, Query, among_boxes

pytest.importorskip("ompl")
LOW, HIGH = np.array([[-0.2, -1.0, -1.0]]), np.array([[0.2, 0.6, 1.0]])  # a wall with a gap at large y
QUERY = {"start": [-0.8, -0.5, 0.0], "goal": [0.8, -0.5, 0.1], "lower": -np.ones(3), "upper": np.ones(3)}


@pytest.fixture(scope="module")
def worker() -> Iterator[OmplWorker]:
    with OmplWorker(among_boxes, LOW, HIGH) as made:
        yield made


@pytest.mark.parametrize("planner", PLANNERS)
def test_paths_are_valid_and_repeat(worker: OmplWorker, planner: str) -> None:
    query = Query(**QUERY, planner=planner, seed=3, evaluations=4000)
    first, second = worker.plan(query), worker.plan(query)
    assert first.success
    assert first.stopped == "solved"
    np.testing.assert_array_equal(first.path, second.path)
    assert (first.states_checked, first.edges_checked) == (second.states_checked, second.edges_checked)
    np.testing.assert_allclose(first.path[[0, -1]], [QUERY["start"], QUERY["goal"]], atol=1e-9)
    # an independent check: dense samples of all edges
    shares = np.linspace(0.0, 1.0, 500)[:, None]
    dense = np.vstack([a + shares * (b - a) for a, b in zip(first.path[:-1], first.path[1:], strict=True)])
    assert not ((dense > LOW) & (dense < HIGH)).all(axis=1).any()
    assert (np.abs(dense) <= 1.0 + 1e-9).all()


def test_other_seeds_give_other_paths(worker: OmplWorker) -> None:
    paths = [worker.plan(Query(**QUERY, planner="RRTConnect", seed=seed)).path for seed in (1, 2)]
    assert paths[0].shape != paths[1].shape or not np.array_equal(*paths)


@pytest.mark.parametrize("planner", ["RRTConnect", "PRM", "SBL", "KPIECE1"])
def test_the_impossible_ends_within_its_budget(worker: OmplWorker, planner: str) -> None:
    worker.set_problem(among_boxes, LOW, np.array([[0.2, 1.0, 1.0]]))  # no gap
    try:
        plan = worker.plan(Query(**QUERY, planner=planner, evaluations=2000))
    finally:
        worker.set_problem(among_boxes, LOW, HIGH)
    assert not plan.success
    assert plan.stopped == "evaluations"
    assert plan.path.shape == (0, 3)
    assert 2000 <= plan.states_checked + plan.edges_checked <= 4000


def test_invalid_ends_and_failures_are_reported(worker: OmplWorker) -> None:
    plan = worker.plan(Query(**{**QUERY, "goal": np.zeros(3)}))
    assert (plan.success, plan.stopped) == (False, "ends")
    worker.set_problem(among_boxes, "not numbers", HIGH)
    with pytest.raises(SimulationError, match="ValueError"):
        worker.plan(Query(**QUERY))
    worker.set_problem(among_boxes, LOW, HIGH)
    assert worker.plan(Query(**QUERY)).success


def test_queries_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="RRTConnect"):
        Query(**QUERY, planner="RRTConect")
    with pytest.raises(ShapeError, match="outside"):
        Query(**{**QUERY, "goal": [2.0, 0.0, 0.0]})
    with pytest.raises(ShapeError, match="weights"):
        Query(**QUERY, weights=[1.0, 0.0, 1.0])


def test_weights_change_what_is_near(worker: OmplWorker) -> None:
    """With a range in weighted lengths, coordinates of large weight take more steps."""
    free = {"start": [-0.8, 0.0], "goal": [0.8, 0.0], "lower": -np.ones(2), "upper": np.ones(2)}
    worker.set_problem(among_boxes, np.array([[5.0, 5.0]]), np.array([[6.0, 6.0]]))
    counts = [
        len(worker.plan(Query(**free, weights=w, parameters={"range": "0.5"})).path) for w in ([1.0, 1.0], [4.0, 1.0])
    ]
    worker.set_problem(among_boxes, LOW, HIGH)
    assert counts[1] > 2 * counts[0]


def test_time_is_a_safeguard(worker: OmplWorker) -> None:
    worker.set_problem(among_boxes, LOW, np.array([[0.2, 1.0, 1.0]]))
    plan = worker.plan(Query(**QUERY, planner="RRT", evaluations=10**9, time_limit=0.2))
    worker.set_problem(among_boxes, LOW, HIGH)
    assert (plan.success, plan.stopped) == (False, "time")
    assert plan.seconds < 5.0


@pytest.mark.slow
def test_a_closed_worker_says_so() -> None:
    worker = OmplWorker(among_boxes, LOW, HIGH)
    worker.close()
    with pytest.raises(SimulationError, match="ended"):
        worker.plan(Query(**QUERY))
