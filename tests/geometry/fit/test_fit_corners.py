"""However often a solid is cut, the volumes leave no hole inside it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.geometry import Box
from surefoot.geometry.fit import fit_shapes
from surefoot.geometry.fit.corners import with_inner_corners
from surefoot.geometry.fit.cut import Piece
from surefoot.geometry.fit.excess import Surface
from tests.geometry.fit.test_fit_swept import sticking_out
from tests.geometry.mesh_examples import slotted_block


@pytest.mark.slow
def test_a_box_in_many_volumes_is_full(rng):
    fit = fit_shapes([(Box((1.0, 2.0, 3.0)), np.eye(4))], most=10, gain=0.01)
    assert len(fit.volumes) == 10
    assert fit.outside == 0.0
    assert sticking_out(fit, rng.uniform(-0.5, 0.5, (50_000, 3)) * [1.0, 2.0, 3.0]) <= 0.0


def test_only_corners_on_the_own_side_and_inside_count():
    points, faces = slotted_block()
    surface = Surface(Piece(points, faces))
    eye = np.eye(3)

    def corners(place, *more):
        sides = (*((eye[k], float(place[k])) for k in range(3)), *more)
        (found,) = with_inner_corners([Piece(points, faces, sides=sides)], surface)
        return found.points[len(points) :]

    leg, slot, beyond = (0.35, 0.1, 0.6), (0.0, 0.1, 0.6), (2.0, 0.1, 0.6)
    assert_allclose(corners(leg), [leg], atol=1e-12)
    assert len(corners(slot)) == len(corners(beyond)) == 0
    assert_allclose(corners(leg, (-eye[0], -0.9)), [leg], atol=1e-12)  # and x ≤ 0.9, where the other corner is outside
    assert len(corners(leg, (-eye[0], 0.0))) == 0
