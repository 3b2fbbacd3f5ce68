"""Wrong answers are found, whatever is wrong with them; states repeat, and end frames are on different limbs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from bench.cases.dynamics import CASES, expected_answers, tolerances
from bench.check import WrongAnswerError, end_frames, normwise_errors, random_states, require_right
from surefoot.robot.loading import load

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


# -- states -----------------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_states():
    robot = load("g1")
    first, again, other = (random_states(robot, 5, np.random.default_rng(seed)) for seed in (3, 3, 4))
    for name in ("q", "v", "a", "tau"):
        assert (getattr(first, name) == getattr(again, name)).all()
        assert (getattr(first, name) != getattr(other, name)).any()
    assert all(pin.isNormalized(robot.model, q, 1e-12) for q in first.q)
    assert first.of(("q", "tau"))[1] is first.tau
    assert len(first) == 5


@pytest.mark.parametrize("name", ["g1", "talos", "anymal", "hexapod"])
def test_end_frames_are_ends_of_different_limbs(name):
    robot = load(name)
    bodies = [robot.body_of(frame) for frame in end_frames(robot)]
    assert len(set(bodies)) == 4
    assert not set(bodies) & {int(parent) for parent in robot.tree.parents}


def test_hands_and_feet_of_a_humanoid():
    assert {x.split("_")[0] + x[-5:] for x in end_frames(load("g1"))} == {
        "left_hand", "right_hand", "left_link", "right_link",
    }  # fmt: skip


def test_small_robots_have_fewer():
    assert end_frames(load("pendulum")) == ("bob",)
    assert len(end_frames(load("coil:3"))) == 3
