"""The compiled parts of a step of a robot that constraints hold: closed chains, couplings, contacts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from surefoot import ops
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.dynamics import Baumgarte, Constraints, crba, rnea
from surefoot.dynamics.algebra import factor
from surefoot.dynamics.methods import Held, anchor_values, anchored
from surefoot.kinematics import integrate
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.native.contact import Contacts, contacts_of
from surefoot.sim.native.joints import Springs
from surefoot.sim.native.kernels import SUMMED, Settings, step_of, with_sums
from surefoot.sim.native.manifold import body_motions, seen_at_start, tangent_rate
from surefoot.sim.native.step import Outcome, Stepper

_FREE_ROOTS = ("free", "planar")


@dataclass(frozen=True, eq=False)
class ConstrainedKernels:
    """The compiled parts; `…` stands for the drives (7 arrays), memory, ground and push of a step.

    Args:
        equations: (q, v, …, anchors) -> M (nv, nv) with the gains of implicit joints on its diagonal, force (nv,),
            J (m, nv), J̇ v (m,), residual (m,).
        forces: (q, v, …) -> joint forces at the start of the step (nv,), what they lose per acceleration (nv,), wrench
            on each body about its origin, in its axes (bodies, 6).
        stage: (q, v, …, anchors, gains) -> a (nv,), Jᵀ λ (nv,), λ (m,) by the factors of M; gains are α and β.
        closure: (q, anchors) -> M, J, residual.
        closing: (q, anchors) -> the least motion (nv,) that closes, to first order, and the residual.
        along: (q, v, anchors) -> the velocity without what breaks constraints.
        power: (q, v, …, a, constraint_force, speed) -> (7,), first entries of `TALLY` per second.
        euler: (q, v, a) -> q and v at the end of a semi-implicit step, and the mean velocity in the axes at its start.
        place: (q, u) -> q ⊕ u.
        rate: (u, v) -> du/dt.
        finish: (q, v, …, a, mean_a, after_q, after_v, works, sums) -> the outputs of a step.
    """

    equations: Kernel
    forces: Kernel
    stage: Kernel
    closure: Kernel
    closing: Kernel
    along: Kernel
    power: Kernel
    euler: Kernel
    place: Kernel
    rate: Kernel
    finish: Kernel


@lru_cache(maxsize=16)
def constrained_kernels(robot: Robot, settings: Settings, constraints: Constraints) -> ConstrainedKernels:
    """The compiled parts of a step.

    Args:
        robot: The robot as a tree, without loops and couplings.
        settings: Of its step.
        constraints: What holds; anchors of contacts are arguments of the kernels.
    """
    function, layout = step_of(robot, settings, pushes=True)
    parts = _Parts(function.__self__, constraints)  # type: ignore[attr-defined]
    nq, nv = (robot.nq,), (robot.nv,)
    state = layout.inputs
    held = {"anchors": anchor_values(constraints).shape}
    work = {"a": nv, "constraint_force": nv, "speed": nv}
    end = {"a": nv, "mean_a": nv, "after_q": nq, "after_v": nv, "works": (SUMMED,)}
    found = compile_robot(
        robot,
        functions={
            "equations": (parts.equations, {**state, **held}),
            "forces": (parts.forces, state),
            "stage": (parts.stage, {**state, **held, "gains": (2,)}),
            "closure": (parts.closure, {"q": nq, **held}),
            "closing": (parts.closing, {"q": nq, **held}),
            "along": (parts.along, {"q": nq, "v": nv, **held}),
            "power": (parts.power, {**state, **work}),
            "euler": (parts.euler, {"q": nq, "v": nv, "a": nv}),
            "place": (parts.place, {"q": nq, "u": nv}),
            "rate": (parts.rate, {"u": nv, "v": nv}),
            "finish": (
                with_sums(parts.finish, layout, springs=True),
                {**state, **end, "sums": (SUMMED + len(robot.contacts),)},
            ),
        },
    )
    return ConstrainedKernels(**{name: getattr(found, name) for name in ConstrainedKernels.__dataclass_fields__})


class _Parts:
    """The functions that are compiled."""

    def __init__(self, stepper: Stepper, constraints: Constraints) -> None:
        self.stepper, self.constraints = stepper, constraints
        self.tree, self.layout = stepper.tree, stepper.layout

    def equations(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array, push: Array, anchors: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """Mass matrix, force, J, J̇ v and residual."""
        springs = Springs(torque, position, kp, velocity, kd, lower, upper)
        start, gain, external = self._forces(q, v, springs, memory, ground, push)
        M = crba(self.tree, q) + np.diag(gain)
        force = start - rnea(self.tree, q, v, np.zeros(len(v)), external)
        J, bias = anchored(self.tree, self.constraints, q, v, anchors, Baumgarte())
        return M, force, J, bias, self._residual(q, anchors)

    def stage(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array, push: Array, anchors: Array, gains: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """Acceleration, constraint force and multipliers."""
        M, force, J, bias, residual = self.equations(
            q, v, torque, position, kp, velocity, kd, lower, upper, memory, ground, push, anchors
        )
        drift = bias + 2.0 * gains[0] * (J @ v) + gains[1] * gains[1] * residual
        a, multipliers = Held.of(factor(self.tree, M), J).solve(force, drift)
        return a, J.T @ multipliers, multipliers

    def closing(self, q: Array, anchors: Array) -> tuple[Array, Array]:
        """The least motion, in the metric of the mass matrix, that takes the residual away."""
        M, J, residual = self.closure(q, anchors)
        return Held.of(factor(self.tree, M), J).solve(np.zeros(len(M)), residual)[0], residual

    def along(self, q: Array, v: Array, anchors: Array) -> Array:
        """The nearest velocity that keeps the constraints."""
        M, J, _ = self.closure(q, anchors)
        return v + Held.of(factor(self.tree, M), J).solve(np.zeros(len(M)), J @ v)[0]

    def forces(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array, push: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """What acts in the joints, and on the bodies."""
        return self._forces(q, v, Springs(torque, position, kp, velocity, kd, lower, upper), memory, ground, push)

    def closure(self, q: Array, anchors: Array) -> tuple[Array, ...]:
        """Mass matrix, J and residual."""
        J, _ = anchored(self.tree, self.constraints, q, np.zeros(len(self.tree.armature)), anchors, Baumgarte())
        return crba(self.tree, q), J, self._residual(q, anchors)

    def power(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array, push: Array, a: Array, constraint_force: Array, speed: Array,
    ) -> Array:  # fmt: skip
        """Works per second, and the force of the world on the robot."""
        springs = Springs(torque, position, kp, velocity, kd, lower, upper)
        found = self._outcome(q, v, springs, memory, ground, a)
        works = self.stepper.power(q, speed, found, push)
        return ops.concatenate([works[:4], works[4:] + self._from_world(q, constraint_force)])

    def euler(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """The end of a semi-implicit step."""
        after = v + self.stepper.h * seen_at_start(self.tree, v, a)
        return (*self.stepper.moved(q, after), 0.5 * (v + after))

    def place(self, q: Array, u: Array) -> Array:
        """A step on the manifold of configurations."""
        return integrate(self.tree, q, u)

    def rate(self, u: Array, v: Array) -> Array:
        """The rate of such a step."""
        return tangent_rate(self.tree, u, v)

    def finish(
        self, q: Array, v: Array, torque: Array, position: Array, kp: Array, velocity: Array, kd: Array, lower: Array,
        upper: Array, memory: Array, ground: Array, push: Array, a: Array, mean_a: Array, after_q: Array,
        after_v: Array, works: Array,
    ) -> tuple[Array, ...]:  # fmt: skip
        """The outputs of a step."""
        springs = Springs(torque, position, kp, velocity, kd, lower, upper)
        found = self._outcome(q, v, springs, memory, ground, a)
        return self.stepper.outputs(after_q, after_v, found, mean_a, springs, works)

    def _forces(
        self, q: Array, v: Array, springs: Springs, memory: Array, ground: Array, push: Array
    ) -> tuple[Array, Array, Array]:
        joints, contacts = self.stepper.joint_forces(q, v, springs).whole, self._contacts(q, v, memory, ground)
        external = ops.zeros((self.tree.n, 6), like=[q, v, push]) + push
        for body, link in contacts.links.items():
            centres = np.array([self.layout.points[k].position for k in link.indices])
            external[body] = external[body] + link.load(centres, self.tree.gravity, 0.0)
        return joints.start, joints.gain, external

    def _contacts(self, q: Array, v: Array, memory: Array, ground: Array) -> Contacts:
        return contacts_of(
            self.tree, self.layout.points, self.layout.law, q, v, memory, ground, self.stepper.h, 0.0
        )  # fmt: skip

    def _outcome(self, q: Array, v: Array, springs: Springs, memory: Array, ground: Array, a: Array) -> Outcome:
        contacts = self._contacts(q, v, memory, ground)
        return Outcome(contacts, a, self.stepper.joint_forces(q, v, springs), contacts.start_forces())

    def _residual(self, q: Array, anchors: Array) -> Array:
        at_rest = np.zeros(len(self.tree.armature))
        return anchored(self.tree, self.constraints, q, at_rest, anchors, Baumgarte(0.0, 1.0))[1]

    def _from_world(self, q: Array, constraint_force: Array) -> Array:
        """Force (3,) of the world on bodies that fly: what constraints between the bodies do cancels out."""
        roots = [i for i in range(self.tree.n) if self.tree.parents[i] < 0 and self.tree.kinds[i] in _FREE_ROOTS]
        motions = body_motions(self.tree, q, np.zeros(len(constraint_force)), roots)
        total = ops.zeros(3, like=[q, constraint_force])
        for i in roots:
            first, size = int(self.tree.v_index[i]), 3 if self.tree.kinds[i] == "free" else 2
            total = total + motions[i].R[:, :size] @ constraint_force[first : first + size]
        return total
