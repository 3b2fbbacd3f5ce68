"""Capture regions against brute force and linear programs over all steps and CoPs."""

from itertools import product
from math import exp, inf

import numpy as np
import pytest
from scipy.optimize import linprog

from surefoot.reduced import capturable, capture_box, capture_radius, step_offset, steps_to_capture

OMEGA, TIME, LENGTH, RADIUS = 3.7, 0.4, 0.35, 0.06


def best_distance(distance: float, steps: int) -> float:
    """Least distance of the DCM from the foot after N steps in one line: all CoPs, lengths and times of a grid."""
    cops, lengths, times = (np.linspace(-RADIUS, RADIUS, 7), np.linspace(-LENGTH, LENGTH, 15), (TIME, 1.3 * TIME))
    reached = np.array([distance])
    for _ in range(steps):
        reached = np.concatenate([p + (reached - p) * exp(OMEGA * t) - s for p, s, t in product(cops, lengths, times)])
        reached = reached[np.argsort(np.abs(reached))][:200]
    return float(np.abs(reached).min())


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
def test_radius_is_where_capture_ends(steps: int) -> None:
    d = capture_radius(OMEGA, TIME, LENGTH, RADIUS, steps)
    assert best_distance(d, steps) == pytest.approx(RADIUS)
    assert best_distance(d + 1e-3, steps) > RADIUS + 5e-4
    assert capturable((d - 1e-6, 0.0), OMEGA, TIME, LENGTH, RADIUS, steps=steps)
    assert not capturable((0.0, d + 1e-6), OMEGA, TIME, LENGTH, RADIUS, steps=steps)
    assert steps_to_capture((d - 1e-6, 0.0), OMEGA, TIME, LENGTH, RADIUS) == steps


def test_radius_is_the_recursion_of_koolen() -> None:
    d = RADIUS
    for steps in range(1, 8):
        d = (d - RADIUS + LENGTH) * exp(-OMEGA * TIME) + RADIUS
        assert capture_radius(OMEGA, TIME, LENGTH, RADIUS, steps) == pytest.approx(d, abs=1e-15)
    assert capture_radius(OMEGA, TIME, LENGTH, RADIUS, 60) == pytest.approx(capture_radius(OMEGA, TIME, LENGTH, RADIUS))


def test_outside_of_d_infinity_is_not_capturable() -> None:
    d = capture_radius(OMEGA, TIME, LENGTH, RADIUS)
    direction = np.array([0.6, -0.8])
    assert capturable(direction * (d - 1e-6), OMEGA, TIME, LENGTH, RADIUS)
    assert not capturable(direction * (d + 1e-6), OMEGA, TIME, LENGTH, RADIUS)
    assert steps_to_capture(direction * (d + 1e-6), OMEGA, TIME, LENGTH, RADIUS) == inf


def test_time_that_remains_counts() -> None:
    d = capture_radius(OMEGA, TIME, LENGTH, RADIUS)
    assert capturable((d + 0.2, 0.0), OMEGA, TIME, LENGTH, RADIUS, remaining=0.1)
    landed = RADIUS + (d + 0.2 - RADIUS) * exp(OMEGA * 0.1) - LENGTH
    assert steps_to_capture((d + 0.2, 0.0), OMEGA, TIME, LENGTH, RADIUS, remaining=0.1) == 1 + steps_to_capture(
        (landed, 0.0), OMEGA, TIME, LENGTH, RADIUS
    )
    assert steps_to_capture((RADIUS + 0.01, 0.0), OMEGA, TIME, 0.0, RADIUS) == inf  # feet that cannot move


def test_offset_repeats_after_two_steps() -> None:
    steps, cops = np.array([[0.3, -0.2], [0.2, 0.25]]), np.array([[0.02, 0.01], [0.01, -0.02]])
    offset = step_offset(OMEGA, TIME, steps[0], steps[1], cops[0], cops[1])
    b = offset
    for p, s in ((cops[0], steps[1]), (cops[1], steps[0])):
        b = p + (b - p) * exp(OMEGA * TIME) - s
    np.testing.assert_allclose(b, offset, atol=1e-12)
    tau = exp(OMEGA * TIME)
    np.testing.assert_allclose(
        step_offset(OMEGA, TIME, (0.3, -0.2), (0.3, 0.2)), [0.3 / (tau - 1), 0.2 / (tau + 1)], atol=1e-15
    )


def farthest(reach: np.ndarray, cop: np.ndarray, steps: int, sign: float) -> float:
    """End of the interval of offsets along one axis by a linear program over CoPs and steps: (2, 2) foot × end."""
    tau = exp(OMEGA * TIME)
    n = 1 + 2 * steps  # b₀, then CoP and step of each foot
    row = np.zeros(n)  # offset after the steps
    row[0] = 1.0
    bounds: list[tuple[float | None, float | None]] = [(None, None)]
    for k in range(steps):
        row *= tau
        row[1 + 2 * k], row[2 + 2 * k] = 1.0 - tau, -1.0
        bounds += [tuple(cop[k % 2]), tuple(reach[k % 2])]
    cost = np.zeros(n)
    cost[0] = -sign
    low, high = cop[steps % 2]
    found = linprog(cost, A_ub=np.array([row, -row]), b_ub=[high, -low], bounds=bounds)
    assert found.status == 0
    return float(found.x[0])


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_box_against_linear_programs(steps: int) -> None:
    left, right = np.array([[-0.2, -0.4], [0.4, -0.1]]), np.array([[-0.2, 0.1], [0.4, 0.4]])
    cop, mirrored = np.array([[-0.05, -0.02], [0.1, 0.03]]), np.array([[-0.05, -0.03], [0.1, 0.02]])
    box = capture_box(OMEGA, TIME, left, right, cop, mirrored, steps)
    for axis in (0, 1):
        reach, cops = np.array([left[:, axis], right[:, axis]]), np.array([cop[:, axis], mirrored[:, axis]])
        assert box[1, axis] == pytest.approx(farthest(reach, cops, steps, 1.0), abs=1e-9)
        assert box[0, axis] == pytest.approx(farthest(reach, cops, steps, -1.0), abs=1e-9)


def test_box_tends_to_that_of_all_steps_and_holds_the_radius() -> None:
    left, right = np.array([[-LENGTH, -0.4], [LENGTH, -0.1]]), np.array([[-LENGTH, 0.1], [LENGTH, 0.4]])
    cop = np.array([[-RADIUS, -0.02], [RADIUS, 0.02]])
    box = capture_box(OMEGA, TIME, left, right, cop, cop)
    np.testing.assert_allclose(capture_box(OMEGA, TIME, left, right, cop, cop, 40), box, atol=1e-12)
    assert box[1, 0] == pytest.approx(capture_radius(OMEGA, TIME, LENGTH, RADIUS))
