"""`LeggedBody`: the whole-body problem of a legged robot, spoken to in feet, centre of mass and trunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.control.legged.leading import Heading, LegBend
from surefoot.control.legged.legs import LegLimits, com_over_soles, posture_at_height
from surefoot.control.legged.outputs import OutputKind, PositionOutput
from surefoot.control.legged.planar import flat_pose, placement_of
from surefoot.control.legged.sole import SwingSole, sole_tasks
from surefoot.control.whole_body import (
    BodyClearance,
    ClearanceSettings,
    TaskHandle,
    WholeBody,
    WholeBodySettings,
    WholeBodySolution,
)
from surefoot.errors import NotSupportedError
from surefoot.kinematics import Frame, com, com_velocity
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.motion import Command
from surefoot.robot import ContactSurface, Foot, Robot, anatomy
from surefoot.spatial import so3, twist
from surefoot.tasks import AngularMomentum, CenterOfMass, FrameOrientation, Posture, Task

__all__ = ["LeggedBody"]

# Weights of accelerations in m/s², beside the centre of mass, which weighs 1: angles times the height of the centre of
# mass, angular momentum over mass and height, so that they hold for robots of any size.
_TRUNK_WEIGHT, _POSTURE_WEIGHT, _MOMENTUM_WEIGHT, _SOLE_WEIGHT = 0.07, 7e-3, 0.28, 0.02
_SWING_GAINS, _STANCE_DAMPING = (500.0, 45.0), 30.0
_TRUNK_GAINS, _HEIGHT_GAIN, _MOMENTUM_DAMPING, _POSTURE_GAINS = (150.0, 20.0), 100.0, 5.0, (60.0, 12.0)
# Feet and base say where the legs are: a posture that pulls at legs in mid-step pulls the centre of mass back. A little
# of it bends knees that are straight, where nothing else does.
_LEG_SHARE, _LEG_STIFFNESS = 0.05, 0.3  # shares of the weight and of the stiffness of the posture
_BASE_YAW = 3.0  # how much more the base keeps its heading than the torso, if both may turn
_COM_SHARE = 0.8  # of the soles in which the ZMP of the centre of mass may lie; the rest is for limbs that swing
_HOLD, _HOLD_TIME = 2.0, 0.05  # stiffness per torque limit [1/rad] with which drives hold; damping over stiffness [s]
_DRIVE_DAMPING, _FOLLOWS = 0.02, 0.05  # damping of the drives per torque limit [s/rad]; time to follow the joints [s]


class LeggedBody:
    """Feet first; then centre of mass, trunk, angular momentum and posture, by weights.

    With strict levels among these, the last bit of the centre of mass is bought with arms that swing into their limits,
    or with a trunk that slowly falls over; weights give up a little of each (measured on g1, walking and pushed).

    Args:
        robot: A robot with feet and a floating base.
        q0: (nq,) posture in which it begins.
        height: Of the centre of mass over the ground, for the posture that is kept [m]; that of q0 if omitted.
        further: Tasks of the user, beside the centre of mass; their weights compare with its m/s².
        settings: Margins of the whole-body problem.
        hands: Further contact surfaces that may carry.
        yaw: Share of the weight of the trunk about the vertical; less lets it turn against legs that swing quickly.
        output: What the drives are told; "admittance" needs force sensors.
    """

    clearance = ClearanceSettings()  # how links keep apart
    _walls: BodyClearance | None = None  # keeps links off obstacles

    def __init__(
        self,
        robot: Robot,
        q0: Array,
        height: float | None = None,
        further: Sequence[Task] = (),
        settings: WholeBodySettings | None = None,
        hands: Sequence[str] = (),
        yaw: float = 1.0,
        output: OutputKind = "torque",
    ) -> None:
        self._yaw_shares = yaw, min(1.0, _BASE_YAW * yaw)
        self.robot, self.anatomy, self.hands, self._q0 = robot, anatomy(robot), tuple(hands), q0
        self.feet = self.anatomy.feet
        if not self.feet or robot.base != "floating":
            raise NotSupportedError(
                f"`{robot.name}` has {len(self.feet)} feet and a {robot.base} base; standing needs feet and a "
                "floating base",
                next_step="give `[contacts.NAME]` in its side file, or set robot.base=floating",
            )
        self.weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
        self.soles, frames = [_COM_SHARE * foot.sole for foot in self.feet], robot.placements(q0)
        self.normals = [(frames[foot.link] @ foot.placement)[:3, 2] for foot in self.feet]
        """(3,) by foot, in world: of the ground on which it stands or lands."""
        self._make_problem(q0, height, further, settings, frames)
        self._see = compile_robot(robot, functions={"legged_look": (_look_at(self.feet), {})}).legged_look
        self._contact_ids = [[list(robot.contacts).index(name) for name in foot.contacts] for foot in self.feet]
        self.to_contact = _places_in_feet(robot, self.feet, frames)
        tied, names = self.problem.rows.tied, [name for foot in self.feet for name in foot.contacts]
        self._middles = {name: _unit_wrench(robot.contacts[name], tied[name]) for name in names}
        self.legs = [LegLimits(robot, foot, self.problem.rows.settings.joint_margin) for foot in self.feet]
        self.passes, self.violation, self.fallbacks, self.trouble = 0, 0.0, 0, ""
        self.troubles: Counter[str] = Counter()
        """How often there was no solution, or another trouble, by reason."""
        self._driven, self._driven_entries = _span(robot.driven), _entries_of(robot)
        self._held, self._last, self._t = np.array(q0)[self._driven_entries], np.zeros(robot.nu), -np.inf
        carrying = self.weight * float(np.array(com(robot.tree, q0))[2])  # files with no real limits have 1e4 N m
        self._efforts = np.minimum(self.problem.rows.torque_limits, carrying)
        self.output = None if output == "torque" else PositionOutput(robot, q0, output == "admittance")
        self._speeds, self._damping = np.zeros(robot.nu), _DRIVE_DAMPING * self._efforts
        self._found, self._has_force = WholeBodySolution.nothing(robot), False  # the last one
        self._rates_to_contact = {name: _rates_to(T, tied[name]) for name, T in self.to_contact.items()}

    def _make_problem(
        self,
        q0: Array,
        height: float | None,
        further: Sequence[Task],
        settings: WholeBodySettings | None,
        frames: dict[str, Array],
    ) -> None:
        robot, base = self.robot, self.robot.tree.body_names[self.robot.base_joint or 0]
        links = [self.anatomy.torso] + ([base] if base != self.anatomy.torso else [])
        size = com_over_soles(robot, q0)
        posture = q0 if height is None else posture_at_height(robot, q0, links, height)
        turns: list[Task] = [
            FrameOrientation(
                link,
                frames[link][:3, :3],
                name=f"turn {link}",
                weight=_TRUNK_WEIGHT * size**2 * np.array([1.0, 1.0, share]),
            )
            for link, share in zip(links, self._yaw_shares, strict=False)
        ]
        rest: list[Task] = [
            AngularMomentum(weight=_MOMENTUM_WEIGHT / (robot.mass * size) ** 2),
            Posture(robot, posture, weight=_POSTURE_WEIGHT * size**2 * _leg_shares(robot, self.feet, _LEG_SHARE)),
            *sole_tasks(robot, self.feet, _SOLE_WEIGHT * size**2),
        ]
        contacts = [*(name for foot in self.feet for name in foot.contacts), *self.hands]
        levels, apart = self._levels(further, turns, rest), BodyClearance(robot, q0, self.clearance)
        self.problem = WholeBody(robot, levels, contacts, settings, apart, self._walls)
        x, y = np.sum([(frames[foot.link] @ foot.placement)[:2, 0] for foot in self.feet], axis=0)
        self.trunk = Heading(float(np.arctan2(y, x)))
        for link in links:
            self.trunk.add(self.problem[f"turn {link}"])
            self.problem[f"turn {link}"].set_gains(*_TRUNK_GAINS)
        self.swings = [SwingSole(self.problem, foot, _SWING_GAINS) for foot in self.feet]
        self._com = self.problem["com"]
        self._com.set_gains([0.0, 0.0, _HEIGHT_GAIN])
        self.problem["angular_momentum"].set_gains(0.0, _MOMENTUM_DAMPING)
        self["posture"].set_gains(_POSTURE_GAINS[0] * _leg_shares(robot, self.feet, _LEG_STIFFNESS), _POSTURE_GAINS[1])

    @cached_property
    def knees(self) -> LegBend:
        """Leads the legs at the start."""
        legs = _leg_shares(self.robot, self.feet, 0.0) == 0.0
        return LegBend(self["posture"], self._com, self["angular_momentum"], self._q0, legs)

    def _levels(self, further: Sequence[Task], turns: Sequence[Task], rest: Sequence[Task]) -> list[list[Task]]:
        """Tasks by level: those of the user, of the trunk, angular momentum and posture; contacts are added."""
        return [[], [CenterOfMass(), *further, *turns, *rest]]

    def __getitem__(self, task: str) -> TaskHandle:
        return self.problem[task]

    def look(self, q: Array, v: Array) -> tuple[Array, Array, list[Array]]:
        """Centre of mass (3,), its velocity (3,), and flat poses (4,) of the feet, in world.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        at, speed, places = self._see(q, v)
        return at, speed, [flat_pose(T) for T in places]

    def touching(self, contacts: Array) -> list[float]:
        """How sure each foot touches, from probabilities of all contacts of the robot."""
        return [max(float(contacts[k]) for k in ids) for ids in self._contact_ids]

    def hold(self, foot: int, pose: Array) -> None:
        """Let a foot stand and carry.

        Args:
            foot: Its number.
            pose: (4,) where it stands.
        """
        T = self._placed(foot, pose)
        self.swings[foot].stand()
        for name in self.feet[foot].contacts:
            handle = self.problem.contact(name)
            handle.put(T @ self.to_contact[name])
            handle.set_gains(0.0, _STANCE_DAMPING)
            handle.set_rates(0.0, 0.0)
            handle.carries = True

    def release(self, foot: int) -> None:
        """Let a foot leave the ground.

        Args:
            foot: Its number.
        """
        self.swings[foot].swing()
        for name in self.feet[foot].contacts:
            handle = self.problem.contact(name)
            handle.carries = False
            handle.set_gains(*_SWING_GAINS)

    def lead(self, foot: int, pose: Array, velocity: Array, acceleration: Array) -> None:
        """Lead a foot in the air.

        Args:
            foot: Its number.
            pose: (4,) x, y, z, yaw in world.
            velocity: (4,) its rate.
            acceleration: (4,) the rate of that.
        """
        T, spin, swirl = self._placed(foot, pose), float(velocity[3]), float(acceleration[3])
        rates = np.zeros((2, 6))
        rates[:, :3], rates[:, 5] = np.array([velocity[:3], acceleration[:3]]) @ T[:3, :3], (spin, swirl)
        self.swings[foot].lead(T[:3, :3], rates[:, 3:])
        for name in self.feet[foot].contacts:
            handle = self.problem.contact(name)
            handle.put(T @ self.to_contact[name])
            handle.set_rates(*(rates @ self._rates_to_contact[name]))

    def _placed(self, foot: int, pose: Array) -> Array:
        """(4, 4) of a foot at a flat pose, its sole on the ground there."""
        T, normal = placement_of(pose), self.normals[foot]
        if normal[2] < 1.0:
            T[:3, :3] = so3.turn_to(normal) @ T[:3, :3]
        return T

    def share(self, shares: Sequence[float] | Array, most: Sequence[float] | Array) -> None:
        """Wish for shares of the weight on the feet, in the middle of their soles, and limit their normal forces.

        Args:
            shares: Of each foot.
            most: Of each foot [N].
        """
        for foot, share, limit in zip(self.feet, shares, most, strict=True):
            for name in foot.contacts:
                handle = self.problem.contact(name)
                handle.wish = share * self.weight / len(foot.contacts) * self._middles[name]
                handle.most = limit

    def lead_com(self, acceleration: Array, height: float, at: Array) -> None:
        """Accelerate the centre of mass horizontally, and keep it at a height.

        Args:
            acceleration: (2,) in world [m/s²].
            height: z in world [m].
            at: (3,) where it is.
        """
        self._com.acceleration[:2] = acceleration
        self._com.target[:] = at[0], at[1], height

    def command(self, t: float, q: Array, v: Array) -> Command:
        """The torques, with drives that damp what the joints should not do.

        A light foot that the controller believes on the ground, and that is not, would turn over within a tick. If
        there is no solution, the last torques hold, joints are damped to rest, and `trouble` says why.

        Args:
            t: Time [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        found = self.problem.solve(q, v, t)
        self.passes, self.violation = found.passes, found.violation
        if found.trouble is not None:
            return self.fall_back(found.trouble)
        dt, self._t = min(max(t - self._t, 0.0), _FOLLOWS), t
        share = dt / _FOLLOWS if dt > 0.0 else 1.0
        self._speeds = (1.0 - share) * self._speeds + share * v[self._driven]
        self._last, self._held, self.trouble = found.torques, q[self._driven_entries], ""
        self._speeds = self._speeds + dt * found.acceleration[self._driven]
        self._found, self._has_force = found, True
        if self.output is not None:
            return self.output.command(t, q, v, found, self.problem)
        return Command.trusted(torque=self._last, velocity=self._speeds, kd=self._damping)

    def fall_back(self, trouble: str) -> Command:
        """A command without a solution: the last torques, and drives that hold the last good posture.

        Args:
            trouble: Why, in a word or two; it is counted in `troubles`.
        """
        self.fallbacks, self.trouble = self.fallbacks + 1, trouble
        self.troubles[trouble] += 1
        self._speeds, self._has_force = np.zeros(self.robot.nu), False
        if self.output is not None:
            return self.output.hold()
        hold = _HOLD * self._efforts
        return Command(torque=self._last, position=self._held, velocity=self._speeds, kp=hold, kd=_HOLD_TIME * hold)

    @property
    def wrenches(self) -> dict[str, Array]:
        """(6,) by contact, of the last solution; nothing before the first."""
        return self._found.wrenches

    @property
    def force(self) -> Array | None:
        """(3,) what contacts exert by the last solution, in world [N]; None if there was none, or it was forgotten."""
        return self._found.force if self._has_force else None

    def forget_force(self) -> None:
        """Take the force of the last solution for unknown, as after a foot has landed."""
        self._has_force = False

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the last solution [s]."""
        return self.problem.solver_time


def _look_at(feet: tuple[Foot, ...]) -> Callable[..., Any]:
    """Of q and v: centre of mass, its velocity, and placements of the feet (feet, 4, 4)."""

    def seen(robot: Robot, q: ops.Array, v: ops.Array) -> tuple[ops.Array, ops.Array, ops.Array]:
        places = []
        for foot in feet:
            at, T = frame_of(robot, foot.link), foot.placement
            frame = Frame(at.body, at.R @ T[:3, :3], at.p + at.R @ T[:3, 3])
            places.append(relative_placement(robot.tree, WORLD, frame, q))
        return com(robot.tree, q), com_velocity(robot.tree, q, v), ops.stack(places)

    return seen


def _places_in_feet(robot: Robot, feet: Sequence[Foot], frames: dict[str, Array]) -> dict[str, Array]:
    """(4, 4) by contact: where it is in the frame of its foot."""
    return {
        name: np.linalg.inv(frames[foot.link] @ foot.placement) @ frames[c.frame] @ c.placement
        for foot in feet
        for name in foot.contacts
        for c in [robot.contacts[name]]
    }


def _rates_to(T: Array, tied: Sequence[int]) -> Array:
    """(6, tied) by which a row of rates of a foot becomes one of a contact that is placed at T in it."""
    return np.asarray(twist.transform_matrix(T[:3, :3].T, T[:3, 3])[list(tied)].T)


def _unit_wrench(surface: ContactSurface, tied: Sequence[int]) -> Array:
    """(tied,) wrench of a unit normal force in the middle of a contact."""
    x, y, _ = surface.corners.mean(axis=0)
    return np.array([0.0, 0.0, 1.0, y, -x, 0.0])[list(tied)]


def _entries_of(robot: Robot) -> NDArray[np.int64] | slice:
    """Entries of q of the driven joints, in the order of the drives."""
    return _span(
        np.array([robot.tree.q_index[robot.joint_index(drive.joint)] for drive in robot.drives], dtype=np.int64)
    )


def _span(places: NDArray[np.int64]) -> NDArray[np.int64] | slice:
    """Places in an array; as a slice, which is quicker, if they follow each other."""
    follow = len(places) > 0 and (np.diff(places) == 1).all()
    return slice(int(places[0]), int(places[-1]) + 1) if follow else places


def _leg_shares(robot: Robot, feet: Sequence[Foot], share: float) -> Array:
    """(joints,) a share for the joints of the legs, 1 for the others."""
    tree, base = robot.tree, robot.base_joint or 0
    ends = [robot.body_of(foot.link) for foot in feet]
    legs = {body for end in ends for body in (end, *tree.ancestors(end))} - {base, *tree.ancestors(base)}
    return np.concatenate([np.full(tree.nv_of(i), share if i in legs else 1.0) for i in range(tree.n) if i != base])
