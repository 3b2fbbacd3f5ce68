import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from surefoot.contact.cone_dual import faces_of_spans, spans_of_faces
from surefoot.contact.friction import corner_spans, friction_pyramid
from surefoot.errors import ShapeError


def in_spans(spans, x):
    return nnls(spans, x)[1] < 1e-8


def in_faces(faces, x):
    return bool((faces @ x >= -1e-8).all())


def assert_same_cone(spans, faces, seed=0, count=150):
    """Every span is in, every share of spans is in, and random points are in both or in none."""
    rng = np.random.default_rng(seed)
    assert (faces @ spans).min(initial=0.0) > -1e-9 * np.abs(spans).max()
    middle = spans @ rng.uniform(0.0, 1.0, size=(spans.shape[1], count)) / spans.shape[1]
    away = orthonormal(spans) @ rng.normal(size=(np.linalg.matrix_rank(spans), count))
    sizes = 10.0 ** rng.uniform(-2.0, 1.0, size=count) * np.abs(spans).mean()
    answers = []
    for x in (middle + sizes * away).T:
        assert in_faces(faces, x) == in_spans(spans, x)
        answers.append(in_spans(spans, x))
    return np.mean(answers)


def orthonormal(spans):
    u, s, _ = np.linalg.svd(spans)
    return u[:, : np.sum(s > 1e-9 * s[0])]


@pytest.mark.parametrize("dim", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("count", [2, 6, 14])
def test_random_cones(dim, count):
    rng = np.random.default_rng(10 * dim + count)
    spans = np.vstack([rng.normal(size=(dim - 1, count)), np.ones(count)])
    share = assert_same_cone(spans, faces_of_spans(spans))
    assert share < 1.0


@pytest.mark.parametrize("seed", range(5))
def test_back_and_forth(seed):
    rng = np.random.default_rng(seed)
    spans = np.vstack([rng.normal(size=(4, 9)), np.ones(9)])
    back = spans_of_faces(faces_of_spans(spans))
    unit = spans / np.abs(spans).max(axis=0)
    for ray in back.T:  # each found ray is one of the spans; spans inside the cone are none
        assert np.abs(unit.T - ray).max(axis=1).min() < 1e-9


def test_no_face_is_left_out_or_superfluous():
    """A cube's cone in 4-D has six faces, though Quickhull cuts each of them in two triangles or more."""
    corners = np.array([[x, y, z, 1.0] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]).T
    faces = faces_of_spans(corners)
    assert len(faces) == 6
    assert_allclose(np.sort(np.abs(faces), axis=1), np.tile([0.0, 0.0, 1.0, 1.0], (6, 1)), atol=1e-12)


def test_lines_are_kept():
    """A half space of a plane: a line and a ray."""
    spans = np.array([[1.0, -1.0, 0.3], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    faces = faces_of_spans(spans)
    for x, inside in (
        ([5, 0, 0], 1),
        ([-5, 0, 0], 1),
        ([0, 1, 0], 1),
        ([0, -1, 0], 0),
        ([0, 1, 0.1], 0),
        ([0, 1, -0.1], 0),
    ):
        assert in_faces(faces, np.array(x, dtype=float)) == bool(inside)
    assert faces_of_spans(np.hstack([np.eye(3), -np.eye(3)])).shape == (0, 3)


def test_one_ray():
    faces = faces_of_spans([[0.0], [0.0], [2.0]])
    assert in_faces(faces, np.array([0.0, 0.0, 1.0]))
    for x in ([0.0, 0.0, -1.0], [1.0, 0.0, 1.0], [0.0, -1.0, 1.0]):
        assert not in_faces(faces, np.array(x))


@pytest.mark.parametrize("size", [1e-3, 0.1, 10.0])
def test_soles_of_any_size(size):
    """Moments are small beside forces for small soles; spans that repeat and that lie inside change nothing."""
    angle = 2.0 * np.pi * np.arange(6) / 6
    corners = size * np.column_stack([np.cos(angle), 0.4 * np.sin(angle), 0.0 * angle])
    spans = corner_spans(corners, friction_pyramid(0.7).spans)
    faces = faces_of_spans(spans)
    scale = np.r_[np.ones(3), np.full(3, 1.0 / size)]
    assert_same_cone(spans * scale[:, None], faces / scale)
    more = np.hstack([spans, spans[:, :5], spans @ np.random.default_rng(0).uniform(size=(24, 3))])
    assert len(faces_of_spans(more)) == len(faces)


@pytest.mark.parametrize("wrong", [np.zeros((3, 2)), np.full((3, 2), np.nan), np.zeros((3, 0)), np.ones(3)])
def test_nothing_is_no_cone(wrong):
    with pytest.raises(ShapeError):
        faces_of_spans(wrong)
