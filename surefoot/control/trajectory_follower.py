"""`TrajectoryFollower`: joint springs along a planned motion, with the weight carried where the plan stands."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.drive_inertia import BANDWIDTH, DAMPING_RATIO, standing_inertia
from surefoot.control.driven_joints import DrivePositions, coupled_motion
from surefoot.control.static_balance import StaticBalance, standing_contacts
from surefoot.motion import Command, Sample, State, Trajectory
from surefoot.robot import Robot

__all__ = ["TrajectoryFollower"]


class TrajectoryFollower:
    """Follow a trajectory in joint space, and hold its end.

        tau = kp (q_ref(t) − q) + kd (v_ref(t) − v) + tau_ff(t)        [control.trajectory-follower]

    kp = m ω², kd = 2 ζ ω m with the inertia m that each drive answers for (`standing_inertia`). The feedforward is
    that of the trajectory where it has torques; else inverse dynamics of the reference for a robot with a fixed base,
    followers passing their load on to their leaders, and for one that stands the torques that carry the weight on the
    contacts that the trajectory's schedule names (`StaticBalance`): on those that are down at its start if it has none.

    Args:
        robot: The robot; its driven joints have one axis each.
        trajectory: The motion; velocities that it lacks are computed from q.
        bandwidth: ω of the joints [rad/s].
        damping_ratio: ζ of the joints.

    Raises:
        NotSupportedError: A driven joint has several axes.
        ShapeError: It belongs to another robot.
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: Trajectory,
        bandwidth: float = BANDWIDTH,
        damping_ratio: float = DAMPING_RATIO,
    ) -> None:
        trajectory.require(robot)
        self.robot, self.trajectory, self._data = robot, trajectory.with_velocities(), robot.model.createData()
        self._positions = DrivePositions(robot)
        self._to_leaders = coupled_motion(robot).T
        self._at_start = standing_contacts(robot, trajectory.q[0])
        self._balances: dict[tuple[str, ...], StaticBalance] = {}
        self._limits = np.array([drive.torque_limit for drive in robot.drives])
        self.bandwidth, self.damping_ratio = bandwidth, damping_ratio
        self._gains: dict[tuple[str, ...], Array] = {}

    def command(self, t: float, state: State) -> Command:
        """The command in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        trajectory = self.trajectory
        now = trajectory.sample(float(np.clip(t, trajectory.start, trajectory.end)))
        moving = trajectory.start <= t <= trajectory.end
        standing = self._contacts(now.t)
        m = self._inertia(standing, now.q)
        velocity = np.zeros(self.robot.nv) if now.v is None or not moving else now.v
        return Command(
            torque=np.clip(self._feedforward(now, standing, moving), -self._limits, self._limits),
            position=self._positions.of(now.q),
            velocity=velocity[self.robot.driven],
            kp=m * self.bandwidth**2,
            kd=2.0 * self.damping_ratio * self.bandwidth * m,
        )

    def _contacts(self, t: float) -> tuple[str, ...]:
        """Contacts that carry at a time of the trajectory."""
        schedule = self.trajectory.schedule
        return self._at_start if schedule is None else schedule.at(t).names

    def _inertia(self, standing: tuple[str, ...], q: Array) -> Array:
        """Inertia of the drives when these contacts stand, in the first posture of the motion in which they do."""
        if standing not in self._gains:
            self._gains[standing] = standing_inertia(self.robot, np.array(q), standing)
        return self._gains[standing]

    def _feedforward(self, now: Sample, standing: tuple[str, ...], moving: bool) -> Array:
        robot = self.robot
        if now.tau is not None:
            return now.tau
        if not len(robot.base_rows):
            v, a = (np.zeros(robot.nv) if x is None or not moving else np.array(x) for x in (now.v, now.a))
            forces = np.array(pin.rnea(robot.model, self._data, np.array(now.q), v, a))
            return np.array((self._to_leaders @ forces)[robot.driven])
        if standing not in self._balances:
            self._balances[standing] = StaticBalance(robot, standing)
        return self._balances[standing].torques(np.array(now.q))
