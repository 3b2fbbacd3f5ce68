"""`Physics`: a scene in MuJoCo and its state, which change together; and MuJoCo's warnings, by thread.

MuJoCo has one handler of warnings for the whole process; without one it writes a file in the working folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from math import isfinite

import mujoco

from surefoot.errors import SimulationError
from surefoot.sim.mujoco.model import MujocoScene, compiled
from surefoot.sim.mujoco.world import MovingGround


class _Keeper(threading.local):
    """The list that collects in this thread; None outside `warnings_kept`."""

    messages: list[str] | None = None


class _Handler:
    """Stands in for the process's handler while any thread collects."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: Callable[[str], None] | None = None

    def enter(self) -> None:
        with self._lock:
            if self._users == 0:
                self._before = mujoco.get_mju_user_warning()
                mujoco.set_mju_user_warning(self._take)
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                mujoco.set_mju_user_warning(self._before)

    def _take(self, message: str) -> None:
        """Keep a warning of a thread that collects; others go where they would have gone."""
        if _KEEPER.messages is not None:
            _KEEPER.messages.append(message)
        elif self._before is not None:
            self._before(message)


_KEEPER, _HANDLER = _Keeper(), _Handler()


class warnings_kept:  # noqa: N801 (reads as a statement: `with warnings_kept() as messages`)
    """Collect the warnings that MuJoCo has in this thread; any number of threads may do so at once."""

    __slots__ = ("_messages", "_outer")

    def __enter__(self) -> list[str]:
        self._outer = _KEEPER.messages
        self._messages: list[str] = []
        _KEEPER.messages = self._messages
        _HANDLER.enter()
        return self._messages

    def __exit__(self, *_: object) -> None:
        _HANDLER.leave()
        _KEEPER.messages = self._outer


_FATAL = [
    int(getattr(mujoco.mjtWarning, f"mjWARN_{name}"))
    for name in ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL", "CONTACTFULL", "CNSTRFULL")
]
_CARRIED = ("qpos", "qvel", "qacc_warmstart", "ctrl", "xfrc_applied")


class Physics:
    """MuJoCo's model and data, its steps, and its warnings when it diverges.

    After a step, positions and velocities in `data` are those at its end; all other numbers (contacts, forces, places
    of bodies) are those at its start. `placed` has the places of bodies at its end.
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
        self.ground = MovingGround(scene.world)
        self.ground.bind(self.mj)
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
        self.ground.start(self.data)

    def remember(self) -> None:
        """Put moving ground in its place, and keep the state at the start of a step."""
        self.ground.lead(self.data, self.dt)
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
