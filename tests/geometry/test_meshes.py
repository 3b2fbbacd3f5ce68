"""Triangles of mesh files."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import MissingMeshError, ShapeError
from surefoot.geometry import Mesh
from tests.geometry.mesh_examples import SLOTTED_VOLUME, slotted_block, write_obj, write_stl


def enclosed_volume(mesh: Mesh) -> float:
    return float(np.linalg.det(mesh.vertices()[mesh.triangles()]).sum()) / 6.0


@pytest.mark.parametrize("write", [write_obj, write_stl])
def test_triangles_of_a_file_enclose_the_volume_of_the_body(tmp_path, write):
    path = write(tmp_path / f"mesh.{write.__name__[-3:]}", *slotted_block())
    assert_allclose(enclosed_volume(Mesh(path)), SLOTTED_VOLUME, rtol=1e-6)
    assert_allclose(abs(enclosed_volume(Mesh(path, (2.0, -1.0, 0.5)))), SLOTTED_VOLUME, rtol=1e-6)


def test_given_faces_are_checked():
    points, faces = slotted_block()
    assert_allclose(enclosed_volume(Mesh(points=points, faces=faces)), SLOTTED_VOLUME, rtol=1e-12)
    assert len(Mesh(points=points).triangles()) == 0
    for wrong in (faces + 1, faces - 1, faces.astype(float), faces[:, :2]):
        with pytest.raises(ShapeError, match="faces"):
            Mesh(points=points, faces=wrong)
    with pytest.raises(MissingMeshError):
        Mesh("nowhere.stl").triangles()
