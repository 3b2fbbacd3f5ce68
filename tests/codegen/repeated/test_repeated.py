"""Kernels in the native loop over time: the same bits as steps one by one, whatever is read and recorded when."""

import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen.artifact import make
from surefoot.codegen.build import Build
from surefoot.codegen.llvm.native import vector_width
from surefoot.codegen.repeated import Repeated
from surefoot.codegen.repeated.repeated import RepeatRunner, Schedule
from surefoot.compiler import compile_robot
from surefoot.dynamics import aba
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from tests.codegen.test_batch import at_the_end_of_a_page, between_canaries
from tests.compiler.examples import kernel_of, recipe_of, robot_named, states

BUILDS = [Build(width, bits) for bits in (64, 32) for width in sorted({1, 2, 4, vector_width(bits)})]
SHAPES = ((3,), (2, 5), (), (9,))  # state, state, constant, control


def function(x, y, gain, u):
    """Whole numbers stay whole: x, y and two outputs more, one of them with a number."""
    first = ops.array([x[1] + u[0], x[2] - u[8], gain * u[4] - x[0]])
    second = ops.stack([y[1] + u[1:6], y[0] - x[0]])
    return first, second, x[0] * u[7], ops.array([7.0, x[2], y[1, 4]])


def by_numpy(x, y, gain, u):
    first = np.array([x[1] + u[0], x[2] - u[8], gain * u[4] - x[0]])
    return first, np.array([y[1] + u[1:6], y[0] - x[0]]), np.array(x[0] * u[7]), np.array([7.0, x[2], y[1, 4]])


def one_by_one(x, y, gain, u, steps, hold, every):
    """All steps of one state; records of outputs 0, 2 and 3, and the last state."""
    records = []
    for t in range(steps):
        found = by_numpy(x, y, gain, u[t // hold])
        x, y = found[:2]
        if (t + 1) % every == 0:
            records.append((found[0], found[2], found[3]))
    return x, y, [np.array(part) for part in zip(*records, strict=True)]


def whole_numbers(rng, *shape):
    return rng.integers(-3, 4, shape).astype(float)


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_every_row_and_record_and_nothing_beside_them(build, rng, canary):
    runner = RepeatRunner(make(recipe_of(function, *SHAPES), build), ())
    dtype, steps, hold, every = np.dtype(f"f{build.bits // 8}"), 7, 3, 2
    for n in (0, 1, build.width, build.width + 1, 8 * build.width + 3):
        shapes = [(n, 3), (n, 2, 5), (n,), (n, 3, 9)]
        arrays = [at_the_end_of_a_page((max(n, 1), *shape[1:]), dtype)[:n] for shape in shapes]
        for x in arrays:
            x[:] = rng.integers(-3, 4, x.shape)
        pairs = {k: between_canaries((n, 3, *size), dtype, canary) for k, size in ((0, (3,)), (2, ()), (3, (3,)))}
        when = Schedule(steps, hold, every, np.inf, {0: 0, 1: 1}, frozenset([3]))
        final, good, bad = runner.repeat(arrays, {k: out for k, (out, _) in pairs.items()}, n, when)
        assert bad == -1
        assert (good == steps).all()
        right = [one_by_one(*state, steps, hold, every) for state in zip(*arrays, strict=True)]
        for i, (x, y, records) in enumerate(right):
            assert (final[0][i] == x).all()
            assert (final[1][i] == y).all()
            for (out, _), record in zip(pairs.values(), records, strict=True):
                assert (out[i] == record).all()
        for out, around in pairs.values():
            assert (around[:32] == canary).all()
            assert (around[32 + out.size :] == canary).all()


@pytest.mark.parametrize("shared", [True, False])
def test_one_state_equals_its_row_in_a_batch_also_if_inputs_are_shared(shared, rng):
    loop = Repeated(kernel_of(function, *SHAPES), {"x0": 0, "x1": 1}, timed=("x3",), record=(0, 3))
    n, steps = 11, 9
    x, y = whole_numbers(rng, n, 3), whole_numbers(rng, n, 2, 5)
    gain, u = (2.0, whole_numbers(rng, 5, 9)) if shared else (whole_numbers(rng, n), whole_numbers(rng, n, 5, 9))
    batch = loop({"x0": x, "x1": y, "x2": gain, "x3": u}, steps, hold=2, every=3)
    for i in (0, n - 1):
        own = (gain, u) if shared else (gain[i], u[i])
        one = loop({"x0": x[i], "x1": y[i], "x2": own[0], "x3": own[1]}, steps, hold=2, every=3)
        assert one.good == batch.good[i] == steps
        assert one.final["x1"].shape == (2, 5)
        assert all((one.final[name] == batch.final[name][i]).all() for name in ("x0", "x1"))
        assert all((one.records[k] == batch.records[k][i]).all() for k in (0, 3))


def semi_implicit(tree, q, v, tau):
    """One step of a robot with one-axis joints."""
    after = v + 1e-3 * aba(tree, q, v, tau)
    return q + 1e-3 * after, after


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_robot_in_time_has_the_bits_of_its_steps_with_any_number_of_threads(dtype, rng):
    robot = robot_named("panda")
    kernel = compile_robot(robot, dtype=dtype, functions={"step": semi_implicit}).step
    loop = Repeated(kernel, {"q": 0, "v": 1}, timed=("tau",), record=(0, 1))
    found, steps = states(robot, 67), 30
    q, v = found.q.astype(dtype), found.v.astype(dtype)
    tau = rng.standard_normal((67, steps, robot.nv)).astype(dtype)
    by_steps = []
    x, y = q, v
    for t in range(steps):
        x, y = kernel(x, y, np.ascontiguousarray(tau[:, t]))
        by_steps.append((x, y))
    for threads in (1, 2, 7):
        result = loop({"q": q, "v": v, "tau": tau}, steps, threads=threads)
        assert (result.records[0] == np.stack([x for x, _ in by_steps], axis=1)).all()
        assert (result.records[1] == np.stack([y for _, y in by_steps], axis=1)).all()
        assert (result.final["q"] == by_steps[-1][0]).all()


def test_states_that_leave_their_bounds_stop_and_leave_the_others_alone():
    loop = Repeated(kernel_of(lambda x: (2.0 * x, x[0]), (2,)), {"x0": 0}, record=(0, 1))
    start = np.ones((19, 2))
    start[4, 1], start[11, 0], start[18] = 1e300, np.nan, 1e3
    found = loop({"x0": start}, 60)
    alone = loop({"x0": start[:1]}, 60)
    good = np.full(19, 60)
    good[4], good[11] = 27, 0  # 1e300 · 2²⁸ is infinite
    assert (found.good == good).all()
    assert (found.records[0][0] == alone.records[0]).all()
    assert (found.records[0][4, 26:] == found.records[0][4, 26]).all()
    assert found.final["x0"][4, 1] == 1e300 * 2.0**27
    assert (found.final["x0"][18] == 1e3 * 2.0**60).all()
    assert (loop({"x0": start}, 60, limit=1e4).good[[0, 18]] == [13, 3]).all()


def test_a_state_that_stopped_does_not_come_back():
    loop = Repeated(kernel_of(lambda x, u: (x + u,), (1,), (1,)), {"x0": 0}, timed=("x1",), record=(0,))
    u = np.array([[1.0], [100.0], [1.0], [1.0]])
    found = loop({"x0": np.zeros(1), "x1": u}, 4, limit=50.0)
    assert found.good == 1
    assert found.records[0].ravel().tolist() == [1.0, 1.0, 1.0, 1.0]


def test_quaternions_that_are_not_of_unit_length_at_the_start_are_refused():
    robot = robot_named("solo8")

    def still(q, v):
        return q, v

    loop = Repeated(compile_robot(robot, functions={"still": still}).still, {"q": 0, "v": 1})
    q = np.tile(robot.home, (9, 1))
    q[7, 3:7] *= 1.1
    with pytest.raises(ShapeError, match="length"):
        loop({"q": q, "v": np.zeros((9, robot.nv))}, 3)
    with pytest.raises(ShapeError, match="length"):
        loop({"q": q[7], "v": np.zeros(robot.nv)}, 3)


def test_out_is_written(rng):
    loop = Repeated(kernel_of(lambda x: (x + 1.0,), (2,)), {"x0": 0}, record=(0,))
    out, x = np.zeros((5, 2, 2)), whole_numbers(rng, 5, 2)
    assert loop({"x0": x}, 4, every=2, out={0: out}).records[0] is out
    assert (out == x[:, None] + [[[2.0], [4.0]]]).all()
    for wrong in (np.zeros((5, 4, 2)), np.zeros((5, 2, 2), np.float32), np.zeros((5, 2, 4))[:, :, ::2]):
        with pytest.raises(ShapeError, match="out"):
            loop({"x0": x}, 4, every=2, out={0: wrong})
    both = np.zeros((5, 1, 2))
    with pytest.raises(ShapeError, match="overlaps"):
        loop({"x0": both[:, 0]}, 1, out={0: both})


def test_wrong_requests_are_named():
    kernel = kernel_of(function, *SHAPES)
    with pytest.raises(UnknownNameError, match="x9"):
        Repeated(kernel, {"x9": 0})
    with pytest.raises(UnknownNameError, match="x9"):
        Repeated(kernel, {"x0": 0}, timed=("x9",))
    with pytest.raises(ShapeError, match="x0"):
        Repeated(kernel, {"x0": 0}, timed=("x0",))
    with pytest.raises(NotSupportedError, match="kernel"):
        Repeated(function, {"x0": 0})
    x, y, u = np.zeros((4, 3)), np.zeros((4, 2, 5)), np.zeros((4, 6, 9))
    good = {"x0": x, "x1": y, "x2": 1.0, "x3": u}
    with pytest.raises(UnknownNameError, match="4"):
        Repeated(kernel, {"x0": 4})({**good, "x3": u[0, 0]}, 6)
    with pytest.raises(ShapeError, match="fed back into `x0`"):
        Repeated(kernel, {"x0": 1})({**good, "x3": u[0, 0]}, 6)
    loop = Repeated(kernel, {"x0": 0, "x1": 1}, timed=("x3",))
    wrong = [("x0", x[0]), ("x0", x[:, :2]), ("x1", y[:3]), ("x2", np.zeros(5)), ("x3", u[:, :5]), ("x3", u[0, 0])]
    for name, value in wrong:
        with pytest.raises(ShapeError, match="has shape"):
            loop({**good, name: value}, 6)
    with pytest.raises(ShapeError, match="needs `x2`"):
        loop({"x0": x, "x1": y, "x3": u}, 6)
    with pytest.raises(UnknownNameError, match="x7"):
        loop({**good, "x7": x}, 6)
    with pytest.raises(ShapeError, match="real numbers"):
        loop({**good, "x2": "one"}, 6)
    for option in ({"hold": 0}, {"every": 0}, {"every": 2.5}, {"threads": 0}):
        with pytest.raises(ShapeError, match=next(iter(option))):
            loop(good, 6, **option)
    with pytest.raises(ShapeError, match="steps"):
        loop(good, 0)
