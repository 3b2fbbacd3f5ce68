"""Rollouts by MuJoCo's own `rollout`: layouts to and from ours, many copies at a time."""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import rollout as mujoco_rollout

from surefoot.codegen import thread_count
from surefoot.errors import NotSupportedError
from surefoot.motion.exchange import decode, layout_blocks
from surefoot.ops import Array
from surefoot.sim.mujoco import MujocoModel, build_mujoco, qpos_qvel, warnings_kept
from surefoot.sim.rollouts.request import Request


class MujocoRollout:
    """n copies in MuJoCo, ready to run.

    Drives are as in [sim.drive], but that springs which leave the limits are cut at the start of a step.

    Raises:
        NotSupportedError: A model that MuJoCo does not have, or joints that are not driven by one actuator each.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.model = build_mujoco(request.robot, request.world, timestep=request.dt)
        self._used = np.flatnonzero(self.model.actuators >= 0)  # entries of a command that have an actuator
        self._set_gains()
        self.initial = self._initial_states()
        self.controls = self._controls()
        self.threads = thread_count(request.threads)
        self._data = [mujoco.MjData(self.model.mj) for _ in range(self.threads)]

    def _set_gains(self) -> None:
        request, kinds = self.request, self.request.robot.tree.kinds
        driven = {kinds[request.robot.joint_index(drive.joint)] for drive in request.robot.drives}
        if request.mode == "position" and driven & {"continuous", "spherical"}:
            raise NotSupportedError(
                'MuJoCo\'s rollout does not support mode="position" for continuous and spherical joints',
                next_step='use engine="native"',
            )
        mj = self.model.mj
        mj.actuator_biasprm[:, 1], mj.actuator_biasprm[:, 2] = -request.kp[self._used], -request.kd[self._used]

    def _initial_states(self) -> Array:
        """(n, 1 + nq + nv + …): time, qpos, qvel; objects of the world are at their places."""
        mj, request = self.model.mj, self.request
        data = mujoco.MjData(mj)
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS.value
        out = np.zeros((request.copies, mujoco.mj_stateSize(mj, kind)))
        for row, q, v in zip(out, request.q, request.v, strict=True):
            qpos, qvel = qpos_qvel(self.model, q, v)
            data.qpos[: len(qpos)], data.qvel[: len(qvel)] = qpos, qvel
            mujoco.mj_getState(mj, data, row, kind)
        return out

    def _controls(self) -> Array:
        """(n or 1, steps, actuators)."""
        request = self.request
        found = request.controls[..., self._used]
        if request.mode == "position":
            found = request.kp[self._used] * found
        return np.repeat(found if found.ndim == 3 else found[None], request.hold, axis=1)

    def run(self) -> Array:
        """(n, steps, 1 + nq + nv + …) states of MuJoCo after each step."""
        with warnings_kept(), mujoco_rollout.Rollout(nthread=self.threads if self.threads > 1 else 0) as pool:
            state, _ = pool.rollout(self.model.mj, self._data, self.initial, self.controls, nstep=self.request.steps)
        return np.asarray(state)

    def read(self, state: Array) -> tuple[Array, Array, Array]:
        """Records q (n, records, nq) and v (n, records, nv), and the good steps (n,) of each copy.

        MuJoCo ends a copy at its first warning; the rest of its rows are repeated.

        Args:
            state: As `run` gives it.
        """
        good = self._good_steps(state)
        rows = np.arange(self.request.every - 1, self.request.steps, self.request.every)
        last_good = np.minimum(rows, good[:, None] - 1)
        found = np.take_along_axis(state, np.maximum(last_good, 0)[:, :, None], axis=1)
        found = np.where((last_good < 0)[:, :, None], self.initial[:, None], found)
        q, v = _from_mujoco(self.model, found.reshape(-1, found.shape[-1]))
        return q.reshape(*found.shape[:2], -1), v.reshape(*found.shape[:2], -1), good

    def _good_steps(self, state: Array) -> Array:
        """How many steps each copy went with finite numbers, its time going on."""
        before = np.concatenate([self.initial[:, None, 0], state[:, :-1, 0]], axis=1)
        bad = ~np.isfinite(state).all(axis=2) | (state[:, :, 0] <= before)
        return np.where(bad.any(axis=1), np.argmax(bad, axis=1), state.shape[1])


def _from_mujoco(model: MujocoModel, state: Array) -> tuple[Array, Array]:
    """Pinocchio's q (k, nq) and v (k, nv) of rows of time, qpos, qvel; locked joints are at home and at rest."""
    robot = model.robot
    qpos, qvel = state[:, 1 : 1 + model.mj.nq], state[:, 1 + model.mj.nq :]
    every = layout_blocks(robot, "mujoco")
    blocks = [b for b in every if model.qpos_index[b.joint] >= 0 and not b.is_follower]
    parts = []
    for block in blocks:
        at, begin = int(model.qpos_index[block.joint]), int(model.qvel_index[block.joint])
        parts.append(
            (qpos[:, at : at + len(block.format.position)], qvel[:, begin : begin + len(block.format.velocity)])
        )
    found_q, found_v = decode(robot, blocks, parts)
    q, v = np.tile(robot.home, (len(state), 1)), np.zeros((len(state), robot.nv))
    for block in blocks:
        q[:, block.q] = found_q[:, block.q]
        if found_v is not None:
            v[:, block.v] = found_v[:, block.v]
    return q, v
