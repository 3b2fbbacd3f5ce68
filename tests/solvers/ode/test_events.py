import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.solvers import ode

from .examples import circle

G = 9.81
METHODS = pytest.mark.parametrize("method", ode.METHODS.values(), ids=ode.METHODS)
PARABOLIC = pytest.mark.parametrize("method", [m for m in ode.METHODS.values() if m.order >= 2], ids=lambda m: m.name)
FOURTH = pytest.mark.parametrize("method", [m for m in ode.METHODS.values() if m.order >= 4], ids=lambda m: m.name)


def fall(t, x):
    return np.array([x[1], -G])


TOUCH = ode.Event(lambda t, x: x[0], direction=-1, terminal=True, name="touch-down")
APEX = ode.Event(lambda t, x: x[1], direction=-1, name="apex")


def bounce(count, restitution, **options):
    """Times of `count` touch-downs of a ball let go at 1 m, and its speeds after them."""
    t, x, times, speeds = 0.0, np.array([1.0, 0.0]), [], []
    for _ in range(count):
        result = ode.integrate(fall, x, t, t + 10.0, events=[TOUCH], **options)
        assert result.ended_by.event is TOUCH
        t, x = result.t[-1], result.x[-1] * np.array([1.0, -restitution])
        times.append(t)
        speeds.append(x[1])
    return np.array(times), np.array(speeds)


@pytest.mark.parametrize("options", [{"step": 0.04}, {"tol": 1e-5}], ids=["fixed", "adaptive"])
@PARABOLIC
def test_bouncing_ball_against_the_closed_form(method, options):
    e, n = 0.7, 6
    first = math.sqrt(2 / G)
    exact = first * (1 + 2 * np.cumsum([0, *(e**k for k in range(1, n))]))
    times, speeds = bounce(n, e, method=method, time_tolerance=1e-12, **options)
    assert_allclose(times, exact, atol=1e-10)
    assert_allclose(speeds, e ** np.arange(1, n + 1) * G * first, atol=1e-9)


@FOURTH
def test_events_have_the_order_of_the_method_not_of_the_polynomial(method):
    crossing = ode.Event(lambda t, x: x[0] - 0.3)

    def error(step):
        result = ode.integrate(circle, [1.0, 0.0], 0.0, 2.0, method=method, step=step, events=[crossing])
        return abs(result.events[0].t - math.acos(0.3))

    assert np.log2(error(0.4) / error(0.1)) / 2 > method.order - 0.5


@METHODS
def test_a_time_event_is_exact(method):
    alarm = ode.Event(lambda t, x: t - 0.777, terminal=True)
    result = ode.integrate(circle, [1.0, 0.0], 0.0, 2.0, method=method, step=0.1, events=[alarm], time_tolerance=1e-13)
    assert abs(result.t[-1] - 0.777) < 2e-13
    assert result.ended_by.t == result.t[-1]
    assert_allclose(result.sample(result.t[-1])[0], result.x[-1], atol=1e-15)


def test_directions():
    def found(direction):
        event = ode.Event(lambda t, x: x[0], direction)
        return ode.integrate(circle, [1.0, 0.0], 0.0, 9.0, tol=1e-10, events=[event]).events

    falling, rising = [math.pi / 2, 5 * math.pi / 2], [3 * math.pi / 2]
    assert_allclose([o.t for o in found(-1)], falling, atol=1e-8)
    assert_allclose([o.t for o in found(1)], rising, atol=1e-8)
    assert_allclose([o.t for o in found(0)], sorted(falling + rising), atol=1e-8)
    assert [o.rising for o in found(0)] == [False, True, False]


def test_several_events_in_one_step_come_in_order_and_stop_at_the_terminal_one():
    marks = [0.8, 0.2, 0.5, 0.3]
    events = [ode.Event(lambda t, x, m=m: t - m, terminal=m == 0.5, name=str(m)) for m in marks]
    result = ode.integrate(circle, [1.0, 0.0], 0.0, 1.0, step=1.0, events=events)
    assert [o.event.name for o in result.events] == ["0.2", "0.3", "0.5"]
    assert_allclose([o.t for o in result.events], [0.2, 0.3, 0.5], atol=1e-10)
    assert_allclose(result.t, [0.0, 0.5], atol=1e-10)


def test_there_and_back_within_one_step():
    ceiling = ode.Event(lambda t, x: x[0] - 1.0, name="ceiling")
    result = ode.integrate(fall, [0.0, 5.0], 0.0, 1.0, step=1.0, events=[ceiling])
    root = math.sqrt(25 - 2 * G)
    assert_allclose([o.t for o in result.events], [(5 - root) / G, (5 + root) / G], atol=1e-10)


def test_what_does_not_end_does_not_disturb():
    plain = ode.integrate(fall, [1.0, 3.0], 0.0, 1.0, tol=1e-6)
    watched = ode.integrate(fall, [1.0, 3.0], 0.0, 1.0, tol=1e-6, events=[APEX])
    assert np.array_equal(plain.x, watched.x)
    assert_allclose(watched.events[0].t, 3 / G, atol=1e-10)
    assert watched.ended_by is None


@pytest.mark.parametrize("height", [0.0, 1e-17, -1e-17, -1e-13])
@pytest.mark.parametrize("direction", [0, -1])
def test_an_event_at_the_start_is_not_found_again(height, direction):
    ground = ode.Event(lambda t, x: x[0], direction, terminal=True)
    result = ode.integrate(fall, [height, 2.0], 0.0, 1.0, tol=1e-8, events=[ground])
    assert_allclose(result.t[-1], 4 / G, atol=1e-9)
    assert len(result.events) == 1


def test_zero_for_ever_never_happens():
    rest = ode.Event(lambda t, x: 0.0 * x[0])
    assert ode.integrate(circle, [1.0, 0.0], 0.0, 1.0, step=0.1, events=[rest]).events == ()


@pytest.mark.parametrize("after", [-1.0, 0.0])
def test_reaching_zero_counts_once(after):
    reach = ode.Event(lambda t, x: 0.5 - t if t <= 0.5 else after * (t - 0.5))
    events = ode.integrate(circle, [1.0, 0.0], 0.0, 1.0, step=0.25, events=[reach]).events
    assert_allclose([o.t for o in events], [0.5], atol=1e-10)


def test_jumps_are_located_too():
    switch = ode.Event(lambda t, x: 1.0 if x[1] < 0.6 else -1.0)
    event = ode.integrate(circle, [1.0, 0.0], 0.0, 1.5, tol=1e-10, events=[switch]).events[0]
    assert_allclose(event.t, math.asin(0.6), atol=1e-8)


def test_errors_name_the_event():
    with pytest.raises(ShapeError, match="`up`"):
        ode.Event(lambda t, x: t, direction=2, name="up")
    bad = ode.Event(lambda t, x: math.nan if t > 0.5 else 1.0, name="height")
    with pytest.raises(ode.FieldNotFiniteError, match="`height`") as caught:
        ode.integrate(circle, [1.0, 0.0], 0.0, 1.0, step=0.1, events=[bad])
    assert_allclose(caught.value.so_far.t[-1], 0.5, atol=0.01)


def test_a_graze_that_only_the_polynomial_sees_stays_within_its_error():
    """Peak of a circle cut by a hair: found or not, never wrong by more than the width of the cut."""
    for depth in np.geomspace(1e-12, 1e-3, 40):
        cut = ode.Event(lambda t, x, d=depth: x[1] - 1 + d)
        found = ode.integrate(circle, [1.0, 0.0], 0.0, 3.0, method=ode.RK4, step=0.3, events=[cut]).events
        assert len(found) in (0, 2)
        for occurrence in found:
            assert abs(cut.function(occurrence.t, occurrence.x)) < 1e-9
            assert abs(occurrence.t - math.pi / 2) < 0.1
