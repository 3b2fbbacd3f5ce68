"""Random states of a robot, and frames at the ends of its limbs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["States", "end_frames", "random_states"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class States:
    """States of a robot, one a row.

    Args:
        q: (n, nq) configurations.
        v: (n, nv) velocities.
        a: (n, nv) accelerations.
        tau: (n, nv) joint forces.
    """

    q: Array
    v: Array
    a: Array
    tau: Array

    def __len__(self) -> int:
        return len(self.q)

    def of(self, names: tuple[str, ...]) -> tuple[Array, ...]:
        """The arrays of these names.

        Args:
            names: Of q, v, a, tau.
        """
        return tuple(getattr(self, name) for name in names)


def random_states(robot: Robot, n: int, rng: np.random.Generator) -> States:
    """States up to 1.5 rad (or m) from the neutral configuration in every coordinate.

    Args:
        robot: The robot.
        n: How many.
        rng: Source of randomness.
    """
    steps = rng.uniform(-1.5, 1.5, (n, robot.nv))
    q = np.array([pin.integrate(robot.model, np.array(robot.neutral), step) for step in steps])
    v, a, tau = rng.standard_normal((3, n, robot.nv))
    return States(q.reshape(n, robot.nq), v, a, tau)


def end_frames(robot: Robot, count: int = 4) -> tuple[str, ...]:
    """Links at the ends of the limbs, one limb after the other, longest first; fewer if there are fewer bodies.

    A limb is as many bodies as no limb before has. Of the links that are fixed to its last body the farthest from the
    joint is taken.

    Args:
        robot: The robot.
        count: How many.
    """
    tree = robot.tree
    paths = [_path(tree.parents, i) for i in range(tree.n)]
    covered: set[int] = set()
    ends: list[int] = []
    for _ in range(min(count, tree.n)):
        left = [i for i in range(tree.n) if i not in ends]
        ends.append(max(left, key=lambda i: (len(paths[i] - covered), i)))
        covered |= paths[ends[-1]]
    return tuple(_farthest_link(robot, i) for i in ends)


def _path(parents: NDArray[np.int64], i: int) -> frozenset[int]:
    """A body and all that carry it."""
    found = []
    while i >= 0:
        found.append(i)
        i = int(parents[i])
    return frozenset(found)


def _farthest_link(robot: Robot, body: int) -> str:
    fixed = [name for name in robot.link_names if robot.body_of(name) == body]
    frames = robot.model.frames

    def distance(name: str) -> float:
        return float(np.linalg.norm(frames[robot.frame_id(name)].placement.translation))

    return max(fixed, key=distance)
