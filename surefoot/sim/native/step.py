"""One step of a robot as a function over `ops`, to be compiled: drives, friction, stops, contacts, dynamics, motion.

    function, layout = step_function(robot, dt, law)
    k = surefoot.compile(robot, functions={"step": (function, layout.inputs)})

"semi_implicit": v⁺ = v + h a, then q⁺ from v⁺, both of free bases in axes at rest, so that spinning robots keep their
momentum (body axes would not, by h ω²/2 per second). Drives, friction, stops and contacts act with their force at the
end of the step, linearised: what they lose per acceleration is added to the inertia of joints ([sim.implicit-joint])
and links ([sim.contact-inertia]), and articulated bodies solve the step in one pass. "rk4": Runge & Kutta's method of
order 4 on the manifold of configurations (Munthe-Kaas 1998), all forces evaluated at each of its four stages.

The acceleration of a step: articulated bodies whose joints and links carry the gains of implicit forces.

How heavy a robot is where it touches: what contact laws are fitted to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot import ops
from surefoot.dynamics import crba, minverse, rnea
from surefoot.dynamics.algebra import factor, grouped_bodies, solve
from surefoot.dynamics.tree import ABA
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics import integrate
from surefoot.kinematics.recursion import Body, Fields, Recursion, Step, Sweep, run
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.native.contact import LOAD, Contacts, contacts_of, memory_size
from surefoot.sim.native.contact_laws import ContactLaw
from surefoot.sim.native.joints import DrivenRows, Force, Resistance, Springs, at_start, held_at, next_sides, side_of
from surefoot.sim.native.manifold import (
    ContactPoint,
    body_motions,
    carried_along,
    contact_points,
    drift,
    seen_at_start,
    tangent_rate,
)
from surefoot.sim.native.touch import Scale
from surefoot.spatial.so3 import skew


def accelerate(
    layout: Layout, contacts: Contacts, q: Array, v: Array, force: Force, push: Array | None, ahead: float
) -> tuple[Array, Array]:
    """Acceleration (nv,), and the contact forces (n, 3) that act with it, in world [N].

    Args:
        layout: Of the step.
        contacts: Its contacts.
        q: (nq,) configuration.
        v: (nv,) velocity.
        force: Of all joints.
        push: (bodies, 6), or None.
        ahead: 0 where contacts do not depend on the acceleration.
    """
    tree, n = layout.robot.tree, len(layout.points)
    centres = {body: _centres(layout, link.indices) for body, link in contacts.links.items()}
    width = LOAD if ahead and contacts.links else 6
    load = ops.zeros((tree.n, width), like=[q, v])
    for body, link in contacts.links.items():
        load[body] = link.load(centres[body], tree.gravity, ahead)
    if push is not None:
        load[:, :6] = load[:, :6] + push
    if (tree.mimic_source >= 0).any():
        return _by_mass_matrix(layout, q, v, force, load), contacts.start_forces()
    inputs = {"q": q, "v": v, "tau": force.start, "armature": tree.armature + force.gain, "external": load}
    fields, joints = run(_FORWARD_LOADED, tree, inputs, constants=grouped_bodies)
    if not ahead:
        return joints["a"], contacts.start_forces()
    rows: dict[int, Array] = {}
    for body, link in contacts.links.items():
        acting = link.acting_force(centres[body], tree.gravity, fields[body]["acceleration"], fields[body]["alpha"])
        rows.update(zip(link.indices, acting, strict=True))
    return joints["a"], ops.stack([rows[k] for k in range(n)]) if n else np.zeros((0, 3))


def _by_mass_matrix(layout: Layout, q: Array, v: Array, force: Force, load: Array) -> Array:
    """For trees with followers, which articulated bodies do not take."""
    tree = layout.robot.tree
    M, bias = crba(tree, q), rnea(tree, q, v, np.zeros(len(tree.armature)), load)
    return solve(factor(tree, M + np.diag(force.gain)), force.start - bias)


def _centres(layout: Layout, indices: list[int]) -> Array:
    return np.array([layout.points[k].position for k in indices])


def _loaded(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """The first sweep of articulated bodies, with inertia added to the body.   [sim.contact-inertia]."""
    load = joint["external"]
    found = dict(ABA.sweeps[0].step(body, {**joint, "external": load[:6]}, own, parent).own)
    if len(load) == LOAD:
        found["A"] = found["A"] + load[6:12]
        found["B"] = found["B"] + load[12:21].reshape(3, 3)
        found["C"] = found["C"] + load[21:]
    return Step(found)


_FORWARD_LOADED = Recursion((Sweep("outward", _loaded), *ABA.sweeps[1:]), ABA.world)


def scale_of(robot: Robot, points: Sequence[ContactPoint], dt: float, *, explicit: bool) -> Scale:
    """The scale of a robot at home.

    Args:
        robot: The robot.
        points: Its contact points.
        dt: Step [s].
        explicit: Whether forces are those at the start of a step.
    """
    gravity = float(np.linalg.norm(robot.tree.gravity))
    return Scale(robot.mass, gravity, len(points), _lightest(robot, points), float(dt), explicit)


def _lightest(robot: Robot, points: Sequence[ContactPoint]) -> float:
    """1 / λ_max(J M⁻¹ Jᵀ) [kg] of all points at home; the mass of the robot if there are none."""
    if not points:
        return robot.mass
    q, data = np.array(robot.home), robot.model.createData()
    pin.computeJointJacobians(robot.model, data, q)
    rows = []
    for point in points:
        J = pin.getJointJacobian(robot.model, data, point.body + 1, pin.ReferenceFrame.LOCAL)
        rows.append(J[:3] - skew(point.position) @ J[3:])
    J = np.vstack(rows)
    return 1.0 / float(np.linalg.eigvalsh(J @ minverse(robot.tree, q) @ J.T)[-1])


INTEGRATORS = ("semi_implicit", "rk4")
TALLY = ("drives", "contacts", "damping", "pushes", "impulse_x", "impulse_y", "impulse_z", "beyond", "squared_speed")
"""Entries of the output `tally`: works of the step [J], impulse of the contacts [N s], the most by which a drive with
springs would leave its limits [N m] or [N], and v⁺ · v⁺."""
_LOADED = 0.01  # share of the weight from which on a contact surface counts as loaded
_DRIVE_INPUTS = ("torque", "position", "kp", "velocity", "kd", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Layout:
    """What goes into a step and what comes out of it, by name in order, with shapes.

    Inputs: `q` (nq,), `v` (nv,), an `Actuation` (nu,) each, `memory` (nm,) of the contacts, `ground` (n, 5): unit
    normal, offset (height n·p − offset) and friction under each contact point; with pushes `push` (bodies, 6): wrench
    on every body about its origin, in its axes. Outputs: `q`, `v`, `memory` after the step; `torque` (nu,) that acted,
    `acceleration` (nv,), `point`, `force`, `slide` (n, 3): where the contact points are at the start of the step, the
    force that acted there and the velocity of the material, in world; `mode` (n,): free, sticks, slides; `tally` (9,);
    `slip` (surfaces,): way [m] that each contact surface slid in the step if it carried 1 % of the weight.

    Args:
        robot: The robot.
        dt: Step [s].
        law: The contact law, fitted to the robot.
        integrator: One of `INTEGRATORS`.
        points: The contact points.
        pushes: Whether there is an input `push`.
        level: Whether all normals are vertical; those of `ground` are not read then.
        moving: Whether `ground` has the velocity of the ground (n, 3) as well, in world [m/s].
    """

    robot: Robot
    dt: float
    law: ContactLaw
    integrator: str
    points: tuple[ContactPoint, ...]
    pushes: bool = False
    level: bool = False
    moving: bool = False

    @property
    def inputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs."""
        robot, n = self.robot, len(self.points)
        shapes: dict[str, tuple[int, ...]] = {"q": (robot.nq,), "v": (robot.nv,)}
        shapes |= dict.fromkeys(_DRIVE_INPUTS, (robot.nu,))
        shapes |= {"memory": (memory_size(self.law, self.points),), "ground": (n, 8 if self.moving else 5)}
        return shapes | ({"push": (robot.tree.n, 6)} if self.pushes else {})

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the outputs."""
        robot, n = self.robot, len(self.points)
        state: dict[str, tuple[int, ...]] = {"q": (robot.nq,), "v": (robot.nv,), "memory": self.inputs["memory"]}
        record = {"torque": (robot.nu,), "acceleration": (robot.nv,)}
        contact = {"point": (n, 3), "force": (n, 3), "slide": (n, 3), "mode": (n,)}
        return {**state, **record, **contact, "tally": (len(TALLY),), "slip": (len(robot.contacts),)}

    def rest_memory(self, point: Array) -> Array:
        """Memory (nm,) with which to begin: anchors where the points are, integrals 0.

        Args:
            point: (n, 3) in world [m].
        """
        out = np.zeros(self.inputs["memory"])
        if self.law.friction.anchored:
            out[: 3 * len(self.points)] = np.asarray(point).ravel()
        return out


def step_function(
    robot: Robot,
    dt: float,
    law: ContactLaw,
    integrator: str = "semi_implicit",
    points: Sequence[ContactPoint] | None = None,
    *,
    resistance: Resistance | None = None,
    pushes: bool = False,
    level: bool = False,
    rounds: int = 0,
    explicit_contacts: bool = False,
) -> tuple[Callable[..., tuple[Array, ...]], Layout]:
    """One step as a function over `ops`, and the layout of its inputs and outputs.

    Args:
        robot: The robot; gravity is that of its tree.
        dt: Step [s].
        law: Contact law; numbers that it leaves open are fitted to the robot.
        integrator: "semi_implicit" or "rk4".
        points: Contact points; those of all contact surfaces if omitted.
        resistance: Friction and stops of the joints; the robot's if omitted.
        pushes: Whether there is an input `push`.
        level: Whether all normals are vertical, which takes fewer operations; those of `ground` are not read then.
        rounds: How many sets of drives at their limits are tried (`surefoot.sim.native.joints`); 0: the caller keeps
            limits ("semi_implicit" only; "rk4" clips in each stage).
        explicit_contacts: Whether contacts act with their force at the start of a step, as they always do in "rk4".

    Raises:
        NotSupportedError: The robot has closed chains or couplings.
        UnknownNameError: There is no such integrator.
    """
    if integrator not in INTEGRATORS:
        raise one_of("integrator", integrator, INTEGRATORS)
    _require_tree(robot)
    explicit = explicit_contacts or integrator == "rk4" or bool((robot.tree.mimic_source >= 0).any())
    own = contact_points(robot) if points is None else tuple(points)
    fitted = law.fitted(scale_of(robot, own, dt, explicit=explicit))
    layout = Layout(robot, float(dt), fitted, integrator, own, pushes, level)
    joints = Resistance.of(robot, dt, explicit=integrator == "rk4") if resistance is None else resistance
    stepper = Stepper(layout, joints, 0.0 if explicit else float(dt), rounds)
    return (stepper.with_pushes if pushes else stepper.without_pushes), layout


def _require_tree(robot: Robot) -> None:
    """Refuse closed chains."""
    tied = [*(loop.name for loop in robot.loops), *(item.joint for item in robot.couplings)]
    if tied:
        raise NotSupportedError(
            f"`{robot.name}` has closed chains or coupled joints, which the compiled step of a tree does not hold",
            evidence={"loops and couplings": ", ".join(tied)},
            next_step='use `NativeEngine` or the engine "mujoco", or load coupled joints with mimic="reduce"',
        )


@dataclass(frozen=True, eq=False)
class JointForces:
    """Forces in the joints, as the drives and as all joints have them.

    Args:
        drive: (nu,) of the drives.
        losses: (nv,) of viscous friction, dry friction and stops.
        whole: (nv,) of all together.
    """

    drive: Force
    losses: tuple[Force, Force, Force]
    whole: Force


@dataclass(frozen=True, eq=False)
class Outcome:
    """Forces and acceleration of one evaluation.

    Args:
        contacts: What the law answered.
        a: (nv,) acceleration.
        joints: Forces in the joints.
        contact_force: (n, 3) at the points, in world [N].
    """

    contacts: Contacts
    a: Array
    joints: JointForces
    contact_force: Array


class Stepper:
    """The step of one robot.

    Args:
        layout: Its inputs and outputs.
        resistance: Friction and stops of the joints.
        contact_ahead: How far contacts look ahead: the step, or 0 [s].
        rounds: As of `step_function`.
    """

    def __init__(self, layout: Layout, resistance: Resistance, contact_ahead: float, rounds: int) -> None:
        self.layout, self.resistance, self.rounds = layout, resistance, rounds
        self.tree, self.h = layout.robot.tree, layout.dt
        self.driven = DrivenRows.of(layout.robot)
        self.contact_ahead = contact_ahead
        self.joint_ahead = self.h if layout.integrator == "semi_implicit" else 0.0

    def without_pushes(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """The step."""
        return self.step(q, v, Springs(torque, position, kp, velocity, kd, lower, upper), memory, ground, None)

    def with_pushes(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array, push: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """The step under pushes."""
        return self.step(q, v, Springs(torque, position, kp, velocity, kd, lower, upper), memory, ground, push)

    def step(
        self, q: Array, v: Array, springs: Springs, memory: Array, ground: Array, push: Array | None
    ) -> tuple[Array, ...]:
        """The outputs of `Layout`."""
        if self.layout.level:
            ground = ops.concatenate([np.tile([0.0, 0.0, 1.0], (len(ground), 1)), ground[:, 3:]], axis=1)
        if self.layout.integrator == "rk4":
            return self.runge_kutta(q, v, springs, memory, ground, push)
        if self.rounds:
            springs = self.within_limits(q, v, springs, memory, ground, push)
        found = self.evaluate(q, v, springs, memory, ground, push)
        after = v + self.h * seen_at_start(self.tree, v, found.a)
        power = self.power(q, 0.5 * (v + after), found, push)
        return self.outputs(*self.moved(q, after), found, found.a, springs, power)

    def within_limits(
        self, q: Array, v: Array, springs: Springs, memory: Array, ground: Array, push: Array | None
    ) -> Springs:
        """The drives with those held that are at their limits; if the set did not settle, torques within the limits."""
        rows = self.driven.rows
        force = self.joint_forces(q, v, springs).drive
        sides = side_of(springs, at_start(springs, force, v[rows], self.joint_ahead))
        wrong: Any = 0.0
        for _ in range(self.rounds):
            found = self.evaluate(q, v, held_at(springs, sides), memory, ground, push)
            tried, acting = sides, force.acting(found.a[rows])
            sides = next_sides(tried, side_of(springs, acting), release=True)
        for change in ops.absolute(sides - tried):
            wrong = ops.maximum(change, wrong)
        has_settled, held = ops.less(wrong, 0.5), held_at(springs, sides)
        return springs._replace(
            torque=ops.where(has_settled, held.torque, springs.clipped(acting)),
            kp=ops.where(has_settled, held.kp, 0.0),
            kd=ops.where(has_settled, held.kd, 0.0),
        )

    def moved(self, q: Array, after: Array) -> tuple[Array, Array]:
        """Q and v at the end of a semi-implicit step.

        Args:
            q: (nq,) where it began.
            after: (nv,) velocity at the end, in the axes at its beginning.
        """
        return drift(self.tree, q, after, self.h), carried_along(self.tree, after, self.h)

    def runge_kutta(
        self, q: Array, v: Array, springs: Springs, memory: Array, ground: Array, push: Array | None
    ) -> tuple[Array, ...]:
        """Four stages; slopes are those of the step u on the manifold, q ⊕ u, and of v."""
        h, tree = self.h, self.tree
        first = self.evaluate(q, v, springs, memory, ground, push)
        slopes, powers = [(v, first.a)], [self.power(q, v, first, push)]
        for part in (0.5 * h, 0.5 * h, h):
            u, speed = part * slopes[-1][0], v + part * slopes[-1][1]
            place = integrate(tree, q, u)
            found = self.evaluate(place, speed, springs, memory, ground, push)
            slopes.append((tangent_rate(tree, u, speed), found.a))
            powers.append(self.power(place, speed, found, push))
        rate, a = (_weighted([slope[k] for slope in slopes]) for k in (0, 1))
        return self.outputs(integrate(tree, q, h * rate), v + h * a, first, a, springs, _weighted(powers))

    def evaluate(
        self, q: Array, v: Array, springs: Springs, memory: Array, ground: Array, push: Array | None
    ) -> Outcome:
        """All forces, and the acceleration."""
        layout, ahead = self.layout, self.contact_ahead
        contacts = contacts_of(self.tree, layout.points, layout.law, q, v, memory, ground, self.h, ahead)
        joints = self.joint_forces(q, v, springs)
        a, force = accelerate(layout, contacts, q, v, joints.whole, push, ahead)
        return Outcome(contacts, a, joints, force)

    def joint_forces(self, q: Array, v: Array, springs: Springs) -> JointForces:
        """Forces of drives, friction and stops.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            springs: What the drives do.
        """
        ahead, rows = self.joint_ahead, self.driven.rows
        drive = springs.force(self.driven.error(q, springs.position), v[rows], ahead)
        own = self.resistance
        spring, damper = own.sprung(q, v, ahead)
        viscous = Force(*(a + b for a, b in zip(own.viscous(v, ahead), damper, strict=True)))
        losses = (viscous, own.dry(v, ahead), own.stops(q, v, ahead))
        parts = (self.driven.spread(drive, len(v)), spring, *losses)
        return JointForces(drive, losses, Force(*(np.sum([x[k] for x in parts], axis=0) for k in (0, 1))))

    def power(self, q: Array, speed: Array, found: Outcome, push: Array | None) -> Array:
        """(7,) works per second and forces of the contacts: the first entries of `TALLY` over the step.

        Args:
            q: (nq,) where the forces act.
            speed: (nv,) with which they work.
            found: The forces.
            push: (bodies, 6), or None.
        """
        rows = self.driven.rows
        drives = found.joints.drive.acting(found.a[rows]) @ speed[rows] if len(rows) else 0.0
        damping, dry, stops = (loss.acting(found.a) @ speed for loss in found.joints.losses)
        contacts, total = dry + stops, np.zeros(3)
        motions = body_motions(self.tree, q, speed, list(found.contacts.links))
        for body, link in found.contacts.links.items():
            twist = motions[body].twist
            for k, arm in zip(link.indices, link.lever, strict=True):
                velocity = link.motion.R @ (twist[:3] + ops.cross(twist[3:], arm))
                contacts = contacts + found.contact_force[k] @ velocity
                total = total + found.contact_force[k]
        pushes = 0.0
        if push is not None:
            everywhere = body_motions(self.tree, q, speed, range(self.tree.n))
            pushes = sum(push[i] @ motion.twist for i, motion in everywhere.items())
        return ops.concatenate([ops.array([drives, contacts, damping, pushes]), total])

    def outputs(
        self, q: Array, v: Array, found: Outcome, a: Array, springs: Springs, power: Array
    ) -> tuple[Array, ...]:
        """In the order of `Layout.outputs`."""
        torque = self.mean_torque(q, v, found, springs)
        beyond: Any = 0.0
        for excess in springs.beyond(torque):
            beyond = ops.maximum(excess, beyond)
        tally = ops.concatenate([self.h * power, ops.array([beyond, v @ v])])
        contacts, n = found.contacts, len(self.layout.points)
        point, slide = (contacts.gathered(name).reshape(n, 3) for name in ("point", "velocity"))
        mode, slip = contacts.gathered("mode"), self.slip(contacts, found.contact_force)
        return q, v, contacts.memory, torque, a, point, found.contact_force, slide, mode, tally, slip

    def mean_torque(self, q: Array, v: Array, found: Outcome, springs: Springs) -> Array:
        """(nu,) of the drives over a step; explicit springs let go while the joints move, by so much.

        Args:
            q: (nq,) at the end of the step.
            v: (nv,) there.
            found: The forces at its start.
            springs: What the drives do.
        """
        rows = self.driven.rows
        start = found.joints.drive.acting(found.a[rows])
        if self.joint_ahead > 0.0:
            return start
        return 0.5 * (start + springs.force(self.driven.error(q, springs.position), v[rows], 0.0).start)

    def slip(self, contacts: Contacts, force: Array) -> Array:
        """Way (surfaces,) of the touching material, mean by load, of surfaces that carry 1 % of the weight [m]."""
        robot = self.layout.robot
        load, way = ([0.0] * len(robot.contacts) for _ in range(2))
        for link in contacts.links.values():
            for k, index in enumerate(link.indices):
                surface, push = self.layout.points[index].surface, link.normal[k] @ force[index]
                load[surface] = load[surface] + push
                way[surface] = way[surface] + push * ops.norm(link.touch.slide[k])
        least = _LOADED * robot.mass * float(np.linalg.norm(robot.tree.gravity))
        carries = [ops.less(least, x) for x in load]
        return self.h * ops.array(
            [ops.where(c, w, 0.0) / ops.where(c, x, 1.0) for c, w, x in zip(carries, way, load, strict=True)]
        )


def _weighted(stages: Sequence[Array]) -> Array:
    """Mean of the four stages."""
    return (1.0 / 6.0) * (stages[0] + 2.0 * (stages[1] + stages[2]) + stages[3])
