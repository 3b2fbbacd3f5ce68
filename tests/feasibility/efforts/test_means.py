import numpy as np
import pytest

from surefoot.feasibility.efforts.means import integral, mean_rates, moving_windows, second_rates, spread


def test_second_rates_of_a_parabola_are_exact_at_any_times():
    time = np.sort(np.random.default_rng(3).uniform(0.0, 1.0, 200))
    way = np.stack([1.5 * time**2 - time + 0.2, -4.0 * time], axis=1)
    for length in (0.0, 0.02, 0.3):
        assert second_rates(way, time, length) == pytest.approx(np.tile([3.0, 0.0], (200, 1)), abs=1e-6)


def test_noise_of_a_way_counts_the_same_however_dense_the_samples_are():
    rng = np.random.default_rng(0)
    for count in (200, 2000):
        time = np.linspace(0.0, 2.0, count + 1)
        found = second_rates(rng.normal(0.0, 1e-4, (count + 1, 1)), time, 0.02)
        assert found.std() == pytest.approx(1e-4 * np.sqrt(6.0) / 0.02**2, rel=0.3)


def test_mean_rates_of_a_line_are_its_slope():
    time = np.sort(np.random.default_rng(4).uniform(0.0, 1.0, 60))
    for length in (0.0, 0.02, 5.0):
        assert mean_rates(-3.0 * time[:, None], time, length) == pytest.approx(-3.0)


def test_the_integral_of_a_line():
    time = np.sort(np.random.default_rng(1).uniform(0.0, 1.0, 50))
    assert integral(2.0 * time[:, None], time)[:, 0] == pytest.approx(time**2 - time[0] ** 2)


def test_short_motions_have_second_rates():
    assert second_rates(np.ones((2, 1)), np.array([0.0, 1.0]), 0.02) == pytest.approx(0.0)
    assert second_rates(np.array([[0.0], [1.0], [4.0]]), np.array([0.0, 1.0, 2.0]), 5.0) == pytest.approx(2.0)


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
    assert np.flatnonzero(spread(mask, time, 0.02)[:, 0]).tolist() == [23, 24, 25, 26, 27]


def test_a_mask_spreads_as_far_as_second_rates_look():
    time = np.array([0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.13, 0.19])  # the last steps are longer
    for at in range(len(time)):
        mask, way = np.zeros((10, 1), dtype=bool), np.zeros((10, 1))
        mask[at], way[at] = True, 1.0
        reached = second_rates(way, time, 0.02)[:, 0] != 0.0
        assert (spread(mask, time, 0.02)[:, 0] >= reached).all()
