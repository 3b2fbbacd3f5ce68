import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.motion import Quintic


def test_gripper_of_the_book():
    """Nenchev & Konno 2019, section 8.4.7: 0.03 m in 2 s."""
    quintic = Quintic.at_rest(0.0, 0.03, 2.0)
    assert_allclose(quintic.coefficients, [0.0, 0.0, 0.0, 0.0375, -0.028125, 0.005625], atol=1e-15)
    _, v, a = quintic.sample(1.0)
    assert_allclose(v, 0.0281, atol=5e-5)
    assert_allclose(a, 0.0, atol=1e-15)
    assert quintic.sample(np.linspace(0.0, 2.0, 201))[1].max() == v


def test_ends_are_as_given(rng):
    x0, v0, a0, xf, vf, af = rng.normal(size=(6, 3, 2))
    quintic = Quintic(x0, v0, a0, xf, vf, af, 0.7)
    for got, want in zip(quintic.sample(0.0), (x0, v0, a0), strict=True):
        assert_allclose(got, want, atol=1e-12)
    for got, want in zip(quintic.sample(0.7), (xf, vf, af), strict=True):
        assert_allclose(got, want, atol=1e-10)


def test_velocity_and_acceleration_are_derivatives(rng):
    quintic = Quintic(*rng.normal(size=(6, 4)), 1.3)
    t, h = np.linspace(0.1, 1.2, 23), 1e-5
    _, v, a = quintic.sample(t)
    before, after = quintic.sample(t - h), quintic.sample(t + h)
    assert v.shape == (23, 4)
    assert_allclose((after[0] - before[0]) / (2.0 * h), v, atol=1e-7)
    assert_allclose((after[1] - before[1]) / (2.0 * h), a, atol=1e-7)


def test_rests_before_and_after():
    quintic = Quintic(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 2.0)
    x, v, a = quintic.sample([-1.0, 3.0])
    assert_allclose(x, [1.0, 4.0], atol=1e-12)
    assert_allclose([v, a], 0.0)


@pytest.mark.parametrize("duration", [0.0, -1.0, np.nan])
def test_duration_must_be_positive(duration):
    with pytest.raises(ShapeError, match="duration"):
        Quintic.at_rest(0.0, 1.0, duration)
