"""States between Pinocchio's layout and a MuJoCo model: `motion.exchange`, less the joints that are locked here."""

from __future__ import annotations

from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.motion.exchange_blocks import Block, decode, encode, layout_blocks
from surefoot.robot import Coupling
from surefoot.sim.mujoco_model import MujocoModel
from surefoot.spatial import quaternion

__all__ = ["StateMap", "q_v", "qpos_qvel"]

Indices = NDArray[np.int64]
_TURN = 2.0 * np.pi
_MOST_TURNS = 32  # of a leader, either way
_ROUNDING = 1e-9  # [rad] or [m]
_CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
_SAME_NUMBERS = ("revolute", "prismatic", "translation", "spherical", "free")
"""Joints whose q is that of MuJoCo, quaternions in another order."""


class StateMap:
    """Which entries of a robot go where. What takes no arithmetic goes by index, the rest by `motion.exchange`.

    Args:
        model: The robot in MuJoCo.
    """

    def __init__(self, model: MujocoModel) -> None:
        self.model = model
        self._home, self._nv = np.array(model.robot.home), model.robot.nv
        self.blocks = [b for b in layout_blocks(model.robot, "mujoco") if model.qpos_index[b.joint] >= 0]
        own = [b for b in self.blocks if not b.is_follower]
        direct = [b for b in own if self._kind(b) in _SAME_NUMBERS and b.placement is None]
        turning = [b for b in own if self._kind(b) == "continuous"]
        self._others = [b for b in own if b not in direct and b not in turning]
        self._q, self._qpos = _pairs([(self._q_rows(b), self.places(b)[0]) for b in direct])
        self._turn_q, self._turn_qpos = _pairs([(b.q.start + np.arange(1), self.places(b)[0]) for b in turning])
        self._v, self._qvel = _pairs([(np.r_[b.v], self.places(b)[1]) for b in own])
        self._floating = [(b.v.start, *self._starts(b)) for b in own if self._kind(b) == "free"]
        self._planar = [(b.v.start, *self._starts(b)) for b in own if self._kind(b) == "planar"]

    def _kind(self, block: Block) -> str:
        return self.model.robot.tree.kinds[block.joint]

    def _starts(self, block: Block) -> tuple[int, int]:
        position, velocity = self.places(block)
        return int(position.start), int(velocity.start)

    def _q_rows(self, block: Block) -> Indices:
        """Entries of q in the order of MuJoCo's."""
        rows = np.r_[block.q]
        if self._kind(block) in ("free", "spherical"):
            rows[-4:] = quaternion.to_wxyz(rows[-4:])
        return rows

    def places(self, block: Block) -> tuple[slice, slice]:
        """Entries of a joint among those of the robot in qpos and qvel."""
        start = int(self.model.qpos_index[block.joint]) - self.model.qpos.start
        begin = int(self.model.qvel_index[block.joint]) - self.model.qvel.start
        return slice(start, start + len(block.format.position)), slice(begin, begin + len(block.format.velocity))

    def q_v(self, qpos: Array, qvel: Array) -> tuple[Array, Array]:
        """As the function `q_v`; float arrays only."""
        q, v = self._home.copy(), np.zeros(self._nv)
        q[self._q], v[self._v] = qpos[self._qpos], qvel[self._qvel]
        for at_v, at_qpos, at_qvel in self._floating:
            back = qpos[at_qpos + 3 : at_qpos + 7] * _CONJUGATE
            mujoco.mju_rotVecQuat(v[at_v : at_v + 3], qvel[at_qvel : at_qvel + 3], back)
        if len(self._turn_q):
            angle = qpos[self._turn_qpos]
            q[self._turn_q], q[self._turn_q + 1] = np.cos(angle), np.sin(angle)
        if self._others:
            self._decode_others(qpos, qvel, q, v)
        return q, v

    def _decode_others(self, qpos: Array, qvel: Array, q: Array, v: Array) -> None:
        places = [self.places(block) for block in self._others]
        found = decode(self.model.robot, self._others, [(qpos[None, a], qvel[None, b]) for a, b in places])
        for block in self._others:
            q[block.q] = found[0][0, block.q]
            if found[1] is not None:
                v[block.v] = found[1][0, block.v]

    def acceleration(self, qpos: Array, qvel: Array, qacc: Array) -> Array:
        """dv/dt (nv,) from MuJoCo's numbers of the robot; locked joints do not accelerate.

        MuJoCo has velocities ẋ of free and planar joints in world axes, v has Rᵀ ẋ: dv/dt = Rᵀ ẍ − ω × Rᵀ ẋ.

        Args:
            qpos: (nq,) of the model.
            qvel: (nv,) of the model.
            qacc: (nv,) of the model.
        """
        out = np.zeros(self._nv)
        out[self._v] = qacc[self._qvel]
        for at_v, at_qpos, at_qvel in self._floating:
            back, turning, speed = qpos[at_qpos + 3 : at_qpos + 7] * _CONJUGATE, np.zeros(3), np.zeros(3)
            mujoco.mju_rotVecQuat(speed, qvel[at_qvel : at_qvel + 3], back)
            mujoco.mju_rotVecQuat(out[at_v : at_v + 3], qacc[at_qvel : at_qvel + 3], back)
            mujoco.mju_cross(turning, qvel[at_qvel + 3 : at_qvel + 6], speed)
            out[at_v : at_v + 3] -= turning
        for at_v, at_qpos, at_qvel in self._planar:
            c, s = np.cos(qpos[at_qpos + 2]), np.sin(qpos[at_qpos + 2])
            back, rate = np.array([[c, s], [-s, c]]), qvel[at_qvel + 2]
            x, y = back @ qvel[at_qvel : at_qvel + 2]
            out[at_v : at_v + 2] = back @ qacc[at_qvel : at_qvel + 2] - rate * np.array([-y, x])
        return out


def _pairs(items: list[tuple[Indices, slice]]) -> tuple[Indices, Indices]:
    """Two lists of indices of equal length."""
    nothing = np.zeros(0, dtype=np.int64)
    first = [np.asarray(rows, dtype=np.int64) for rows, _ in items]
    second = [np.r_[place] for _, place in items]
    return np.concatenate([nothing, *first]), np.concatenate([nothing, *second])


@lru_cache(maxsize=16)
def _map_of(model: MujocoModel) -> StateMap:
    return StateMap(model)


def qpos_qvel(model: MujocoModel, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """MuJoCo's qpos and qvel of the robot; what q and v say of locked joints is dropped.

    q does not count the turns of continuous joints; those of coupled ones are chosen so that the coupling holds.

    Args:
        model: The MuJoCo model.
        q: (nq,) Pinocchio's.
        v: (nv,) Pinocchio's.
    """
    layout, q, v = _map_of(model), np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    qpos, qvel = np.zeros(model.nq), np.zeros(model.nv)
    for block, (position, velocity) in zip(layout.blocks, encode(layout.blocks, q[None], v[None]), strict=True):
        at_q, at_v = layout.places(block)
        qpos[at_q] = position[0]
        if velocity is not None:
            qvel[at_v] = velocity[0]
    _count_turns(model, qpos)
    return qpos, qvel


def _count_turns(model: MujocoModel, qpos: Array) -> None:
    """Add full turns to coupled continuous joints: the leader's that fit its followers, then those next to the leader.

    Of several numbers of turns of a leader that fit its followers equally well the smallest is taken.
    """
    index = model.robot.joint_index
    names = {name: int(model.qpos_index[index(name)]) for c in model.robot.couplings for name in (c.joint, c.source)}
    places = {name: place - model.qpos.start if place >= 0 else -1 for name, place in names.items()}
    turning = {n for n in places if model.robot.tree.kinds[index(n)] == "continuous"}
    moving = [c for c in model.robot.couplings if places[c.joint] >= 0 and places[c.source] >= 0]
    for leader in dict.fromkeys(c.source for c in moving):
        group = [c for c in moving if c.source == leader]
        if leader in turning:
            qpos[places[leader]] += _leader_turns(qpos, places, group, turning)
        for item in (c for c in group if c.joint in turning):
            missing = item.offset + item.ratio * qpos[places[leader]] - qpos[places[item.joint]]
            qpos[places[item.joint]] += _TURN * round(missing / _TURN)


def _leader_turns(qpos: Array, places: dict[str, int], group: list[Coupling], turning: set[str]) -> float:
    """Full turns [rad] of a continuous leader for which its followers are nearest to where they should be."""
    turns = _TURN * np.array(sorted(range(-_MOST_TURNS, _MOST_TURNS + 1), key=abs))
    miss = np.zeros(len(turns))
    for item in group:
        error = item.offset + item.ratio * (qpos[places[item.source]] + turns) - qpos[places[item.joint]]
        miss += np.abs(error - _TURN * np.round(error / _TURN) if item.joint in turning else error)
    return float(turns[int(np.argmax(miss <= miss.min() + _ROUNDING))])


def q_v(model: MujocoModel, qpos: ArrayLike, qvel: ArrayLike) -> tuple[Array, Array]:
    """Pinocchio's q and v; locked joints are at home and at rest, followers are where their sources put them.

    Args:
        model: The MuJoCo model.
        qpos: The robot's entries; what comes after them is not looked at.
        qvel: The robot's entries; what comes after them is not looked at.
    """
    return _map_of(model).q_v(np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float))
