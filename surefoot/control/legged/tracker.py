"""`MotionTracker`: follows a planned motion of a legged robot by whole-body control."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.legged.body import LeggedBody
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import Command, ContactSchedule, Sample, State, Trajectory
from surefoot.robot import Robot

__all__ = ["MotionTracker"]

_GRID = 0.005  # [s] of references
_COM_GAINS = (40.0, 14.0)
_TURN_GAINS = (150.0, 20.0)
_POSTURE_GAINS = (150.0, 24.0)
_MOMENTUM_DAMPING = 5.0
_FADE = 0.15  # time over which references come back after a change of the foot that stands [s]


@dataclass(frozen=True, eq=False)
class _Path:
    """A quantity (n, …) on a grid of times, with its first and second rates."""

    value: Array
    rate: Array
    change: Array

    @classmethod
    def of(cls, value: Array, dt: float) -> _Path:
        rate = np.gradient(value, dt, axis=0)
        return cls(value, rate, np.gradient(rate, dt, axis=0))

    @classmethod
    def of_turns(cls, turns: Array, dt: float) -> _Path:
        """Of rotations (n, 3, 3): angular velocity and acceleration in world."""
        steps = [pin.log3(b @ a.T) / dt for a, b in pairwise(turns)]
        middle = np.array([steps[0], *(0.5 * (a + b) for a, b in pairwise(steps)), steps[-1]])
        return cls(turns, middle, np.gradient(middle, dt, axis=0))


class MotionTracker:
    """Follow a trajectory: feet first, then centre of mass, trunk, angular momentum and posture (`LeggedBody`).

    All references move with the foot that stands: where it landed elsewhere than planned, the centre of mass and the
    other foot follow. After the end the last posture is held.

    Args:
        robot: A legged robot with a floating base.
        trajectory: The motion, with velocities and a contact schedule.
    """

    def __init__(self, robot: Robot, trajectory: Trajectory) -> None:
        trajectory.require(robot)
        if trajectory.schedule is None:
            raise NotSupportedError("the motion does not tell when its feet stand", next_step="give a contact schedule")
        if not trajectory.end - trajectory.start > _GRID:
            raise ShapeError("the motion is too short to be followed", evidence={"end": trajectory.end})
        self.robot, self.trajectory = robot, trajectory.with_velocities()
        self.schedule: ContactSchedule = trajectory.schedule
        self.body = LeggedBody(robot, np.array(trajectory.q[0]))
        self._paths(trajectory)
        self._standing: tuple[str, ...] = ()
        self._shift, self._goal = np.zeros(3), np.zeros(3)
        self._t = trajectory.start
        stiffness, damping = _POSTURE_GAINS
        self.body["posture"].set_gains(stiffness, damping)
        self.body["com"].set_gains(*_COM_GAINS)
        self.body["angular_momentum"].set_gains(0.0, _MOMENTUM_DAMPING)

    def _paths(self, trajectory: Trajectory) -> None:
        """References on a grid."""
        robot, count = self.robot, max(2, round((trajectory.end - trajectory.start) / _GRID))
        self._times = np.linspace(trajectory.start, trajectory.end, count + 1)
        dt = float(self._times[1] - self._times[0])
        motion = trajectory.resample(times=self._times)
        model, data = robot.model, robot.model.createData()
        com, momentum = np.zeros((count + 1, 3)), np.zeros((count + 1, 3))
        places = []
        for k in range(count + 1):
            q, v = np.array(motion.q[k]), np.asarray(motion.v)[k]
            com[k] = pin.centerOfMass(model, data, q)
            momentum[k] = pin.computeCentroidalMomentum(model, data, q, v).angular
            places.append(robot.placements(q))
        self._com, self._momentum = _Path.of(com, dt), _Path.of(momentum, dt)
        names = [task.name for task in self.body.problem.rows.tasks]
        links = [name.removeprefix("turn ") for name in names if name.startswith("turn ")]
        self._turns = {link: _Path.of_turns(np.array([place[link][:3, :3] for place in places]), dt) for link in links}
        self._contacts: dict[str, tuple[_Path, _Path]] = {}
        for name, surface in robot.contacts.items():
            T = np.array([place[surface.frame] @ surface.placement for place in places])
            self._contacts[name] = _Path.of(T[:, :3, 3], dt), _Path.of_turns(T[:, :3, :3], dt)

    def command(self, t: float, state: State) -> Command:
        """The torques in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        trajectory, q, v = self.trajectory, np.asarray(state.q), np.asarray(state.v)
        at = float(np.clip(t, trajectory.start, trajectory.end))
        moves = float(trajectory.start <= t <= trajectory.end)
        k = int(np.clip(np.searchsorted(self._times, at), 0, len(self._times) - 1))
        dt, self._t = max(t - self._t, 0.0), t
        self._lead_feet(at, k, moves, q)
        self._shift = self._shift + min(1.0, dt / _FADE) * (self._goal - self._shift)
        com = self.body["com"]
        com.target[:] = self._com.value[k] + self._shift
        com.set_rates(moves * self._com.rate[k], moves * self._com.change[k])
        for link, path in self._turns.items():
            handle = self.body[f"turn {link}"]
            handle.target[:] = path.value[k].ravel()
            handle.set_gains(*_TURN_GAINS)
            handle.set_rates(moves * path.rate[k], moves * path.change[k])
        momentum = self.body["angular_momentum"]
        momentum.set_rates(moves * self._momentum.value[k], moves * self._momentum.rate[k])
        self._lead_joints(trajectory.sample(at), moves)
        return self.body.command(t, q, v)

    def _lead_joints(self, now: Sample, moves: float) -> None:
        posture = self.body["posture"]
        posture.target[:] = now.q
        rows = [row for row in range(self.robot.nv) if row not in set(self.robot.base_rows)]
        rate = np.zeros(self.robot.nv) if now.v is None else np.asarray(now.v)
        change = np.zeros(self.robot.nv) if now.a is None else np.asarray(now.a)
        posture.set_rates(moves * rate[rows], moves * change[rows])

    def _lead_feet(self, t: float, k: int, moves: float, q: Array) -> None:
        """Feet of the schedule stand where they are; the others follow their path."""
        standing = self.schedule.at(t).names
        problem, places = self.body.problem, self.robot.placements(q)
        for name, surface in self.robot.contacts.items():
            handle, (position, turn) = problem.contact(name), self._contacts[name]
            if name in standing:
                if name not in self._standing:
                    T = places[surface.frame] @ surface.placement
                    handle.put(T)
                    handle.set_gains(0.0, 30.0)
                    handle.set_rates(0.0, 0.0)
                    handle.carries = True
                continue
            if name in self._standing or not self._standing:
                handle.carries = False
                handle.set_gains(500.0, 45.0)
            T = np.eye(4)
            T[:3, :3], T[:3, 3] = turn.value[k], position.value[k] + self._shift
            handle.put(T)
            R, tied = turn.value[k], list(problem.rows.tied[name])
            rate = np.r_[position.rate[k] @ R, turn.rate[k] @ R][tied]
            change = np.r_[position.change[k] @ R, turn.change[k] @ R][tied]
            handle.set_rates(moves * rate, moves * change)
        if standing != self._standing:
            errors = [
                (places[surface.frame] @ surface.placement)[:3, 3] - self._contacts[name][0].value[k]
                for name, surface in self.robot.contacts.items()
                if name in standing
            ]
            self._goal = np.mean(errors, axis=0) if errors else self._goal
            self._standing = standing
        self._wish(t, standing)

    def _wish(self, t: float, standing: tuple[str, ...]) -> None:
        """Planned wrenches, with the freedom that is left."""
        planned = self.trajectory.sample(t).wrenches
        for name in standing:
            if name in planned:
                rows = list(self.body.problem.rows.tied[name])
                self.body.problem.contact(name).wish = np.asarray(planned[name])[rows]

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the last solution [s]."""
        return self.body.solver_time
