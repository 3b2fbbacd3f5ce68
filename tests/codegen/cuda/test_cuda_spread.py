"""Packed columns and the copy to rows give the same as the program itself."""

import numpy as np
import pytest

from surefoot import ops
from surefoot.codegen.cuda.module import spread_source
from surefoot.codegen.cuda.text import kernel_source
from surefoot.codegen.program import trace
from tests.codegen.cuda.gpu_on_cpu import COMPILER, Emulated

pytestmark = pytest.mark.skipif(not COMPILER, reason="no g++ to run the text with")


def outputs(x):
    """More entries than are written together, mirrored ones and numbers among them; a scalar; numbers alone."""
    upper = np.triu(np.multiply.outer(x, ops.sin(x)))
    return upper + np.triu(upper, 1).T, x @ x, np.array([0.5, -2.0]), x[:0]


def program():
    x = ops.symbols("x", 9)
    return trace([x], list(outputs(x)), interleaved=False)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("columns", [False, True])
def test_spread_columns_are_the_outputs(bits, columns, tmp_path, rng):
    x = rng.standard_normal((130, 9))
    packed = Emulated(kernel_source(program().packed, bits, "packed"), tmp_path)(x, columns=True)
    found = Emulated(spread_source(program(), bits, "spread"), tmp_path)(*packed, columns=columns)
    expected = [np.array(part) for part in zip(*map(outputs, x), strict=True)]
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, atol=1e-5 if bits == 32 else 1e-14, rtol=1e-6)


def test_packed_programs_store_every_slot_once(tmp_path, rng):
    x = rng.standard_normal((33, 9))
    (slots,) = Emulated(kernel_source(program().packed, 64, "packed"), tmp_path)(x)
    dense = Emulated(kernel_source(program(), 64, "dense"), tmp_path)(x)
    assert slots.shape == (33, len(program().slots))
    for array, layout in zip(dense, program().layout, strict=True):
        for entry, slot in enumerate(layout):
            known = slots[:, slot] if slot >= 0 else np.full(33, program().numbers[-1 - slot])
            assert np.array_equal(array.reshape(33, -1)[:, entry], known)
