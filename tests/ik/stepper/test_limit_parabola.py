import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.ik.stepper.limit_parabola import stopping_acceleration_bounds, stopping_velocity_bounds


@given(st.floats(0.01, 3.0), st.floats(0.01, 1.0))
def test_braking_at_the_bound_stops_at_the_limit(speed, way):
    """The bound does not change along its own parabola: v² = 2 a (q_U − q), so it ends at rest at the limit."""
    (_, bound) = stopping_acceleration_bounds([1.0 - way], [speed], [-np.inf], [1.0], way + 1e-9)
    time = speed / -bound[0]
    assert 1.0 - way + speed * time + 0.5 * bound[0] * time**2 == pytest.approx(1.0, abs=1e-9)
    for share in (0.2, 0.7):
        t = share * time
        q, v = 1.0 - way + speed * t + 0.5 * bound[0] * t**2, speed + bound[0] * t
        assert_allclose(stopping_acceleration_bounds([q], [v], [-np.inf], [1.0], way + 1e-9)[1], bound, rtol=1e-9)


def test_both_sides_and_elsewhere():
    q, v = [0.95, 0.95, -0.95, -0.95, 0.0], [0.4, -0.4, -0.4, 0.4, 1.0]
    least, most = stopping_acceleration_bounds(q, v, [-1.0] * 5, [1.0] * 5, 0.1)
    assert_allclose(most, [-0.16 / 0.1, np.inf, np.inf, np.inf, np.inf])
    assert_allclose(least, [-np.inf, -np.inf, 0.16 / 0.1, -np.inf, -np.inf])
    at = stopping_acceleration_bounds([1.0], [0.1], [-1.0], [1.0], 0.1)
    assert at[1][0] == -np.inf


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_joints_at_full_speed_never_pass_their_limits_nor_brake_too_hard(seed):
    """Always as fast as allowed, towards a limit that is drawn anew now and then."""
    rng = np.random.default_rng(seed)
    lower, upper = -rng.uniform(0.1, 2.0, 4), rng.uniform(0.1, 2.0, 4)
    a, dt, fastest = rng.uniform(1.0, 30.0, 4), float(rng.uniform(0.001, 0.05)), rng.uniform(0.5, 5.0, 4)
    q, side = rng.uniform(lower, upper), rng.random(4) < 0.5
    v = np.zeros(4)
    for _ in range(100):
        least, most = stopping_velocity_bounds(q, lower, upper, a, dt, fastest)
        assert (v - a * dt <= most + 1e-9).all()  # from the last velocity, braking with a is enough
        assert (v + a * dt >= least - 1e-9).all()
        assert (most <= fastest).all()
        assert (least >= -fastest).all()
        v = np.where(side, most, least)
        q = q + dt * v
        assert (q <= upper + 1e-12).all()
        assert (q >= lower - 1e-12).all()
        if rng.random() < 0.02:
            side, v = ~side, np.zeros(4)
    least, most = stopping_velocity_bounds(q, lower, upper, a, 0.0)
    assert_allclose(most, np.sqrt(2.0 * a * np.maximum(upper - q, 0.0)), atol=1e-12)


def test_joints_without_limits_and_beyond_them():
    least, most = stopping_velocity_bounds([0.0, 1.2, 1.0], [-np.inf, -1.0, -1.0], [np.inf, 1.0, 1.0], 5.0, 0.01, 2.0)
    assert_allclose(most, [2.0, 0.0, 0.0])
    assert_allclose(least, [-2.0, -2.0, -2.0])
    assert stopping_velocity_bounds([0.0], [-np.inf], [np.inf], 5.0, 0.01)[1][0] == np.inf


def test_wrong_input_is_refused():
    with pytest.raises(ShapeError, match="brake"):
        stopping_velocity_bounds([0.0], [-1.0], [1.0], 0.0, 0.01)
    with pytest.raises(ShapeError, match="wider"):
        stopping_acceleration_bounds([0.0], [0.0], [-1.0], [1.0], 0.0)
    with pytest.raises(ShapeError, match="order"):
        stopping_velocity_bounds([0.0], [1.0], [-1.0], 1.0, 0.01)
