"""Answers are compared before they are timed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.benchmarks.cases import Case, as_arrays
from surefoot.benchmarks.states import States
from surefoot.errors import SurefootError
from surefoot.robot import Robot

__all__ = ["WrongAnswerError", "expected_answers", "normwise_errors", "require_right", "tolerances"]

Array = NDArray[Any]
_TOLERANCE = {64: 1e-12, 32: 1e-4}
_ROUNDINGS = 20.0


class WrongAnswerError(SurefootError):
    """A kernel computes something else than Pinocchio: it is not timed."""

    exit_code = 1


def expected_answers(case: Case, robot: Robot, frames: Sequence[str], states: States) -> list[Array]:
    """Pinocchio's results (n, …), in the order of the kernel's.

    Args:
        case: What is computed.
        robot: The robot.
        frames: End frames.
        states: n states.
    """
    call = case.reference(robot, frames)
    rows = [as_arrays(call(*state)) for state in zip(*states.of(case.inputs), strict=True)]
    return [np.array(column) for column in zip(*rows, strict=True)]


def tolerances(case: Case, robot: Robot, states: States, bits: int) -> Array:
    """Normwise tolerance (n,): 1e-12 (float32: 1e-4), or 20 ε cond(M) if M is inverted and that is more.

    Args:
        case: What is computed.
        robot: The robot.
        states: n states.
        bits: 64 or 32.
    """
    least = np.full(len(states), _TOLERANCE[bits])
    if not case.inverts:
        return least
    data = robot.model.createData()
    M = np.array([pin.crba(robot.model, data, q) for q in states.q])
    unit = float(np.finfo(f"f{bits // 8}").eps)
    return np.maximum(least, _ROUNDINGS * unit * np.linalg.cond(M))


def normwise_errors(found: Sequence[Array], expected: Sequence[Array]) -> Array:
    """max|x − y| / max(1, max|y|) of each state, the largest of all outputs: (n,).

    Args:
        found: Outputs (n, …).
        expected: Outputs (n, …).
    """
    each = []
    for x, y in zip(found, expected, strict=True):
        rows = y.reshape(len(y), -1)
        difference = np.abs(np.asarray(x, dtype=float).reshape(rows.shape) - rows).max(axis=1, initial=0.0)
        each.append(difference / np.maximum(1.0, np.abs(rows).max(axis=1, initial=0.0)))
    worst: Array = np.where(np.isfinite(each), each, np.inf).max(axis=0)
    return worst


def require_right(what: str, found: Sequence[Array], expected: Sequence[Array], tolerance: Array) -> float:
    """The largest error; refuse answers that are beyond the tolerance.

    Args:
        what: Robot, case and way, for people.
        found: Outputs (n, …).
        expected: Outputs (n, …).
        tolerance: (n,).

    Raises:
        WrongAnswerError: Some answer is wrong.
    """
    errors = normwise_errors(found, expected)
    wrong = np.flatnonzero(errors > tolerance)
    if len(wrong):
        worst = int(wrong[np.argmax(errors[wrong] / tolerance[wrong])])
        raise WrongAnswerError(
            f"{what}: the answer differs from Pinocchio's, so it is not timed",
            evidence={
                "wrong states": f"{len(wrong)} of {len(errors)}",
                "worst": f"state {worst}, error {errors[worst]:.2e}, tolerance {tolerance[worst]:.2e}",
            },
            next_step="report it with the robot and the seed",
        )
    return float(errors.max())
