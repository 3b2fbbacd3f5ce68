"""`MujocoEngine`: moves a robot in a world by MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import NotSupportedError, ShapeError, SimulationError, one_of
from surefoot.motion import Command, State, World
from surefoot.robot import Robot
from surefoot.sim.mujoco_model import build_mujoco
from surefoot.sim.mujoco_state import q_v, qpos_qvel
from surefoot.sim.mujoco_warnings import warnings_kept

__all__ = ["MujocoEngine"]

Array = NDArray[np.float64]
_SATURATION_ROUNDS = 4
_FATAL = tuple(
    int(getattr(mujoco.mjtWarning, f"mjWARN_{name}"))
    for name in ("BADQPOS", "BADQVEL", "BADQACC", "BADCTRL", "CONTACTFULL", "CNSTRFULL")
)


class MujocoEngine:
    """An `Engine`: one `step` is one step of MuJoCo's discrete integrator.

    The gains of a command are integrated implicitly: over a step, a drive with joint position q applies

        tau = torque + kp (position − q⁺) + kd (velocity − v⁺)        [sim.drive]

    with q⁺, v⁺ at the end of the step, limited by the drive's torque; it stays stable however stiff it is.

    Args:
        robot: The robot.
        world: The world; None for empty space.
        dt: Step [s].
        self_collision: Whether the robot may touch itself.
    """

    def __init__(
        self, robot: Robot, world: World | None = None, dt: float = 0.002, *, self_collision: bool = False
    ) -> None:
        self.robot = robot
        self.dt = float(dt)
        self.model = build_mujoco(robot, world, timestep=dt, self_collision=self_collision)
        self.mj: mujoco.MjModel = self.model.mj
        self.data = mujoco.MjData(self.mj)
        self._used = np.flatnonzero(self.model.actuators >= 0)  # entries of a command that have an actuator
        self.force_limits = np.where(self.mj.actuator_forcelimited, self.mj.actuator_forcerange[:, 1], np.inf)
        joint = self.mj.actuator_trnid[:, 0]
        self._qpos = self.mj.jnt_qposadr[joint]
        self.dofs = self.mj.jnt_dofadr[joint] + np.argmax(self.mj.actuator_gear, axis=1)
        kinds = [robot.tree.kinds[int(i)] for i in self._driven_joints()]
        self._turns = np.array([kind == "continuous" for kind in kinds], dtype=bool)
        self._has_balls = "spherical" in kinds
        self.reset(State.of(robot))

    def _driven_joints(self) -> NDArray[np.int64]:
        """Tree joint of each actuator."""
        joints = [self.robot.joint_index(drive.joint) for drive in self.robot.drives]
        each = np.repeat(joints, [self.robot.tree.nv_of(i) for i in joints]).astype(np.int64)
        return each[self._used]

    @property
    def state(self) -> State:
        """The state now."""
        return State(self.data.time, *q_v(self.model, self.data.qpos, self.data.qvel))

    def reset(self, state: State) -> None:
        """Begin again from a state, drives off; objects of the world go back to their places.

        Args:
            state: Of this robot.
        """
        self.robot.checked_q(state.q)
        mujoco.mj_resetData(self.mj, self.data)
        self.mj.actuator_biasprm[:, 1:3] = 0.0
        qpos, qvel = qpos_qvel(self.model, state.q, state.v)
        self.data.qpos[: len(qpos)], self.data.qvel[: len(qvel)] = qpos, qvel
        self._start, self._steps = state.t, 0
        self.data.time = state.t
        mujoco.mj_forward(self.mj, self.data)

    def push(self, link: str, wrench: ArrayLike) -> None:
        """Pull at the centre of mass of the body that carries a link, until told otherwise.

        Args:
            link: The link.
            wrench: (6,) force [N] and moment [N m] in world axes.
        """
        if link not in self.model.body_ids:
            raise one_of("link", link, self.model.body_ids)
        if self.model.body_ids[link] == 0:
            raise NotSupportedError(f"link `{link}` is fixed to the world; a push does nothing there")
        self.data.xfrc_applied[self.model.body_ids[link]] = np.asarray(wrench, dtype=float)

    def release(self) -> None:
        """End all pushes."""
        self.data.xfrc_applied[:] = 0.0

    def step(self, command: Command) -> State:
        """Go on by one step under a command.

        Args:
            command: What the drives do.

        Raises:
            SimulationError: Torques, positions, velocities or accelerations grew beyond all bounds.
        """
        self.advance(command)
        return self.state

    def advance(self, command: Command) -> None:
        """`step` without reading the state.

        Args:
            command: What the drives do.
        """
        self.apply(command)
        with warnings_kept() as messages:
            self._step_within_limits()
        self._steps += 1
        self.data.time = self._start + self._steps * self.dt  # a sum of steps would drift
        if any(self.data.warning[kind].number for kind in _FATAL) or not np.isfinite(self.data.qvel).all():
            raise SimulationError(
                f"the simulation diverged at t = {self.data.time:.4f} s",
                evidence={"MuJoCo": messages[0] if messages else "velocities are not finite"},
                next_step="use a smaller simulation.dt, lower gains, or look at what the log shows before that time",
            )

    def _step_within_limits(self) -> None:
        """One step; drives whose implicit force leaves their limits are set to the limit and the step is done again."""
        start = tuple(np.array(part) for part in (self.data.qpos, self.data.qvel, self.data.qacc_warmstart))
        now = self.data.time
        mujoco.mj_step(self.mj, self.data)
        for _ in range(_SATURATION_ROUNDS):
            forces = self.acting_forces(start[1])
            beyond = np.abs(forces) > self.force_limits * (1.0 + 1e-9)
            if not beyond.any():
                return
            self.mj.actuator_biasprm[beyond, 1:3] = 0.0
            self.data.ctrl[beyond] = (np.sign(forces) * self.force_limits)[beyond]
            self.data.qpos[:], self.data.qvel[:], self.data.qacc_warmstart[:] = start
            self.data.time = now
            mujoco.mj_step(self.mj, self.data)

    def apply(self, command: Command) -> None:
        """Set the drives to a command.

        Args:
            command: With one entry for each driven degree of freedom.
        """
        if command.size != self.robot.nu:
            raise ShapeError(f"the command has {command.size} entries, `{self.robot.name}` needs {self.robot.nu}")
        if self._has_balls and command.position is not None:
            raise NotSupportedError("a spherical joint takes no position command", next_step="command its torque")
        kp, kd = self._gains(command)
        self.mj.actuator_biasprm[:, 1], self.mj.actuator_biasprm[:, 2] = -kp, -kd
        torque = self._entries(command.torque)
        self.data.ctrl[:] = torque + kp * self._target(command) + kd * self._entries(command.velocity)

    def begin(self, command: Command) -> Array:
        """Set the drives to a command, and find the forces of drives and contacts in the state as it is.

        Args:
            command: What the drives do.

        Returns:
            (number of actuators,) forces at the start of the step, within the limits of the drives.
        """
        self.apply(command)
        with warnings_kept():
            mujoco.mj_forward(self.mj, self.data)
        return np.array(self.data.actuator_force)

    def _entries(self, values: Array | None) -> Array:
        return np.zeros(len(self._used)) if values is None else values[self._used]

    def _gains(self, command: Command) -> tuple[Array, Array]:
        return self._entries(command.kp), self._entries(command.kd)

    def _target(self, command: Command) -> Array:
        """Wanted positions as MuJoCo counts them; a continuous joint goes the short way round."""
        target = self._entries(command.position)
        error = target - self.positions
        return np.where(self._turns, self.positions + np.remainder(error + np.pi, 2.0 * np.pi) - np.pi, target)

    @property
    def positions(self) -> Array:
        """Positions [rad] or [m] of the driven degrees of freedom that are not locked."""
        return np.array(self.data.qpos[self._qpos])

    def position_error(self, command: Command) -> Array:
        """Wanted minus actual positions of the driven degrees of freedom that are not locked; NaN if none are wanted.

        Args:
            command: The command.
        """
        if command.position is None:
            return np.full(len(self._used), np.nan)
        return self._target(command) - self.positions

    def acting_forces(self, velocity_before: Array) -> Array:
        """Forces of the actuators that acted in the last step, implicit gains included, [sim.drive].

        Args:
            velocity_before: MuJoCo's qvel before the step.
        """
        after, change = self.data.qvel[self.dofs], (self.data.qvel - velocity_before)[self.dofs]
        kp, kd = -self.mj.actuator_biasprm[:, 1], -self.mj.actuator_biasprm[:, 2]
        at_limit = np.abs(self.data.actuator_force) >= self.force_limits
        return self.data.actuator_force - np.where(at_limit, 0.0, kd * change + self.dt * kp * after)

    def torques(self, forces: Array) -> Array:
        """(nu,) entries of a command from forces of the actuators; zero where a joint is locked.

        Args:
            forces: (number of actuators,) [N m] or [N].
        """
        out = np.zeros(self.robot.nu)
        out[self._used] = forces
        return out
