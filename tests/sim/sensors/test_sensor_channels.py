from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.sim.sensors.channels import Channel, ChannelBank, Stream

DT = 0.01


def readings(
    channel: Channel, count: int = 20_000, size: int = 1, seed: int = 1, true=None, one_by_one=True
) -> np.ndarray:
    bank = ChannelBank([Stream("it", channel, size, one_by_one)], seed, DT)
    signal = np.zeros((count, size)) if true is None else true
    return np.array([bank.pass_on(row) for row in signal])


def test_a_perfect_channel_tells_the_truth(rng):
    signal = rng.standard_normal((600, 3))
    assert np.array_equal(readings(Channel(), 600, 3, true=signal), signal)


def test_noise_has_its_standard_deviation_and_is_white():
    found = readings(Channel(noise=0.3))[:, 0]
    assert abs(found.mean()) < 4 * 0.3 / np.sqrt(len(found))
    assert found.std() == pytest.approx(0.3, rel=0.03)
    assert abs(np.corrcoef(found[1:], found[:-1])[0, 1]) < 0.03


def test_a_density_is_noise_that_grows_with_the_rate():
    assert readings(Channel(noise=0.03, noise_density=0.004))[:, 0].std() == pytest.approx(0.05, rel=0.03)


def test_each_entry_may_have_its_own_noise():
    found = readings(Channel(noise=(0.1, 0.0, 2.0)), size=3)
    assert found.std(axis=0) == pytest.approx([0.1, 0.0, 2.0], rel=0.03)


def test_bias_is_constant_in_a_run_and_spread_over_runs():
    runs = np.array([readings(Channel(bias=0.5), 5, seed=seed)[:, 0] for seed in range(800)])
    assert np.array_equal(runs, np.tile(runs[:, :1], (1, 5)))
    assert runs[:, 0].std() == pytest.approx(0.5, rel=0.08)
    assert abs(runs[:, 0].mean()) < 4 * 0.5 / np.sqrt(800)


def test_the_bias_walks_with_the_root_of_time():
    walks = readings(Channel(bias_walk=0.2), 1000, size=2000)  # 2000 entries walk side by side
    for count in (1, 300, 1000):
        assert walks[count - 1].std() == pytest.approx(0.2 * np.sqrt(count * DT), rel=0.08)


def test_quantised_readings_are_multiples_next_to_the_truth(rng):
    signal = rng.standard_normal((500, 2))
    found = readings(Channel(quantisation=0.07), 500, 2, true=signal)
    assert np.abs(found / 0.07 - np.rint(found / 0.07)).max() < 1e-9
    assert np.abs(found - signal).max() <= 0.035 + 1e-12


@pytest.mark.parametrize("k", [0, 1, 7])
def test_the_delay_is_exactly_k_readings(rng, k):
    signal = rng.standard_normal((700, 2))
    found = readings(Channel(delay=k * DT), 700, 2, true=signal)
    assert np.array_equal(found[k:], signal[: len(signal) - k])
    assert np.array_equal(found[:k], np.tile(signal[0], (k, 1)))


@pytest.mark.parametrize("burst", [0.0, 0.08])
def test_dropout_has_its_rate_and_burst_length(burst):
    lost = np.isnan(readings(Channel(dropout=0.2, burst=burst), 60_000)[:, 0])
    mean_length = lost.sum() / max(1, (np.diff(lost.astype(int)) == 1).sum())
    assert lost.mean() == pytest.approx(0.2, abs=0.02)
    assert mean_length == pytest.approx(burst / DT if burst else 1.25, rel=0.08)


def test_packets_are_lost_as_a_whole_and_single_entries_alone():
    together = np.isnan(readings(Channel(dropout=0.3), 2000, 4, one_by_one=False))
    alone = np.isnan(readings(Channel(dropout=0.3), 2000, 4, one_by_one=True))
    assert set(together.sum(axis=1)) == {0, 4}
    assert {1, 2, 3} <= set(alone.sum(axis=1))
    assert abs(np.corrcoef(alone[:, 0], alone[:, 1])[0, 1]) < 0.1


def test_streams_do_not_disturb_each_other():
    noisy = Channel(noise=1.0, bias=1.0, bias_walk=0.3, dropout=0.1)
    both = ChannelBank([Stream("a", noisy, 2), Stream("b", noisy, 3)], 5, DT)
    off = ChannelBank([Stream("a", Channel(), 2), Stream("b", noisy, 3)], 5, DT)
    alone = ChannelBank([Stream("b", noisy, 3)], 5, DT)
    other_seed = ChannelBank([Stream("b", noisy, 3)], 6, DT)
    rows = [bank.pass_on(np.zeros(bank.size)) for bank in (both, off, alone, other_seed) for _ in range(300)]
    b = [np.array(rows[k * 300 : (k + 1) * 300])[:, -3:] for k in range(4)]
    assert np.array_equal(b[0], b[1], equal_nan=True)
    assert np.array_equal(b[0], b[2], equal_nan=True)
    assert not np.array_equal(b[0], b[3], equal_nan=True)


def test_one_effect_does_not_change_the_random_numbers_of_another():
    plain = readings(Channel(noise=0.1), 600)
    dropping = readings(Channel(noise=0.1, dropout=0.3, bias_walk=0.0), 600)
    heard = ~np.isnan(dropping)
    assert 0 < heard.sum() < heard.size
    assert np.array_equal(dropping[heard], plain[heard])


def test_scaling_changes_the_unit():
    ten = readings(Channel(noise=0.1, bias=0.3, bias_walk=0.2, quantisation=0.01).scaled(10.0), 400)
    one = readings(Channel(noise=0.1, bias=0.3, bias_walk=0.2, quantisation=0.01), 400)
    assert ten == pytest.approx(10.0 * one, abs=1e-12)


@pytest.mark.parametrize("wrong", [{"noise": -1.0}, {"delay": np.nan}, {"dropout": 1.0}, {"quantisation": (0.1, -0.1)}])
def test_impossible_numbers_are_refused(wrong):
    with pytest.raises(ShapeError):
        Channel(**wrong)


def test_a_wrong_number_of_numbers_is_refused_by_name():
    with pytest.raises(ShapeError, match="`noise` of sensor `imu`"):
        ChannelBank([Stream("imu", Channel(noise=(1.0, 2.0)), 3)], 0, DT)
