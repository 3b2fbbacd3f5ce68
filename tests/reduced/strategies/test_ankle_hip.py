"""Ankle and hip strategies: kernel, CoP, transitions."""

import numpy as np
import pytest

from surefoot.reduced.strategies import AnkleHip, TwoLinkBody, ankle_hip


def push(force: float):  # type: ignore[no-untyped-def]
    return lambda t: force * float(np.interp(t, (1.0, 1.3, 3.0, 3.3), (0.0, 1.0, 1.0, 0.0)))


def test_kernel_keeps_the_com() -> None:
    """(7.35) against finite differences; upright height as in the book's window."""
    body, angles, h = TwoLinkBody(), np.array([0.1, -0.4]), 1e-6
    n = body.kernel(angles)
    assert (body.com(angles + h * n) - body.com(angles - h * n))[0] == pytest.approx(0.0, abs=1e-12)
    assert 0.2645 < body.com(np.zeros(2))[1] < 0.2665
    assert body.mass == 7.0


def test_pressure_is_the_moment_balance() -> None:
    """At rest the CoP is below the CoM, and a push moves it by F h / (M g)."""
    body, angles = TwoLinkBody(), np.array([0.05, 0.1])
    still = body.pressure(angles, np.zeros((2, 2)), 0.0, 0.3)
    assert still == pytest.approx(body.com(angles)[0])
    assert body.pressure(angles, np.zeros((2, 2)), 8.0, 0.3) - still == pytest.approx(8.0 * 0.3 / (7.0 * 9.81))


def test_small_pushes_need_the_ankle_only() -> None:
    run = ankle_hip(push(4.0), 8.0)
    assert set(run.strategy) == {"ankle"}
    assert np.abs(run.angles[:, 1]).max() == 0.0
    assert np.abs(run.angles[-1]).max() < 1e-3


def test_large_pushes_go_through_all_strategies() -> None:
    """The hip takes over at the limit of the CoP; while it works alone, the CoM stays; then all returns."""
    run = ankle_hip(push(8.0), 12.0)
    order = sorted(run.switches, key=run.switches.__getitem__)
    assert order == ["ankle", "to_hip", "hip", "to_ankle"]
    assert run.strategy[-1] == "ankle"
    first = run.strategy.index("to_hip")
    assert run.pressure[first - 1] == pytest.approx(AnkleHip().limit, abs=5e-4)
    alone = np.array([mode == "hip" for mode in run.strategy])
    assert np.ptp(run.com[alone, 0]) < 1e-4
    assert run.angles[alone, 1].max() > 0.05
    assert np.abs(run.com[-1, 0]) < 1e-3
    assert run.pressure.max() < 0.058
