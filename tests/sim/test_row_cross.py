import numpy as np
from numpy.testing import assert_allclose

from surefoot.sim.measured import row_cross


def test_it_is_numpys():
    a, b = np.random.default_rng(0).standard_normal((2, 5, 3))
    assert_allclose(row_cross(a, b), np.cross(a, b), rtol=1e-15)
    assert row_cross(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)
