"""Arrays and numbers from outside: what is taken, and how the rest is refused."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.arrays import finite_array, increasing_times, number, only_keys, placement_matrix
from surefoot.errors import ShapeError


def test_an_array_is_a_read_only_copy_of_floats() -> None:
    given = np.arange(6).reshape(2, 3)
    out = finite_array(given, (None, 3), "points")
    given[0, 0] = 9
    assert out.dtype == float
    assert out[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        out[0, 0] = 1.0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([[1.0, 2.0]], r"q has shape \(1, 2\), expected \(n,\)"),
        (["a"], "q is not an array of numbers"),
        ([True], "q is not an array of numbers"),
        ([[1.0], [1.0, 2.0]], "q is not an array of numbers"),
        ([1.0, np.nan], "q is not finite"),
        (np.full(1000, np.inf), "q is not finite"),
    ],
)
def test_other_arrays_are_refused(value: object, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        finite_array(value, (None,), "q")


def test_numbers_whose_squares_overflow_are_finite() -> None:
    assert finite_array([1e300], (1,), "q")[0] == 1e300


def test_times_increase() -> None:
    assert increasing_times([0.0, 0.1]).tolist() == [0.0, 0.1]
    with pytest.raises(ShapeError, match="time does not increase") as caught:
        increasing_times([0.0, 0.1, 0.1])
    assert caught.value.evidence == {"samples 1 and 2": [0.1, 0.1]}
    with pytest.raises(ShapeError, match="time is empty"):
        increasing_times([])
    with pytest.raises(ShapeError, match="beyond 1e\\+12 s"):
        increasing_times([-1e308, 0.0, 1e308])


def test_a_placement_is_a_rotation_and_a_position() -> None:
    T = np.eye(4)
    T[:3, 3] = 1.0, 2.0, 3.0
    assert placement_matrix(T, "T").tolist() == T.tolist()
    for wrong in (2.0 * np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0]), np.ones((4, 4))):
        with pytest.raises(ShapeError, match="T is not a placement"):
            placement_matrix(wrong, "T")


def test_a_number_is_finite_and_not_negative() -> None:
    assert number(np.float32(0.5), "mass") == 0.5
    assert number(0, "mass") == 0.0
    for wrong in (True, "1", None, -1.0, np.inf, 10**400):
        with pytest.raises(ShapeError, match="mass is"):
            number(wrong, "mass")
    with pytest.raises(ShapeError, match="> 0"):
        number(0.0, "mass", positive=True)


def test_keys_are_those_that_are_known() -> None:
    only_keys({"a": 1}, ("a", "b"), "the table", required=("a",))
    with pytest.raises(ShapeError, match="the table has wrong keys") as caught:
        only_keys({"c": 1}, ("a", "b"), "the table", required=("a",))
    assert caught.value.evidence == {"unknown": ["c"], "missing": ["a"]}
    with pytest.raises(ShapeError, match="expected keys and values"):
        only_keys([], (), "the table")  # type: ignore[arg-type]
