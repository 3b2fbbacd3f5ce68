import numpy as np
import pytest

from surefoot.feasibility.efforts_means import moving_mean, moving_windows, spread


def test_the_mean_of_a_line_is_the_line():
    time = np.arange(101) * 0.01
    values = np.stack([3.0 * time, np.ones(101)], axis=1)
    assert moving_mean(values, time, 0.1)[10:-10] == pytest.approx(values[10:-10])
    assert moving_mean(values, time, 0.0) == pytest.approx(values)


def test_means_are_over_time_not_over_samples():
    time = np.sort(np.random.default_rng(3).uniform(0.0, 1.0, 200))
    values = time[:, None] ** 2
    for k in (50, 100, 150):
        inside = np.abs(time - time[k]) <= 0.05
        assert moving_mean(values, time, 0.1)[k] == pytest.approx(values[inside].mean())


def test_windows_are_as_long_as_asked_and_at_least_one_step():
    fine, coarse = moving_windows(np.arange(101) * 0.001, 0.02), moving_windows(np.arange(11) * 0.05, 0.02)
    assert fine.length == pytest.approx(0.02)
    assert len(fine.time) == 81
    assert coarse.length == pytest.approx(0.05)
    assert len(coarse.time) == 10
    short = moving_windows(np.array([0.0, 0.001, 0.002]), 0.02)
    assert (short.first.tolist(), short.last.tolist()) == ([0], [2])


def test_a_mask_spreads_to_both_sides():
    time, mask = np.arange(50) * 0.01, np.zeros((50, 1), dtype=bool)
    mask[25] = True
    assert np.flatnonzero(spread(mask, time, 0.04)[:, 0]).tolist() == [23, 24, 25, 26, 27]
