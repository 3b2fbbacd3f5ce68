"""Reactive avoidance: the rate goes down the potential, the deviation is C², keeps away, and comes back."""

import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.ik.avoidance.potential import smooth_potential
from surefoot.ik.avoidance.reactive import ReactiveAvoidance, avoiding_rate, deviated_pose, deviated_twist
from surefoot.spatial import so3


def test_full_variant_is_the_gradient_in_task_coordinates(rng):
    """dH of the motion that the inverse kinematics makes for a unit rate of one task coordinate."""
    J, gradient, rows = rng.standard_normal((6, 9)), rng.standard_normal(9), np.array([1, 4])
    found = avoiding_rate(J, gradient, rows, "full")
    for row, rate in zip(rows, found, strict=True):
        assert rate == pytest.approx(-gradient @ (np.linalg.pinv(J) @ np.eye(6)[row]))


@pytest.mark.parametrize("variant", ["selected", "full", "transpose"])
def test_the_potential_falls(rng, variant):
    """Each variant makes dH/dt negative: with its own inverse, and "transpose" with q' = Jᵀ w'."""
    J, gradient = rng.standard_normal((4, 7)), rng.standard_normal(7)
    rows = np.arange(4)
    back = J.T if variant == "transpose" else np.linalg.pinv(J)
    assert gradient @ (back @ avoiding_rate(J, gradient, rows, variant)) < 0.0


def test_selected_equals_full_where_all_is_selected(rng):
    J, gradient = rng.standard_normal((5, 8)), rng.standard_normal(8)
    a, b = (avoiding_rate(J, gradient, np.arange(5), variant) for variant in ("selected", "full"))
    np.testing.assert_allclose(a, b, atol=1e-12)
    with pytest.raises(UnknownNameError):
        avoiding_rate(J, gradient, np.arange(5), "half")


def test_the_filter_is_the_solution_of_its_equation():
    """One long cycle equals a thousand short ones, and x‴ = ω² (u - x') - 2 ω x″ holds."""
    push = np.array([0.3, -0.7, 1.2])
    one, many = ReactiveAvoidance(3, 0.0, 50.0), ReactiveAvoidance(3, 0.0, 50.0)
    one.step(push, 0.03)
    before = [many.step(push, 3e-5) for _ in range(1000)][-2]
    for name in ("x", "rate", "acceleration"):
        np.testing.assert_allclose(getattr(one.now, name), getattr(many.now, name), atol=1e-12)
    jerk = (many.now.acceleration - before.acceleration) / 3e-5
    wanted = 50.0**2 * (push - many.now.rate) - 100.0 * many.now.acceleration
    np.testing.assert_allclose(jerk, wanted, rtol=0.02, atol=1.0)


def test_drawn_back_when_nothing_pushes():
    reactive = ReactiveAvoidance(1, attraction=4.0)
    for _ in range(100):
        reactive.step([1.0], 0.002)
    assert reactive.now.x[0] > 0.1
    for _ in range(1500):
        reactive.step([0.0], 0.002)
    assert abs(reactive.now.x[0]) < 1e-4


def test_a_point_goes_round_a_ball_and_is_back_in_time():
    """2 ms cycle, 1 s; the plan runs 2 cm deep through a ball, the return starts at 0.8 s."""
    dt, ball, radius = 0.002, np.array([0.15, 0.0, 0.0]), 0.06
    reactive = ReactiveAvoidance(3, attraction=4.0)
    places, deviations = [], []
    for k in range(500):
        t = k * dt
        plan = np.array([0.3 * (10 * t**3 - 15 * t**4 + 6 * t**5), 0.04, 0.0])
        apart = plan + reactive.now.x - ball
        d = np.linalg.norm(apart) - radius
        places.append(d)
        if t >= 0.8 and not reactive.is_returning:
            reactive.begin_return(1.0 - t)
        slope = smooth_potential(d, 0.05, -4.0).slope
        deviations.append(reactive.step(avoiding_rate(np.eye(3), slope * apart / (d + radius), np.arange(3)), dt))
    x, rate, acceleration = (np.array([getattr(y, n) for y in deviations]) for n in ("x", "rate", "acceleration"))
    assert min(places) > 0.0  # the plan itself is 2 cm inside
    assert np.linalg.norm(x, axis=1).max() > 0.02
    assert np.abs(x[-1]).max() < 1e-6
    assert np.abs(rate[-1]).max() < 1e-3
    steps = np.abs(np.diff(acceleration, axis=0)).max()
    assert steps < 0.5 * np.abs(acceleration).max()  # no jump of the acceleration, also where the return begins
    np.testing.assert_allclose(np.gradient(rate, dt, axis=0)[2:-2], acceleration[2:-2], atol=0.5)


def test_twist_of_the_deviated_pose_by_differences(rng):
    T, twist = np.eye(4), rng.standard_normal(6)
    T[:3, :3], T[:3, 3] = so3.random(rng), rng.standard_normal(3)
    x, rate, h = 0.5 * rng.standard_normal(6), rng.standard_normal(6), 1e-6

    def pose(s):
        plan = np.array(T)
        plan[:3, :3], plan[:3, 3] = so3.exp(s * twist[3:]) @ T[:3, :3], T[:3, 3] + s * twist[:3]
        return deviated_pose(plan, x + s * rate)

    before, after = pose(-h), pose(h)
    found = deviated_twist(twist, x, rate)
    np.testing.assert_allclose((after[:3, 3] - before[:3, 3]) / (2 * h), found[:3], atol=1e-8)
    np.testing.assert_allclose(so3.log(after[:3, :3] @ before[:3, :3].T) / (2 * h), found[3:], atol=1e-8)


def test_unstable_settings_are_refused():
    with pytest.raises(ShapeError):
        ReactiveAvoidance(3, attraction=200.0, bandwidth=80.0)
