import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.errors import ShapeError
from surefoot.ik.textbook.priority_change import (
    full_decomposition_rates,
    intermediate_value_rates,
    scaled_projector_rates,
    shaped_projector,
)
from surefoot.ik.textbook.task_priority import TaskRate, task_priority_rates


def pair(rng, n=6):
    return [TaskRate(rng.normal(size=(2, n)), rng.normal(size=2)) for _ in range(2)]


def alone(task):
    return np.linalg.pinv(task.J) @ task.rate


def largest_jump(rates, steps):
    """Of joint rates along α in 0 … 1."""
    series = np.array([rates(a) for a in np.linspace(0.0, 1.0, steps + 1)])
    return np.linalg.norm(np.diff(series, axis=0), axis=1).max()


def assert_no_jump(rates, steps=200):
    """Half the step makes half the largest change: the rates are continuous in the activation."""
    coarse, fine = largest_jump(rates, steps), largest_jump(rates, 2 * steps)
    assert fine < 0.6 * coarse + 1e-12


def test_intermediate_values_at_the_ends(rng):
    first, second = pair(rng)
    assert_allclose(intermediate_value_rates(first, second, (1, 1)), task_priority_rates([first, second]), atol=1e-10)
    assert_allclose(intermediate_value_rates(first, second, (1, 0)), alone(first), atol=1e-10)
    assert_allclose(intermediate_value_rates(first, second, (0, 1)), alone(second), atol=1e-10)
    assert_allclose(intermediate_value_rates(first, second, (0, 0)), 0.0, atol=1e-12)


@pytest.mark.parametrize("conflict", [False, True])
def test_tasks_fade_without_a_jump(rng, conflict):
    first, second = pair(rng)
    if conflict:  # one row of the second contradicts the first
        second = TaskRate(np.vstack([first.J[0], second.J[1]]), second.rate)
    for fade in (lambda a: (a, 1.0), lambda a: (1.0, a), lambda a: (a, 1.0 - a)):
        assert_no_jump(lambda a, fade=fade: intermediate_value_rates(first, second, fade(a)))


def test_two_tasks_change_places_without_a_jump(rng):
    """The upper one fades out, and in again below the other; strict priority at both ends."""
    first, second = pair(rng)
    second = TaskRate(np.vstack([first.J[0], second.J[1]]), second.rate)

    def rates(a):
        if a < 0.5:
            return intermediate_value_rates(first, second, (1.0 - 2.0 * a, 1.0))
        return intermediate_value_rates(second, first, (1.0, 2.0 * a - 1.0))

    assert_no_jump(rates)
    assert_allclose(rates(0.0), task_priority_rates([first, second]), atol=1e-10)
    assert_allclose(rates(1.0), task_priority_rates([second, first]), atol=1e-10)
    assert np.linalg.norm(rates(0.0) - rates(1.0)) > 0.1


def test_scaled_projectors_at_the_ends(rng):
    tasks, rest = [*pair(rng, 8), *pair(rng, 8)[:1]], rng.normal(size=8)
    assert_allclose(scaled_projector_rates(tasks, [1, 1, 1], rest), task_priority_rates(tasks, rest), atol=1e-9)
    without = [tasks[0], tasks[2]]
    assert_allclose(scaled_projector_rates(tasks, [1, 0, 1], rest), task_priority_rates(without, rest), atol=1e-9)
    assert_allclose(scaled_projector_rates(tasks, [0, 0, 0], rest), rest, atol=1e-12)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_scaled_projectors_fade_without_a_jump(rng, which):
    tasks, rest = [*pair(rng, 8), *pair(rng, 8)[:1]], rng.normal(size=8)
    assert_no_jump(lambda a: scaled_projector_rates(tasks, [a if k == which else 1.0 for k in range(3)], rest))


def test_scaled_projectors_jump_at_a_conflict_unless_damped(rng):
    first, second = pair(rng)
    second = TaskRate(first.J[:1], second.rate[:1])
    before, at = (scaled_projector_rates([first, second], [a, 1.0]) for a in (1.0 - 1e-9, 1.0))
    assert np.linalg.norm(at - before) > 0.1
    options = {"threshold": 0.3, "damping": 0.2}
    assert_no_jump(lambda a: scaled_projector_rates([first, second], [a, 1.0], **options), 500)
    damped = scaled_projector_rates([first, second], [1.0, 1.0], **options)
    assert_allclose(first.J @ damped, first.rate, atol=1e-9)


def test_higher_tasks_that_are_fully_active_hold_whatever_fades_below(rng):
    tasks = [*pair(rng, 8), *pair(rng, 8)[:1]]
    for a in np.linspace(0.0, 1.0, 11):
        found = scaled_projector_rates(tasks, [1.0, a, 1.0])
        assert_allclose(tasks[0].J @ found, tasks[0].rate, atol=1e-9)
        assert_allclose(tasks[2].J @ found, tasks[2].rate, atol=1e-7)


def test_shaped_projector_is_the_projector_of_what_is_held(rng):
    J = rng.normal(size=(3, 6))
    N = np.eye(6) - np.linalg.pinv(J) @ J
    assert_allclose(shaped_projector(J, 1e-4, 1e-3), N, atol=1e-12)
    assert_allclose(shaped_projector(J, 1e-4, 1e-3, 0.0), np.eye(6), atol=1e-12)
    assert_allclose(shaped_projector(J, 1e-4, 1e-3, 0.3), np.eye(6) - 0.3 * (np.eye(6) - N), atol=1e-12)


def test_shaped_projector_is_continuous_where_the_rank_changes():
    def projector(size):
        return shaped_projector(np.array([[1.0, 0.0, 0.0], [0.3, size, 0.0]]), 0.01, 0.05).ravel()

    assert_no_jump(lambda a: projector(0.2 * (a - 0.5)), 2000)
    assert_allclose(projector(0.0).reshape(3, 3)[1, 1], 1.0)  # given up: free for others
    assert_allclose(projector(0.1).reshape(3, 3)[1, 1], 0.0, atol=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_full_decomposition_is_the_pseudoinverse(seed):
    rng = np.random.default_rng(seed)
    J, rate = rng.normal(size=(4, 7)), rng.normal(size=4)
    found = full_decomposition_rates(TaskRate(J, rate))
    inverse = np.linalg.pinv(J)
    assert_allclose(found.rates, inverse @ rate, atol=1e-10 * (1.0 + np.linalg.norm(inverse) ** 2))
    assert sorted(found.order) == [0, 1, 2, 3]


def test_rows_are_served_in_the_order_of_their_conditioning(rng):
    J = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [1.0, 1e-3, 0.0, 1e-3], [0.0, 0.5, 0.5, 0.0]])
    found = full_decomposition_rates(TaskRate(J, [1.0, 1.0, 5.0, 1.0]), threshold=0.1, damping=0.1)
    assert found.order[-1] in (0, 2)  # nearly the same row: one of them comes last
    assert found.conditioning[-1] < 0.01
    assert np.abs(found.rates).max() < 50.0
    kept = list(found.order[:-1])
    assert_allclose(J[kept] @ found.rates, np.array([1.0, 1.0, 5.0, 1.0])[kept], atol=1e-9)
    exact = full_decomposition_rates(TaskRate(J, [1.0, 1.0, 5.0, 1.0])).rates
    assert np.abs(exact).max() > 1e3


def test_rows_that_are_implied_or_empty_are_left_out():
    J = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    found = full_decomposition_rates(TaskRate(J, [1.0, 2.0, 3.0]))
    assert len(found.order) == 1
    assert_allclose(J[:2] @ found.rates, [1.0, 2.0], atol=1e-12)


def test_full_decomposition_is_continuous_as_a_row_loses_its_conditioning(rng):
    J, other = rng.normal(size=(2, 5)), rng.normal(size=5)

    def rates(a):
        row = J[0] + 0.4 * (a - 0.5) * other
        task = TaskRate(np.vstack([J, row / np.linalg.norm(row) * 0.5]), [1.0, -0.5, 0.7])
        return full_decomposition_rates(task, threshold=0.1, damping=0.1)

    assert rates(0.49).order == rates(0.51).order == (0, 1, 2)
    assert rates(0.5).order == (0, 1)  # implied by the others
    assert_no_jump(lambda a: rates(a).rates, 801)
    assert np.abs([rates(a).rates for a in np.linspace(0, 1, 201)]).max() < 20.0


def test_activations_must_be_shares(rng):
    first, second = pair(rng)
    with pytest.raises(ShapeError, match="between 0 and 1"):
        intermediate_value_rates(first, second, (1.2, 0.0))
    with pytest.raises(ShapeError):
        scaled_projector_rates([first, second], [1.0])
    with pytest.raises(ShapeError, match="given up"):
        shaped_projector(np.eye(2), 0.2, 0.1)
