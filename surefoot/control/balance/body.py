"""`BalancedBody`: a legged robot whose legs lead the centre of mass and the angular momentum."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.control.legged import LeggedBody, OutputKind, com_over_soles, posture_at_height
from surefoot.control.whole_body import ClearanceSettings, WholeBodySettings, wall_clearance
from surefoot.motion import Command, World
from surefoot.robot import Robot
from surefoot.tasks import AngularMomentum, CenterOfMass, Posture, Task

__all__ = ["BalancedBody"]

_SPIN_WEIGHT = 0.1  # of the moment over mass and height, beside the acceleration of the centre of mass
_LIMB_GAINS = (400.0, 40.0)
_LED_GAINS = (500.0, 45.0)
_PRESS_DAMPING = 15.0  # of a hand against what it presses on [1/s]; more makes it slow to follow what it touches
_ROOM_TIME, _BACK_TIME = 0.1, 2.0  # in which limbs move out of the way, and back [s]
_STRAIGHT = 20.0  # turn of joints per change of height, share of the height [rad], of knees bent by 0.2 rad
_RISES = 0.9  # share of a change of height without which a posture is singular
_TILTED = 0.02  # tilt from which on a sole stands on its lower edge [rad]
_FLAT_STIFFNESS = 200.0  # that turns a foot flat that rocks on its edge [1/s²]


class BalancedBody(LeggedBody):
    """Feet and hands first; then limbs that are not used keep their posture; then centre of mass and angular momentum.

    So the legs alone lead the centre of mass and the angular momentum. What they cannot do is not bought with arms that
    swing into their limits.

    Args:
        robot: A robot with feet and a floating base.
        q0: (nq,) posture in which it begins.
        further: Tasks of the user, by priority: 0 before the centre of mass, 1 after it, 2 beside the posture; the
            limbs of their frames are free.
        settings: Margins of the whole-body problem.
        hands: Contact surfaces of hands; they are switched off until they are led.
        output: See `LeggedBody`.
        steps: Whether feet swing quickly; their soles are then turned as ankles allow, after the centre of mass.
        lower: How much lower than at q0 the centre of mass is kept, share of its height.
        world: Whose obstacles are kept off.
    """

    clearance = ClearanceSettings(braking=15.0)  # legs that catch the robot stop quickly

    def __init__(
        self,
        robot: Robot,
        q0: Array,
        further: Sequence[Task] = (),
        settings: WholeBodySettings | None = None,
        hands: Sequence[str] = (),
        output: OutputKind = "torque",
        steps: bool = False,
        lower: float = 0.0,
        world: World | None = None,
    ) -> None:
        self._steps, self._walls = steps, wall_clearance(robot, q0, world)
        super().__init__(robot, q0, None, further, settings, hands, output=output)
        self._postures = [self[task.name] for task in self.problem.rows.tasks if isinstance(task, Posture)]
        for handle in self._postures:
            handle.set_gains(*_LIMB_GAINS)
        self.legs_are_straight = self._bend_per_height() > _STRAIGHT
        """Whether joints lead the legs at first: then even a little of height takes a lot of knee."""
        self.knees.free = 1.0
        if self.legs_are_straight:
            base, height = robot.tree.body_names[robot.base_joint or 0], (1.0 - lower) * com_over_soles(robot, q0)
            self["posture"].target[:] = posture_at_height(robot, q0, [base], height, over_feet=False)
            del self.knees
        self.may_tip = False
        """Whether soles may turn over their edges when their legs are at their limits."""
        self._aside, self._roomed = np.zeros(len(self._turning[0])), np.inf
        for name in self.hands:
            self.rest_hand(name)

    def _levels(self, further: Sequence[Task], turns: Sequence[Task], rest: Sequence[Task]) -> list[list[Task]]:
        robot = self.robot
        frames = [getattr(task, "frame", "") for task in further] + [robot.contacts[name].frame for name in self.hands]
        used = self._limbs(frames)
        still = [robot.tree.joint_names[k] for k in self._upper if k not in used]
        limbs = [Posture(robot, self._q0, still, name="limbs")] if still else []
        height = float(pin.centerOfMass(robot.model, robot.model.createData(), np.array(self._q0))[2])
        spin = AngularMomentum(weight=_SPIN_WEIGHT / (robot.mass * height) ** 2)
        postures = [task for task in rest if isinstance(task, Posture)]
        soles = [task for task in rest if self._steps and task.name.startswith("sole ")]
        first, then, last = ([task for task in further if task.priority == k] for k in range(3))
        levels: list[list[Task]] = [[], [*limbs, *first], [CenterOfMass(), spin], [*then, *soles]]
        levels += [[*turns, *postures, *last]]
        return [level for k, level in enumerate(levels) if level or k == 0]

    @cached_property
    def _upper(self) -> list[int]:
        """Bodies that are not part of a leg, without the base."""
        tree = self.robot.tree
        paths = [{foot, *tree.ancestors(foot)} for foot in (self.robot.body_of(foot.link) for foot in self.feet)]
        legs = {body for path in paths for body in path if sum(body in other for other in paths) == 1}
        trunk = {body for path in paths for body in path} - legs
        return [k for k in range(tree.n) if k not in trunk and not legs & {k, *tree.ancestors(k)}]

    def _limbs(self, frames: Sequence[str]) -> set[int]:
        """Bodies between the torso and frames."""
        tree, torso = self.robot.tree, self.robot.body_of(self.anatomy.torso)
        bodies = [self.robot.body_of(frame) for frame in frames if frame]
        return {k for body in bodies for k in (body, *tree.ancestors(body))} - {torso, *tree.ancestors(torso)}

    def hold(self, foot: int, pose: Array) -> None:
        """Let a foot stand and carry, and turn it flat if it rocks.

        Args:
            foot: Its number.
            pose: (4,) where it stands.
        """
        super().hold(foot, pose)
        for name in self.feet[foot].contacts:
            for k, row in enumerate(self.problem.rows.tied[name]):
                if row in (3, 4):
                    self.problem.contact(name).stiffness[k] = _FLAT_STIFFNESS

    def command(self, t: float, q: Array, v: Array) -> Command:
        """See `LeggedBody`; limbs that are not used move out of the way of others that come near.

        If it `may_tip`, a leg at its limits, such as the ankle of a robot that leans far, turns its sole over an edge
        instead of holding the whole robot back.
        """
        self._make_room(t)
        for foot, leg in zip(self.feet, self.legs, strict=True):
            axis = leg.tipping_axis(q, v) if self.may_tip else None
            for name in foot.contacts:
                self.problem.contact(name).pivot = None if axis is None else self._edge(name, axis)
        return super().command(t, q, v)

    def _edge(self, name: str, axis: int) -> tuple[int, float] | None:
        """Over which edge of a contact the robot goes: the lower one, or that which is next to its centre of pressure.

        Args:
            name: Of the contact.
            axis: 0 for an edge that runs ahead, 1 for one to the left.

        Returns:
            See `ContactHandle.pivot`.
        """
        w, tied = self.wrenches.get(name, np.zeros(6)), self.problem.rows.tied[name]
        if not self.problem.contact(name).carries or not {3, 4} <= set(tied):
            return None
        tilt, corners = (
            self.problem.error_of(f"contact {name}")[tied.index(3 + axis)],
            self.robot.contacts[name].corners,
        )
        drop = tilt if abs(tilt) > _TILTED else w[3 + axis]
        levers = corners[:, 1] if axis == 0 else -corners[:, 0]
        return 3 + axis, float(levers.max() if drop > 0.0 else levers.min())

    def _make_room(self, t: float) -> None:
        """Turn the limbs away from links that came near, and back when there is room."""
        dt, self._roomed = min(max(t - self._roomed, 0.0), _ROOM_TIME), t
        columns, places = self._turning
        self._aside = self._aside + dt * (self.problem.room(columns) / _ROOM_TIME - self._aside / _BACK_TIME)
        limits = self.robot.limits
        posture = np.clip(self._q0[places] + self._aside, limits.lower[places], limits.upper[places])
        for handle in self._postures:
            handle.target[places] = posture

    @cached_property
    def _turning(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(k,) rows of v and entries of q of the joints with one axis that are neither of legs nor of the trunk."""
        tree, torso = self.robot.tree, self.robot.body_of(self.anatomy.torso)
        arms = [k for k in self._upper if k != torso and k not in tree.ancestors(torso)]
        found = [k for k in arms if tree.nv_of(k) == 1 and tree.nq_of(k) == 1]
        return np.array(tree.v_index[found], dtype=np.int64), np.array(tree.q_index[found], dtype=np.int64)

    def lead_height(self, rate: float, change: float) -> None:
        """Set how the height of the centre of mass changes.

        Args:
            rate: [m/s].
            change: [m/s²].
        """
        com = self["com"]
        com.velocity[2], com.acceleration[2] = rate, change

    def rest_hand(self, name: str) -> None:
        """Leave a hand to the posture.

        Args:
            name: Of its contact surface.
        """
        handle = self.problem.contact(name)
        handle.carries = False
        handle.set_activation(0.0)

    def lead_hand(self, name: str, T: Array, way: Array, force: float) -> None:
        """Lead a hand, and let it press against what is before it.

        While it presses, its normal acceleration is only damped: in the air it goes on until it meets something.

        Args:
            name: Of its contact surface.
            T: (4, 4) where it should be in world, z out of what it touches.
            way: (2, 3) velocity and acceleration in world.
            force: Normal force [N]; 0 to lead it through the air.
        """
        handle, rows = self.problem.contact(name), list(self.problem.rows.tied[name])
        is_pressing = force > 0.0
        handle.put(T)
        handle.set_activation(1.0)
        handle.set_gains(*_LED_GAINS)
        rates = np.concatenate([way @ T[:3, :3], np.zeros((2, 3))], axis=1)[:, rows]
        if is_pressing:
            z = rows.index(2)
            handle.stiffness[z], handle.damping[z], rates[:, z] = 0.0, _PRESS_DAMPING, 0.0
        handle.set_rates(*rates)
        handle.carries, handle.slides, handle.least, handle.most = is_pressing, True, force, force

    def trunk_turn(self) -> tuple[Array, Array]:
        """Turn (3,) of the base from upright [rad] and angular momentum (3,) at the last command, in world."""
        handle = self.trunk.last
        return -self.problem.error_of(handle.task.name), self.problem.rate_of("angular_momentum")

    def trunk_rate(self) -> Array:
        """(3,) angular velocity of the base at the last command, in world [rad/s]."""
        return self.problem.rate_of(self.trunk.last.task.name)

    def spin(self, moment: Array, damping: float) -> None:
        """Change the angular momentum.

        Args:
            moment: (3,) about the centre of mass, in world [N m].
            damping: Of the angular momentum [1/s].
        """
        handle = self.problem["angular_momentum"]
        handle.set_gains(0.0, damping)
        handle.acceleration[:] = moment

    @cached_property
    def trunk_inertia(self) -> Array:
        """(3,) angular momentum per turning rate about forward, left and up, with feet and centre of mass at rest."""
        model, data = self.robot.model, self.robot.model.createData()
        Ag = pin.computeCentroidalMap(model, data, np.array(self._q0))[3:]
        ahead, up = self.anatomy.forward, np.array([0.0, 0.0, 1.0])
        found = [float(axis @ Ag @ self._motion(axis, 0.0 * up)) for axis in (ahead, np.cross(up, ahead), up)]
        return np.maximum(found, 1e-6)

    def _bend_per_height(self) -> float:
        """Largest turn of a joint per change of the height of the centre of mass, share of this height [rad]."""
        robot, q = self.robot, np.array(self._q0)
        v = self._motion(np.zeros(3), np.eye(3)[2])
        rise = (pin.jacobianCenterOfMass(robot.model, robot.model.createData(), q) @ v)[2]
        return com_over_soles(robot, q) * float(np.abs(v[6:]).max()) if rise > _RISES else np.inf

    def _motion(self, turn: Array, com: Array) -> Array:
        """(nv,) velocity that turns the base and moves the centre of mass, with feet and all but the legs at rest."""
        robot, q, trunk = self.robot, np.array(self._q0), self.trunk.last.task
        contacts = {f"contact {name}" for foot in self.feet for name in foot.contacts}
        tasks = [trunk, *(task for task in self.problem.rows.tasks if task.name in contacts)]
        rows = [np.asarray(task.jacobian(robot, q, task.numbers)) for task in tasks]
        rows.append(np.eye(robot.nv)[[int(robot.tree.v_index[k]) for k in self._upper]])
        A = np.vstack([*rows, pin.jacobianCenterOfMass(robot.model, robot.model.createData(), q)])
        return np.asarray(np.linalg.lstsq(A, np.concatenate([turn, np.zeros(len(A) - 6), com]), rcond=1e-6)[0])

    @cached_property
    def trunk_lever(self) -> float:
        """Height of what is not part of a leg over the hips, times its share of the mass [m]."""
        robot, data = self.robot, self.robot.model.createData()
        pin.centerOfMass(robot.model, data, np.array(self._q0))
        bodies = [k for k in range(robot.tree.n) if k in self._upper or k == robot.base_joint]
        places = {k: data.oMi[k + 1].act(robot.model.inertias[k + 1].lever)[2] for k in bodies}
        legs = [k for k in range(robot.tree.n) if robot.tree.parents[k] == robot.base_joint and k not in self._upper]
        hips = float(np.mean([data.oMi[k + 1].translation[2] for k in legs])) if legs else 0.0
        return max(0.0, sum(robot.model.inertias[k + 1].mass * (z - hips) for k, z in places.items()) / robot.mass)
