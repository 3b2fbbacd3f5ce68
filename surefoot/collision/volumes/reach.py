"""How far volumes can move against each other while the joints move a little: bounds that hold whatever the posture.

Seen from the body on which two volumes hang, joint j moves a point by no more than

    |l_j| + r_j |w_j|        [col.travel]   Schwarzer, Saha & Latombe 2005, "Adaptive dynamic collision checking"

with the joint's translation l_j, its angle w_j, and r_j the largest distance that the point can have from the axis: the
offsets of all joints in between, added up. Distances change by no more than the sum over the joints of both branches.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.collision.volumes.motion import VolumeMotion
from surefoot.kinematics.recursion import Body, bodies, dof_rows, joint_subspace
from surefoot.robot import Robot, Tree

_SLIDING = ("prismatic", "helical", "planar", "translation", "free")


class Reach:
    """Lever arms of volumes about the joints that move them."""

    def __init__(self, motion: VolumeMotion) -> None:
        self.robot, self._carried = motion.robot, motion.carried
        tree = self.robot.tree
        self._fixed = np.zeros((len(motion.volumes), tree.n))
        self._beyond = np.zeros((len(motion.volumes), tree.n, tree.n), dtype=bool)
        for k, item in enumerate(motion.volumes):
            self._follow(k, item.body, np.asarray(item.volume.vertices))

    def _follow(self, k: int, body: int, vertices: Array) -> None:
        """Add up the offsets from the body of volume k inwards."""
        tree, parts = self.robot.tree, bodies(self.robot.tree)
        arm, points = 0.0, vertices
        outer: list[int] = []
        while body >= 0:
            self._fixed[k, body] = _from_axis(parts[body], points) + arm
            self._beyond[k, body, outer] = True
            arm += float(np.linalg.norm(points, axis=1).max())
            points = parts[body].p[None]
            outer.append(body)
            body = int(tree.parents[body])

    def of_pairs(self, first: ArrayLike, second: ArrayLike | None, extents: Array) -> tuple[Array, Array]:
        """For each pair and joint: 1 where the joint moves one against the other, and the lever arm there.

        Args:
            first: (P,) volumes.
            second: (P,) volumes, or None for the world.
            extents: (bodies,) how far each joint can have slid [m].

        Returns:
            (P, bodies) each; the second in metres.
        """
        arms = self._fixed + self._beyond @ extents
        a = np.asarray(first, dtype=np.int64)
        moved = self._carried[a]
        if second is None:
            return moved.astype(float), np.where(moved, arms[a], 0.0)
        b = np.asarray(second, dtype=np.int64)
        only_a, only_b = moved & ~self._carried[b], self._carried[b] & ~moved
        return (only_a | only_b).astype(float), np.where(only_a, arms[a], 0.0) + np.where(only_b, arms[b], 0.0)

    def extents(self, ends: Array, linear: Array) -> Array:
        """(bodies,) how far each joint has slid at most in straight motions, [m].

        Args:
            ends: (n, nq) starts and ends of the motions.
            linear: (m, bodies) how far the joints slide in them [m]: where a joint turns as well, it goes an arc.
        """
        tree = self.robot.tree
        out = np.zeros(tree.n)
        for i, body in enumerate(bodies(tree)):
            if body.kind in _SLIDING:
                arc = linear[:, i].max(initial=0.0) if body.kind in ("planar", "free") else 0.0
                out[i] = _slid(tree, i, body, ends) + arc
        return out


def _from_axis(body: Body, points: Array) -> float:
    """The largest distance of points (k, 3) in the body from the axis of its joint, or from its origin."""
    if body.kind in ("revolute", "continuous", "helical"):
        points = points - np.outer(points @ body.axis, body.axis)
    return float(np.linalg.norm(points, axis=1).max())


def _slid(tree: Tree, i: int, body: Body, q: Array) -> float:
    """The largest offset that the joint's own translation gives its body."""
    leader = i if tree.mimic_source[i] < 0 else int(tree.mimic_source[i])
    start = int(tree.q_index[leader])
    if body.kind in ("prismatic", "helical"):
        slide = np.abs(body.offset + body.ratio * q[:, start]).max(initial=0.0)
        return float(slide * (abs(body.pitch) if body.kind == "helical" else 1.0))
    size = 2 if body.kind == "planar" else 3
    return float(np.linalg.norm(q[:, start : start + size], axis=1).max(initial=0.0))


def steps_between(robot: Robot, start: Array, end: Array) -> Array:
    """Δ (n, nv) of the straight motions start ⊕ t Δ, 0 ≤ t ≤ 1, from (n, nq) to (n, nq).

    Args:
        robot: The robot.
        start: (n, nq).
        end: (n, nq).
    """
    steps = [pin.difference(robot.model, a, b) for a, b in zip(start, end, strict=True)]
    return np.array(steps, dtype=float).reshape(len(start), robot.nv)


def joint_travel(robot: Robot, steps: Array) -> tuple[Array, Array]:
    """How far every joint moves along and about itself for steps (n, nv): (n, bodies) [m] and (n, bodies) [rad].

    Args:
        robot: The robot.
        steps: (n, nv) as `steps_between` gives them.
    """
    tree = robot.tree
    linear, angular = np.zeros((len(steps), tree.n)), np.zeros((len(steps), tree.n))
    for i, body in enumerate(bodies(tree)):
        twist = steps[:, dof_rows(tree, i)] @ joint_subspace(body).T
        linear[:, i] = np.linalg.norm(twist[:, :3], axis=1)
        angular[:, i] = np.linalg.norm(twist[:, 3:], axis=1)
    return linear, angular
