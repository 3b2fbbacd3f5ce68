"""Lines with few points: every spike stays, times rise, bounds are kept."""

from __future__ import annotations

import base64

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from surefoot.report.evidence import Evidence, Plot
from surefoot.report.page.report_page import MOST_POINTS, plots_data, thinned, thinned_times
from surefoot.robot import zoo


@given(st.integers(1, 20_000), st.integers(0, 2**31))
def test_extremes_stay_and_times_rise(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, time = rng.normal(size=count), np.sort(rng.uniform(0, 10, count)) + 1e-6 * np.arange(count)
    few, times = thinned(values), thinned_times(time)
    assert len(few) == len(times) <= MOST_POINTS
    assert (few.min(), few.max()) == (values.min(), values.max())
    assert (np.diff(times) > 0).all()
    assert (times[0], times[-1]) == (time[0], time[-1])
    assert set(few) <= set(values)


def test_a_spike_of_one_sample_is_where_it_was() -> None:
    values, time = np.zeros(10_000), np.linspace(0.0, 10.0, 10_000)
    values[7421] = 5.0
    at = int(np.argmax(thinned(values)))
    assert abs(thinned_times(time)[at] - time[7421]) <= 0.01


def test_gaps_stay_gaps() -> None:
    values = np.ones(10_000)
    values[4000:6000] = np.nan
    few = thinned(values)
    assert np.isnan(few).mean() == 0.2


def test_plots_share_times_and_leave_out_what_does_not_limit() -> None:
    robot = zoo.load("arm4")
    time = np.linspace(0.0, 1.0, 50)
    other = np.linspace(0.0, 1.0, 20)
    plots = (
        Plot("a", "m", {"x": time}, lower={"": -np.inf}, upper={"": 2.0, "x": time + 1.0}),
        Plot("b", "m", {"x": time**2}),
        Plot("c", "s", {"y": other}, time=other),
    )
    evidence = Evidence("t", robot, time, np.tile(robot.home, (50, 1)), plots=plots)
    data = plots_data(evidence, np.arange(50))
    assert [plot["grid"] for plot in data["plots"]] == [0, 0, 1]
    assert len(np.frombuffer(base64.b64decode(data["times"][1]), dtype="<f8")) == 20
    assert data["plots"][0]["lower"] == {}
    assert data["plots"][0]["upper"][""] == 2.0
    assert set(data["plots"][0]["upper"]["x"]) == {"data", "low", "step"}
