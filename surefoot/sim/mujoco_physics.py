"""`Physics`: a scene in MuJoCo and its state, which change together."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

import mujoco

from surefoot.errors import SimulationError
from surefoot.sim.mujoco_model import MujocoScene, compiled
from surefoot.sim.mujoco_warnings import warnings_kept

__all__ = ["Physics"]

_FATAL = [
    int(getattr(mujoco.mjtWarning, f"mjWARN_{name}"))
    for name in ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL", "CONTACTFULL", "CNSTRFULL")
]
_CARRIED = ("qpos", "qvel", "qacc_warmstart", "ctrl", "xfrc_applied")


class Physics:
    """MuJoCo's model and data, its steps and what it says when it diverges.

    After a step, positions and velocities in `data` are those at its end; all other numbers (contacts, forces, places
    of bodies) are those at its start. `placed` has the places of bodies at its end.

    Args:
        scene: The robots in their world.
    """

    def __init__(self, scene: MujocoScene) -> None:
        self.dt = float(scene.mj.opt.timestep)
        self._messages: list[str] = []
        self._bind(scene)
        self.start_at(0.0)

    def _bind(self, scene: MujocoScene) -> None:
        """Take a model; the limits of drives are kept by us, see [sim.drive]."""
        self.scene, self.mj = scene, scene.mj
        self.mj.actuator_forcelimited[:] = 0
        self.data, self._scratch = mujoco.MjData(self.mj), mujoco.MjData(self.mj)
        self.qpos, self.qvel = self.data.qpos, self.data.qvel  # views that stay
        self._warmstart = self.data.qacc_warmstart
        self._is_placed = False
        self.remember()

    def start_at(self, time: float) -> None:
        """Begin again at a time [s]: objects at their places, robots where MuJoCo put them, no forces."""
        mujoco.mj_resetData(self.mj, self.data)
        self._start, self._steps, self._messages = time, 0, []
        self.data.time, self._is_placed = time, False

    def remember(self) -> None:
        """Keep the state at the start of a step."""
        self.qpos_before, self.qvel_before = self.qpos.copy(), self.qvel.copy()
        self._warmstart_before = self._warmstart.copy()

    def forward(self) -> None:
        """Find the forces in the state as it is; it counts as the start of a step."""
        self._is_placed = False
        self.remember()
        with warnings_kept() as messages:
            mujoco.mj_forward(self.mj, self.data)
        self._messages += messages

    def step(self) -> None:
        """One step from the state that was remembered."""
        mujoco.mj_step(self.mj, self.data)

    def step_again(self) -> None:
        """The same step once more, under other controls."""
        self.qpos[:], self.qvel[:], self._warmstart[:] = self.qpos_before, self.qvel_before, self._warmstart_before
        mujoco.mj_step(self.mj, self.data)

    def finish_step(self, messages: list[str]) -> None:
        """Count a step that is done.

        Args:
            messages: What MuJoCo said in it.

        Raises:
            SimulationError: Positions, velocities or accelerations grew beyond all bounds.
        """
        self._steps += 1
        self.data.time = self._start + self._steps * self.dt  # a sum of steps would drift
        self._is_placed = False
        self._messages += messages
        if not isfinite(self.qvel.sum()) or (self._messages and self.data.warning.number[_FATAL].any()):
            raise SimulationError(
                f"the simulation diverged at t = {self.data.time:.4f} s",
                evidence={"MuJoCo": self._messages[0] if self._messages else "velocities are not finite"},
                next_step="use a smaller simulation.dt, lower gains, or look at what the log shows before that time",
            )

    @property
    def placed(self) -> mujoco.MjData:
        """Data with the places of all bodies and their centres of mass (`xpos`, `xmat`, `xipos`) now."""
        if not self._is_placed:
            self._scratch.qpos[:] = self.qpos
            mujoco.mj_kinematics(self.mj, self._scratch)
            self._is_placed = True
        return self._scratch

    def recompile(self) -> None:
        """Take the changes that were made in the specification; the state stays, forces are those of a `forward`."""
        before = self.data
        mj = compiled(self.scene.spec, [model.robot for model in self.scene.models])
        self._bind(replace(self.scene, mj=mj, models=tuple(replace(model, mj=mj) for model in self.scene.models)))
        self.data.time = before.time
        for name in _CARRIED:
            getattr(self.data, name)[:] = getattr(before, name)
        self.mj.actuator_biasprm[:] = before.model.actuator_biasprm
        self.forward()
