"""All walking references by one interface: the pendulum's equation holds, supports are kept, walks end in standing."""

import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.reduced import METHODS, DcmPlan, Supports, ZmpPiece, natural_frequency, walking_reference
from tests.reduced.walks import FOOT, HEIGHT, walk

OMEGA = natural_frequency(HEIGHT)
DT = 0.005


@pytest.mark.parametrize("double", [0.2, 0.0])
@pytest.mark.parametrize("method", METHODS)
def test_walk(method: str, double: float) -> None:
    pieces = walk(double=double)
    found = walking_reference(method, pieces, HEIGHT, foot=FOOT)
    assert found.t[-1] == pytest.approx(sum(piece.duration for piece in pieces))
    np.testing.assert_allclose(found.dcm, found.com + found.velocity / OMEGA, atol=1e-12)
    np.testing.assert_allclose(found.com[0], [0.0, 0.0])
    np.testing.assert_allclose(found.com[-1], [0.8, 0.0], atol=0.012)
    np.testing.assert_allclose(found.velocity[-1], 0.0, atol=0.03)
    # momentum: the change of velocity over a sample is the mean acceleration, to second order where the ZMP is smooth
    acceleration = OMEGA**2 * (found.com - found.zmp)
    smooth = np.abs(np.diff(found.zmp, axis=0)).max(1) < 0.02
    change = np.diff(found.velocity, axis=0) / DT
    held = acceleration[:-1] if method in ("cps", "cpt") else 0.5 * (acceleration[:-1] + acceleration[1:])
    np.testing.assert_allclose(change[smooth], held[smooth], atol=0.08 if method in ("cps", "cpt") else 0.05)
    np.testing.assert_allclose(
        np.diff(found.com, axis=0) / DT, 0.5 * (found.velocity[:-1] + found.velocity[1:]), atol=2e-3
    )
    assert smooth.mean() > 0.9


@pytest.mark.parametrize("method", METHODS)
def test_zmp_keeps_to_the_supports(method: str) -> None:
    pieces = walk()
    supports, found = Supports(pieces), walking_reference(method, walk(), HEIGHT, foot=FOOT)
    np.testing.assert_allclose(found.feet, supports.points, atol=1e-2)  # nothing calls for moving them
    for t, zmp in zip(found.t, found.zmp, strict=True):
        first, last = supports.feet(t)
        low = np.minimum(found.feet[first], found.feet[last]) + FOOT[0]
        high = np.maximum(found.feet[first], found.feet[last]) + FOOT[1]
        assert (zmp >= low - 1e-6).all(), (t, zmp)
        assert (zmp <= high + 1e-6).all(), (t, zmp)


def test_dcm_is_that_of_the_plan() -> None:
    pieces = walk()
    found, plan = walking_reference("dcm", pieces, HEIGHT), DcmPlan(pieces, OMEGA)
    expected = [plan.at(t) for t in found.t]
    np.testing.assert_allclose(found.zmp, [zmp for zmp, _ in expected], atol=1e-12)
    np.testing.assert_allclose(found.dcm, [dcm for _, dcm in expected], atol=1e-12)


def test_smooth_methods_agree() -> None:
    """Preview control with little weight on the jerk tends to the exact DCM motion of a continuous path."""
    exact, preview = (walking_reference(method, walk(double=0.4), HEIGHT) for method in ("dcm", "preview"))
    np.testing.assert_allclose(preview.com, exact.com, atol=2e-3)


def test_other_gravity_and_start() -> None:
    moon = walking_reference("dcm", walk(), HEIGHT, 1.62)
    np.testing.assert_allclose(moon.dcm, moon.com + moon.velocity / natural_frequency(HEIGHT, 1.62), atol=1e-12)
    for method in ("preview", "mpc", "cps", "cpt"):
        found = walking_reference(method, walk(), HEIGHT, foot=FOOT, com=(0.01, 0.005), velocity=(0.02, -0.01))
        np.testing.assert_allclose(found.com[0], [0.01, 0.005], atol=1e-12)
        np.testing.assert_allclose(found.velocity[0], [0.02, -0.01], atol=1e-12)
        np.testing.assert_allclose(found.com[-1], [0.8, 0.0], atol=0.015)


def test_wrong_input_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean `preview`"):
        walking_reference("prewiew", walk(), HEIGHT)
    with pytest.raises(ShapeError, match="size of the foot"):
        walking_reference("cps", walk(), HEIGHT)
    with pytest.raises(ShapeError, match="height"):
        walking_reference("dcm", walk(), -1.0)
    with pytest.raises(ShapeError, match="pieces"):
        walking_reference("dcm", [], HEIGHT)
    with pytest.raises(ShapeError, match="durations"):
        walking_reference("preview", [ZmpPiece(-1.0, (0, 0), (0, 0))], HEIGHT)
