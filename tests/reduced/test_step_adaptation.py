"""Adapted steps: nominal ones stay, optima agree with a grid, and the pendulum returns to its gait after pushes."""

from itertools import pairwise
from math import exp

import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.reduced import DcmPlan, NominalStep, StepAdapter, StepLimits, StepWeights, ZmpPiece, step_offset

OMEGA, DURATION = 3.6, 0.55
LIMITS = StepLimits((-0.25, 0.45), (0.12, 0.4), (0.35, 0.9), (-0.06, 0.1), (-0.03, 0.03))
POINT_FEET = StepLimits((-0.25, 0.45), (0.12, 0.4), (0.35, 0.9))
STEP = {"left": (0.2, -0.2), "right": (0.2, 0.2)}
OTHER = {"left": "right", "right": "left"}


def offset_of(landing: str) -> np.ndarray:
    """Nominal DCM offset from a foot that lands."""
    return step_offset(OMEGA, DURATION, STEP[OTHER[landing]], STEP[landing])


def nominal(stance: str) -> NominalStep:
    return NominalStep(STEP[stance], DURATION, tuple(offset_of(OTHER[stance])))


@pytest.mark.parametrize("stance", ["left", "right"])
@pytest.mark.parametrize("elapsed", [0.0, 0.2, 0.54])
def test_nominal_dcm_leaves_the_nominal_step(stance: str, elapsed: float) -> None:
    dcm = offset_of(stance) * exp(OMEGA * elapsed)
    step = StepAdapter(OMEGA, LIMITS).adapt(stance, dcm, elapsed, nominal(stance))
    np.testing.assert_allclose(step.landing, STEP[stance], atol=1e-12)
    np.testing.assert_allclose(step.offset, offset_of(OTHER[stance]), atol=1e-12)
    np.testing.assert_allclose(step.cop, 0.0, atol=1e-10)
    assert step.remaining == pytest.approx(DURATION - elapsed, abs=1e-12)
    assert step.viable


def judge(adapter: StepAdapter, stance: str, dcm: np.ndarray, elapsed: float, z: np.ndarray) -> tuple:
    """Squared violation of the viable box and cost of candidates z (..., 5): remaining time, landing, CoP."""
    goal, weights, growth = nominal(stance), adapter.weights, np.exp(OMEGA * z[..., :1])
    b = z[..., 3:] + (dcm - z[..., 3:]) * growth - z[..., 1:3]
    low, high = adapter.limits.viable(OTHER[stance], OMEGA)
    violation = ((b - np.clip(b, low, high)) ** 2).sum(-1)
    sigma = exp(OMEGA * (DURATION - elapsed))
    late = (growth[..., 0] - sigma) / (OMEGA * sigma)
    cost = weights.landing * ((z[..., 1:3] - goal.landing) ** 2).sum(-1) + weights.time * late**2
    cost += weights.offset * ((b - goal.offset) ** 2).sum(-1)
    return violation, cost + weights.cop * ((z[..., 3:] * (growth - 1.0)) ** 2).sum(-1)


def zoomed_grid(adapter: StepAdapter, stance: str, dcm: np.ndarray, elapsed: float) -> tuple[float, float]:
    """Least violation, then cost, by a grid that is refined around its best point; convex in other coordinates."""
    limits = adapter.limits
    low = np.array([max(limits.duration[0] - elapsed, 0.0), *limits.landing(stance)[0], *limits.cop(stance)[0]])
    high = np.array([limits.duration[1] - elapsed, *limits.landing(stance)[1], *limits.cop(stance)[1]])
    center, half = (low + high) / 2, (high - low) / 2
    for _ in range(22):
        axes = [np.clip(np.linspace(c - h, c + h, 7), a, b) for c, h, a, b in zip(center, half, low, high, strict=True)]
        z = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 5)
        violation, cost = judge(adapter, stance, dcm, elapsed, z)
        # one ordering: the violation dominates by a weight, as strict order has no slope for a grid to follow
        best = int(np.argmin(cost + 1e6 * violation))
        center, half = z[best], half * 0.62
    return float(violation[best]), float(cost[best])


@pytest.mark.parametrize("seed", range(8))
def test_optimum_against_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stance, elapsed = ("left", "right")[seed % 2], float(rng.uniform(0.0, 0.4))
    dcm = offset_of(stance) * exp(OMEGA * elapsed) + rng.normal(size=2) * (0.04 if seed < 5 else 0.15)
    adapter = StepAdapter(OMEGA, LIMITS, StepWeights(1.0, 0.2, 5.0, 2.0))
    step = adapter.adapt(stance, dcm, elapsed, nominal(stance))
    z = np.array([step.remaining, *step.landing, *step.cop])
    low, high = LIMITS.landing(stance)
    assert (z[1:3] >= low - 1e-9).all()
    assert (z[1:3] <= high + 1e-9).all()
    low, high = LIMITS.cop(stance)
    assert (z[3:] >= low - 1e-9).all()
    assert (z[3:] <= high + 1e-9).all()
    assert LIMITS.duration[0] - 1e-9 <= elapsed + step.remaining <= LIMITS.duration[1] + 1e-9
    violation, cost = judge(adapter, stance, dcm, elapsed, z)
    grid_violation, grid_cost = zoomed_grid(adapter, stance, dcm, elapsed)
    assert violation == pytest.approx(grid_violation, abs=2e-5 * max(grid_cost, 1e-2))
    assert cost == pytest.approx(grid_cost, rel=2e-2, abs=1e-6)
    assert step.viable == (violation < 1e-15)
    np.testing.assert_allclose((step.outside**2).sum(), violation, atol=1e-12)


def walk(adapter: StepAdapter, pushes: dict[int, np.ndarray], steps: int = 12) -> tuple[np.ndarray, list[float], bool]:
    """Offsets at landings, durations and viability of a pendulum whose DCM is pushed in the middle of some steps."""
    stance, dcm, dt = "left", offset_of("left"), 0.002
    offsets, durations, viable = [], [], True
    for k in range(steps):
        elapsed, goal = 0.0, nominal(stance)
        while True:
            step = adapter.adapt(stance, dcm, elapsed, goal)
            viable &= step.viable
            ahead = min(dt, step.remaining)
            if k in pushes and elapsed <= 0.15 < elapsed + ahead:
                dcm = dcm + pushes[k]
            dcm = step.cop + (dcm - step.cop) * exp(OMEGA * ahead)
            elapsed += ahead
            if step.remaining <= dt:
                break
        dcm, stance = dcm - step.landing, OTHER[stance]
        offsets.append(dcm * (1.0, 1.0 if stance == "left" else -1.0))
        durations.append(elapsed)
    return np.array(offsets), durations, viable


@pytest.mark.parametrize("limits", [LIMITS, POINT_FEET], ids=["feet", "points"])
@pytest.mark.parametrize("push", [(0.08, 0.0), (-0.1, 0.0), (0.0, 0.035), (0.0, -0.12), (0.06, -0.06)])
def test_pendulum_returns_to_its_gait(limits: StepLimits, push: tuple[float, float]) -> None:
    offsets, durations, viable = walk(StepAdapter(OMEGA, limits), {2: np.array(push), 3: -0.3 * np.array(push)})
    assert viable
    assert np.abs(offsets[2] - offset_of("left")).max() > 1e-6  # the push was felt
    np.testing.assert_allclose(offsets[8:], np.tile(offset_of("left"), (4, 1)), atol=1e-3)
    np.testing.assert_allclose(durations[8:], DURATION, atol=1e-2)


DOUBLE = 0.16


def planned_in_single_support() -> np.ndarray:
    """DCM relative to a left stance foot when its single support begins, in the periodic gait with double supports."""
    feet = [np.zeros(2)]
    for k in range(12):
        feet.append(feet[-1] + STEP["right" if k % 2 else "left"])
    pieces = [ZmpPiece(0.0, feet[0], feet[0])]
    for before, after in pairwise(feet):
        pieces += [ZmpPiece(DURATION - DOUBLE, before, before), ZmpPiece(DOUBLE, before, after)]
    return DcmPlan(pieces, OMEGA).at(0.0)[1]


@pytest.mark.parametrize("push", [(0.0, 0.0), (0.07, 0.0), (-0.08, 0.0), (0.0, -0.06), (0.04, 0.02)])
def test_walk_with_double_supports(push: tuple[float, float]) -> None:
    """Steps are counted from middle to middle of the double supports; the pendulum has these in full."""
    start = planned_in_single_support()
    adapter, stance, dcm, dt = StepAdapter(OMEGA, LIMITS), "left", start, 0.002
    seen = []
    for k in range(10):
        mirror = np.array([1.0, 1.0 if stance == "left" else -1.0])
        goal = NominalStep.through(OMEGA, STEP[stance], DURATION, start * mirror, DOUBLE / 2)
        seen.append(dcm * mirror)
        elapsed = DOUBLE / 2
        while True:
            step = adapter.adapt(stance, dcm, elapsed, goal)
            assert step.viable
            if k == 0:
                np.testing.assert_allclose(step.landing, STEP[stance], atol=1e-9)  # as planned
                np.testing.assert_allclose(step.remaining, DURATION - elapsed, atol=1e-9)
            if k == 2 and elapsed <= 0.2 < elapsed + dt:
                dcm = dcm + push
            if step.remaining - DOUBLE / 2 <= 1e-9:
                break
            ahead = min(dt, step.remaining - DOUBLE / 2)
            dcm = step.cop + (dcm - step.cop) * exp(OMEGA * ahead)
            elapsed += ahead
        lead = (step.landing - step.cop) / (OMEGA * DOUBLE)
        dcm = lead + (dcm - step.cop - lead) * exp(OMEGA * DOUBLE)  # relative to the new foot
        stance = OTHER[stance]
    assert not any(push) or np.abs(seen[3] - start).max() > 1e-4
    np.testing.assert_allclose(seen[-2:], np.tile(start, (2, 1)), atol=2e-3)


def test_a_push_beyond_what_is_viable_is_reported_and_falls() -> None:
    offsets, _, viable = walk(StepAdapter(OMEGA, POINT_FEET), {2: np.array((0.3, 0.0))}, steps=8)
    assert not viable
    assert offsets[-1, 0] > 1.0


def test_viable_offsets_are_viable_and_no_others() -> None:
    """From the corners of the box the adapter goes on for ever; just outside of them it reports."""
    adapter = StepAdapter(OMEGA, POINT_FEET)
    low, high = POINT_FEET.viable("left", OMEGA)
    for corner in (low, high, np.array([low[0], high[1]]), np.array([high[0], low[1]])):
        inside, outside = (adapter.adapt("left", corner * scale, 0.0, nominal("left")) for scale in (0.999, 1.01))
        assert inside.viable
        assert not outside.viable


def test_what_the_swing_foot_reaches_goes_first() -> None:
    adapter, box = StepAdapter(OMEGA, LIMITS), np.array([[0.02, -0.22], [0.06, -0.18]])
    dcm = offset_of("left") * exp(OMEGA * 0.3)
    landing = adapter.adapt("left", dcm, 0.3, nominal("left"), box).landing
    assert (landing >= box[0] - 1e-9).all()
    assert (landing <= box[1] + 1e-9).all()
    beyond = np.add(box, (1.0, 0.0))  # nothing in common with the limits
    assert adapter.adapt("left", dcm, 0.3, nominal("left"), beyond).landing[0] == pytest.approx(1.02)


def test_late_landing_is_now() -> None:
    step = StepAdapter(OMEGA, LIMITS).adapt("left", (0.1, -0.1), 1.2, nominal("left"))
    assert step.remaining == 0.0
    assert np.isfinite(step.cop).all()


def test_hostile_states_keep_the_limits() -> None:
    rng, adapter = np.random.default_rng(3), StepAdapter(OMEGA, LIMITS)
    for _ in range(2000):
        dcm, elapsed = rng.normal(size=2) * 10.0 ** rng.uniform(-6, 3), float(rng.uniform(0.0, 1.0))
        step = adapter.adapt("left", dcm, elapsed, nominal("left"))
        low, high = LIMITS.landing("left")
        assert (step.landing >= low - 1e-7).all()
        assert (step.landing <= high + 1e-7).all()
        assert 0.0 <= step.remaining <= 0.9 + 1e-9


def test_wrong_input_is_refused() -> None:
    with pytest.raises(ShapeError, match="`width`"):
        StepLimits((-0.2, 0.4), (0.4, 0.1), (0.3, 0.8))
    with pytest.raises(ShapeError, match="take time"):
        StepLimits((-0.2, 0.4), (0.1, 0.4), (0.0, 0.8))
    with pytest.raises(ShapeError, match="weight `time`"):
        StepWeights(time=0.0)
    with pytest.raises(ShapeError, match="omega"):
        StepAdapter(-1.0, LIMITS)
    with pytest.raises(ShapeError, match="not finite"):
        StepAdapter(OMEGA, LIMITS).adapt("left", (0.0, np.nan), 0.0, nominal("left"))
    with pytest.raises(UnknownNameError, match="middle"):
        StepAdapter(OMEGA, LIMITS).adapt("middle", (0.0, 0.0), 0.0, nominal("left"))
