"""An impact, expected or not: rest, the impulse's balance, and who absorbs it."""

import numpy as np
import pytest

from surefoot.reduced.strategies import ANTICIPATED, SURPRISED, accommodate_impact


def test_without_a_push_nothing_moves() -> None:
    run = accommodate_impact(ANTICIPATED, force=0.0, duration=0.5)
    np.testing.assert_allclose(run.com, 0.05, atol=1e-9)
    np.testing.assert_allclose(run.pressure, 0.05, atol=1e-6)


@pytest.mark.parametrize("schedule", [ANTICIPATED, SURPRISED], ids=["anticipated", "surprised"])
def test_the_ground_takes_the_moment_of_the_impulse(schedule: tuple[tuple[float, float, float], ...]) -> None:
    """From rest to rest: ∫ M g (x_p − x_g) dt = F h Δt about the ankle, to the little that the weight changes."""
    run = accommodate_impact(schedule)
    taken = 7.0 * 9.81 * float(np.trapezoid(run.pressure - run.com, run.time))
    assert taken == pytest.approx(5.5 * 0.05 * 0.343, rel=0.03)
    assert abs(run.pitch[-1]) < 1e-3
    assert np.abs(run.com - 0.05).max() < 1e-3


def test_an_expected_impact_is_absorbed_by_the_torso() -> None:
    expected, not_expected = accommodate_impact(ANTICIPATED), accommodate_impact(SURPRISED)
    assert np.abs(expected.pitch).max() > 1.5 * np.abs(not_expected.pitch).max()
    assert expected.pressure.max() < not_expected.pressure.max()
