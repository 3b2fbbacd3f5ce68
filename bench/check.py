"""States of a robot, and the comparison of answers before they are timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.robot import Robot

__all__ = ["States", "WrongAnswerError", "end_frames", "normwise_errors", "random_states", "require_right"]

Array = NDArray[Any]


class WrongAnswerError(SurefootError):
    """An answer differs from the reference: it is not timed."""

    exit_code = 1


def normwise_errors(found: Sequence[Array], expected: Sequence[Array]) -> Array:
    """max|x − y| / max(1, max|y|) of each state, the largest over all outputs (n, …): (n,)."""
    each = []
    for x, y in zip(found, expected, strict=True):
        rows = y.reshape(len(y), -1)
        difference = np.abs(np.asarray(x, dtype=float).reshape(rows.shape) - rows).max(axis=1, initial=0.0)
        each.append(difference / np.maximum(1.0, np.abs(rows).max(axis=1, initial=0.0)))
    worst: Array = np.where(np.isfinite(each), each, np.inf).max(axis=0)
    return worst


def require_right(what: str, found: Sequence[Array], expected: Sequence[Array], tolerance: Array | float) -> float:
    """The largest error of outputs (n, …); refuse those beyond the tolerance, (n,) or one for all.

    Raises:
        WrongAnswerError: Some answer is wrong.
    """
    errors = normwise_errors(found, expected)
    limits = np.broadcast_to(tolerance, errors.shape)
    wrong = np.flatnonzero(errors > limits)
    if len(wrong):
        worst = int(wrong[np.argmax(errors[wrong] / limits[wrong])])
        raise WrongAnswerError(
            f"{what}: the answer differs from Pinocchio's, so it is not timed",
            evidence={
                "wrong states": f"{len(wrong)} of {len(errors)}",
                "worst": f"state {worst}, error {errors[worst]:.2e}, tolerance {limits[worst]:.2e}",
            },
            next_step="report it with the robot and the seed",
        )
    return float(errors.max())


@dataclass(frozen=True, eq=False)
class States:
    """States of a robot, one a row: configurations, velocities, accelerations and joint forces."""

    q: Array
    v: Array
    a: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.q)

    def of(self, names: Sequence[str]) -> tuple[Array, ...]:
        """The arrays of these names."""
        return tuple(getattr(self, name) for name in names)


def random_states(robot: Robot, n: int, rng: np.random.Generator) -> States:
    """States up to 1.5 rad (or m) from the neutral configuration in every coordinate."""
    steps = rng.uniform(-1.5, 1.5, (n, robot.nv))
    q = np.array([pin.integrate(robot.model, np.array(robot.neutral), step) for step in steps])
    v, a, tau = rng.standard_normal((3, n, robot.nv))
    return States(q.reshape(n, robot.nq), v, a, tau)


def end_frames(robot: Robot, count: int = 4) -> tuple[str, ...]:
    """Links at the ends of the limbs, one limb after the other, longest first; fewer if there are fewer bodies.

    A limb has as many bodies as no limb before it has. Of the links that are fixed to its last body, the farthest from
    the joint is taken.
    """
    tree = robot.tree
    paths: list[frozenset[int]] = []
    for i, parent in enumerate(tree.parents):
        paths.append(frozenset({i}) | (paths[parent] if parent >= 0 else frozenset()))
    covered: set[int] = set()
    ends: list[int] = []
    for _ in range(min(count, tree.n)):
        left = [i for i in range(tree.n) if i not in ends]
        ends.append(max(left, key=lambda i: (len(paths[i] - covered), i)))
        covered |= paths[ends[-1]]

    def distance(name: str) -> float:
        return float(np.linalg.norm(robot.model.frames[robot.frame_id(name)].placement.translation))

    return tuple(max((x for x in robot.link_names if robot.body_of(x) == i), key=distance) for i in ends)
