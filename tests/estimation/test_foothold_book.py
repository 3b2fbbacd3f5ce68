from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import EstimatorSettings
from surefoot.estimation.footholds import FootholdBook
from tests.estimation.test_invariant_filter import COUNT, SIZE, some_filter

SETTINGS = EstimatorSettings()
DT = 0.005
JACOBIANS, VARIANCE = np.zeros((COUNT, 3, 2)), np.zeros(2)


def standing_book():
    """A filter with four points on the ground, sure of everything to a tenth of a millimetre."""
    kalman = some_filter()
    kalman.P = 1e-8 * np.eye(SIZE)
    book = FootholdBook(kalman, np.arange(COUNT), SETTINGS)
    points = (kalman.footholds - kalman.position) @ kalman.rotation
    book.update(DT, points, JACOBIANS, VARIANCE, np.ones(COUNT))
    return kalman, book, points


def test_footholds_come_and_go_with_the_probability():
    _, book, points = standing_book()
    grip = []
    for likely in (1.0, 0.5, 0.2, 0.5, 0.8):
        probability = np.array([likely, 1.0, 1.0, 1.0])
        book.update(DT, points, JACOBIANS, VARIANCE, probability)
        grip.append(book.grip(probability)[0])
    assert grip == pytest.approx([1.0, 0.5, 0.0, 0.0, 0.8])


def test_a_point_beyond_the_gate_moves_nothing_and_gets_a_new_foothold_after_a_while():
    kalman, book, points = standing_book()
    place, slid = kalman.position.copy(), points.copy()
    slid[0] += 0.05
    for k in range(6):
        book.update(DT, slid, JACOBIANS, VARIANCE, np.ones(COUNT))
        held = np.linalg.norm(kalman.residuals(slid)[0]) > 0.04
        assert held == (k * DT < SETTINGS.patience)
    assert kalman.position == pytest.approx(place, abs=1e-6)
    assert book.grip(np.ones(COUNT)).all()


def test_when_no_point_fits_the_velocity_is_doubted():
    kalman, book, points = standing_book()
    before = kalman.covariance[3, 3]
    for _ in range(6):
        book.update(DT, points + 0.05, JACOBIANS, VARIANCE, np.ones(COUNT))
    assert kalman.covariance[3, 3] > before + 0.5 * SETTINGS.slip_speed**2


def test_an_unsure_touch_corrects_less():
    moves = []
    for likely in (1.0, 0.4):
        kalman, book, points = standing_book()
        kalman.P[6:9, 6:9] += 1e-9 * np.eye(3)
        before = kalman.position.copy()
        book.update(DT, points + 1e-4, JACOBIANS, VARIANCE, np.full(COUNT, likely))
        moves.append(np.linalg.norm(kalman.position - before))
    assert 0.0 < moves[1] < 0.5 * moves[0]


def test_reset_forgets_all_footholds():
    _, book, _ = standing_book()
    book.reset()
    assert not book.grip(np.ones(COUNT)).any()
