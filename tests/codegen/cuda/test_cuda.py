"""Kernels on a GPU where CuPy and a GPU are; named refusals where they are not."""

import importlib
import importlib.util
import types

import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen.cuda import module as cuda
from surefoot.codegen.cuda.module import CudaKernel, cupy_module
from surefoot.codegen.program import trace
from surefoot.dynamics import rnea
from surefoot.errors import NotSupportedError, ShapeError
from tests.compiler.examples import robot_named, states


def cupy_or_none():
    try:
        return cupy_module()
    except NotSupportedError:
        return None


CUPY = cupy_or_none()
needs_gpu = pytest.mark.skipif(CUPY is None, reason="no CuPy or no GPU")


def function(x, y):
    return np.array([x[0] * y[0, 1] + 0.5, ops.sin(x[1]) * y[1, 0]]), x[2] * y


def program():
    x, y = ops.symbols("x", 3), ops.symbols("y", (2, 2))
    return trace([x, y], list(function(x, y)), interleaved=False)


def test_without_cupy_the_error_says_what_to_do(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(NotSupportedError, match="need CuPy") as caught:
        CudaKernel(program())
    assert "install CuPy" in caught.value.next_step


class FakeError(RuntimeError):
    """What CuPy raises without a driver."""


@pytest.mark.parametrize("count", [0, FakeError("no driver")])
def test_without_a_gpu_the_error_says_what_to_do(monkeypatch, count):
    def devices():
        if isinstance(count, Exception):
            raise count
        return count

    runtime = types.SimpleNamespace(getDeviceCount=devices, CUDARuntimeError=FakeError)
    fake = types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))
    monkeypatch.setattr(importlib, "import_module", lambda name: fake)
    with pytest.raises(NotSupportedError, match="no GPU") as caught:
        CudaKernel(program())
    assert "nvidia-smi" in caught.value.next_step


@pytest.mark.parametrize(
    ("array", "shape", "expected"),
    [
        (np.zeros((5, 3)), (3,), 1),
        (np.zeros((3, 5)).T, (3,), 5),
        (np.zeros((5, 2, 4)), (2, 4), 1),
        (np.moveaxis(np.zeros((2, 4, 5)), -1, 0), (2, 4), 5),
        (np.zeros((5, 2, 8))[:, :, ::2], (2, 4), 2),
        (np.zeros((5, 4, 2)).transpose(0, 2, 1), (2, 4), 0),
        (np.zeros((5, 2, 8))[:, :, :4], (2, 4), 0),
        (np.zeros((5, 2, 1)), (2, 1), 1),
        (np.zeros(5), (), 1),
        (np.zeros((2, 4)), (2, 4), 1),
    ],
)
def test_spacing_of_elements(array, shape, expected):
    assert cuda._spacing(array, shape) == expected


# -- on a GPU -----------------------------------------------------------------------------------------------------


@needs_gpu
@pytest.mark.parametrize("bits", [64, 32])
def test_batches_columns_single_states_and_out(bits):
    kernel = CudaKernel(program(), bits)
    dtype = np.dtype(f"f{bits // 8}")
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((1001, 3)).astype(dtype), rng.standard_normal((1001, 2, 2)).astype(dtype)
    expected = [np.array(part) for part in zip(*(function(x, y) for x, y in zip(X, Y, strict=True)), strict=True)]

    def same(found, wanted):
        for ours, theirs in zip(found, wanted, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours.get(), theirs, rtol=1e-5 if bits == 32 else 1e-13, atol=1e-6)

    same(kernel(CUPY.asarray(X), CUPY.asarray(Y)), expected)
    same(kernel(X, Y), expected)
    columns = CUPY.asfortranarray(CUPY.asarray(X)), CUPY.moveaxis(CUPY.asarray(np.moveaxis(Y, 0, -1).copy()), -1, 0)
    found = kernel(*columns)
    same(found, expected)
    assert found[0].strides[0] == dtype.itemsize
    same(kernel(CUPY.asarray(X[0]), CUPY.asarray(Y[0])), [x[0] for x in expected])
    same(kernel(CUPY.asarray(X), CUPY.asarray(Y)[:, ::-1].copy()[:, ::-1]), expected)
    repeated = [np.array(part) for part in zip(*(function(X[0], y) for y in Y), strict=True)]
    same(kernel(X[0], Y), repeated)
    out = [CUPY.empty(x.shape, dtype) for x in expected]
    assert kernel(X, Y, out=out)[0] is out[0]
    same(out, expected)
    assert [x.shape for x in kernel(X[:0], Y[:0])] == [(0, 2), (0, 2, 2)]


@needs_gpu
@pytest.mark.parametrize("bits", [64, 32])
def test_many_results_as_rows_and_as_columns(bits, monkeypatch):
    """Rows are made from columns, some states at a time."""
    monkeypatch.setattr(cuda, "_AT_A_TIME", 100)
    x = ops.symbols("x", 9)
    kernel = CudaKernel(trace([x], [np.multiply.outer(x, ops.sin(x)), x @ x], interleaved=False), bits)
    X = np.random.default_rng(0).standard_normal((333, 9))
    expected = X[:, :, None] * np.sin(X)[:, None, :], (X * X).sum(1)
    for given in (CUPY.asarray(X), CUPY.asfortranarray(CUPY.asarray(X, kernel.dtype))):
        for ours, theirs in zip(kernel(given), expected, strict=True):
            np.testing.assert_allclose(ours.get(), theirs, rtol=1e-5 if bits == 32 else 1e-13, atol=1e-6)
    one = kernel(X[0])
    np.testing.assert_allclose(one[0].get(), expected[0][0], rtol=1e-5, atol=1e-6)
    assert one[1].shape == ()


@needs_gpu
def test_wrong_arrays_are_refused():
    kernel = CudaKernel(program())
    X, Y = np.zeros((4, 3)), np.zeros((4, 2, 2))
    with pytest.raises(ShapeError, match="takes 2 arrays"):
        kernel(X)
    with pytest.raises(ShapeError, match="argument 1"):
        kernel(X, Y[:, 0])
    with pytest.raises(ShapeError, match="different lengths"):
        kernel(X, Y[:2])
    with pytest.raises(ShapeError, match="cannot take"):
        kernel(X, Y, out=[CUPY.empty((4, 2), np.float32), CUPY.empty((4, 2, 2))])


@needs_gpu
@pytest.mark.parametrize(("bits", "tolerance"), [(64, 1e-12), (32, 1e-4)])
def test_inverse_dynamics_on_the_gpu(bits, tolerance):
    robot = robot_named("g1")
    q, v, a = ops.symbols("q", robot.nq), ops.symbols("v", robot.nv), ops.symbols("a", robot.nv)
    kernel = CudaKernel(trace([q, v, a], [rnea(robot.tree, q, v, a)], interleaved=False), bits)
    given = states(robot, 65)
    expected = np.array([rnea(robot.tree, *x) for x in zip(given.q, given.v, given.a, strict=True)])
    found = kernel(given.q, given.v, given.a).get()
    size = np.maximum(1.0, np.abs(expected).max(1, keepdims=True))
    np.testing.assert_allclose(found / size, expected / size, rtol=0.0, atol=tolerance)
