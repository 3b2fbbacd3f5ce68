"""Compiled pairs give what the text gives on numbers, one by one and in batches."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from surefoot.collision.pairs.kernels import pair_kernel
from surefoot.errors import UnknownNameError
from surefoot.geometry.swept_distance import generator_gradient, smooth_distance, swept_distance

VERTICES = {"point": 1, "line": 2, "triangle": 3}
N = 21  # more than two tiles, and no whole number of them


def volumes(kind_a, kind_b):
    rng = np.random.default_rng(0)
    A, B = (rng.uniform(-1.0, 1.0, (N, VERTICES[kind], 3)) for kind in (kind_a, kind_b))
    B[..., 0] += 2.1  # hulls that meet have many nearest points
    return A, rng.uniform(0.0, 0.3, N), B, rng.uniform(0.0, 0.3, N)


def on_numbers(what, a, radius_a, b, radius_b, blur=None):
    if what in ("distance", "nearest"):
        found = swept_distance(a, radius_a, b, radius_b)
        return (found.distance,) if what == "distance" else found
    found = generator_gradient(a, b) if what == "gradient" else smooth_distance(a, b, blur)
    return found.distance - radius_a - radius_b, found.gradient_a, found.gradient_b


@pytest.mark.parametrize("what", ["distance", "nearest", "gradient", "smooth"])
@pytest.mark.parametrize(("kind_a", "kind_b"), list(product(VERTICES, VERTICES)))
def test_kernels_are_the_text(kind_a, kind_b, what):
    kernel = pair_kernel(kind_a, kind_b, what)
    arguments = volumes(kind_a, kind_b) + ((np.full(N, 0.1),) if what == "smooth" else ())
    found = kernel(*arguments)
    found = (found,) if what == "distance" else found
    for i in range(N):
        one = tuple(x[i] for x in arguments)
        expected, single = on_numbers(what, *one), kernel(*one)
        for batch, alone, value in zip(found, (single,) if what == "distance" else single, expected, strict=True):
            np.testing.assert_array_equal(batch[i], alone)
            np.testing.assert_allclose(batch[i], value, atol=1e-12)


def test_kernels_are_built_once():
    assert pair_kernel("point", "line") is pair_kernel("point", "line")


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="plane"):
        pair_kernel("plane", "line")
    with pytest.raises(UnknownNameError, match="depth"):
        pair_kernel("line", "line", "depth")
