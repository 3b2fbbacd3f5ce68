"""Capture-point gaits: targets are met, supports are kept, disturbances decay; clipping against a fine sampling."""

from math import exp

import numpy as np
import pytest

from surefoot.errors import UnknownNameError
from surefoot.reduced import CaptureGait, ZmpPiece, natural_frequency
from surefoot.reduced.supports import Supports, clip_along
from tests.reduced.walks import FOOT, HEIGHT, walk

OMEGA = natural_frequency(HEIGHT)


def within(p: np.ndarray, first: np.ndarray, last: np.ndarray, slack: float = 1e-9) -> bool:
    """Whether a point lies in a box that is swept from one place to the other."""
    share = np.linspace(0.0, 1.0, 401)[:, None]
    away = p - ((1 - share) * first + share * last)
    return bool(((away >= FOOT[0] - slack) & (away <= FOOT[1] + slack)).all(1).any())


@pytest.mark.parametrize("seed", range(30))
def test_clipping_against_sampling(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first = rng.normal(size=2) * 0.1
    last = first if seed % 3 == 0 else first + rng.normal(size=2) * 0.2
    aim, wanted = first + rng.normal(size=2) * 0.3, first + rng.normal(size=2) * 0.3
    found = clip_along(wanted, aim, first, last, FOOT)
    assert within(found, first, last, 1e-3)
    shares = np.linspace(-4.0, 4.0, 801)
    line = aim + shares[:, None] * (wanted - aim)
    inside = [share for share, p in zip(shares, line, strict=True) if within(p, first, last, 1e-3)]
    if inside:
        best = min(inside, key=lambda share: abs(share - 1.0))
        length = np.linalg.norm(wanted - aim)
        assert np.linalg.norm(found - (aim + best * (wanted - aim))) <= 0.012 * length + 0.012
    else:
        corners = np.array([p + np.array([x, y]) for p in (first, last) for x in FOOT[:, 0] for y in FOOT[:, 1]])
        assert np.linalg.norm(corners - found, axis=1).min() < 1e-12


def run(gait: CaptureGait, dcm: np.ndarray, pushes: dict[int, np.ndarray] | None = None, dt: float = 0.005) -> tuple:
    """DCM and ZMP (n, 2) of the pendulum under the law."""
    points, dcms, zmps = gait.supports.points, [], []
    for k in range(round(gait.ends[-1] / dt)):
        dcm = dcm + (pushes or {}).get(k, 0.0)
        zmp = gait.law(k * dt, dcm)
        first, last = gait.supports.feet(k * dt)
        assert within(zmp, points[first], points[last], 1e-3)
        dcms.append(dcm)
        zmps.append(zmp)
        dcm = zmp + (dcm - zmp) * exp(OMEGA * dt)
    return np.array(dcms), np.array(zmps)


@pytest.mark.parametrize("method", ["cps", "cpt"])
@pytest.mark.parametrize("double", [0.0, 0.2])
def test_steps_end_at_their_targets(method: str, double: float) -> None:
    gait = CaptureGait(method, walk(double=double), OMEGA, FOOT, (0.0, 0.0))
    np.testing.assert_allclose(gait.dcm[1:], gait.targets, atol=1e-12)  # nothing is clipped in this walk
    dcms, zmps = run(gait, np.zeros(2))
    for end, target in zip(gait.ends[:-1], gait.targets[:-1], strict=True):
        np.testing.assert_allclose(dcms[round(end / 0.005)], target, atol=1e-6)
    np.testing.assert_allclose(dcms[-1], gait.supports.points[-1], atol=2e-3)
    steps = np.minimum(np.searchsorted(gait.ends, np.arange(len(zmps)) * 0.005 + 1e-9), len(gait.ends) - 1)
    np.testing.assert_allclose(zmps[steps < 5], gait.zmp[steps[steps < 5]], atol=1e-6)  # constant in every step


@pytest.mark.parametrize("method", ["cps", "cpt"])
def test_pushes_decay(method: str) -> None:
    gait = CaptureGait(method, walk(), OMEGA, FOOT, (0.0, 0.0))
    calm, _ = run(gait, np.zeros(2))
    pushed, _ = run(gait, np.zeros(2), {300: np.array([0.02, 0.01])})
    assert np.abs(pushed[300] - calm[300]).max() == pytest.approx(0.02)
    np.testing.assert_allclose(pushed[-1], calm[-1], atol=2e-3)


def test_far_targets_are_clipped() -> None:
    gait = CaptureGait("cps", walk(length=0.8, single=0.3), OMEGA, FOOT, (0.0, 0.0))
    away = gait.zmp - gait.supports.points
    assert (away >= FOOT[0] - 1e-9).all()
    assert (away <= FOOT[1] + 1e-9).all()
    assert np.abs(gait.dcm[1:] - gait.targets).max() > 1e-3


def test_supports_of_a_path() -> None:
    supports = Supports(walk(2, double=0.2))
    np.testing.assert_allclose(supports.points, [[0, 0], [0, -0.1], [0.2, 0.1], [0.2, 0]])
    np.testing.assert_allclose(supports.at([0.0, 0.8, 0.9, 1.0, 1.5, 1.7]), [0, 0, 0.5, 1, 1, 1.5])
    np.testing.assert_allclose(supports.step_ends(), [0.8, 1.6, 2.4, 4.1])
    assert [supports.feet(t) for t in (0.1, 0.8, 1.2, 1.7, 9.0)] == [(0, 0), (0, 1), (1, 1), (1, 2), (3, 3)]
    sharp = Supports([ZmpPiece(0.5, (0, 0), (0, 0)), ZmpPiece(0.5, (0.2, 0), (0.2, 0))])
    np.testing.assert_allclose(sharp.at([0.4, 0.5, 1.0]), [0, 1, 1])
    np.testing.assert_allclose(sharp.path([0.4, 0.6]), [[0, 0], [0.2, 0]])


def test_unknown_method_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="capture-point gait"):
        CaptureGait("cpx", walk(), OMEGA, FOOT, (0.0, 0.0))
