"""The shapes of the benchmark of large meshes, small."""

import numpy as np
import pytest

from bench.cases.meshes import SHAPES, _judged, made, run
from surefoot.geometry import convex_pieces


def test_shapes_are_large_and_whole():
    sizes = [rows * columns for rows, columns, _, _ in SHAPES.values()]
    assert len(sizes) == 7
    assert (min(sizes), max(sizes)) == (150_000, 700_000)
    for name, (_, _, closed, _) in SHAPES.items():
        mesh = made(name, coarser=10)
        edges = np.sort(mesh.triangles()[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        counts = np.unique(edges, axis=0, return_counts=True)[1]
        assert counts.max() == 2
        assert (counts == 2).all() == closed


def test_a_piece_that_lacks_is_seen():
    mesh = made("bone", coarser=20)
    pieces = convex_pieces(mesh)
    assert _judged(mesh, pieces)["outside"] < 0.03
    assert _judged(mesh, [0.5 * piece for piece in pieces])["outside"] > 0.1


@pytest.mark.slow
def test_all_shapes():
    assert set(run(quick=True)["shapes"]) == set(SHAPES)
