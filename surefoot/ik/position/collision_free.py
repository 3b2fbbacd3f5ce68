"""`CollisionFree`: postures that solve tasks but touch something, moved until nothing touches.

Around a posture q₀, the distances of the pairs that are nearest are replaced by their tangents, half-spaces in q:

    d_k(q₀) + ∇d_k (q ⊖ q₀) ≥ margin    ⇔    A_k q ≥ b_k        [ik.collision-free]   Schulman et al. 2014, section IV

Tasks and half-spaces are solved together; then the model reports whether the posture is free, or where it touches now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array as Numbers
from surefoot.codegen import Kernel
from surefoot.collision import CollisionModel
from surefoot.compiler import compile_robot
from surefoot.errors import ShapeError
from surefoot.ik.position.problem import FIRST_ROW, MISS, STEPS, WISH_STEPS, PositionProblem, first_priority
from surefoot.kinematics import configuration_rate
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks import Task

_PAIRS = 8  # that are looked at around a posture
_NEAR = 0.1  # [m]: pairs that are further apart than that do not count
_ROOM = 1e-3  # [m] beyond the margin: tangents are not the distances
_STILL = 2e-3  # [m/rad]: pairs whose distance changes less than that with the joints cannot be helped
_ROUNDS, _STEPS = 8, 8  # tangents anew, and steps with each


@dataclass(frozen=True, eq=False)
class HalfSpaces(Task):
    """A q ≥ b, both given at run time.

    Args:
        nq: Entries of q.
        count: How many half-spaces.
        name: Unique among the tasks.
        priority: See `Task`, and so for weight and gain.
        weight: See `Task`.
        gain: See `Task`.
        below: 0: nothing may be outside.
        above: Infinite: further inside is well.
        activation: See `Task`.
    """

    nq: int
    count: int
    above: float | Numbers = field(default=np.inf, kw_only=True)

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres."""
        return (("m", self.count),)

    def numbers_of(self, target: Any) -> Numbers:
        """A, row by row, and b: (count nq + count,)."""
        nothing = np.concatenate([np.zeros(self.count * self.nq), np.full(self.count, -1.0)])
        return nothing if target is None else self.checked_target(target, nothing.shape)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """How far q is outside: b − A q."""
        return target[-self.count :] - target[: -self.count].reshape(self.count, self.nq) @ q


def half_spaces(robot: Robot, model: CollisionModel, tasks: Sequence[Task]) -> HalfSpaces:
    """Half-spaces to satisfy besides the tasks so that nothing touches."""
    if model.robot.joint_names != robot.joint_names:
        raise ShapeError(f"the collision model belongs to `{model.robot.name}`, not to `{robot.name}`")
    return HalfSpaces(robot.nq, _PAIRS, name="nothing touches", priority=first_priority(tasks))


class CollisionFree:
    """Finds out which solutions touch something, and moves them away.

    Args:
        model: Distances; nearer than its margin counts as touching.
        problem: The tasks, and `HalfSpaces` behind them.
        numbers: The run-time numbers of the half-spaces, behind those of the tasks; A and b come first.
    """

    def __init__(self, model: CollisionModel, problem: PositionProblem, numbers: Numbers) -> None:
        self.model, self.problem, self._numbers = model, problem, numbers

    def settled(self, state: Numbers, parameters: Numbers) -> Numbers:
        """States (n, …) in which solutions touch nothing, or are none any more (MISS is 1).

        Args:
            state: (n, …) states.
            parameters: (n, …) run-time numbers of the tasks.
        """
        solved = np.flatnonzero(state[:, MISS] < 1.0)
        q = state[solved, -self.model.robot.nq :]
        hit = self._touching(q)
        moving, q = solved[hit], q[hit]
        if not len(moving):
            return state
        state = state.copy()
        state[moving, MISS] = 1.0
        for _ in range(_ROUNDS):
            found = self._moved_away(q, parameters[moving])
            q = self.problem.best(found)
            state[moving, STEPS] += found[:, STEPS] - WISH_STEPS
            free = found[:, MISS] < 1.0
            free[free] = ~self._touching(q[free])
            done = moving[free]
            state[done, MISS] = found[free, MISS]
            state[done, FIRST_ROW : -q.shape[1]] = found[free, FIRST_ROW : state.shape[1] - q.shape[1]]
            state[done, -q.shape[1] :] = q[free]
            moving, q = moving[~free], q[~free]
            if not len(moving):
                break
        return state

    def touching(self, q: Numbers) -> tuple[str, str] | None:
        """The two links, or the link and the obstacle, that are nearest at a posture, if that is too near.

        Args:
            q: (nq,) configuration.
        """
        return self.model.nearest(q).links if self.model.in_collision(q) else None

    def _touching(self, q: Numbers) -> NDArray[np.bool_]:
        return np.asarray(self.model.in_collision(q)) if len(q) else np.zeros(0, dtype=bool)

    def _moved_away(self, q: Numbers, parameters: Numbers) -> Numbers:
        """States after some steps inside the tangents at q; what is wanted besides has had its time."""
        rows = np.tile(self._numbers, (len(q), 1))
        rows[:, : self.problem.tasks[-1].target_size] = self._tangents(q)
        state = self.problem.fresh(len(q), before=WISH_STEPS)
        inputs = {"q": q, "parameters": np.hstack([parameters, rows]), "state": state}
        return self.problem.loop.each(inputs, _STEPS, until=1)["state"]

    def _tangents(self, q: Numbers) -> Numbers:
        """A, row by row, and b of the pairs that are nearest at each posture (n, size)."""
        d, gradients = np.full((len(q), _PAIRS), np.inf), np.zeros((len(q), _PAIRS, self.model.robot.nv))
        for k, x in enumerate(q):
            near = self.model.closest(x, 4 * _PAIRS, self.model.margin + _NEAR).at
            helps = np.flatnonzero(np.abs(near.gradient).max(axis=1, initial=0.0) > _STILL)[:_PAIRS]
            d[k, : len(helps)], gradients[k, : len(helps)] = near.distance[helps], near.gradient[helps]
        A = self._rate(np.repeat(q, _PAIRS, axis=0), gradients.reshape(-1, gradients.shape[2]) * self._lengths)
        A = A.reshape(len(q), _PAIRS, q.shape[1])
        b = np.where(np.isfinite(d), self.model.margin + _ROOM - d + np.einsum("nkq,nq->nk", A, q), -1.0)
        return np.hstack([A.reshape(len(q), -1), b])

    @cached_property
    def _rate(self) -> Kernel:
        """dq/dt = Γ v (nq,) of q and v; the columns of Γ are at right angles, so that Γ⁺ = D⁻¹ Γᵀ."""
        return compile_robot(self.model.robot, functions={"rate": configuration_rate}).rate

    @cached_property
    def _lengths(self) -> Numbers:
        """D⁻¹ (nv,): one over the squared lengths of the columns of Γ."""
        robot = self.model.robot
        columns = self._rate(np.tile(robot.home, (robot.nv, 1)), np.eye(robot.nv))
        found: Numbers = 1.0 / np.einsum("ij,ij->i", columns, columns)
        return found
