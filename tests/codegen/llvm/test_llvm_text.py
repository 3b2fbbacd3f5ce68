"""Machine code of random programs with all operations, for all widths and types, against numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot import ops
from surefoot.codegen.build import Build
from surefoot.codegen.llvm import text as llvm_text
from surefoot.codegen.llvm.native import vector_width
from tests.compiler.examples import BOUNDED, random_code, run, runner_of, values_of

BUILDS = [Build(width, bits) for bits in (64, 32) for width in sorted({1, 2, 4, vector_width(bits)})]
ids = [f"{build.width} x float{build.bits}" for build in BUILDS]


def kind(build: Build) -> type:
    return np.float64 if build.bits == 64 else np.float32


@pytest.mark.slow
@pytest.mark.parametrize("build", BUILDS, ids=ids)
@pytest.mark.parametrize("seed", [0, 1])
def test_random_programs(build, seed, monkeypatch, rng):
    """Many small functions, so that values cross from one to the next; odd sizes, so that blocks are not whole."""
    monkeypatch.setattr(llvm_text, "CHUNK", 60)
    code = random_code(seed, 160)
    assert {op for op, *_ in code} == {*BOUNDED, "lt", "le"}

    def function(x, y):
        values = values_of(code, [*x, *y.ravel()], table=BOUNDED)
        return ops.array(values[:81]).reshape(3, 27), ops.array(values[81:]), x[1], ops.sin(y[0, 0])

    x, y = rng.uniform(-1.0, 1.0, (77, 3)).astype(kind(build)), rng.uniform(-1.0, 1.0, (77, 2, 1)).astype(kind(build))
    found = run(runner_of(function, build, (3,), (2, 1)), x, y)
    wide = np.moveaxis(x.astype(float), 0, -1), np.moveaxis(y.astype(float), 0, -1)
    values = np.array(np.broadcast_arrays(*values_of(code, [*wide[0], *wide[1][:, 0]], table=BOUNDED)))
    expected = [np.moveaxis(values[:81].reshape(3, 27, -1), -1, 0), values[81:].T, x[:, 1], np.sin(y[:, 0, 0])]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert_allclose(ours, theirs, rtol=0, atol=2e-14 if build.bits == 64 else 2e-5)


@pytest.mark.parametrize("build", BUILDS, ids=ids)
def test_special_values(build):
    """Not-a-number stays one, infinities behave, comparisons with not-a-number are false."""

    def function(x):
        a, b = x
        return ops.array(
            [ops.minimum(a, b), ops.maximum(a, b), a * b, a + b, abs(a), ops.sqrt(a), 1.0 / a,
             ops.where(a < b, 1.0, 2.0), ops.where(a <= b, 1.0, 2.0), ops.where(a - b, a, b), ops.exp(a),
             ops.arctan2(a, b), -a * b + a, ops.log(a)]
        )  # fmt: skip

    numbers = [0.0, 1.0, -1.0, -2.5, 3.0, np.inf, -np.inf, np.nan]
    pairs = np.array([(a, b) for a in numbers for b in numbers]).astype(kind(build))
    (found,) = run(runner_of(function, build, (2,)), pairs)
    with np.errstate(all="ignore"):
        a, b = pairs.T
        expected = np.array(
            [np.minimum(a, b), np.maximum(a, b), a * b, a + b, np.abs(a), np.sqrt(a), 1 / a, np.where(a < b, 1, 2),
             np.where(a <= b, 1, 2), np.where(a - b != 0, a, b), np.exp(a), np.arctan2(a, b), -a * b + a, np.log(a)]
        ).T  # fmt: skip
    assert_allclose(found, expected, rtol=1e-6 if build.bits == 32 else 1e-15)


@pytest.mark.parametrize("build", BUILDS, ids=ids)
def test_outputs_that_are_inputs_sines_or_numbers(build, rng):
    x = rng.standard_normal((50, 3)).astype(kind(build))
    found = run(runner_of(lambda x: (ops.array([x[2], 7.0, x[0], -x[0]]), ops.cos(x[0]), 0.5), build, (3,)), x)
    assert (found[0] == np.stack([x[:, 2], np.full(50, 7.0), x[:, 0], -x[:, 0]], axis=1)).all()
    assert_allclose(found[1], np.cos(x[:, 0]), rtol=1e-6)
    assert (found[2] == 0.5).all()


@pytest.mark.parametrize("build", BUILDS, ids=ids)
def test_scratch_of_all_tiles_is_apart(build, monkeypatch, rng):
    """Sines of computed angles in several functions, over many tiles at a time."""
    monkeypatch.setattr(llvm_text, "CHUNK", 12)

    def function(x):
        y = x
        for k in range(8):
            y = ops.sin(y * x[::-1] + 0.1 * k) + x
        return y

    x = rng.uniform(-1.0, 1.0, (500, 3)).astype(kind(build))
    (found,) = run(runner_of(function, build, (3,)), x)
    assert_allclose(found, function(x.astype(float).T).T, atol=1e-13 if build.bits == 64 else 1e-4)


def test_lanes_do_not_depend_on_their_neighbours(rng):
    """The same state gives the same bits in any lane, tile and build of any width."""
    code = random_code(5, 120)
    x = rng.uniform(-1.0, 1.0, (97, 4))
    results = []
    for build in (build for build in BUILDS if build.bits == 64):
        runner = runner_of(lambda x: ops.array(values_of(code, [*x], table=BOUNDED)), build, (4,))
        results += [run(runner, x)[0], run(runner, np.ascontiguousarray(x[::-1]))[0][::-1], run(runner, x[:3])[0]]
    for found in results:
        assert (found == results[0][: len(found)]).all()
