"""Loops over batches: every row is computed, no byte beside them is touched, threads change nothing."""

import ctypes
import mmap
import multiprocessing
import os

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot import ops
from surefoot.codegen.batch import aligned_empty, from_tiles, thread_count, to_tiles
from surefoot.codegen.build import Build
from surefoot.codegen.llvm.native import vector_width
from surefoot.errors import NotSupportedError, ShapeError
from tests.compiler.examples import kernel_of, run, runner_of

BUILDS = [Build(width, bits) for bits in (64, 32) for width in sorted({1, 2, 4, vector_width(bits)})]


def at_the_end_of_a_page(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array after which there is no memory: whoever reads or writes beyond it does not live on."""
    page = mmap.PAGESIZE
    size = int(np.prod(shape)) * dtype.itemsize
    pages = -(-size // page) * page
    area = mmap.mmap(-1, pages + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    if ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(start + pages), page, 0) != 0:
        raise OSError(ctypes.get_errno(), "mprotect")
    return np.frombuffer(area, dtype, size // dtype.itemsize, pages - size).reshape(shape)


def between_canaries(shape: tuple[int, ...], dtype: np.dtype, canary: float) -> tuple[np.ndarray, np.ndarray]:
    """An array, and the memory that it lies in the middle of."""
    size = int(np.prod(shape))
    around = np.full(size + 64, canary, dtype)
    return around[32 : 32 + size].reshape(shape), around


def function(x, y):
    """Outputs of 1, 6, 7 and 18 entries, some of them numbers."""
    dense = np.outer(x, y[:, 0]) + 1.0
    dense[1, 1] = 4.0
    return x[0] * y[0, 0], y * 2.0, ops.array([*(x + 1.0), *(3.0 * x), *x, 0.0])[3:], ops.stack([dense[:, :3]] * 2)


def by_numpy(x, y):
    outer = x[:, :, None] * y[:, None, :, 0] + 1.0
    outer[:, 1, 1] = 4.0
    return (
        x[:, 0] * y[:, 0, 0], 2.0 * y, np.concatenate([3.0 * x, x, np.zeros((len(x), 1))], axis=1),
        np.stack([outer[:, :, :3]] * 2, axis=1),
    )  # fmt: skip


@pytest.mark.parametrize("build", BUILDS, ids=str)
def test_rows_of_any_number_and_nothing_beside_them(build, rng, canary):
    runner = runner_of(function, build, (3,), (3, 2))
    dtype = np.dtype(f"f{build.bits // 8}")
    for n in (0, 1, 2, build.width - 1, build.width, build.width + 1, 8 * build.width, 8 * build.width + 3, 131):
        arrays = [at_the_end_of_a_page((max(n, 1), *shape), dtype)[:n] for shape in ((3,), (3, 2))]
        for x in arrays:
            x[:] = rng.integers(-9, 10, x.shape)  # so that results are exact
        pairs = [between_canaries((n, *shape), dtype, canary) for shape in runner.artifact.output_shapes]
        assert runner.rows(arrays, [out for out, _ in pairs], n) == -1
        for (out, around), right in zip(pairs, by_numpy(*arrays), strict=True):
            assert (out == right).all()
            assert (around[:32] == canary).all()
            assert (around[32 + out.size :] == canary).all()
        ends = [at_the_end_of_a_page((max(n, 1), *shape), dtype)[:n] for shape in runner.artifact.output_shapes]
        runner.rows(arrays, ends, n)
        for out, right in zip(ends, by_numpy(*arrays), strict=True):
            assert (out == right).all()


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 64, 1000])
@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_compute_the_same_bits(n, threads, rng):
    runner = runner_of(lambda x: ops.sin(x) * x[::-1] + x[0], Build(vector_width(), 64), (5,))
    x = rng.standard_normal((n, 5))
    assert (run(runner, x, threads=threads)[0] == run(runner, x)[0]).all()


@pytest.mark.parametrize("n", [1, 5, 8, 37])
def test_tiles_there_and_back(n, rng):
    rows = rng.standard_normal((n, 3, 2))
    tiles = to_tiles(rows, 8)
    assert tiles.shape == (-(-n // 8), 3, 2, 8)
    assert tiles.ctypes.data % 64 == 0
    assert (from_tiles(tiles, n) == rows).all()
    assert (from_tiles(tiles)[n:] == rows[-1]).all()
    assert tiles[0, 2, 1, 0] == rows[0, 2, 1]


def test_memory_starts_at_cache_lines():
    for _ in range(20):
        for dtype in (np.float64, np.float32, np.uint8):
            array = aligned_empty((3, 5), dtype)
            assert array.ctypes.data % 64 == 0
            assert (array.shape, array.dtype) == ((3, 5), dtype)
    assert aligned_empty((0, 4)).shape == (0, 4)


def test_numbers_of_threads():
    assert thread_count("all") == os.cpu_count()
    assert thread_count(3) == thread_count(np.int64(3)) == 3
    for wrong in (0, -1, 1.5, "two", None):
        with pytest.raises(ShapeError, match="threads"):
            thread_count(wrong)


def _sum_in_child(kernel, x, queue) -> None:
    queue.put(float(kernel(x, threads=2).sum()))


def test_a_forked_process_has_threads_of_its_own(rng):
    """The parent's are not there: waiting for them would last forever."""
    kernel, x = kernel_of(lambda x: x * x + 1.0, (4,)), rng.standard_normal((1000, 4))
    expected = float(kernel(x, threads=2).sum())
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_sum_in_child, args=(kernel, x, queue))
    child.start()
    try:
        assert queue.get(timeout=30) == expected
    finally:
        child.kill()
        child.join()


@pytest.mark.parametrize("count", [32, 33])
def test_more_arrays_than_tables_hold_are_refused(count, rng):
    kernel = kernel_of(lambda x: tuple(x + float(k) for k in range(count)), (2,))
    x = rng.standard_normal((9, 2))
    if count == 32:
        for k, (one, many) in enumerate(zip(kernel(x[0]), kernel(x), strict=True)):
            assert_allclose(many, x + k, rtol=1e-15)
            assert (one == many[0]).all()
    else:
        for argument in (x[0], x):
            with pytest.raises(NotSupportedError, match="32"):
                kernel(argument)
