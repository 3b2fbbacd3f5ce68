"""Actuations in MuJoCo: springs that are integrated implicitly, and limits that hold at the end of the step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.sim.drives import Actuation
from surefoot.sim.mujoco.model import MujocoModel
from surefoot.sim.mujoco.physics import Physics

Indices = NDArray[np.int64]
Held = NDArray[np.int8]
_PARTS = tuple(item.name for item in fields(Actuation))
_ROUNDS = 8
_ROUNDS_THAT_RELEASE = 3


class Actuators:
    """The drives of all robots, one entry for each actuator of MuJoCo.

    With the force of the springs alone f = torque + kp (position − q⁺) + kd (velocity − v⁺), q⁺ and v⁺ at the end of
    the step, the drives apply clip(f, lower, upper), [sim.drive]. Which of them are at a limit is found by trial: those
    that are beyond it at the start of the step begin there; then the step is done again with those held whose f at its
    end is beyond a limit and those released whose f is not beyond theirs, until the set does not change (an active-set
    iteration; Hintermüller, Ito & Kunisch 2002). It need not settle where a joint is pressed against a stop, because
    MuJoCo's stops are the softer the stiffer the spring is; then drives are no longer released, so that limits hold.
    """

    def __init__(self, physics: Physics) -> None:
        self._physics = physics
        self._robots = [_RobotActuators(k, model) for k, model in enumerate(physics.scene.models)]
        count = physics.mj.nu
        self._kp, self._kd, self._lower, self._upper, self._pull, self.forces = np.zeros((6, count))
        self._nobody: Held = np.zeros(count, dtype=np.int8)
        self._turns = np.concatenate([np.zeros(0, dtype=bool), *(robot.turns for robot in self._robots)])
        self._has_turns = bool(self._turns.any())
        joint = physics.mj.actuator_trnid[:, 0]
        self._qpos = _as_slice(physics.mj.jnt_qposadr[joint])
        self.dofs = _as_slice(physics.mj.jnt_dofadr[joint] + np.argmax(physics.mj.actuator_gear, axis=1))
        self.bind()

    def bind(self) -> None:
        """Take the arrays of the physics, which are others after its model changed."""
        mj, data = self._physics.mj, self._physics.data
        self._ctrl, self._minus_kp, self._minus_kd = data.ctrl, mj.actuator_biasprm[:, 1], mj.actuator_biasprm[:, 2]

    def off(self) -> None:
        """No drive does anything."""
        for array in (self._ctrl, self._minus_kp, self._minus_kd, self.forces):
            array[:] = 0.0

    def torques(self, k: int) -> Array:
        """(nu,) of a robot that acted in the last step [N m] or [N]; 0 where a joint is locked."""
        return self._robots[k].spread(self.forces)

    def set(self, actuations: Sequence[Actuation]) -> None:
        """Take what the drives of each robot do.

        Raises:
            ShapeError: A wrong number of them, wrong sizes, numbers that are not finite, or crossed limits.
        """
        if len(actuations) != len(self._robots):
            raise ShapeError(f"{len(actuations)} actuations for {len(self._robots)} robots")
        parts = [robot.entries(given) for robot, given in zip(self._robots, actuations, strict=True)]
        torque, position, self._kp, velocity, self._kd, self._lower, self._upper = (
            parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        )
        target = self._short_way(position) if self._has_turns else position
        self._pull = torque + self._kp * target + self._kd * velocity
        if not isfinite(self._pull.sum()) or not (self._lower <= self._upper).all():
            for robot, given in zip(self._robots, actuations, strict=True):
                robot.refuse(given)

    def _short_way(self, position: Array) -> Array:
        """Wanted positions as MuJoCo counts them; a continuous joint goes the short way round."""
        here = self._physics.qpos[self._qpos]
        turned = here + np.remainder(position - here + np.pi, 2.0 * np.pi) - np.pi
        return np.where(self._turns, turned, position)

    def _spring_forces(self) -> Array:
        """The force f in the state as it is."""
        physics = self._physics
        return self._pull - self._kp * physics.qpos[self._qpos] - self._kd * physics.qvel[self.dofs]

    def _beyond(self, forces: Array) -> Held:
        """−1, 0 or 1: below, within or above the limits."""
        above, below = forces > self._upper, forces < self._lower
        if not (above | below).any():
            return self._nobody
        return np.subtract(above, below, dtype=np.int8)

    def _hold(self, held: Held) -> None:
        """Set the actuators: springs, but where held −1 or 1 the lower or upper limit."""
        if held is self._nobody:
            self._ctrl[:] = self._pull
            np.negative(self._kp, out=self._minus_kp)
            np.negative(self._kd, out=self._minus_kd)
        else:
            free = held == 0
            self._ctrl[:] = self._acting(self._pull, held)
            self._minus_kp[:], self._minus_kd[:] = -self._kp * free, -self._kd * free

    def _acting(self, springs: Array, held: Held) -> Array:
        """The limits where drives are held, the force of the springs where not."""
        if held is self._nobody:
            return springs
        return np.where(held > 0, self._upper, np.where(held < 0, self._lower, springs))

    def begin(self) -> None:
        """Set the actuators for the state as it is; `forces` are those at the start of a step."""
        found = self._spring_forces()
        held = self._beyond(found)
        self._hold(held)
        self.forces = self._acting(found, held)

    def step(self) -> None:
        """One step of the physics within the limits; `forces` are those that acted."""
        held = self._beyond(self._spring_forces())
        self._hold(held)
        self._physics.step()
        found = self._spring_forces()
        for k in range(_ROUNDS):
            wanted = self._beyond(found)
            if wanted is held:
                break
            keep = held if k >= _ROUNDS_THAT_RELEASE else held * (wanted == held)
            wanted = np.where(held == 0, wanted, keep)
            if wanted.tobytes() == held.tobytes():
                break
            held = wanted
            self._hold(held)
            self._physics.step_again()
            found = self._spring_forces()
        self.forces = self._acting(found, held)


class _RobotActuators:
    """Where the entries of one robot's actuation go."""

    def __init__(self, k: int, model: MujocoModel) -> None:
        self._k, self._robot = k, model.robot
        self._used = np.flatnonzero(model.actuators >= 0)
        own = model.actuators[self._used]
        self._at = slice(int(own[0]), int(own[-1]) + 1) if len(own) else slice(0, 0)
        self._all_used = len(own) == self._robot.nu
        joints = [self._robot.joint_index(drive.joint) for drive in self._robot.drives]
        each = np.repeat(joints, [self._robot.tree.nv_of(i) for i in joints]).astype(np.int64)
        kinds = np.array([self._robot.tree.kinds[i] for i in each], dtype=object)
        self.turns = kinds[self._used] == "continuous"
        self._balls = np.flatnonzero(kinds == "spherical")

    def entries(self, given: Actuation) -> list[Array]:
        """All parts of an actuation, those entries that have an actuator."""
        shape, out = (self._robot.nu,), [getattr(given, name) for name in _PARTS]
        for name, values in zip(_PARTS, out, strict=True):
            if values.shape != shape:
                raise ShapeError(f"{self._called(name)} has shape {values.shape}, expected {shape}")
        if len(self._balls) and given.kp[self._balls].any():
            raise NotSupportedError("a spherical joint takes no position command", next_step="command its torque")
        return out if self._all_used else [values[self._used] for values in out]

    def spread(self, forces: Array) -> Array:
        """Entries of an actuation from those of MuJoCo; 0 where a joint is locked."""
        if self._all_used:
            return forces[self._at].copy()
        out = np.zeros(self._robot.nu)
        out[self._used] = forces[self._at]
        return out

    def refuse(self, given: Actuation) -> None:
        """Raise the error for the first thing that is wrong."""
        for name in _PARTS[:5]:
            if not np.isfinite(getattr(given, name)).all():
                wrong = np.flatnonzero(~np.isfinite(getattr(given, name)))
                raise ShapeError(f"{self._called(name)} is not finite", evidence={"entries": wrong.tolist()})
        if not (given.lower <= given.upper).all():
            wrong = np.flatnonzero(~(given.lower <= given.upper))
            raise ShapeError(f"{self._called('lower')} is not below `upper`", evidence={"entries": wrong.tolist()})

    def _called(self, name: str) -> str:
        return f"`{name}` of the actuation of robot {self._k} (`{self._robot.name}`)"


def _as_slice(indices: Indices) -> slice | Indices:
    """The same entries as a slice where they follow one another; a view is faster than a copy."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return np.array(indices)
