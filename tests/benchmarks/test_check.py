"""Wrong answers are found, whatever is wrong with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.benchmarks.cases import CASES
from surefoot.benchmarks.check import WrongAnswerError, expected_answers, normwise_errors, require_right, tolerances
from surefoot.benchmarks.states import end_frames, random_states
from surefoot.robot.load import load

LIMIT = np.full(4, 1e-12)


def test_errors_are_relative_to_the_largest_entry_or_one(rng):
    small, large = 1e-3 * rng.standard_normal((4, 3)), 1e6 * np.ones((4, 2, 2))
    wrong = [small + 1e-9, large * (1.0 + 1e-9)]
    assert normwise_errors([small, large], [small, large]) == pytest.approx(np.zeros(4))
    assert normwise_errors(wrong[:1], [small]) == pytest.approx(np.full(4, 1e-9))
    assert normwise_errors(wrong[1:], [large]) == pytest.approx(np.full(4, 1e-9), rel=1e-5)


@pytest.mark.parametrize("value", [1.0 + 1e-9, np.nan, np.inf])
def test_one_wrong_entry_of_one_state_is_refused(value):
    right = np.ones((4, 3, 3))
    wrong = right.copy()
    wrong[2, 1, 0] = value
    assert require_right("x", [right], [right], LIMIT) == 0.0
    with pytest.raises(WrongAnswerError, match="not timed") as caught:
        require_right("x", [wrong], [right], LIMIT)
    assert caught.value.exit_code == 1
    assert caught.value.evidence["wrong states"] == "1 of 4"
    assert "state 2" in caught.value.evidence["worst"]


def test_the_condition_decides_where_the_mass_matrix_is_inverted():
    robot = load("g1")
    states = random_states(robot, 3, np.random.default_rng(0))
    rnea, aba = CASES[0], CASES[1]
    assert (tolerances(rnea, robot, states, 64) == 1e-12).all()
    assert (tolerances(rnea, robot, states, 32) == 1e-4).all()
    assert (tolerances(aba, robot, states, 64) >= 1e-12).all()
    assert (tolerances(aba, robot, states, 32) > 1e3 * tolerances(aba, robot, states, 64)).all()


def test_expected_answers_are_copies_with_the_states_in_front():
    robot = load("arm4")
    frames, states = end_frames(robot), random_states(robot, 5, np.random.default_rng(1))
    for case in CASES:
        found = expected_answers(case, robot, frames, states)
        assert all(len(x) == 5 for x in found)
        assert any((x[0] != x[1]).any() for x in found)
    assert [x.shape[1:] for x in expected_answers(CASES[3], robot, frames, states)] == [(4, 4)] * 4 + [(6, 4)] * 4


def test_cases_have_names_of_their_own():
    assert len({case.name for case in CASES}) == len(CASES) == 7
    assert replace(CASES[0], name="x").inputs == ("q", "v", "a")
