"""Loops that end when states are done, and loops on fixed arrays."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen import compile_function
from surefoot.codegen.repeated import Repeated
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


@pytest.mark.parametrize("n", [1, 7, 8, 300, 1001])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_queue_gives_each_state_the_steps_that_it_needs(n: int, threads: int) -> None:
    x = 10.0 ** np.random.default_rng(n).uniform(-1.0, 6.0, (n, 1))
    found = LOOP.each({"x": x, "state": np.zeros((n, 2))}, 100, 1, threads=threads)
    for k in {0, n // 2, n - 1}:
        alone = LOOP({"x": x[k], "state": np.zeros(2)}, 100, until=1).final
        np.testing.assert_array_equal(found["x"][k], alone["x"])
        np.testing.assert_array_equal(found["state"][k], alone["state"])
    assert (found["x"] < 1.0).all()
    late = LOOP.each({"x": x, "state": np.zeros((n, 2))}, 2, 1)
    assert (late["state"][:, 1] <= 2.0).all()


def test_a_queue_takes_parameters_for_all_and_for_each() -> None:
    def shrink(x: np.ndarray, factor: np.ndarray, floor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return ops.maximum(factor * x, floor), ops.where(ops.less(x, 2.0 * floor), 1.0, 0.0)

    kernel = compile_function("shrink", shrink, {"x": (2,), "factor": (), "floor": (2,)})
    loop = Repeated(kernel, feedback={"x": 0})
    factor, floor = np.linspace(0.2, 0.9, 50), np.array([1.0, 3.0])
    found = loop.each({"x": np.full((50, 2), 100.0), "factor": factor, "floor": floor}, 200, 1)["x"]
    for k in (0, 20, 49):
        alone = loop.each({"x": np.full((1, 2), 100.0), "factor": factor[k : k + 1], "floor": floor}, 200, 1)["x"]
        np.testing.assert_array_equal(found[k], alone[0])


def test_a_queue_refuses_single_states() -> None:
    with pytest.raises(ShapeError):
        LOOP.each({"x": np.ones(1), "state": np.zeros(2)}, 3, 1)


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
