"""The return to the plan: C² at both ends, no overshoot, for any state at which it starts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.errors import ShapeError
from surefoot.ik.avoidance.reactive import Return, return_duration

moderate = st.one_of(st.just(0.0), st.floats(1e-4, 1.0), st.floats(-1.0, -1e-4))
rates = st.one_of(st.just(0.0), st.floats(1e-3, 20.0), st.floats(-20.0, -1e-3))
jerky = st.one_of(st.just(0.0), st.floats(1e-2, 500.0), st.floats(-500.0, -1e-2))


def history(x, v, a, longest, count=2001):
    path = Return([x], [v], [a], longest)
    t = np.linspace(0.0, path.durations[0], count)
    return path, t, np.array([np.concatenate(path.sample(s)) for s in t])


@given(moderate, rates, jerky, st.floats(0.05, 1.0))
def test_never_crosses_the_plan_and_turns_at_most_once(x, v, a, longest):
    path, _, states = history(x, v, a, longest, 501)
    assert 0.0 < path.durations[0] <= longest
    size = np.abs(states[:, 0]).max()
    leading = next((np.sign(y) for y in (x, v, a) if y), 0.0)
    assert (leading * states[:, 0] >= -1e-9 * size).all()
    speed = leading * states[:, 1] / max(np.abs(states[:, 1]).max(), 1e-12)
    outward, inward = speed > 1e-9, speed < -1e-9
    assert not (outward & np.logical_or.accumulate(inward)).any()  # once it comes back it does not go out again
    if leading * v < 0.0 or (v == 0.0 and leading * a <= 0.0):
        assert not outward.any()  # on its way back from the start: falls all the way


@given(moderate, rates, jerky, st.floats(0.05, 1.0))
def test_starts_as_it_was_and_ends_at_rest(x, v, a, longest):
    path, t, states = history(x, v, a, longest, 3)
    np.testing.assert_allclose(states[0], [x, v, a], rtol=1e-9)
    end = path.durations[0] * (1.0 - 1e-7)
    scale = np.array([1.0, 1.0 / t[-1], 1.0 / t[-1] ** 2]) * (abs(x) + abs(v) * t[-1] + abs(a) * t[-1] ** 2)
    assert (np.abs(np.concatenate(path.sample(end))) <= 1e-5 * scale + 1e-15).all()
    assert (np.concatenate(path.sample(2.0 * longest)) == 0.0).all()


def test_rates_belong_to_positions():
    _, t, states = history(0.05, 0.3, -2.0, 0.3)
    np.testing.assert_allclose(np.gradient(states[:, 0], t)[2:-2], states[2:-2, 1], atol=1e-5)
    np.testing.assert_allclose(np.gradient(states[:, 1], t)[2:-2], states[2:-2, 2], atol=1e-3)


def test_the_whole_time_is_used_where_it_can_be():
    assert return_duration(0.05, 0.0, 0.0, 0.3) == 0.3
    assert return_duration(0.0, 0.0, 0.0, 0.3) == 0.3
    assert return_duration(0.05, 0.1, 0.0, 0.3) == 0.3


def test_a_fast_approach_shortens_the_return():
    """x₀ = 1 cm coming back with 1 m/s: the plain quintic over 0.3 s would shoot through the plan; 10 x = 4 v T."""
    T = return_duration(0.01, -1.0, 0.0, 0.3)
    assert pytest.approx(0.025) == T
    s = np.linspace(0.0, 1.0, 200)
    plain = (1 - s) ** 3 * (0.01 + (-0.3 + 0.03) * s + (-0.9 + 0.06) * s**2)
    assert plain.min() < -0.005  # what is avoided
    _, _, states = history(0.01, -1.0, 0.0, 0.3)
    assert states[:, 0].min() >= 0.0


def test_no_time_is_refused():
    with pytest.raises(ShapeError):
        Return([0.1], [0.0], [0.0], 0.0)
