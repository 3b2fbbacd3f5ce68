import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.solvers import ode

from .examples import DRIVEN_START, circle, driven_pendulum

METHODS = pytest.mark.parametrize("method", ode.METHODS.values(), ids=ode.METHODS)


def exact(times):
    return np.stack([np.cos(times), np.sin(times)], axis=1)


@pytest.mark.parametrize(
    ("method", "order"),
    [(ode.EULER, 1), (ode.MIDPOINT, 2), (ode.RK4, 4), (ode.CASH_KARP, 4), (ode.DORMAND_PRINCE, 5)],
    ids=lambda value: getattr(value, "name", None),
)
def test_error_between_the_steps(method, order):
    """O(h^p) of the method, but not better than O(h⁴) of the cubic and O(h⁵) of the quartic."""
    times = np.linspace(0, 2, 101)

    def error(step):
        result = ode.integrate(circle, [1.0, 0.0], 0.0, 2.0, method=method, step=step)
        return np.abs(result.sample(times) - exact(times)).max()

    assert abs(np.log2(error(0.2) / error(0.1)) - order) < 0.4


@METHODS
@pytest.mark.parametrize("control", [{"step": 0.2}, {"tol": 1e-4}], ids=["fixed", "adaptive"])
def test_passes_through_the_steps_with_the_slope_of_the_field(method, control):
    result = ode.integrate(driven_pendulum, DRIVEN_START, 0.0, 2.0, method=method, **control)
    assert_allclose(result.sample(result.t), result.x, atol=1e-14)
    d = 1e-6
    inner = result.t[1:-1]
    slopes = np.array([driven_pendulum(t, x) for t, x in zip(inner, result.x[1:-1], strict=True)])
    for side in (-d, d):
        assert_allclose((result.sample(inner + side) - result.x[1:-1]) / side, slopes, atol=5e-5)


def test_samples_outside_are_refused():
    result = ode.integrate(circle, [1.0, 0.0], 0.0, 1.0, step=0.1)
    assert result.sample(0.5).shape == (1, 2)
    for time in (-0.1, 1.1, np.nan):
        with pytest.raises(ShapeError, match="outside"):
            result.sample([0.5, time])
