"""Loops that end when states are done, and loops on fixed arrays."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot import ops
from surefoot.compiler import Repeated, compile_function
from surefoot.errors import ShapeError


def halve(x: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Halve until below one; the state is (done, steps that changed something)."""
    done = ops.less(x[0], 1.0)
    new = ops.where(done, x, 0.5 * x)
    return new, ops.array([ops.where(done, 1.0, 0.0), state[1] + 1.0])


LOOP = Repeated(compile_function("halve", halve, {"x": (1,), "state": (2,)}), feedback={"x": 0, "state": 1})


def test_one_state_ends_when_it_is_done() -> None:
    found = LOOP({"x": np.array([10.0]), "state": np.zeros(2)}, 100, until=1)
    assert found.final["x"][0] == 10.0 / 16.0
    assert found.final["state"].tolist() == [1.0, 5.0]


def test_tiles_end_when_all_or_enough_are_done() -> None:
    x = np.array([[2.0**k] for k in range(8)])
    whole = LOOP({"x": x, "state": np.zeros((8, 2))}, 100, until=1)
    assert (whole.final["x"] < 1.0).all()
    assert (whole.final["state"][:, 1] == whole.final["state"][0, 1]).all()
    assert whole.final["state"][0, 1] < 100
    first = LOOP({"x": x, "state": np.zeros((8, 2))}, 100, until=1, enough=1)
    assert first.final["state"][0, 0] == 1.0
    assert first.final["state"][:, 1].max() < whole.final["state"][:, 1].max()


def test_results_do_not_depend_on_the_batch() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 1e4, (101, 1))
    many = LOOP({"x": x, "state": np.zeros((101, 2))}, 60, until=1, threads=2).final["x"]
    for k in (0, 7, 50, 100):
        np.testing.assert_array_equal(LOOP({"x": x[k], "state": np.zeros(2)}, 60, until=1).final["x"], many[k])


@pytest.mark.parametrize("batch", [(), (5,)])
def test_bound_loops_work_in_place(batch: tuple[int, ...]) -> None:
    x, state = np.full((*batch, 1), 10.0), np.zeros((*batch, 2))
    run = LOOP.bind({"x": x, "state": state}, 100, until=1)
    run()
    assert (x == 10.0 / 16.0).all()
    x[:], state[:] = 3.0, 0.0
    run()
    assert (x == 0.75).all()


def test_bound_loops_refuse_copies() -> None:
    with pytest.raises(ShapeError):
        LOOP.bind({"x": np.ones(1, dtype=np.float32), "state": np.zeros(2)}, 3)
    with pytest.raises(ShapeError):
        LOOP.bind({"x": np.ones((4, 2))[:, :1], "state": np.zeros((4, 2))}, 3)
