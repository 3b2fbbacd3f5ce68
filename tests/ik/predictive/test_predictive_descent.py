import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.predictive.descent import DescentSettings, descend
from surefoot.ik.predictive.horizon import Trials


class Quadratic:
    """Cost 1 + ½ Σ w k (x − c)², whose gradient is k (x − c); `sign` −1 gives a gradient that leads astray."""

    def __init__(self, stiffness, centre, weights, sign=1.0):
        self.stiffness, self.centre, self.row_weights, self.sign = stiffness, centre, weights, sign

    def inner(self, a, b):
        return float(self.row_weights @ (a * b).sum(axis=1))

    def try_sizes(self, x, direction, sizes):
        costs = [self._cost(x + size * direction) for size in sizes]
        return Trials(np.array(costs), np.stack([x + size * direction for size in sizes]))

    def _cost(self, x):
        return 1.0 + 0.5 * self.inner(x - self.centre, self.stiffness * (x - self.centre))

    def gradient(self, x, postures):
        return self.sign * self.stiffness * (x - self.centre)

    def settled(self, x):
        return x


def quadratic(rng, sign=1.0):
    stiffness = np.array([1.0, 3.0, 10.0, 30.0, 100.0, 300.0])[:, None] * np.ones((6, 2))
    return Quadratic(stiffness, rng.normal(size=(6, 2)), rng.uniform(0.5, 2.0, 6), sign)


def test_conjugate_gradients_are_faster_than_steepest_descent(rng):
    problem, x = quadratic(rng), np.zeros((6, 2))
    ends = {
        method: descend(problem, x, DescentSettings(25, 0.0, method, refine=True), 0.1).costs
        for method in ("conjugate", "steepest")
    }
    assert ends["conjugate"][-1] - 1.0 < 0.02 * (ends["steepest"][-1] - 1.0)


def test_optimum_of_a_quadratic(rng):
    problem = quadratic(rng)
    found = descend(problem, np.zeros((6, 2)), DescentSettings(200, 0.0, refine=True), 1.0)
    assert_allclose(found.x, problem.centre, atol=1e-4)
    assert_array_equal(found.postures, found.x)


@pytest.mark.parametrize("method", ["conjugate", "steepest"])
def test_cost_falls_at_every_step(rng, method):
    costs = descend(quadratic(rng), np.zeros((6, 2)), DescentSettings(20, 0.0, method), 5.0).costs
    assert (np.diff(costs) < 0.0).all()


def test_unknowns_stay_where_no_step_is_better(rng):
    """Erratum of Buschmann 2014, Alg. 11: it prints to return the input whose cost rose."""
    x = rng.normal(size=(6, 2))
    found = descend(quadratic(rng, sign=-1.0), x, DescentSettings(10), 1.0)
    assert_array_equal(found.x, x)
    assert len(found.costs) == 1


def test_it_stops_when_the_cost_hardly_changes(rng):
    """Erratum of Buschmann 2014, Alg. 11: the printed rule has no amount, and would stop after any step that helps."""
    problem, x = quadratic(rng), np.zeros((6, 2))
    costs = descend(problem, x, DescentSettings(500, 1e-2), 0.1).costs
    falls = -np.diff(costs) / costs[:-1]
    assert 2 < len(costs) < 200
    assert falls[-1] <= 1e-2
    assert (falls[:-1] > 1e-2).all()


def test_wrong_settings_are_refused():
    with pytest.raises(NotSupportedError, match="newton"):
        DescentSettings(method="newton")
    for wrong in ({"iterations": 0}, {"tolerance": -1.0}, {"tolerance": np.nan}):
        with pytest.raises(ShapeError):
            DescentSettings(**wrong)
