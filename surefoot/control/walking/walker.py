"""`WalkingController`: walks where its step source says, by whole-body control."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.control.walking.legs import leg_reach, posture_at_height
from surefoot.control.walking.planar import closest_inside, flat_pose, local, placement_of, turned, world, wrapped
from surefoot.control.walking.settings import WalkSettings, walk_settings
from surefoot.control.walking.swing import SwingFoot
from surefoot.control.whole_body import BodyClearance, WholeBody, WholeBodySettings
from surefoot.errors import NotSupportedError
from surefoot.geometry import convex_hull, distance_inside
from surefoot.kinematics import Frame, com, com_velocity
from surefoot.kinematics.frames import WORLD, frame_of, relative_placement
from surefoot.motion import Channel, Command, Footstep, Observation, State, StepSource
from surefoot.ops import Array as OpsArray
from surefoot import ops
from surefoot.reduced import DcmPlan, NominalStep, Side, StepAdapter, StepLimits, StepWeights, ZmpPiece
from surefoot.robot import Foot, Robot, anatomy
from surefoot.tasks import AngularMomentum, CenterOfMass, FrameOrientation, Posture, Task

__all__ = ["WalkingController"]

_STAND, _DOUBLE, _SWING = range(3)
_STEP = 0.35  # step for which the default settings are made, share of the leg length
_AHEAD = 4  # steps that are planned
_ANCHOR_TIME = 0.05  # time constant with which the plan follows the support foot [s]
_POSTURE_WEIGHT, _MOMENTUM_WEIGHT = 0.1, 2e-2  # beside the orientation of trunk and base, which weigh 1
_COP_WEIGHT = 1e-3  # shifting the CoP costs little beside another landing
_WORTH = 0.03  # changes of a landing beyond this are made, share of the leg length
_NEAR = 0.05  # errors of the DCM with which a foot may leave the ground, share of the leg length
_PATIENCE = 0.5  # how long a step may be put off [s]
_TOO_LATE = 0.08  # remaining time below which a step is not changed any more [s]
_SWING_SPEED = 1.2  # how fast the landing place of a foot in the air may be away [m/s]
_LEAVES = 0.15  # share of the weight that a foot may still carry just before it leaves


class WalkingController:
    """Walks a biped.

    The plan is held in the frame of the foot that stands, so that it moves with the estimate. At each step the source is
    asked for the next steps; ZMP pieces over them give the DCM (`reduced.DcmPlan`); the whole-body controller follows it:

        p = p_ref + (1 + k/ω) (ξ − ξ_ref),   c̈ = ω² (c − p)        [control.dcm-tracking]   Englsberger et al. 2015

    p is kept inside the support polygon. A foot that meets the ground early stands at once; one that is late goes on
    down until it does.

    Args:
        robot: A biped with a floating base.
        source: Where to step.
        settings: Times, heights and gains; for the size of the robot if omitted.
        q0: (nq,) posture in which it begins; home if omitted.
        body: Margins of the whole-body problem.
    """

    def __init__(
        self,
        robot: Robot,
        source: StepSource,
        settings: WalkSettings | None = None,
        q0: ArrayLike | None = None,
        body: WholeBodySettings | None = None,
    ) -> None:
        self.robot, self.source = robot, source
        self.anatomy = anatomy(robot)
        self.feet = self.anatomy.feet
        if len(self.feet) != 2 or robot.base != "floating":
            raise NotSupportedError(
                f"`{robot.name}` has {len(self.feet)} feet and a {robot.base} base; walking needs two feet and a "
                "floating base",
                next_step="group its contacts in `[anatomy.feet]` of its side file",
            )
        self.q0 = robot.checked_q(robot.home if q0 is None else q0)
        self._weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
        self._legs = leg_reach(robot, self.anatomy)
        self.settings = settings or walk_settings(robot, _STEP * self._legs.length)
        g, self.height = float(np.linalg.norm(robot.tree.gravity)), self.settings.height
        self.omega = sqrt(g / self.height)
        base = robot.tree.body_names[robot.base_joint or 0]
        self._trunk = [self.anatomy.torso] + ([base] if base != self.anatomy.torso else [])
        self._make_body(body)
        self._look = compile_robot(robot, functions={"walker_look": (self._seen, {})}).walker_look
        self._contact_ids = [[list(robot.contacts).index(name) for name in foot.contacts] for foot in self.feet]
        com0, _, feet = self._look(self.q0, np.zeros(robot.nv))
        self._start_height = float(com0[2] - np.mean(feet[:, 2, 3]))
        self._soles = [0.9 * foot.sole for foot in self.feet]
        self._worth = _WORTH * self._legs.length
        self._adapter = StepAdapter(self.omega, self._step_limits(), StepWeights(cop=_COP_WEIGHT))
        self._reset_memory()

    def _make_body(self, settings: WholeBodySettings | None) -> None:
        robot = self.robot
        frames, links = robot.placements(self.q0), self._trunk
        posture = posture_at_height(robot, self.q0, links, self.height)
        turns = [FrameOrientation(link, frames[link][:3, :3], name=f"turn {link}") for link in links]
        rest = [AngularMomentum(weight=_MOMENTUM_WEIGHT), Posture(robot, posture, weight=_POSTURE_WEIGHT)]
        levels: list[list[Task]] = [[], [CenterOfMass()], [*turns, *rest]]
        self.body = WholeBody(robot, levels, [name for foot in self.feet for name in foot.contacts], settings, BodyClearance(robot, self.q0))
        forward = self.anatomy.forward
        heading = np.arctan2(forward[1], forward[0])
        self._upright = {f"turn {link}": placement_of([0, 0, 0, -heading])[:3, :3] @ frames[link][:3, :3] for link in links}
        for name in self._upright:
            self.body[name].set_gains(150.0, 20.0)
        self.body["com"].set_gains([0.0, 0.0, 100.0])
        self.body["angular_momentum"].set_gains(0.0, 5.0)
        self.body["posture"].set_gains(60.0, 12.0)
        # from the foot frame to each of its contact frames
        self._to_contact = {
            name: np.linalg.inv(frames[foot.link] @ foot.placement) @ frames[c.frame] @ c.placement
            for foot in self.feet
            for name in foot.contacts
            for c in [robot.contacts[name]]
        }

    def _seen(self, robot: Robot, q: OpsArray, v: OpsArray) -> tuple[OpsArray, OpsArray, OpsArray]:
        """Centre of mass, its velocity, and placements of the feet (feet, 4, 4)."""
        places = []
        for foot in self.feet:
            at, T = frame_of(robot, foot.link), foot.placement
            frame = Frame(at.body, at.R @ T[:3, :3], at.p + at.R @ T[:3, 3])
            places.append(relative_placement(robot.tree, WORLD, frame, q))
        return com(robot.tree, q), com_velocity(robot.tree, q, v), ops.stack(places)

    def _reset_memory(self) -> None:
        self._t: float | None = None
        self._touching: Array | None = None
        self._phase, self._clock, self.steps = _STAND, 0.0, 0
        self._length = self.settings.settle
        self._support, self._anchor = 0, np.zeros(4)
        self._other = np.zeros(4)  # the other foot, relative to the support
        self._coming: list[Array] = []  # steps ahead, relative to the support
        self._swing: SwingFoot | None = None
        self._planned: list[Array] = []  # the same before they were adapted
        self._offset, self._adapted, self.capturable = np.zeros(2), False, True
        self.adapted_steps = 0
        self._integral = np.zeros(2)
        self._com = self._dcm = self._dcm_ref = self._zmp_ref = self._zmp = np.zeros(2)
        self._passes, self._violation, self._fallbacks = 0, 0.0, 0
        self._last = np.zeros(self.robot.nu)
        self.trouble: str | None = None
        self.solver_time = 0.0

    # -- the loop ---------------------------------------------------------------------------------------------------

    def observe(self, observation: Observation) -> None:
        """Take what is known about contacts.

        Args:
            observation: Now.
        """
        touching = observation.touching
        self._touching = np.array([max(touching[k] for k in ids) for ids in self._contact_ids])

    def command(self, t: float, state: State) -> Command:
        """The torques in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        q, v = np.asarray(state.q), np.asarray(state.v)
        c, vc, feet = self._look(q, v)
        poses = [flat_pose(T) for T in feet]
        dt = 0.0 if self._t is None else t - self._t
        if self._t is None:
            self._begin(poses)
        self._t = t
        self._clock += dt
        self._follow_support(poses, dt)
        self._change_phase(t, poses)
        self._measure(c, vc)
        self._adapt_step()
        self._lead_feet(dt)
        self._lead_com(c, dt)
        self._lead_trunk()
        return self._solved(q, v)

    def _solved(self, q: Array, v: Array) -> Command:
        found = self.body.solve(q, v, self._t or 0.0)
        self.solver_time, self._passes, self._violation = self.body.solver_time, found.passes, found.violation
        if found.trouble is not None:
            self._fallbacks += 1
            self.trouble = found.trouble
            return Command(torque=self._last, kd=np.full(self.robot.nu, 1.0), velocity=np.zeros(self.robot.nu))
        self._last = found.torques
        return Command(torque=found.torques)

    def _measure(self, c: Array, vc: Array) -> None:
        """Centre of mass and DCM, relative to the support."""
        a = self._anchor
        self._com = turned(c[:2] - a[:2], -a[3])
        self._dcm = self._com + turned(vc[:2], -a[3]) / self.omega

    # -- phases -----------------------------------------------------------------------------------------------------

    def _begin(self, poses: Sequence[Array]) -> None:
        self._stand_on(0, poses)
        for k in range(2):
            self._hold(k, poses[k])
        self._plan_stand(self.settings.settle)

    def _follow_support(self, poses: Sequence[Array], dt: float) -> None:
        """Let the plan move with the support foot as it is estimated."""
        share = min(1.0, dt / _ANCHOR_TIME)
        gap = poses[self._support] - self._anchor
        gap[3] = wrapped(gap[3])
        self._anchor = self._anchor + share * gap

    def _stand_on(self, support: int, poses: Sequence[Array]) -> None:
        """Hold the plan in the frame of a foot from now on."""
        self._integral = turned(self._integral, self._anchor[3] - poses[support][3])
        self._support, self._anchor = support, poses[support].copy()
        self._other = local(self._anchor, poses[1 - support])

    def _change_phase(self, t: float, poses: Sequence[Array]) -> None:
        if self._phase == _SWING:
            if self._has_landed():
                self._land(t, poses)
        elif self._clock >= self._length:
            if self._phase == _DOUBLE and self._coming:
                if self._may_lift_off():
                    self._lift_off(poses)
            elif self._phase == _STAND or not self._coming:
                self._wait(t, poses)

    def _may_lift_off(self) -> bool:
        """Whether the DCM is near its plan, or so far off that only a step helps, or there was time enough."""
        error = self._dcm - self._reference()[1]
        near = float(np.hypot(*error)) < _NEAR * self._legs.length
        is_safe = bool(distance_inside(self._dcm, self._polygon) > 0.0)
        return near or not is_safe or self._clock > self._length + _PATIENCE

    def _has_landed(self) -> bool:
        if self._touching is None:
            return self._clock >= self._length
        touches = self._touching[1 - self._support] >= self.settings.touch
        return bool(touches and self._clock >= self.settings.earliest * self._length)

    def _wait(self, t: float, poses: Sequence[Array]) -> None:
        """Stand until there is somewhere to go; begin with the foot that makes more way."""
        ways = {}
        for support in range(2):
            steps = self._asked(t, support, poses[support])
            if steps:
                ways[support] = (float(np.linalg.norm(steps[0][:2] - local(poses[support], poses[1 - support])[:2])), steps)
        if not ways:
            if self._phase != _STAND:
                self._phase, self._clock = _STAND, 0.0
                self._plan_stand(0.0)
            return
        support = max(ways, key=lambda k: ways[k][0])
        zmp, _ = self._reference()
        start = world(self._anchor, np.array([*zmp, 0.0, 0.0]))
        self._stand_on(support, poses)
        self._coming = ways[support][1]
        self._phase, self._clock, self._length = _DOUBLE, 0.0, self.settings.first
        self._plan_steps(local(self._anchor, start)[:2])

    def _asked(self, t: float, support: int, pose: Array) -> list[Array]:
        """The next steps, relative to the support."""
        steps = self.source.upcoming(t, Footstep(self.feet[support].name, placement_of(pose)), _AHEAD)
        return [local(pose, flat_pose(step.T)) for step in steps]

    def _step_limits(self) -> StepLimits:
        """How far, how wide and how fast a step may be that keeps the robot from falling."""
        s, legs = self.settings, self._legs
        sole = np.max([np.abs(sole).max(axis=0) for sole in self._soles], axis=0)
        least = max(2.0 * sole[1] + 0.02, 0.5 * legs.apart)
        far = 0.6 * legs.length
        return StepLimits(
            forward=(-far, far),
            width=(least, legs.apart + 0.4 * legs.length),
            duration=(0.6 * s.single, 1.2 * s.single),
            cop_forward=(-sole[0], sole[0]),
            cop_side=(-sole[1], sole[1]),
        )

    def _adapt_step(self) -> None:
        """Land elsewhere, or at another time, if the DCM asks for it."""
        if self._phase != _SWING or self._swing is None:
            return
        s, left = self.settings, self._length - self._clock
        if left < _TOO_LATE:
            return
        zmp, there = self._zmp_of(self._support), self._planned[0]
        nominal = NominalStep(there[:2], s.single, self._offset, zmp)
        reach = _SWING_SPEED * left
        now = self._swing.position[:2]
        step = self._adapter.adapt(
            self._side(self._support), self._dcm, self._clock, nominal, (now - reach, now + reach)
        )
        way = step.landing - there[:2]
        length = float(np.hypot(*way))
        if length <= self._worth and not self._adapted:
            return
        if not self._adapted:
            self._adapted, self.adapted_steps = True, self.adapted_steps + 1
        self.capturable = step.viable
        self._length = self._clock + step.remaining
        way = way * max(0.0, 1.0 - self._worth / max(length, 1e-9))
        self._coming = [place + [*way, 0.0, 0.0] for place in self._planned]
        self._plan_steps(zmp)

    def _side(self, foot: int) -> Side:
        return "left" if self.feet[foot].side == "left" else "right"

    def _lift_off(self, poses: Sequence[Array]) -> None:
        s = self.settings
        self._phase, self._clock, self._length = _SWING, 0.0, s.single
        self._other = local(self._anchor, poses[1 - self._support])
        self._swing = SwingFoot(self._other, s.single, s.lift, s.landing_speed)
        self._release(1 - self._support)
        self._plan_steps(self._zmp_of(self._support))
        self._planned, self._adapted = self._coming, False
        self._offset = self._plan.at(self._length)[1] - self._coming[0][:2]

    def _land(self, t: float, poses: Sequence[Array]) -> None:
        """The swing foot stands; it becomes the support."""
        saved = max(0.0, self._length - self._clock)
        old = self._support
        self.steps += 1
        self._hold(1 - old, poses[1 - old])
        self._swing = None
        self._stand_on(1 - old, poses)
        was_last = len(self._planned) == 1
        self._coming = [] if was_last else self._asked(t, self._support, poses[self._support])
        self._phase, self._clock = _DOUBLE, 0.0
        self._length = saved + (self.settings.double if self._coming else self.settings.first)
        start = self._other_zmp()
        self._plan_steps(start)

    # -- references -------------------------------------------------------------------------------------------------

    def _zmp_of(self, foot: int) -> Array:
        """(2,) in the frame of a foot."""
        inward = -1.0 if self.feet[foot].side == "left" else 1.0
        return np.array([0.0, inward * self.settings.inward])

    def _other_zmp(self) -> Array:
        """(2,) of the foot that is not the support, relative to the support."""
        own = self._zmp_of(1 - self._support)
        return world(self._other, np.array([*own, 0.0, 0.0]))[:2]

    def _plan_stand(self, duration: float) -> None:
        middle = 0.5 * (self._zmp_of(self._support) + self._other_zmp())
        self._length = duration
        self._plan = DcmPlan([ZmpPiece(max(duration, 0.01), middle, middle)], self.omega)
        self._polygon = self._hull()

    def _plan_steps(self, start: Array) -> None:
        """ZMP over this phase and the steps ahead, from a first ZMP (2,), relative to the support."""
        s, zmp = self.settings, self._zmp_of(self._support)
        if not self._coming:
            zmp = 0.5 * (zmp + self._other_zmp())
        pieces = [ZmpPiece(self._length, start, zmp)]
        if self._phase == _DOUBLE and self._coming:
            pieces.append(ZmpPiece(s.single, zmp, zmp))
        foot = self._support
        for k, step in enumerate(self._coming):
            foot = 1 - foot
            there = world(step, np.array([*self._zmp_of(foot), 0.0, 0.0]))[:2]
            if k == len(self._coming) - 1:
                if len(self._coming) < _AHEAD:
                    there = 0.5 * (zmp + there)
                pieces.append(ZmpPiece(s.first, zmp, there))
            else:
                pieces += [ZmpPiece(s.double, zmp, there), ZmpPiece(s.single, there, there)]
            zmp = there
        self._plan = DcmPlan(pieces, self.omega)
        self._polygon = self._hull() if self._phase == _DOUBLE else self._soles[self._support]

    def _hull(self) -> Array:
        """Corners of the support polygon on both feet, relative to the support."""
        c, s = np.cos(self._other[3]), np.sin(self._other[3])
        there = self._soles[1 - self._support] @ np.array([[c, s], [-s, c]]) + self._other[:2]
        return convex_hull(np.vstack([self._soles[self._support], there]))

    def _reference(self) -> tuple[Array, Array]:
        """ZMP and DCM now, relative to the support."""
        return self._plan.at(min(self._clock, self._length) if self._phase == _SWING else self._clock)

    # -- tasks ------------------------------------------------------------------------------------------------------

    def _hold(self, foot: int, pose: Array) -> None:
        """A foot stands where it is."""
        T = placement_of(pose)
        for name in self.feet[foot].contacts:
            handle = self.body.contact(name)
            handle.set_target(T @ self._to_contact[name])
            handle.set_gains(0.0, 30.0)
            handle.set_rates(0.0, 0.0)
            handle.carries = True

    def _release(self, foot: int) -> None:
        for name in self.feet[foot].contacts:
            handle = self.body.contact(name)
            handle.carries = False
            handle.set_gains(500.0, 45.0)

    def _lead_feet(self, dt: float) -> None:
        if self._phase == _SWING and self._swing is not None:
            self._swing.advance(dt, self._coming[0], self._length - self._clock)
            pose = world(self._anchor, self._swing.position)
            T, turn = placement_of(pose), self._swing.velocity[3]
            linear, change = self._swing.velocity[:3], self._swing.acceleration
            linear, push = turned(linear, self._anchor[3] - pose[3]), turned(change[:3], self._anchor[3] - pose[3])
            for name in self.feet[1 - self._support].contacts:
                handle, offset = self.body.contact(name), self._to_contact[name]
                R, r = offset[:3, :3], offset[:3, 3]
                spin, swirl = np.array([0.0, 0.0, turn]), np.array([0.0, 0.0, change[3]])
                at = linear + np.cross(spin, r), push + np.cross(swirl, r)
                rows = list(self.body.rows.tied[name])
                handle.set_target(T @ offset)
                handle.set_rates(np.r_[R.T @ at[0], R.T @ spin][rows], np.r_[R.T @ at[1], R.T @ swirl][rows])
        self._share_load()

    def _share_load(self) -> None:
        """Wishes and limits of the contact forces."""
        share = [0.5, 0.5]
        most = [np.inf, np.inf]
        here, there = self._support, 1 - self._support
        if self._phase == _SWING:
            share[here], share[there] = 1.0, 0.0
        else:
            zmp, _ = self._reference()
            way = self._other_zmp() - self._zmp_of(here)
            toward = float((zmp - self._zmp_of(here)) @ way / max(way @ way, 1e-9))
            share[there] = min(1.0, max(0.0, toward))
            share[here] = 1.0 - share[there]
            if self._phase == _DOUBLE and self.steps:
                most[here] = self._weight * (0.1 + min(1.5, 1.5 * self._clock / self.settings.ramp))
            if self._phase == _DOUBLE and self._coming:
                most[there] = self._weight * (_LEAVES + 1.5 * max(0.0, 1.0 - self._clock / self._length))
        for k, foot in enumerate(self.feet):
            for name in foot.contacts:
                handle, centre = self.body.contact(name), self.robot.contacts[name].corners.mean(axis=0)
                load = share[k] * self._weight / len(foot.contacts)
                wish = np.array([0.0, 0.0, load, centre[1] * load, -centre[0] * load, 0.0])
                handle.wish = wish[list(self.body.rows.tied[name])]
                handle.most = most[k]

    def _lead_com(self, c: Array, dt: float) -> None:
        a, w, s = self._anchor, self.omega, self.settings
        zmp, dcm_ref = self._reference()
        error = self._dcm - dcm_ref
        self._integral = np.clip(0.999 * self._integral + dt * error, -0.05, 0.05)
        wanted = zmp + (1.0 + s.dcm_gain / w) * error + s.integral_gain * self._integral
        p = closest_inside(wanted, self._polygon)
        task = self.body["com"]
        task.acceleration[:2] = turned(w * w * (self._com - p), a[3])
        done = min(1.0, (self._t or 0.0) / max(s.settle, 1e-3))
        blend = done**3 * (10.0 - 15.0 * done + 6.0 * done**2)
        height = self._start_height + blend * (self.height - self._start_height)
        task.set_target([c[0], c[1], a[2] + height])
        self._dcm_ref, self._zmp_ref, self._zmp = dcm_ref, zmp, p

    def _lead_trunk(self) -> None:
        """The trunk looks along the mean of the feet."""
        ahead = self._swing.position[3] if self._swing is not None else self._other[3]
        yaw = self._anchor[3] + 0.5 * ahead
        R = placement_of(np.array([0.0, 0.0, 0.0, yaw]))[:3, :3]
        for name, upright in self._upright.items():
            self.body[name].set_target(R @ upright)

    @property
    def channels(self) -> list[Channel]:
        """Columns of the log."""
        return [
            Channel("phase", "1", None, lambda: float(self._phase)),
            Channel("support", "1", None, lambda: float(self._support)),
            Channel("steps", "1", None, lambda: float(self.steps)),
            Channel("dcm", "m", 2, lambda: self._dcm),
            Channel("dcm_reference", "m", 2, lambda: self._dcm_ref),
            Channel("zmp_reference", "m", 2, lambda: self._zmp_ref),
            Channel("zmp_command", "m", 2, lambda: self._zmp),
            Channel("landing", "m", 2, lambda: self._coming[0][:2] if self._coming else np.full(2, np.nan)),
            Channel("late", "s", None, lambda: max(0.0, self._clock - self._length) if self._phase == _SWING else 0.0),
            Channel("capturable", "1", None, lambda: float(self.capturable)),
            Channel("passes", "1", None, lambda: float(self._passes)),
            Channel("violation", "N | N m", None, lambda: self._violation),
            Channel("fallbacks", "1", None, lambda: float(self._fallbacks)),
        ]
