"""Account of energy and momentum: whatever a simulation adds or loses by itself is in the residuals."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.sim.measured import Balance
from surefoot.sim.mujoco.actuators import Actuators
from surefoot.sim.mujoco.model import MujocoModel
from surefoot.sim.mujoco.physics import Physics


class BalanceBook:
    """Keeps account of energy and momentum of everything that moves.

    MuJoCo's steps are semi-implicit: q_{k+1} = q_k ⊕ h v_{k+1}, so v_k is the velocity in the middle of step k − 1 → k.
    Energy and momentum are taken there, at q_k ⊖ h/2 v_k, and forces work along the mean of v_k and v_{k+1}: the
    leapfrog form of the Störmer–Verlet scheme, Hairer, Lubich & Wanner 2006 §I.1.4. With constant inertia and gravity
    the account is exact. Otherwise each step adds about h/2 v_{k+1}·(c(v_{k+1}) − c(v_k)) to the energy, because MuJoCo
    takes Coriolis forces c at the velocity before the step: an error of first order in h, and the largest residual of
    quick motions. Implicit gains work with the force that acted, [sim.drive].

    What acts from outside along a direction is the generalised force along the translation of everything that moves:
    contacts, ties to the world, damping and friction of the base; forces within cancel (d'Alembert's principle). Ground
    that moves by a law is outside: what it gives is work of the contacts. A board on a pivot counts for the energy, not
    for the momentum.

    Work and impulses are summed every step; energy and momentum are computed when asked for.

    Args:
        physics: The scene and its state, after its reset.
        actuators: The drives.
    """

    def __init__(self, physics: Physics, actuators: Actuators) -> None:
        self._physics, self._actuators = physics, actuators
        self._translation, self._free = _translation(physics.mj, physics.scene.models, physics.ground.driven)
        self._bind()
        self.reset()

    def _bind(self) -> None:
        """Take the arrays of the physics, which are others after its model changed."""
        mj, data = self._physics.mj, self._physics.data
        self._scratch = mujoco.MjData(mj)
        implicit = self._physics.dt * mj.jnt_stiffness[mj.dof_jntid]  # springs act with h v in advance
        self._damping = np.diag(mj.dof_damping + implicit) + _tendon_damping(mj, self._physics.dt)
        self._is_damped = bool(self._damping.any())
        self._armature = mj.dof_armature[:, None] * self._translation
        self._has_rotors = bool(self._armature.any())
        self._driven, self._boards = self._physics.ground.driven, self._physics.ground.bodies
        self._mass = float(mj.body_mass.sum() - mj.body_mass[self._boards].sum())
        self._gravity = np.array(mj.opt.gravity)
        self._constraint, self._pushes = data.qfrc_constraint, data.xfrc_applied

    def reset(self) -> None:
        """Begin again: nothing has worked yet."""
        self._drives = self._contacts = self._damped = self._pushed = 0.0
        self._outside, self._fixed_impulse, self._steps = np.zeros(self._physics.mj.nv), np.zeros(3), 0
        self._start = self._energy_and_momentum()

    def after_step(self, pushed: Sequence[int]) -> None:
        """Add what happened in a step.

        Args:
            pushed: The MuJoCo bodies that are pushed.
        """
        physics = self._physics
        velocity, before, force = physics.qvel, physics.qvel_before, self._constraint
        path = velocity + before
        path *= 0.5 * physics.dt
        path[self._driven] = 0.0
        self._drives += float(self._actuators.forces @ path[self._actuators.dofs])
        self._contacts += float(force @ path)
        if self._is_damped:
            damping = self._damping @ velocity
            self._damped -= float(damping @ path)
            force = force - damping
        if pushed:
            push = self._push_force(pushed)
            self._pushed += float(push @ path)
            force = force + push
        self._outside += force
        if self._has_rotors:
            self._fixed_impulse -= (velocity - before) @ self._armature
        self._steps += 1

    def balance(self) -> Balance:
        """The account now."""
        energy, momentum = self._energy_and_momentum()
        return Balance(
            energy=energy,
            drives=self._drives,
            contacts=self._contacts,
            damping=self._damped,
            pushes=self._pushed,
            energy_residual=energy - self._start[0] - self._work,
            momentum_residual=self._free @ (momentum - self._start[1] - self._impulse),
        )

    @property
    def _work(self) -> float:
        return self._drives + self._contacts + self._damped + self._pushed

    @property
    def _impulse(self) -> Array:
        """(3,) of all forces from outside since the start [N s]."""
        weight = self._steps * self._mass * self._gravity
        return self._fixed_impulse + self._physics.dt * (weight + self._outside @ self._translation)

    def keep(self) -> tuple[float, Array]:
        """Energy and momentum now; for `model_changed`."""
        return self._energy_and_momentum()

    def model_changed(self, before: tuple[float, Array]) -> None:
        """Go on with another model in the same state: what its masses have more does not count as gained or lost.

        Args:
            before: What `keep` gave before the change.
        """
        impulse = self._impulse
        self._bind()
        self._fixed_impulse, self._outside, self._steps = impulse, np.zeros_like(self._outside), 0
        energy, momentum = self._energy_and_momentum()
        self._start = self._start[0] + energy - before[0], self._start[1] + momentum - before[1]

    def _push_force(self, pushed: Sequence[int]) -> Array:
        """Pushes as generalised forces, (nv,)."""
        mj, data = self._physics.mj, self._physics.data
        out = np.zeros(mj.nv)
        for body in pushed:
            wrench = self._pushes[body]
            mujoco.mj_applyFT(mj, data, wrench[:3], wrench[3:], data.xipos[body], body, out)
        return out

    def _energy_and_momentum(self) -> tuple[float, Array]:
        """Energy [J] and linear momentum (3,) [N s] half a step back."""
        mj, physics, scratch = self._physics.mj, self._physics, self._scratch
        scratch.qpos[:], scratch.qvel[:] = physics.qpos, physics.qvel
        scratch.qvel[self._driven] = 0.0
        mujoco.mj_integratePos(mj, scratch.qpos, scratch.qvel, -0.5 * physics.dt)
        mujoco.mj_kinematics(mj, scratch)
        mujoco.mj_comPos(mj, scratch)
        mujoco.mj_tendon(mj, scratch)
        mujoco.mj_makeM(mj, scratch)
        mujoco.mj_comVel(mj, scratch)
        mujoco.mj_subtreeVel(mj, scratch)
        mujoco.mj_energyPos(mj, scratch)
        mujoco.mj_energyVel(mj, scratch)
        momentum = mj.body_subtreemass[0] * scratch.subtree_linvel[0]
        boards = mj.body_mass[self._boards] @ scratch.subtree_linvel[self._boards]
        return float(scratch.energy.sum()), momentum - boards


def _tendon_damping(mj: mujoco.MjModel, dt: float) -> Array:
    """(nv, nv) of dampers along sums of joint positions, and of springs there, which act with h v in advance."""
    shares = np.zeros((mj.ntendon, mj.nv))
    for i in range(mj.ntendon):
        rows = range(int(mj.tendon_adr[i]), int(mj.tendon_adr[i]) + int(mj.tendon_num[i]))
        shares[i, mj.jnt_dofadr[mj.wrap_objid[rows]]] = mj.wrap_prm[rows]
    return np.asarray(shares.T * (mj.tendon_damping + dt * mj.tendon_stiffness) @ shares)


def _translation(mj: mujoco.MjModel, models: Sequence[MujocoModel], ground: NDArray[np.int64]) -> tuple[Array, Array]:
    """How everything that moves can be shifted; entries of qvel of moving ground are none of it.

    Returns:
        (nv, 3): qvel for unit velocity along each world axis, as far as it is possible; and the projector (3, 3) on the
        possible directions, NaN if something hangs on the world by another joint than a free or planar one.
    """
    kinds, starts, planes = [], [], []
    for model in models:
        tree = model.robot.tree
        for i in np.flatnonzero((tree.parents < 0) & (model.qvel_index >= 0)):
            kinds.append(tree.kinds[i])
            if tree.kinds[i] == "planar":
                starts.append(int(model.qvel_index[i]))
                planes.append(tree.placements[i, :3, :3])
    if any(kind not in ("free", "planar") for kind in kinds):
        return np.zeros((mj.nv, 3)), np.full((3, 3), np.nan)
    across = np.array(planes).reshape(-1, 3, 3)[:, :, 2]
    free = np.eye(3) - np.linalg.pinv(across) @ across
    out = np.zeros((mj.nv, 3))
    for start, plane in zip(starts, planes, strict=True):
        out[start : start + 2] = plane[:, :2].T @ free
    for joint in np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        start = int(mj.jnt_dofadr[joint])
        out[start : start + 3] = free
    out[ground] = 0.0
    return out, free
