"""Numbers of the linear inverted pendulum in Nenchev & Konno 2019, and consistency of those that the book prints.

Printed: the reactive step of section 7.7.5. Others follow from printed parameters; sources are named at each test. The
book's "ω_X = 0.169" of section 7.7.2 is T_X in seconds, and of a height of 0.279 m, not 0.242 m.
"""

from math import exp

import numpy as np
import pytest

from surefoot.reduced import (
    NominalStep,
    StepAdapter,
    StepLimits,
    capture_zmp,
    critical_horizon,
    natural_frequency,
    pendulum_state,
    regulator_poles,
    steps_to_capture,
)
from surefoot.reduced.supports import clip_along


@pytest.mark.parametrize(("horizon", "pole", "digits"), [(0.05, -17.1, 0.05), (0.4, -0.585, 1e-3), (0.8, -0.047, 5e-4)])
def test_capture_point_poles(horizon: float, pole: float, digits: float) -> None:
    """Section 7.2, ω = 6.08 1/s; digest 001c, part 4, line "7.2" (−0.58565 is cut there, not rounded)."""
    assert regulator_poles(6.08, horizon)[1] == pytest.approx(pole, abs=digits)


def test_factors_of_the_heel_to_toe_gait() -> None:
    """Section 7.4.3: z = 0.242 m, steps of 0.5 s, double supports of 0.1 s; digest 001c, part 4, line "7.4.3"."""
    omega = natural_frequency(0.242)
    assert 1.0 / omega == pytest.approx(0.157, abs=5e-4)
    assert exp(-0.5 * omega) == pytest.approx(0.0414, abs=5e-5)
    assert exp(-0.25 * omega) == pytest.approx(0.204, abs=5e-4)
    assert [exp(0.05 * omega), exp(-0.05 * omega)] == pytest.approx([1.375, 0.727], abs=5e-4)


SOLE = np.array([[-0.040, -0.0315], [0.058, 0.0315]])
"""Sole around the projection of the ankle, l. 5989 of the book [m]."""
PUSHED, LANDED = np.array([70.8, -25.2]) * 1e-3, np.array([124.9, 0.0]) * 1e-3
"""DCM after a push of 30 N for 0.1 s, and at the end of the step [m], section 7.7.5."""


@pytest.mark.parametrize(("height", "cmp"), [(0.242, (49.8, -35.0)), (0.28, (46.9, -36.3))])
def test_reactive_step(height: float, cmp: tuple[float, float]) -> None:
    """Section 7.7.5: T = 0.2 s; the CMP that leads from the pushed DCM to (124.9, 0) mm lies in the right foot."""
    omega, ankle = natural_frequency(height), np.array([0.0, -0.039])
    found = capture_zmp(PUSHED, LANDED, omega, 0.2)
    np.testing.assert_allclose(found, np.array(cmp) * 1e-3, atol=2e-4)
    np.testing.assert_allclose(clip_along(found, LANDED, ankle, ankle, SOLE), found, atol=1e-12)  # it is in the sole
    np.testing.assert_allclose(found + (PUSHED - found) * exp(0.2 * omega), LANDED, atol=1e-12)


def test_reactive_step_by_step_adaptation() -> None:
    """The adapter takes the same step: captured (offset 0) after 0.2 s, with the CoP of the book."""
    omega, ankle = natural_frequency(0.242), np.array([0.0, -0.039])
    cmp = capture_zmp(PUSHED, LANDED, omega, 0.2) - ankle
    limits = StepLimits((-0.2, 0.2), (0.0, 0.2), (0.2, 0.2), (-0.040, 0.058), (-0.0315, 0.0315))
    nominal = NominalStep(LANDED - ankle, 0.2, (0.0, 0.0), cmp)
    step = StepAdapter(omega, limits).adapt("right", PUSHED - ankle, 0.0, nominal)
    np.testing.assert_allclose(step.landing + ankle, [0.1249, 0.0], atol=1e-9)
    np.testing.assert_allclose(step.offset, 0.0, atol=1e-9)
    assert step.viable
    assert steps_to_capture(PUSHED - ankle, omega, 0.2, 0.14, SOLE[1, 0]) == 1  # N of the book; the push is forward


@pytest.mark.parametrize(
    ("lag", "critical", "pole"), [(0.02, 0.0804, -22.03), (0.05, 0.2062, -7.03), (0.1, 0.4605, -2.03)]
)
def test_regulator_with_lag(lag: float, critical: float, pole: float) -> None:
    """Section 5.5 with ω = 5.94 1/s (5.17); digest 001b, part 4, line "ICP lag"."""
    horizon = critical_horizon(5.94, lag)
    assert horizon == pytest.approx(critical, abs=5e-5)
    np.testing.assert_allclose(regulator_poles(5.94, horizon, lag)[1:].real, pole, atol=6e-3)


def test_pendulum() -> None:
    """Digest 001a, part 4: z = 0.8 m, x₀ = −0.1 m, v₀ = 0.4 m/s."""
    omega = natural_frequency(0.8)
    assert omega == pytest.approx(3.50179, abs=5e-6)
    found, _ = pendulum_state([-0.1], [0.4], [0.0], omega, [0.1, 0.3, 0.5])
    np.testing.assert_allclose(found[:, 0], [-0.0653716, -0.0171236, 0.0223763], atol=5e-8)
