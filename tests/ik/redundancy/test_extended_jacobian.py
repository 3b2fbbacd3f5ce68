import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.redundancy.extended_jacobian import algorithmic_rank_loss, extended_jacobian_rates
from tests.ik import planar_arm


def test_task_and_functions_both_hold(rng):
    J, J_h, V, rate = rng.normal(size=(3, 5)), rng.normal(size=(2, 5)), rng.normal(size=3), rng.normal(size=2)
    rates = extended_jacobian_rates(J, J_h, V, rate)
    assert_allclose(J @ rates, V, atol=1e-10)
    assert_allclose(J_h @ rates, rate, atol=1e-10)


def test_closed_paths_are_closed_in_the_joints():
    """A circle of the tip of three links, the third at a fixed angle in the plane; rates integrated by RK4."""
    q = start = np.array([0.9, -1.2, -0.7])
    J_h = np.ones((1, 3))
    steps = 400

    def rates(q, t):
        circle = 0.3 * np.array([-np.sin(t), np.cos(t)])
        return extended_jacobian_rates(planar_arm.jacobian(q), J_h, circle, [0.0])

    h = 2.0 * np.pi / steps
    for k in range(steps):
        t = k * h
        a = rates(q, t)
        b = rates(q + 0.5 * h * a, t + 0.5 * h)
        c = rates(q + 0.5 * h * b, t + 0.5 * h)
        d = rates(q + h * c, t + h)
        q = q + h / 6.0 * (a + 2 * b + 2 * c + d)
    assert_allclose(q, start, atol=1e-8)


def test_algorithmic_singularity_is_told_and_damped(rng):
    J = rng.normal(size=(2, 3))
    J_h = (J[0] + J[1])[None]
    assert algorithmic_rank_loss(J, J_h) == 1
    assert algorithmic_rank_loss(J, rng.normal(size=(1, 3))) == 0
    assert algorithmic_rank_loss(np.vstack([J[0], J[0]]), rng.normal(size=(1, 3))) == 0
    with pytest.raises(NotSupportedError, match="do not determine") as refused:
        extended_jacobian_rates(J, J_h, [1.0, 0.0], [0.0])
    assert refused.value.evidence["algorithmic"] is True
    assert np.linalg.norm(extended_jacobian_rates(J, J_h, [1.0, 0.0], [0.0], damping=0.1)) < 10.0


def test_rows_must_make_up_all_joints(rng):
    with pytest.raises(ShapeError, match="rows"):
        extended_jacobian_rates(rng.normal(size=(2, 4)), rng.normal(size=(1, 4)), [0.0, 0.0], [0.0])
