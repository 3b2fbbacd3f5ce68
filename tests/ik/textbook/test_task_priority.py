import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.ik.textbook.task_priority import TaskRate, task_priority_rates

SCHEMES = ("product", "stacked")


def tasks_of(rng, sizes, n):
    return [TaskRate(rng.normal(size=(m, n)), rng.normal(size=m)) for m in sizes]


def lexicographic(tasks, n):
    """Independent: least squares level by level on null-space bases."""
    x, basis = np.zeros(n), np.eye(n)
    for J, rate in tasks:
        A = J @ basis
        x = x + basis @ np.linalg.lstsq(A, rate - J @ x, rcond=1e-9)[0]
        basis = basis @ null_space(A, rcond=1e-9)
    return x


@pytest.mark.parametrize("scheme", SCHEMES)
@given(seed=st.integers(0, 2**32 - 1))
def test_full_rank_is_the_pseudoinverse_of_the_stack(scheme, seed):
    tasks = tasks_of(np.random.default_rng(seed), (2, 1, 3), 9)
    J, rate = np.vstack([t.J for t in tasks]), np.concatenate([t.rate for t in tasks])
    expected = np.linalg.pinv(J) @ rate
    scale = 1.0 + np.linalg.norm(np.linalg.pinv(J)) ** 2
    assert_allclose(task_priority_rates(tasks, scheme=scheme), expected, atol=1e-10 * scale)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(seed=st.integers(0, 2**32 - 1))
def test_conflicts_redundant_and_deficient_tasks_in_lexicographic_order(scheme, seed):
    rng = np.random.default_rng(seed)
    tasks = tasks_of(rng, (2, 2, 2, 3), 6)
    tasks[1] = TaskRate(np.vstack([tasks[0].J[0], tasks[1].J[0]]), tasks[1].rate)  # contradicts the first
    tasks[2] = TaskRate(np.vstack([tasks[2].J[0], 2.0 * tasks[2].J[0]]), tasks[2].rate)  # rank 1, and inconsistent
    found = task_priority_rates(tasks, scheme=scheme)
    expected = lexicographic(tasks, 6)
    scale = 1.0 + np.abs(expected).max() ** 2
    assert_allclose(found, expected, atol=1e-6 * scale)
    residuals = [np.linalg.norm(J @ found - rate) for J, rate in tasks]
    assert residuals[0] < 1e-9 * scale


def test_both_schemes_agree_where_one_alone_is_singular(rng):
    tasks = tasks_of(rng, (3, 3, 2), 7)
    tasks[1] = TaskRate(np.vstack([tasks[0].J[:2] + tasks[0].J[1:], tasks[1].J[0]]), tasks[1].rate)
    rest = rng.normal(size=7)
    first, second = (task_priority_rates(tasks, rest, scheme=scheme) for scheme in SCHEMES)
    assert_allclose(first, second, atol=1e-10)


def test_the_printed_scheme_b_would_lose_its_own_task(rng):
    """(2.52) prints N of C_k inside J̄_k: J_k N(C_k) = 0, so that no task but the first could move anything."""
    J1, J2 = rng.normal(size=(2, 5)), rng.normal(size=(1, 5))
    stacked = np.vstack([J1, J2])
    printed = np.eye(5) - np.linalg.pinv(stacked) @ stacked
    assert_allclose(J2 @ printed, 0.0, atol=1e-12)
    found = task_priority_rates([TaskRate(J1, [0.0, 0.0]), TaskRate(J2, [1.0])], scheme="stacked")
    assert_allclose(J2 @ found, 1.0, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rest_moves_in_the_null_space_of_all(rng, scheme):
    tasks, rest = tasks_of(rng, (2, 2), 6), rng.normal(size=6)
    with_rest, without = task_priority_rates(tasks, rest, scheme), task_priority_rates(tasks, scheme=scheme)
    for J, _ in tasks:
        assert_allclose(J @ (with_rest - without), 0.0, atol=1e-12)
    J = np.vstack([t.J for t in tasks])
    assert_allclose(with_rest - without, rest - np.linalg.pinv(J) @ J @ rest, atol=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_algorithmic_singularity_is_damped_and_higher_tasks_do_not_feel_it(rng, scheme):
    first, other = TaskRate(rng.normal(size=(2, 5)), rng.normal(size=2)), rng.normal(size=5)
    third = TaskRate(rng.normal(size=(1, 5)), [0.4])
    previous = None
    for angle in np.linspace(-0.02, 0.02, 401):  # the second task turns through the rows of the first
        second = TaskRate((first.J[0] + angle * other)[None], [2.0])
        exact = task_priority_rates([first, second, third], scheme=scheme)
        damped = task_priority_rates([first, second, third], scheme=scheme, threshold=0.1, damping=0.1)
        assert_allclose(first.J @ damped, first.rate, atol=1e-9)
        assert np.linalg.norm(damped) < 30.0
        two = task_priority_rates([first, second], scheme=scheme, threshold=0.1, damping=0.1)
        if previous is not None:
            assert np.linalg.norm(two - previous) < 0.1
        previous = two
        if abs(angle) == pytest.approx(1e-4):
            assert np.linalg.norm(exact) > 1e3


def test_wrong_input_is_refused(rng):
    with pytest.raises(ShapeError, match="no task"):
        task_priority_rates([])
    with pytest.raises(ShapeError, match="rate of task 1"):
        task_priority_rates([TaskRate(np.eye(2), [0.0, 0.0]), TaskRate(np.eye(2), [0.0])])
    with pytest.raises(UnknownNameError):
        task_priority_rates(tasks_of(rng, (1,), 2), scheme="productt")
