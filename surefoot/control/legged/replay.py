"""`WholeBodyFollower`: a planned motion with contacts that change, followed by whole-body control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.control.legged.body import LeggedBody
from surefoot.errors import NotSupportedError
from surefoot.kinematics import com, com_velocity, contact_frame, frame_of, frame_placement, frame_velocity
from surefoot.motion import Command, Stance, State, Trajectory
from surefoot.robot import Robot, anatomy, placement

__all__ = ["WholeBodyFollower"]

_GRID = 0.002  # [s] of the reference
_HAND_GAINS, _HOLD_GAINS = (200.0, 28.0), (60.0, 30.0)  # of hands in the air, and of those that hold on [1/s²], [1/s]
_HAND_FRICTION = 0.2  # that is used at most: on a rail, the normal turns with each millimetre that a ball goes aside
_COM_GAINS, _POSTURE_GAINS = (60.0, 60.0, 100.0), (100.0, 20.0)


class WholeBodyFollower:
    """Follow a motion with a contact schedule: feet, centre of mass, trunk and joints by whole-body control.

    Contacts carry when the schedule says so, and want the wrenches of the plan. Feet in the air, the centre of mass and
    the trunk are led along the plan. Where the feet stand elsewhere than planned, the plan moves with the foot that
    carries alone. Contacts of the schedule that belong to no foot are hands: their normals are those of their spots.

    Args:
        robot: A robot with feet and a floating base.
        trajectory: The motion, with velocities and a schedule.

    Raises:
        NotSupportedError: The motion has no contact schedule.
    """

    def __init__(self, robot: Robot, trajectory: Trajectory) -> None:
        if trajectory.schedule is None:
            raise NotSupportedError(
                "whole-body control needs to know when contacts hold",
                next_step="give the trajectory a contact schedule",
            )
        own = {name for foot in anatomy(robot).feet for name in foot.contacts}
        hands = [name for name in trajectory.schedule.names if name not in own]
        robot = _held_at_centres(robot, hands)
        self.robot, self.trajectory = robot, trajectory.with_velocities()
        self.body = LeggedBody(robot, np.array(trajectory.q[0]), hands=hands)
        self._names = [*(name for foot in self.body.feet for name in foot.contacts), *hands]
        turns = [task.name for task in self.body.problem.rows.tasks if task.name.startswith("turn ")]
        self._links = [name.removeprefix("turn ") for name in turns]
        self._refer()
        self.body["com"].set_gains(_COM_GAINS)
        self.body["posture"].set_gains(*_POSTURE_GAINS)
        self.body["angular_momentum"].set_activation(0.0)
        self._carrying: tuple[str, ...] | None = None
        self._offset = np.zeros(3)

    def _refer(self) -> None:
        """The reference on a fine grid: centre of mass, contacts, trunk, and their rates."""
        robot, names, links = self.robot, self._names, self._links

        def seen(robot: Robot, q: ops.Array, v: ops.Array) -> tuple[ops.Array, ...]:
            feet = [contact_frame(robot, name) for name in names]
            turns = [frame_of(robot, link) for link in links]
            tree = robot.tree
            return (
                com(tree, q),
                com_velocity(tree, q, v),
                ops.stack([frame_placement(tree, frame, q) for frame in feet]),
                ops.stack([frame_velocity(tree, frame, q, v, "local_world_aligned") for frame in feet]),
                ops.stack([frame_placement(tree, frame, q)[:3, :3] for frame in turns]),
                ops.stack([frame_velocity(tree, frame, q, v, "local_world_aligned")[3:] for frame in turns]),
            )

        look = compile_robot(robot, functions={"replay_look": (seen, {})}).replay_look
        fine = self.trajectory.resample(dt=_GRID)
        self._fine, self._step = fine, _GRID
        found = look(np.ascontiguousarray(fine.q), np.ascontiguousarray(fine.v))
        self._com, self._com_rate, self._feet, self._twists, self._turns, self._spins = found
        self._com_change = np.gradient(self._com_rate, fine.time, axis=0)
        self._pushes = np.gradient(self._twists, fine.time, axis=0)
        self._swirls = np.gradient(self._spins, fine.time, axis=0)
        self._change = np.gradient(np.asarray(fine.v), fine.time, axis=0)
        self._see = look

    def command(self, t: float, state: State) -> Command:
        """The torques in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        motion, q, v = self.trajectory, np.asarray(state.q), np.asarray(state.v)
        at = float(np.clip(t, motion.start, motion.end))
        k = min(round((at - motion.start) / self._step), len(self._fine) - 1)
        moving = 1.0 if t <= motion.end else 0.0
        self._stand(motion.schedule.at(at), q, v, k)  # type: ignore[union-attr]
        for i, name in enumerate(self._names):
            self._lead(i, name, k, moving)
        self.body["com"].target[:] = self._com[k] + self._offset
        self.body["com"].set_rates(moving * self._com_rate[k], moving * self._com_change[k])
        for i, link in enumerate(self._links):
            handle = self.body[f"turn {link}"]
            handle.target[:] = self._turns[k, i].ravel()
            handle.set_rates(moving * self._spins[k, i], moving * self._swirls[k, i])
        joints = np.setdiff1d(np.arange(self.robot.nv), self.robot.base_rows)
        self.body["posture"].target[:] = self._fine.q[k]
        self.body["posture"].set_rates(moving * self._fine.v[k][joints], moving * self._change[k][joints])  # type: ignore[index]
        return self.body.command(t, q, v)

    def _stand(self, stance: Stance, q: Array, v: Array, k: int) -> None:
        """Let feet and hands carry that should, where they are; move the plan with a foot that carries alone."""
        carrying = stance.names
        if carrying == self._carrying:
            return
        before, (_, _, poses) = self._carrying, self.body.look(q, v)
        for i, foot in enumerate(self.body.feet):
            stands = not set(foot.contacts).isdisjoint(carrying)
            stood = before is not None and not set(foot.contacts).isdisjoint(before)
            if stands and not stood:
                self.body.hold(i, poses[i])
            elif not stands and (stood or before is None):
                self.body.release(i)
        places = self._see(q, v)[2]
        for name in self.body.hands:
            handle = self.body.problem.contact(name)
            handle.carries = name in carrying
            if handle.carries and (before is None or name not in before):
                handle.put(placement(places[self._names.index(name)][:3, 3], stance.spots[name].pose[:3, :3]))
                handle.set_gains(*_HOLD_GAINS)
                handle.set_rates(0.0, 0.0)
            elif not handle.carries:
                handle.set_gains(*_HAND_GAINS)
        feet = [name for name in carrying if name not in self.body.hands]
        if len(feet) == 1:
            i = self._names.index(feet[0])
            self._offset[:2] = (places[i] - self._feet[k, i])[:2, 3]
        self._carrying = carrying

    def _lead(self, i: int, name: str, k: int, moving: float) -> None:
        """Lead a contact in the air; wish for the wrench of the plan where it carries."""
        handle = self.body.problem.contact(name)
        rows = list(self.body.problem.rows.tied[name])
        if handle.carries:
            planned = self._fine.wrenches.get(name)
            if planned is None:
                handle.wish = np.zeros(len(rows))
            else:  # from the frame of the contact to that of its target
                R = self._feet[k, i, :3, :3].T @ handle.target[:9].reshape(3, 3)
                handle.wish = (planned[k].reshape(2, 3) @ R).ravel()[rows]
            return
        T = self._feet[k, i].copy()
        if name in self.body.hands:
            T[:3, :3] = np.eye(3)
        R = T[:3, :3]
        T[:3, 3] += self._offset
        handle.put(T)
        twist, push = self._twists[k, i], self._pushes[k, i]
        local = [np.r_[x[:3] @ R, x[3:] @ R] for x in (twist, push)]
        handle.set_rates(moving * local[0][rows], moving * local[1][rows])
        if name in self.body.hands:
            return
        foot = next(number for number, foot in enumerate(self.body.feet) if name in foot.contacts)
        self.body.swings[foot].lead(R @ self.body.to_contact[name][:3, :3].T, moving * np.stack([twist[3:], push[3:]]))

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the last solution [s]."""
        return self.body.solver_time


def _held_at_centres(robot: Robot, hands: Sequence[str]) -> Robot:
    """A robot whose hands are held at the centres of their balls, where normal forces pass however a hand is turned."""
    contacts = dict(robot.contacts)
    for name in hands:
        surface = contacts[name]
        centre = surface.placement @ placement((0.0, 0.0, surface.radius))
        contacts[name] = replace(surface, placement=centre, radius=0.0, friction=min(surface.friction, _HAND_FRICTION))
    return robot.replace(contacts=contacts) if hands else robot
