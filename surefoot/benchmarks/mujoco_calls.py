"""The same by MuJoCo: the functions that an expert would call for it, and nothing more.

MuJoCo keeps a state in its data: copying it there is part of each call. It has no derivatives but by finite
differences, and no articulated bodies: its forward dynamics is the mass matrix and its factors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import starmap
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks.peer_coordinates import PeerCoordinates
from surefoot.benchmarks.states import States
from surefoot.benchmarks.timing import Effort, Times, measure
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot
from surefoot.sim import build_mujoco

__all__ = ["MujocoPeer"]

Array = NDArray[Any]
_CALLS = {
    "rnea": "mj_kinematics, mj_comPos, mj_comVel, mj_rne",
    "aba": "mj_kinematics, mj_comPos, mj_makeM, mj_factorM, mj_comVel, mj_rne, mj_solveM",
    "crba": "mj_kinematics, mj_comPos, mj_makeM, mj_fullM",
    "frames": "mj_kinematics, mj_comPos; of each body with a frame: mj_jacBody",
    "controller": "mj_kinematics, mj_comPos, mj_makeM, mj_fullM, mj_comVel, mj_rne, mj_jacSubtreeCom; of each body "
    "with a frame: mj_jacBody, mj_jacDot",
}


def _space(model: Any, bodies: Sequence[int]) -> SimpleNamespace:
    """Model, data and arrays for results."""
    nv, k = model.nv, len(bodies)
    shapes = {
        "force": (nv,), "right": (1, nv), "solved": (1, nv), "mass": (nv, nv), "J": (k, 6, nv), "rate": (6, nv),
        "bias": (k, 6), "com": (3, nv),
    }  # fmt: skip
    arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
    return SimpleNamespace(model=model, data=mujoco.MjData(model), bodies=bodies, **arrays)


class MujocoPeer:
    """MuJoCo's model of a robot and the states in its layout.

    Args:
        robot: The robot.
        frames: End frames; what is computed is of the bodies that carry them.
        states: n states.

    Raises:
        NotSupportedError: MuJoCo takes the robot only with other masses or fewer joints.
    """

    name = "mujoco"
    calls = _CALLS
    all_cores = False

    def __init__(self, robot: Robot, frames: Sequence[str], states: States) -> None:
        model = build_mujoco(robot)
        if model.lifted or model.locked:
            raise NotSupportedError("MuJoCo takes this robot only with other masses or fewer joints")
        self.at = PeerCoordinates(robot, "mujoco", states)
        self.frames = [robot.tree.body_names[robot.body_of(name)] for name in frames]
        self.space = _space(model.mj, [model.body_ids[name] for name in self.frames])
        self.armature = np.array(model.mj.dof_armature)

    def _states(self, case: str) -> list[tuple[Array, ...]]:
        last = {"rnea": [self.at.accelerations], "aba": [self.at.forces]}.get(case, [])
        return list(zip(self.at.positions, self.at.velocities, *last, strict=True))

    def answers(self, case: str, count: int) -> Array:
        """As `Peer.answers`."""
        call = _PREPARE[case](self.space)
        found = np.array([np.array(call(*state)) for state in self._states(case)[:count]])
        if case == "rnea":
            found = found + self.armature * self.at.accelerations[:count]
        return self.at.back(case, found)

    def times(self, case: str, effort: Effort) -> Times:
        """As `Peer.times`."""
        call, states = _PREPARE[case](self.space), self._states(case)
        return measure(lambda: deque(starmap(call, states), maxlen=0), len(states), effort)


def _inverse(space: SimpleNamespace) -> Callable[..., Array]:
    m, d, force = space.model, space.data, space.force
    qpos, qvel, qacc = d.qpos, d.qvel, d.qacc

    def call(q: Array, v: Array, a: Array) -> Array:
        qpos[:], qvel[:], qacc[:] = q, v, a
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_comVel(m, d)
        mujoco.mj_rne(m, d, 1, force)
        return force

    return call


def _forward(space: SimpleNamespace) -> Callable[..., Array]:
    m, d, force, right, solved = space.model, space.data, space.force, space.right, space.solved
    qpos, qvel = d.qpos, d.qvel

    def call(q: Array, v: Array, tau: Array) -> Array:
        qpos[:], qvel[:] = q, v
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_makeM(m, d)
        mujoco.mj_factorM(m, d)
        mujoco.mj_comVel(m, d)
        mujoco.mj_rne(m, d, 0, force)
        np.subtract(tau, force, out=right[0])
        mujoco.mj_solveM(m, d, solved, right)
        return solved[0]

    return call


def _mass(space: SimpleNamespace) -> Callable[..., Array]:
    m, d, mass, qpos = space.model, space.data, space.mass, space.data.qpos

    def call(q: Array, v: Array) -> Array:
        qpos[:] = q
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_makeM(m, d)
        mujoco.mj_fullM(m, d, mass)
        return mass

    return call


def _frames(space: SimpleNamespace) -> Callable[..., Array]:
    m, d, J, qpos = space.model, space.data, space.J, space.data.qpos
    rows = [(J[k, :3], J[k, 3:], body) for k, body in enumerate(space.bodies)]

    def call(q: Array, v: Array) -> Array:
        qpos[:] = q
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        for linear, angular, body in rows:
            mujoco.mj_jacBody(m, d, linear, angular, body)
        return J

    return call


def _controller(space: SimpleNamespace) -> Callable[..., Array]:
    m, d, rate, bias, qpos, qvel = space.model, space.data, space.rate, space.bias, space.data.qpos, space.data.qvel
    rows = [(space.J[k, :3], space.J[k, 3:], body) for k, body in enumerate(space.bodies)]
    linear_rate, angular_rate = rate[:3], rate[3:]

    def call(q: Array, v: Array) -> Array:
        qpos[:], qvel[:] = q, v
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_makeM(m, d)
        mujoco.mj_fullM(m, d, space.mass)
        mujoco.mj_comVel(m, d)
        mujoco.mj_rne(m, d, 0, space.force)
        mujoco.mj_jacSubtreeCom(m, d, space.com, 0)
        for k, (linear, angular, body) in enumerate(rows):
            mujoco.mj_jacBody(m, d, linear, angular, body)
            mujoco.mj_jacDot(m, d, linear_rate, angular_rate, d.xpos[body], body)
            np.dot(rate, v, out=bias[k])
        return bias

    return call


_PREPARE: dict[str, Callable[[SimpleNamespace], Callable[..., Array]]] = {
    "rnea": _inverse, "aba": _forward, "crba": _mass, "frames": _frames, "controller": _controller,
}  # fmt: skip
