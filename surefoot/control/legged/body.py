"""`LeggedBody`: the whole-body problem of a legged robot, spoken to in feet, centre of mass and trunk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pinocchio as pin

from surefoot import ops
from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.control.legged.legs import posture_at_height
from surefoot.control.legged.planar import flat_pose, placement_of, turned
from surefoot.control.whole_body import BodyClearance, TaskHandle, WholeBody, WholeBodySettings, WholeBodySolution
from surefoot.errors import NotSupportedError
from surefoot.kinematics import Frame, com, com_velocity
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.motion import Command
from surefoot.robot import Robot, anatomy
from surefoot.tasks import AngularMomentum, CenterOfMass, FrameOrientation, Posture, Task

__all__ = ["LeggedBody"]

_SPIN_WEIGHT = 0.1  # of the moment over mass and height, beside the acceleration of the centre of mass
_UPPER_GAINS = (400.0, 40.0)
_POSTURE_WEIGHT, _MOMENTUM_WEIGHT = 0.1, 0.02  # beside the orientation of trunk and base, which weigh 1
_FLAT_STIFFNESS = 200.0  # that turns a foot flat that rocks on its edge [1/s²]
_SWING_GAINS, _STANCE_DAMPING = (500.0, 45.0), 30.0
_TRUNK_GAINS, _HEIGHT_GAIN, _MOMENTUM_DAMPING, _POSTURE_GAINS = (150.0, 20.0), 100.0, 5.0, (60.0, 12.0)
_FALLBACK_DAMPING = 1.0  # [N m s/rad] of a robot whose problem has no solution


class LeggedBody:
    """Feet, centre of mass, trunk and posture on three levels; angular momentum is damped beside the posture.

    Damping the angular momentum on the level of the centre of mass would swing the arms into their limits.

    Args:
        robot: A robot with feet and a floating base.
        q0: (nq,) posture in which it begins.
        height: Of the centre of mass over the ground, for the posture that is kept [m]; that of q0 if omitted.
        further: Tasks of the user, on a level between the centre of mass and the trunk.
        settings: Margins of the whole-body problem.
        hands: Further contact surfaces that may carry; they are switched off until they are led or pressed.
        centroidal: Whether the angular momentum is led as well as the centre of mass: `spin`. Arms and waist then keep
            their posture, and the legs alone do both.
    """

    def __init__(
        self,
        robot: Robot,
        q0: Array,
        height: float | None = None,
        further: Sequence[Task] = (),
        settings: WholeBodySettings | None = None,
        hands: Sequence[str] = (),
        centroidal: bool = False,
    ) -> None:
        self.robot, self.anatomy = robot, anatomy(robot)
        self.feet = self.anatomy.feet
        if not self.feet or robot.base != "floating":
            raise NotSupportedError(
                f"`{robot.name}` has {len(self.feet)} feet and a {robot.base} base; standing needs feet and a "
                "floating base",
                next_step="give `[contacts.NAME]` in its side file, or set robot.base=floating",
            )
        self.weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
        self.soles = [(settings or WholeBodySettings()).sole_share * foot.sole for foot in self.feet]
        frames = robot.placements(q0)
        self._q0 = q0
        self.hands, self._centroidal = tuple(hands), centroidal
        self._make_problem(q0, height, further, settings, frames)
        for name in self.hands:
            self.rest_hand(name)
        self._see = compile_robot(robot, functions={"legged_look": (self._seen, {})}).legged_look
        self._contact_ids = [[list(robot.contacts).index(name) for name in foot.contacts] for foot in self.feet]
        self._to_contact = {
            name: np.linalg.inv(frames[foot.link] @ foot.placement) @ frames[c.frame] @ c.placement
            for foot in self.feet
            for name in foot.contacts
            for c in [robot.contacts[name]]
        }
        self.passes, self.violation, self.fallbacks, self.trouble = 0, 0.0, 0, ""
        self._last = np.zeros(robot.nu)

    def _make_problem(
        self,
        q0: Array,
        height: float | None,
        further: Sequence[Task],
        settings: WholeBodySettings | None,
        frames: dict[str, Array],
    ) -> None:
        robot = self.robot
        base = robot.tree.body_names[robot.base_joint or 0]
        links = [self.anatomy.torso] + ([base] if base != self.anatomy.torso else [])
        posture = q0 if height is None else posture_at_height(robot, q0, links, height)
        turns = [FrameOrientation(link, frames[link][:3, :3], name=f"turn {link}") for link in links]
        rest = [AngularMomentum(weight=_MOMENTUM_WEIGHT), Posture(robot, posture, weight=_POSTURE_WEIGHT)]
        levels: list[list[Task]] = [[], [CenterOfMass()], list(further), [*turns, *rest]]
        if self._centroidal:
            used = self._limbs(
                [*(getattr(x, "frame", "") for x in further), *(robot.contacts[x].frame for x in self.hands)]
            )
            still = [robot.tree.joint_names[k] for k in self._upper if k not in used]
            arms = [Posture(robot, posture, still, name="upper posture")] if still else []
            reach = robot.mass * float(pin.centerOfMass(robot.model, robot.model.createData(), np.array(q0))[2])
            spin = AngularMomentum(weight=_SPIN_WEIGHT / reach**2)
            levels = [[], [*arms], [CenterOfMass(), spin], list(further), [*turns, rest[1]]]
        contacts = [*(name for foot in self.feet for name in foot.contacts), *self.hands]
        stack = [level for k, level in enumerate(levels) if level or k == 0]
        self.problem = WholeBody(robot, stack, contacts, settings, BodyClearance(robot, q0))
        heading = float(np.arctan2(self.anatomy.forward[1], self.anatomy.forward[0]))
        ahead = placement_of(np.array([0.0, 0.0, 0.0, -heading]))[:3, :3]
        self._trunk = [(self.problem[f"turn {link}"], ahead @ frames[link][:3, :3]) for link in links]
        for handle, _ in self._trunk:
            handle.set_gains(*_TRUNK_GAINS)
        self._com = self.problem["com"]
        self._com.set_gains([0.0, 0.0, _HEIGHT_GAIN])
        self.problem["angular_momentum"].set_gains(0.0, _MOMENTUM_DAMPING)
        self.problem["posture"].set_gains(*(_UPPER_GAINS if self._centroidal else _POSTURE_GAINS))
        if any(task.name == "upper posture" for task in self.problem.rows.tasks):
            self.problem["upper posture"].set_gains(*_UPPER_GAINS)

    @cached_property
    def _upper(self) -> list[int]:
        """Bodies that are not part of a leg, the base left out."""
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

    def _seen(self, robot: Robot, q: ops.Array, v: ops.Array) -> tuple[ops.Array, ops.Array, ops.Array]:
        """Centre of mass, its velocity, and placements of the feet (feet, 4, 4)."""
        places = []
        for foot in self.feet:
            at, T = frame_of(robot, foot.link), foot.placement
            frame = Frame(at.body, at.R @ T[:3, :3], at.p + at.R @ T[:3, 3])
            places.append(relative_placement(robot.tree, WORLD, frame, q))
        return com(robot.tree, q), com_velocity(robot.tree, q, v), ops.stack(places)

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
        T = placement_of(pose)
        for name in self.feet[foot].contacts:
            handle = self.problem.contact(name)
            handle.put(T @ self._to_contact[name])
            handle.set_gains(0.0, _STANCE_DAMPING)
            for k, row in enumerate(self.problem.rows.tied[name]):
                handle.stiffness[k] = _FLAT_STIFFNESS if self._centroidal and row in (3, 4) else 0.0
            handle.set_rates(0.0, 0.0)
            handle.carries = True

    def release(self, foot: int) -> None:
        """Let a foot leave the ground.

        Args:
            foot: Its number.
        """
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
        T, spin, swirl = placement_of(pose), float(velocity[3]), float(acceleration[3])
        linear, push = turned(velocity[:3], -pose[3]), turned(acceleration[:3], -pose[3])
        for name in self.feet[foot].contacts:
            handle, offset = self.problem.contact(name), self._to_contact[name]
            R, (x, y, _) = offset[:3, :3], offset[:3, 3]
            at = linear + np.array([-spin * y, spin * x, 0.0])
            change = push + np.array([-swirl * y, swirl * x, 0.0])
            rows = list(self.problem.rows.tied[name])
            handle.put(T @ offset)
            handle.set_rates(np.r_[at @ R, spin * R[2]][rows], np.r_[change @ R, swirl * R[2]][rows])

    def share(self, shares: Sequence[float], most: Sequence[float]) -> None:
        """Wish for shares of the weight on the feet, in the middle of their soles, and limit their normal forces.

        Args:
            shares: Of each foot.
            most: Of each foot [N].
        """
        for foot, share, limit in zip(self.feet, shares, most, strict=True):
            for name in foot.contacts:
                handle, centre = self.problem.contact(name), self.robot.contacts[name].corners.mean(axis=0)
                load = share * self.weight / len(foot.contacts)
                wish = np.array([0.0, 0.0, load, centre[1] * load, -centre[0] * load, 0.0])
                handle.wish = wish[list(self.problem.rows.tied[name])]
                handle.most = limit

    def lead_com(self, acceleration: Array, height: float, at: Array, rate: float = 0.0, change: float = 0.0) -> None:
        """Accelerate the centre of mass horizontally, and keep it at a height.

        Args:
            acceleration: (2,) in world [m/s²].
            height: z in world [m].
            at: (3,) where it is.
            rate: Velocity of the height [m/s].
            change: Acceleration of the height [m/s²].
        """
        self._com.acceleration[:] = acceleration[0], acceleration[1], change
        self._com.velocity[2] = rate
        self._com.target[:] = at[0], at[1], height

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
        handle.set_gains(*_SWING_GAINS)
        rates = np.concatenate([way @ T[:3, :3], np.zeros((2, 3))], axis=1)[:, rows]
        if is_pressing:
            z = rows.index(2)
            handle.stiffness[z], rates[:, z] = 0.0, 0.0
        handle.set_rates(*rates)
        handle.carries, handle.least, handle.most = is_pressing, force, force

    def trunk_turn(self) -> tuple[Array, Array]:
        """Rotation vector (3,) of the base from upright [rad] and angular momentum (3,), at the last command, in world."""
        handle = self._trunk[-1][0]
        return -self.problem.error_of(handle.task.name), self.problem.rate_of("angular_momentum")

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
        robot, q = self.robot, np.array(self._q0)
        model, data = robot.model, robot.model.createData()
        pin.ccrba(model, data, q, np.zeros(robot.nv))
        pin.jacobianCenterOfMass(model, data, q)
        contacts = {f"contact {name}" for foot in self.feet for name in foot.contacts}
        turn = self._trunk[-1][0].task
        rows = [np.asarray(x.jacobian(robot, q, x.numbers)) for x in self.problem.rows.tasks if x.name in contacts]
        rows += [data.Jcom, np.eye(robot.nv)[[int(robot.tree.v_index[k]) for k in self._upper]]]
        A = np.vstack([np.asarray(turn.jacobian(robot, q, turn.numbers)), *rows])
        ahead, up = self.anatomy.forward, np.array([0.0, 0.0, 1.0])
        found = []
        for axis in (ahead, np.cross(up, ahead), up):
            v = np.linalg.lstsq(A, np.append(axis, np.zeros(len(A) - 3)), rcond=1e-6)[0]
            found.append(float(axis @ (data.Ag @ v)[3:]))
        return np.maximum(found, 1e-6)

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

    def turn_trunk(self, yaw: float) -> None:
        """Let trunk and base look somewhere.

        Args:
            yaw: Heading in world [rad].
        """
        R = placement_of(np.array([0.0, 0.0, 0.0, yaw]))[:3, :3]
        for handle, upright in self._trunk:
            handle.target[:] = (R @ upright).ravel()

    def command(self, t: float, q: Array, v: Array) -> Command:
        """The torques; if there is no solution, the last torques with damping, and `trouble` says why.

        Args:
            t: Time [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        found = self.problem.solve(q, v, t)
        self.passes, self.violation = found.passes, found.violation
        if found.trouble is not None:
            self.fallbacks, self.trouble = self.fallbacks + 1, found.trouble
            still = np.zeros(self.robot.nu)
            return Command(torque=self._last, velocity=still, kd=np.full(self.robot.nu, _FALLBACK_DAMPING))
        self._last = found.torques
        self.solution: WholeBodySolution = found
        return Command(torque=found.torques)

    @property
    def solver_time(self) -> float:
        """Wall-clock time of the last solution [s]."""
        return self.problem.solver_time
