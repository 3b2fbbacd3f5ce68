"""Where the energy and the momentum went: what a simulation adds or loses by itself stands in the residuals."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.sim.mujoco_engine import MujocoEngine

__all__ = ["Balance", "BalanceBook"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Balance:
    """Sums since the start.

    Args:
        energy: Kinetic and potential energy now [J].
        drives: Work of the drives [J].
        contacts: Work of contacts, limits, ties and dry friction [J].
        damping: Work of viscous friction [J], ≤ 0.
        pushes: Work of pushes [J].
        energy_residual: Change of energy less all work [J].
        momentum_residual: Change of linear momentum less all impulses from outside, (3,) in world [N s], zero across
            the plane of a planar base; NaN for a robot that is fixed to the world, whose support force nobody measures.
    """

    energy: float
    drives: float
    contacts: float
    damping: float
    pushes: float
    energy_residual: float
    momentum_residual: Array


class BalanceBook:
    """Keeps account of energy and momentum of everything that moves.

    MuJoCo's steps are semi-implicit: q_{k+1} = q_k ⊕ h v_{k+1}, so v_k is the velocity in the middle of step k − 1 → k.
    Energy and momentum are taken there, at q_k ⊖ h/2 v_k, and forces work along the mean of v_k and v_{k+1}: the
    leapfrog form of the Störmer–Verlet scheme, Hairer, Lubich & Wanner 2006 §I.1.4. With constant inertia and gravity
    the account is exact, else of second order in h. Implicit gains work with the force that acted, [sim.drive].

    What acts from outside along a direction is the generalised force along the translation of everything that moves:
    contacts, ties to the world, damping and friction of the base; forces within cancel (d'Alembert's principle).

    Args:
        engine: After its reset.
    """

    def __init__(self, engine: MujocoEngine) -> None:
        self._engine = engine
        self._scratch = mujoco.MjData(engine.mj)
        self._work = dict.fromkeys(("drives", "contacts", "damping", "pushes"), 0.0)
        self._translation, self._free = _translation(engine)
        self._impulse = np.zeros(3)
        self._mass = float(engine.mj.body_mass.sum())
        self._start = self._energy_and_momentum()
        self.drive_forces = np.array(engine.data.actuator_force)
        self.before_step()

    def before_step(self) -> None:
        """Remember the velocity before a step."""
        self._velocity = self._engine.data.qvel.copy()

    def after_step(self) -> None:
        """Add what happened in a step."""
        mj, data = self._engine.mj, self._engine.data
        h = mj.opt.timestep
        path = 0.5 * h * (data.qvel + self._velocity)
        self.drive_forces = self._engine.acting_forces(self._velocity)
        self._work["drives"] += float(self.drive_forces @ path[self._engine.dofs])
        self._work["contacts"] += float(data.qfrc_constraint @ path)
        damping, push = -mj.dof_damping * data.qvel, self._push_force()
        self._work["damping"] += float(damping @ path)
        self._work["pushes"] += float(push @ path)
        rotors = -mj.dof_armature * (data.qvel - self._velocity)
        self._impulse += h * self._mass * mj.opt.gravity
        self._impulse += self._translation.T @ (h * (data.qfrc_constraint + damping + push) + rotors)

    def balance(self) -> Balance:
        """The account now."""
        energy, momentum = self._energy_and_momentum()
        return Balance(
            energy=energy,
            **self._work,
            energy_residual=energy - self._start[0] - sum(self._work.values()),
            momentum_residual=self._free @ (momentum - self._start[1] - self._impulse),
        )

    def _push_force(self) -> Array:
        """Pushes as generalised forces, (nv,)."""
        mj, data = self._engine.mj, self._engine.data
        out = np.zeros(mj.nv)
        for body in np.flatnonzero(data.xfrc_applied.any(axis=1)):
            wrench = data.xfrc_applied[body]
            mujoco.mj_applyFT(mj, data, wrench[:3], wrench[3:], data.xipos[body], int(body), out)
        return out

    def _energy_and_momentum(self) -> tuple[float, Array]:
        """Energy [J] and linear momentum (3,) [N s] half a step back."""
        mj, data, scratch = self._engine.mj, self._engine.data, self._scratch
        scratch.qpos[:], scratch.qvel[:] = data.qpos, data.qvel
        mujoco.mj_integratePos(mj, scratch.qpos, scratch.qvel, -0.5 * mj.opt.timestep)
        mujoco.mj_kinematics(mj, scratch)
        mujoco.mj_comPos(mj, scratch)
        mujoco.mj_makeM(mj, scratch)
        mujoco.mj_comVel(mj, scratch)
        mujoco.mj_subtreeVel(mj, scratch)
        mujoco.mj_energyPos(mj, scratch)
        mujoco.mj_energyVel(mj, scratch)
        return float(scratch.energy.sum()), self._mass * scratch.subtree_linvel[0]


def _translation(engine: MujocoEngine) -> tuple[Array, Array]:
    """How everything that moves can be shifted.

    Returns:
        (nv, 3): qvel for unit velocity along each world axis, as far as it is possible; and the projector (3, 3) on the
        possible directions, NaN if something hangs on the world by another joint than a free or planar one.
    """
    mj, tree = engine.mj, engine.robot.tree
    roots = [int(i) for i in np.flatnonzero(tree.parents < 0) if engine.model.qvel_index[i] >= 0]
    planar = [i for i in roots if tree.kinds[i] == "planar"]
    if any(tree.kinds[i] not in ("free", "planar") for i in roots):
        return np.zeros((mj.nv, 3)), np.full((3, 3), np.nan)
    across = tree.placements[planar, :3, 2]
    free = np.eye(3) - np.linalg.pinv(across) @ across
    out = np.zeros((mj.nv, 3))
    for i in planar:
        start = int(engine.model.qvel_index[i])
        out[start : start + 2] = tree.placements[i, :3, :2].T @ free
    for joint in np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        start = int(mj.jnt_dofadr[joint])
        out[start : start + 3] = free
    return out, free
