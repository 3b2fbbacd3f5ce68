"""States between Pinocchio's layout and a MuJoCo model: `motion.exchange`, less the joints that are locked here."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.motion.exchange_blocks import Block, decode, encode, layout_blocks
from surefoot.robot import Coupling
from surefoot.sim.mujoco_model import MujocoModel

__all__ = ["q_v", "qpos_qvel"]

Array = NDArray[np.float64]
_TURN = 2.0 * np.pi
_MOST_TURNS = 32  # of a leader, either way
_ROUNDING = 1e-9  # [rad] or [m]


class _Layout:
    """Which entries go where: one-axis joints by index, all others by the blocks of `motion.exchange`."""

    def __init__(self, model: MujocoModel) -> None:
        blocks = [b for b in layout_blocks(model.robot, "mujoco") if model.qpos_index[b.joint] >= 0]
        plain = [b for b in blocks if not b.is_follower and b.placement is None and _is_plain(model, b)]
        self.others: list[Block] = [b for b in blocks if b not in plain]
        self.free_others = [b for b in self.others if not b.is_follower]
        self.q = np.array([b.q.start for b in plain], dtype=np.int64)
        self.v = np.array([b.v.start for b in plain], dtype=np.int64)
        self.qpos = np.array([model.qpos_index[b.joint] for b in plain], dtype=np.int64)
        self.qvel = np.array([model.qvel_index[b.joint] for b in plain], dtype=np.int64)
        self.nq, self.nv = model.nq, model.nv

    def places(self, model: MujocoModel, block: Block) -> tuple[slice, slice]:
        start, begin = int(model.qpos_index[block.joint]), int(model.qvel_index[block.joint])
        return slice(start, start + len(block.format.position)), slice(begin, begin + len(block.format.velocity))


def _is_plain(model: MujocoModel, block: Block) -> bool:
    return model.robot.tree.kinds[block.joint] in ("revolute", "prismatic")


@lru_cache(maxsize=16)
def _layout(model: MujocoModel) -> _Layout:
    return _Layout(model)


def qpos_qvel(model: MujocoModel, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """MuJoCo's qpos and qvel of the robot; what q and v say of locked joints is dropped.

    q does not count the turns of continuous joints; those of coupled ones are chosen so that the coupling holds.

    Args:
        model: The MuJoCo model.
        q: (nq,) Pinocchio's.
        v: (nv,) Pinocchio's.
    """
    layout, q, v = _layout(model), np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    qpos, qvel = np.zeros(layout.nq), np.zeros(layout.nv)
    qpos[layout.qpos], qvel[layout.qvel] = q[layout.q], v[layout.v]
    for block, (position, velocity) in zip(layout.others, encode(layout.others, q[None], v[None]), strict=True):
        at_q, at_v = layout.places(model, block)
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
    places = {n: int(model.qpos_index[index(n)]) for c in model.robot.couplings for n in (c.joint, c.source)}
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
        qpos: The robot's entries first.
        qvel: The robot's entries first.
    """
    layout, qpos, qvel = _layout(model), np.asarray(qpos, dtype=float), np.asarray(qvel, dtype=float)
    q, v = np.array(model.robot.home), np.zeros(model.robot.nv)
    q[layout.q], v[layout.v] = qpos[layout.qpos], qvel[layout.qvel]
    places = [layout.places(model, block) for block in layout.free_others]
    found = decode(model.robot, layout.free_others, [(qpos[None, a], qvel[None, b]) for a, b in places])
    for block in layout.free_others:
        q[block.q] = found[0][0, block.q]
        if found[1] is not None:
            v[block.v] = found[1][0, block.v]
    return q, v
