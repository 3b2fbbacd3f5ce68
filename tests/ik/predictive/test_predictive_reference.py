import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.ik.predictive.study import StraightLine


def test_line_from_rest_to_rest():
    start = np.eye(4)
    start[:3, 3] = [1.0, 2.0, 3.0]
    line = StraightLine(start, [1.0, 3.0, 1.0], duration=2.0, begin=0.5)
    times = np.linspace(-1.0, 4.0, 2001)
    poses, twists = line(times)
    assert_allclose(poses[times <= 0.5][:, :3, 3] - [1.0, 2.0, 3.0], 0.0, atol=1e-12)
    assert_allclose(poses[times >= 2.5][:, :3, 3] - [1.0, 3.0, 1.0], 0.0, atol=1e-12)
    assert_allclose(np.gradient(poses[:, :3, 3], times, axis=0), twists[:, :3], atol=1e-4)
    assert_allclose(np.cross(poses[:, :3, 3] - [1.0, 2.0, 3.0], [0.0, 1.0, -2.0]), 0.0, atol=1e-12)
    assert (poses[:, :3, :3] == np.eye(3)).all()
    assert (twists[:, 3:] == 0.0).all()


def test_wrong_ends_are_refused():
    with pytest.raises(ShapeError):
        StraightLine(np.eye(3), [0.0, 0.0, 0.0], 1.0)
    with pytest.raises(ShapeError):
        StraightLine(np.eye(4), [0.0, 0.0], 1.0)
