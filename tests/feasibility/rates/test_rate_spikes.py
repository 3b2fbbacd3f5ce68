"""Spikes of v and a: single samples are found; noise, impacts, coarse logs and jumps of q are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.feasibility import audit
from surefoot.feasibility.case import Case
from surefoot.feasibility.rates.consistency import check_rate_spikes, stray_rates
from surefoot.feasibility.series import Series
from surefoot.motion import Trajectory, World
from tests.feasibility.good_motions import loaded, squat
from tests.feasibility.stages import judge
from tests.feasibility.standing_motions import landing_log

RATES = [50.0, 200.0, 1000.0]


def _checked(name: str, motion: Trajectory) -> list[Series]:
    return judge(check_rate_spikes, Case(loaded(name), World(), motion))


def _passes(name: str, motion: Trajectory) -> bool:
    return not any(series.failed.any() for series in _checked(name, motion))


@pytest.mark.parametrize("rate", [50.0, 100.0, 125.0, 200.0, 1000.0])
@pytest.mark.parametrize("poles", [(10.0, 100.0), (10.0, 200.0), (15.0, 300.0)])
def test_a_servo_that_starts_at_once_is_no_spike(rate: float, poles: tuple[float, float]) -> None:
    """The exact answer of one joint to a step: its acceleration jumps, and fades within a step of the recording."""
    robot, (slow, fast) = loaded("panda"), poles
    time = np.arange(0.0, 2.0, 1.0 / rate)
    on, late = time >= 0.5, np.clip(time - 0.5, 0.0, None)
    one, other, gain = np.exp(-slow * late), np.exp(-fast * late), 0.1 / (fast - slow)
    q, v, a = np.tile(robot.home, (len(time), 1)), *np.zeros((2, len(time), robot.nv))
    q[:, 5] += (0.1 - gain * (fast * one - slow * other)) * on
    v[:, 5] = gain * slow * fast * (one - other) * on
    a[:, 5] = gain * slow * fast * (fast * other - slow * one) * on
    assert _passes("panda", Trajectory.of(robot, time, q, v, a=a))


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    ("count", "height"),
    [(1, 3.0), (1, -10.0), *(pytest.param(n, 3.0, marks=pytest.mark.slow) for n in (2, 3)), (3, 0.5)],
)
def test_a_spike_of_a_velocity_is_found_first_with_its_joint_and_time(rate: float, count: int, height: float) -> None:
    motion, j, k = squat("g1", rate), 10, round(1.6 * rate)
    v = np.array(motion.v)
    v[k : k + count, j] += height
    found = audit(replace(motion, v=v, a=None), loaded("g1"), replay=False, collisions=False).first
    assert found is not None
    assert found.item == "velocity_consistency"
    assert found.where == Case(loaded("g1"), World(), motion).velocity_names[j]
    assert found.start == pytest.approx(motion.time[k], abs=1e-6)
    assert found.end == pytest.approx(motion.time[k + count - 1], abs=1e-6)
    assert found.value == pytest.approx(abs(height), rel=0.1)


@pytest.mark.parametrize("rate", RATES)
def test_a_spike_of_an_acceleration_is_found(rate: float) -> None:
    motion, j, k = squat("g1", rate), 10, round(1.6 * rate)
    a = np.array(motion.a)
    a[k, j] += 50.0
    velocity, acceleration = _checked("g1", replace(motion, a=a))
    assert not velocity.failed.any()
    assert [tuple(place) for place in np.argwhere(acceleration.failed)] == [(k, j)]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("digits", [3, 4, 12])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_noise_and_the_last_digit_are_no_spikes(
    rate: float, digits: int, noise: float, rng: np.random.Generator
) -> None:
    motion = squat("g1", rate)
    q = np.array(motion.q)
    q[:, 7:] = np.round(q[:, 7:], digits)
    v = np.array(motion.v) + noise * rng.standard_normal(np.shape(motion.v))
    assert _passes("g1", replace(motion, q=q, v=v))


@pytest.mark.parametrize("engine", ["mujoco", "native"])
@pytest.mark.parametrize("step", [1, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 20))])
def test_a_landing_has_no_spikes_however_coarse_its_log(engine: str, step: int) -> None:
    log = landing_log("anymal", lift=0.1, engine=engine, duration=0.6)
    rows = slice(None, None, step)
    assert _passes("anymal", replace(log, time=log.time[rows], q=log.q[rows], v=log.v[rows], tau=None, wrenches={}))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_jump_of_q_is_no_spike_of_v(count: int) -> None:
    motion = squat("g1", 1000.0)
    q = np.array(motion.q)
    q[:, 0] += 0.03 * np.clip((np.arange(len(motion)) - 1600) / count, 0.0, 1.0)
    assert _passes("g1", replace(motion, q=q, a=None))


def test_a_short_push_that_q_shows_is_no_spike() -> None:
    """Up and down again within two samples, so that v at the peak is twice its means before and after."""
    time = 0.1 * np.arange(21)
    rates = np.zeros((21, 1))
    rates[10] = 0.6
    steps = 0.1 * 0.5 * (rates[1:] + rates[:-1])
    assert stray_rates(time, steps, rates)[0].max() == pytest.approx(0.0)
    assert stray_rates(time, 0.0 * steps, rates)[0].max() == pytest.approx(0.6)


def test_too_few_samples_tell_nothing() -> None:
    motion = squat("g1", 50.0)
    some = replace(motion, time=motion.time[:9], q=motion.q[:9], v=np.asarray(motion.v)[:9], a=None)
    assert _checked("g1", some) == []
