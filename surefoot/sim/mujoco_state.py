"""States between Pinocchio's layout and a MuJoCo model: `motion.exchange`, less the joints that are locked here."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.motion.exchange_blocks import Block, decode, encode, layout_blocks
from surefoot.sim.mujoco_model import MujocoModel

__all__ = ["q_v", "qpos_qvel"]

Array = NDArray[np.float64]


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
    return qpos, qvel


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
