"""Native entry points: no reference is lost or kept, other threads run meanwhile, many threads may call at once."""

import gc
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from surefoot import ops
from surefoot.errors import ShapeError
from tests.compiler.examples import kernel_of


def counts(objects) -> list[int]:
    return [sys.getrefcount(x) for x in objects]


def resident() -> int:
    """Bytes of memory that this process occupies."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_no_reference_is_lost_or_kept(arm, of_arm):
    """Over calls of all kinds, also refused ones."""
    q, v, a = of_arm.q, of_arm.v, of_arm.a
    one = q[0].copy(), v[0].copy(), a[0].copy()
    tau = np.zeros(9)
    call = arm.rnea.bind(*one, tau)
    wrong, out = np.zeros(8), np.zeros((37, 9))
    single, batch, named = arm.rnea(*one), arm.rnea(q, v, a), arm.energy(q, v)
    watched = [*one, q, v, a, tau, np.dtype(float), np.ndarray, type(named), wrong, out, arm.rnea]

    def all_kinds() -> None:
        arm.rnea(*one)
        arm.rnea(q, v, a)
        arm.energy(one[0], one[1])
        arm.energy(q, v)
        arm.rnea(one[0], one[1], a=one[2])
        call()
        arm.rnea(q, v, a, out=out)
        arm.rnea(*one, out=tau)
        for refused in ({"out": wrong}, {"out": one[0][:, None]}, {"q": wrong}):
            with pytest.raises(ShapeError):
                arm.rnea(**({"q": q, "v": v, "a": a} | refused))
        with pytest.raises(ShapeError):
            arm.rnea(*one, out=wrong)

    all_kinds()
    gc.collect()
    before = counts(watched)
    for _ in range(300):
        all_kinds()
    gc.collect()
    assert counts(watched) == before
    assert sys.getrefcount(single) == sys.getrefcount(batch) == 2
    assert [sys.getrefcount(x) for x in named] == [3, 3]  # the tuple, the loop variable, the argument
    nones = sys.getrefcount(None)
    for _ in range(5000):
        call()
    assert abs(sys.getrefcount(None) - nones) < 1000


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_memory_does_not_grow(arm, of_arm):
    q, v, a = of_arm.q, of_arm.v, of_arm.a
    one = q[0], v[0], a[0]
    tau = np.zeros(9)
    call = arm.rnea.bind(q[0].copy(), v[0].copy(), a[0].copy(), tau)

    def many(n: int) -> int:
        for _ in range(n):
            arm.rnea(*one)
            arm.energy(one[0], one[1])
            arm.rnea(q, v, a)
            call()
        gc.collect()
        return resident()

    assert many(100_000) - many(1000) < 4 << 20  # one array of 9 numbers per call would be 18 MB


def test_refused_batches_give_their_memory_back(walker, of_walker):
    q = np.tile(of_walker.q, (500, 1))
    q[-1, 3] += 1.0
    gc.collect()

    def refused(n: int) -> int:
        for _ in range(n):
            with pytest.raises(ShapeError):
                walker.com(q)
        gc.collect()
        return resident()

    size = len(q) * 3 * 8
    assert -refused(3) + refused(40) < 10 * size
    out = np.empty((len(q), 3))
    held = sys.getrefcount(out)
    with pytest.raises(ShapeError):
        walker.com(q, out=out)
    assert sys.getrefcount(out) == held


def slow_kernel():
    """A long chain of operations on few numbers."""

    def function(x):
        y = x
        for _ in range(400):
            y = ops.sin(y) + x
        return y

    return kernel_of(function, (2,))


def test_other_threads_run_during_a_batch(rng):
    kernel = slow_kernel()
    x = rng.standard_normal((150_000, 2))
    kernel(x[:9])
    began, ended, ticks = threading.Event(), threading.Event(), []

    def work() -> None:
        began.set()
        kernel(x)
        ended.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    worker = threading.Thread(target=work)
    worker.start()
    began.wait()
    while not ended.is_set():
        ticks.append(time.perf_counter())
        time.sleep(1e-4)
    worker.join()
    sys.setswitchinterval(interval)
    assert len(ticks) > 20  # a thread that is locked out ticks once or twice


def test_many_threads_call_at_once(arm, of_arm):
    q, v, a = of_arm.q, of_arm.v, of_arm.a
    right, single = arm.rnea(q, v, a), arm.crba(q)
    wrong: list[str] = []

    def work(k: int) -> None:
        for i in range(300):
            n = (7 * i + k) % 37 + 1
            if not (arm.rnea(q[:n], v[:n], a[:n]) == right[:n]).all():
                wrong.append("batch")
            if not (arm.crba(q[n - 1]) == single[n - 1]).all():
                wrong.append("single")
            if not (arm.rnea(q, v, a, threads=2) == right).all():
                wrong.append("threads")

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_a_kernel_can_be_built_by_many_threads_at_once(rng):
    kernel = kernel_of(lambda x: ops.sin(x) @ x, (6,))
    x = rng.standard_normal((64, 6))
    found: list[np.ndarray] = []
    workers = [threading.Thread(target=lambda: found.append(kernel(x))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert all((y == found[0]).all() for y in found)


def test_kernels_are_collected(rng):
    """The entry point and the kernel know each other; the collector sees it."""
    kernel = kernel_of(lambda x: x * 2.0, (3,))
    kernel(rng.standard_normal(3))
    front = kernel._front
    held = sys.getrefcount(front)
    assert held > 2
    del kernel
    gc.collect()
    assert sys.getrefcount(front) == 2
