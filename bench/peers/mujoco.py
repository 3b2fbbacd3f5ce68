"""The same by MuJoCo: the functions that an expert would call for it, and nothing more.

MuJoCo keeps a state in its data: copying it there is part of each call. It has no derivatives but by finite
differences, and no articulated bodies: its forward dynamics is the mass matrix and its factors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from bench.check import States
from bench.peers.coordinates import PeerCoordinates
from bench.timing import Effort, Times, measure
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot
from surefoot.sim import build_mujoco

__all__ = ["MujocoPeer"]

Array = NDArray[Any]
_CASES = {
    "rnea": ("kinematics comPos comVel", "mj_rne"),
    "aba": ("kinematics comPos makeM factorM comVel", "mj_rne, mj_solveM"),
    "crba": ("kinematics comPos makeM", "mj_fullM"),
    "frames": ("kinematics comPos", "of each body with a frame: mj_jacBody"),
    "controller": (
        "kinematics comPos makeM comVel",
        "mj_fullM, mj_rne, mj_jacSubtreeCom; of each body with a frame: mj_jacBody, mj_jacDot",
    ),
}


class MujocoPeer:
    """MuJoCo's model of a robot and states in its layout; frames are those of the bodies that carry the given ones.

    Raises:
        NotSupportedError: MuJoCo takes the robot only with other masses or fewer joints.
    """

    name, all_cores = "mujoco", False
    calls = {case: ", ".join([*(f"mj_{x}" for x in first.split()), last]) for case, (first, last) in _CASES.items()}

    def __init__(self, robot: Robot, frames: Sequence[str], states: States) -> None:
        model = build_mujoco(robot)
        if model.lifted or model.locked:
            raise NotSupportedError("MuJoCo takes this robot only with other masses or fewer joints")
        self.at = PeerCoordinates(robot, "mujoco", states)
        self.frames = [robot.tree.body_names[robot.body_of(name)] for name in frames]
        self.mj, self.bodies = model.mj, [model.body_ids[name] for name in self.frames]
        self.armature = np.array(model.mj.dof_armature)

    def _states(self, case: str) -> list[tuple[Array, ...]]:
        last = {"rnea": [self.at.accelerations], "aba": [self.at.forces]}.get(case, [])
        return list(zip(self.at.positions, self.at.velocities, *last, strict=True))

    def answers(self, case: str, count: int) -> Array:
        """Results of the first states in Pinocchio's coordinates: forces, accelerations, M, or Jacobians."""
        call = self._prepare(case)
        found = np.array([np.array(call(*state)) for state in self._states(case)[:count]])
        if case == "rnea":
            found = found + self.armature * self.at.accelerations[:count]
        return self.at.back(case, found)

    def times(self, case: str, effort: Effort) -> Times:
        """Times for one state."""
        call, states = self._prepare(case), self._states(case)
        return measure(lambda: deque(starmap(call, states), maxlen=0), len(states), effort)

    def _prepare(self, case: str) -> Callable[..., Array]:
        """A function of one state."""
        data = mujoco.MjData(self.mj)
        m, d, qpos, qvel, qacc = self.mj, data, data.qpos, data.qvel, data.qacc
        first = [getattr(mujoco, f"mj_{name}") for name in _CASES[case][0].split()]
        finish: Callable[..., Array] = getattr(self, f"_{case}")(data)
        if case in ("crba", "frames"):

            def still(q: Array, v: Array) -> Array:
                qpos[:] = q
                for function in first:
                    function(m, d)
                return finish()

            return still

        def moving(q: Array, v: Array, *last: Array) -> Array:
            qpos[:], qvel[:] = q, v
            if case == "rnea":
                (qacc[:],) = last
            for function in first:
                function(m, d)
            return finish(v, *last)

        return moving

    def _rnea(self, d: Any) -> Callable[..., Array]:
        m, force = self.mj, np.zeros(self.mj.nv)

        def finish(v: Array, a: Array) -> Array:
            mujoco.mj_rne(m, d, 1, force)
            return force

        return finish

    def _aba(self, d: Any) -> Callable[..., Array]:
        m, force, (right, solved) = self.mj, np.zeros(self.mj.nv), np.zeros((2, 1, self.mj.nv))

        def finish(v: Array, tau: Array) -> Array:
            mujoco.mj_rne(m, d, 0, force)
            np.subtract(tau, force, out=right[0])
            mujoco.mj_solveM(m, d, solved, right)
            return solved[0]

        return finish

    def _crba(self, d: Any) -> Callable[..., Array]:
        m, mass = self.mj, np.zeros((self.mj.nv, self.mj.nv))

        def finish() -> Array:
            mujoco.mj_fullM(m, d, mass)
            return mass

        return finish

    def _frames(self, d: Any) -> Callable[..., Array]:
        m, J = self.mj, np.zeros((len(self.bodies), 6, self.mj.nv))
        rows = [(J[k, :3], J[k, 3:], body) for k, body in enumerate(self.bodies)]

        def finish() -> Array:
            for linear, angular, body in rows:
                mujoco.mj_jacBody(m, d, linear, angular, body)
            return J

        return finish

    def _controller(self, d: Any) -> Callable[..., Array]:
        m, nv = self.mj, self.mj.nv
        force, mass, com, bias = np.zeros(nv), np.zeros((nv, nv)), np.zeros((3, nv)), np.zeros((len(self.bodies), 6))
        linear, angular = np.zeros((2, 3, nv))
        rate = np.zeros((6, nv))
        linear_rate, angular_rate = rate[:3], rate[3:]

        def finish(v: Array) -> Array:
            mujoco.mj_fullM(m, d, mass)
            mujoco.mj_rne(m, d, 0, force)
            mujoco.mj_jacSubtreeCom(m, d, com, 0)
            for k, body in enumerate(self.bodies):
                mujoco.mj_jacBody(m, d, linear, angular, body)
                mujoco.mj_jacDot(m, d, linear_rate, angular_rate, d.xpos[body], body)
                np.dot(rate, v, out=bias[k])
            return bias

        return finish
